/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - a large file of JSON, one piece at a time.
 *
 * A piece is an element of the array that the file is, or a line of it. Only
 * one is in memory, and it has a ceiling. Whether a piece is good JSON is for
 * the parser to say; the pieces know strings and brackets alone.
 * Thread-safety: none.
 */
#ifndef IMPORT_PIECES_H
#define IMPORT_PIECES_H

#include "base/buf.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One conversation, or one message. */
#define PIECES_MAX_BYTES (64u << 20)

struct pieces {
    FILE *file; /* borrowed */
    bool is_array;
    bool has_ended;
    int64_t number; /* of the current piece, from 1; for lines, of the line */
    int64_t offset; /* of its first byte */
    int64_t at;     /* bytes read */
    struct buf text;
    unsigned char head[4096]; /* the beginning of the file, to look at */
    size_t n_head;
    size_t at_head;
};

/* Look at the beginning, which `head` shows: '[' is an array, all else lines. A
 * first object that goes over several lines is one piece. */
void pieces_init(struct pieces *pieces, FILE *file);
void pieces_release(struct pieces *pieces);
/*
 * The next piece, in `pieces->text` until the next call; `*out_has` false at
 * the end. CLEW_INVALID for an array that is cut off or goes on behind its
 * end, CLEW_TOO_LARGE for a piece over the ceiling.
 */
enum clew_status pieces_next(struct pieces *pieces, bool *out_has,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Where the text of the file begins in `head`: behind a byte order mark. */
size_t pieces_text_start(const struct pieces *pieces);
/* The next line as it is, empty ones too, without its end. */
enum clew_status pieces_line(struct pieces *pieces, bool *out_has,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* A member's text, s == NULL if it is none; for an id, also if it is empty. */
struct str import_text(const json_t *object, const char *field);
struct str import_id(const json_t *object, const char *field);
/* A member that must be a list; CLEW_INVALID names it. */
enum clew_status import_list(const json_t *object, const char *field,
                             const json_t **out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
