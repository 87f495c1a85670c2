/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.c - elements or lines of a file. See pieces.h.
 */
#include "import/pieces.h"

static int next_byte(struct pieces *pieces)
{
    int c = getc(pieces->file);

    pieces->at += c != EOF;
    return c;
}

static bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int skip_space(struct pieces *pieces)
{
    int c = next_byte(pieces);

    while (is_space(c)) {
        c = next_byte(pieces);
    }
    return c;
}

void pieces_init(struct pieces *pieces, FILE *file)
{
    int c;

    *pieces = (struct pieces){.file = file};
    buf_init(&pieces->text, PIECES_MAX_BYTES);
    c = skip_space(pieces);
    if (c == 0xef) { /* a byte order mark */
        (void)next_byte(pieces);
        (void)next_byte(pieces);
        c = skip_space(pieces);
    }
    pieces->is_array = c == '[';
    if (!pieces->is_array && c != EOF) {
        (void)ungetc(c, file); /* one byte always fits */
        pieces->at--;
    }
}

void pieces_release(struct pieces *pieces)
{
    buf_release(&pieces->text);
}

static enum clew_status fail_at(const struct pieces *pieces,
                                enum clew_status status, const char *what,
                                struct clew_error *err)
{
    return clew_fail(err, status, "%s %lld (byte %lld) %s",
                     pieces->is_array ? "conversation" : "line",
                     (long long)pieces->number, (long long)pieces->offset,
                     what);
}

/* The rest of an element whose first byte is `c`. */
static enum clew_status take_element(struct pieces *pieces, int c,
                                     struct clew_error *err)
{
    bool is_text = false;
    bool is_escaped = false;
    int depth = 0;

    for (;; c = next_byte(pieces)) {
        if (c == EOF) {
            return fail_at(pieces, CLEW_INVALID, "is cut off", err);
        }
        if (buf_append_char(&pieces->text, (char)c) != CLEW_OK) {
            return fail_at(pieces, CLEW_TOO_LARGE, "is too large", err);
        }
        if (is_text) {
            is_text = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
        } else if (c == '"') {
            is_text = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
            if (depth <= 0) {
                return CLEW_OK;
            }
        } else if (depth == 0) {
            return fail_at(pieces, CLEW_INVALID, "is no object", err);
        }
    }
}

static enum clew_status next_element(struct pieces *pieces, bool *out_has,
                                     struct clew_error *err)
{
    int c = skip_space(pieces);
    enum clew_status status;

    if (pieces->number > 0 && c == ',') {
        c = skip_space(pieces);
    } else if (pieces->number > 0 && c != ']') {
        pieces->number++;
        pieces->offset = pieces->at - (c != EOF);
        return fail_at(pieces, CLEW_INVALID,
                       c == EOF ? "is cut off" : "does not begin with a comma",
                       err);
    }
    if (c == ']') {
        pieces->has_ended = true;
        if (skip_space(pieces) != EOF) {
            return clew_fail(err, CLEW_INVALID,
                             "the file goes on behind its array, at byte %lld",
                             (long long)pieces->at - 1);
        }
        return CLEW_OK;
    }
    pieces->number++;
    pieces->offset = pieces->at - (c != EOF);
    status = take_element(pieces, c, err);
    *out_has = status == CLEW_OK;
    return status;
}

static enum clew_status next_line(struct pieces *pieces, bool *out_has,
                                  struct clew_error *err)
{
    int c;

    do {
        pieces->number++;
        pieces->offset = pieces->at;
        for (c = next_byte(pieces); c != EOF && c != '\n';
             c = next_byte(pieces)) {
            if (buf_append_char(&pieces->text, (char)c) != CLEW_OK) {
                return fail_at(pieces, CLEW_TOO_LARGE, "is too large", err);
            }
        }
        if (pieces->text.len > 0 &&
            pieces->text.data[pieces->text.len - 1] == '\r') {
            pieces->text.len--;
        }
    } while (pieces->text.len == 0 && c != EOF);
    pieces->has_ended = c == EOF;
    *out_has = pieces->text.len > 0;
    return CLEW_OK;
}

enum clew_status pieces_next(struct pieces *pieces, bool *out_has,
                             struct clew_error *err)
{
    *out_has = false;
    if (pieces->has_ended) {
        return CLEW_OK;
    }
    buf_clear(&pieces->text);
    return pieces->is_array ? next_element(pieces, out_has, err)
                            : next_line(pieces, out_has, err);
}
