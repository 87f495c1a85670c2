/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - what another program exported, into an importer.
 *
 * Thread-safety: none.
 */
#ifndef IMPORT_READER_H
#define IMPORT_READER_H

#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdio.h>

struct importer;

enum import_format {
    IMPORT_UNKNOWN,
    IMPORT_CLEW, /* clew's own; not read here */
    IMPORT_CHATGPT,
    IMPORT_CLAUDE_AI,
    IMPORT_CLAUDE_CODE
};

/* "chatgpt", "claude-ai", "claude-code", "clew"; IMPORT_UNKNOWN if none. */
enum import_format import_format_parse(const char *name);
const char *import_format_name(enum import_format format);

/*
 * Say what a file is by its first piece and read it. `format` IMPORT_UNKNOWN:
 * find out. `*out_format` is what it was; for IMPORT_CLEW nothing was read and
 * the caller starts over. A fault names the line, or the conversation and its
 * byte; what came before it was imported.
 */
enum clew_status import_read(struct importer *importer, FILE *file,
                             enum import_format format,
                             enum import_format *out_format,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* One piece each; what is wrong with it goes into `err`. */
enum clew_status import_chatgpt(struct importer *importer, json_t *piece,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_claude_ai(struct importer *importer, json_t *piece,
                                  struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_claude_code(struct importer *importer, json_t *piece,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/* What the readers share. */
struct str;
/* A member's text, s == NULL if it is none; for an id, also if it is empty. */
struct str import_text(const json_t *object, const char *field);
struct str import_id(const json_t *object, const char *field);

#endif
