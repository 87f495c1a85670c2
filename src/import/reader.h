/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - what another program exported, into an importer.
 *
 * To add a format: a reader of one piece in a file of its own, a row of the
 * table in reader.c, and how it is told from the others.
 * Thread-safety: none.
 */
#ifndef IMPORT_READER_H
#define IMPORT_READER_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct importer;
struct pieces;

enum import_format {
    IMPORT_UNKNOWN,
    IMPORT_CLEW, /* clew's own; not read here */
    IMPORT_CHATGPT,
    IMPORT_CLAUDE_AI,
    IMPORT_GEMINI,
    IMPORT_CLAUDE_CODE,
    IMPORT_CODEX,
    IMPORT_OPENCODE,
    IMPORT_CURSOR, /* a database; see cursor.h */
    IMPORT_GEMINI_CLI,
    IMPORT_QWEN,
    IMPORT_CONTINUE,
    IMPORT_SLACK,
    IMPORT_SLACK_USERS,
    IMPORT_DISCORD,
    IMPORT_DISCORD_PACKAGE,
    IMPORT_TELEGRAM,
    IMPORT_WHATSAPP,
    IMPORT_MAIL,
    IMPORT_JSONL
};

/* "chatgpt", "claude-ai", …; IMPORT_UNKNOWN if none. */
enum import_format import_format_parse(const char *name);
const char *import_format_name(enum import_format format);
/* Every name that can be asked for, with ", " between. */
const char *import_format_names(void);

/* The code of the error for a file of no known kind. */
#define IMPORT_UNKNOWN_CODE "UNKNOWN_FORMAT"

/*
 * Say what a file is by its beginning and read it. `format` IMPORT_UNKNOWN:
 * find out. `*out_format` is what it was, also on failure. For IMPORT_CLEW
 * nothing was read and the caller starts over. A fault names the line, or the
 * conversation and its byte; what came before it was handed on.
 */
enum clew_status import_read(struct importer *importer, FILE *file,
                             enum import_format format,
                             enum import_format *out_format,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* One piece each, the `number`-th of its file; what is wrong with it goes into
 * `err`. */
typedef enum clew_status (*import_piece_fn)(struct importer *importer,
                                            json_t *piece, int64_t number,
                                            struct clew_error *err);
enum clew_status import_chatgpt(struct importer *importer, json_t *piece,
                                int64_t number,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_claude_ai(struct importer *importer, json_t *piece,
                                  int64_t number,
                                  struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_claude_code(struct importer *importer, json_t *piece,
                                    int64_t number,
                                    struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_codex(struct importer *importer, json_t *piece,
                              int64_t number,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_gemini(struct importer *importer, json_t *piece,
                               int64_t number,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_opencode(struct importer *importer, json_t *piece,
                                 int64_t number,
                                 struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_qwen(struct importer *importer, json_t *piece,
                             int64_t number,
                             struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_continue(struct importer *importer, json_t *piece,
                                 int64_t number,
                                 struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_slack(struct importer *importer, json_t *piece,
                              int64_t number,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_slack_user(struct importer *importer, json_t *piece,
                                   int64_t number,
                                   struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_discord(struct importer *importer, json_t *piece,
                                int64_t number,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_discord_package(struct importer *importer,
                                        json_t *piece, int64_t number,
                                        struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_telegram(struct importer *importer, json_t *piece,
                                 int64_t number,
                                 struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status import_plain(struct importer *importer, json_t *piece,
                              int64_t number,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* Texts: told by their beginning, read by the line. */
bool import_whatsapp_is(struct str head);
enum clew_status import_whatsapp(struct importer *importer,
                                 struct pieces *pieces,
                                 struct clew_error *err) CLEW_MUST_CHECK;
bool import_gemini_cli_is(struct str head);
enum clew_status import_gemini_cli(struct importer *importer,
                                   struct pieces *pieces,
                                   struct clew_error *err) CLEW_MUST_CHECK;
bool import_mail_is(struct str head);
enum clew_status import_mail(struct importer *importer, struct pieces *pieces,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
