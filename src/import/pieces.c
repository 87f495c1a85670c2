/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.c - elements or lines of a file. See pieces.h.
 */
#include "import/pieces.h"

#include "base/json.h"

static int next_byte(struct pieces *pieces)
{
    int c = pieces->at_head < pieces->n_head ? pieces->head[pieces->at_head++]
                                             : getc_unlocked(pieces->file);

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
    size_t at = 0;

    *pieces = (struct pieces){.file = file};
    buf_init(&pieces->text, PIECES_MAX_BYTES);
    pieces->n_head = fread(pieces->head, 1, sizeof(pieces->head), file);
    while (at < pieces->n_head && is_space(pieces->head[at])) {
        at++;
    }
    if (at + 2 < pieces->n_head && pieces->head[at] == 0xef) {
        at += 3; /* a byte order mark */
        while (at < pieces->n_head && is_space(pieces->head[at])) {
            at++;
        }
    }
    pieces->is_array = at < pieces->n_head && pieces->head[at] == '[';
    pieces->at_head = at + pieces->is_array;
    pieces->at = (int64_t)pieces->at_head;
}

size_t pieces_text_start(const struct pieces *pieces)
{
    return pieces->n_head >= 3 && pieces->head[0] == 0xef ? 3 : 0;
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

/* Whether the brackets of a text close. */
static bool is_whole(struct str text)
{
    bool is_text = false;
    bool is_escaped = false;
    int depth = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.s[i];

        if (is_text) {
            is_text = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
        } else if (c == '"') {
            is_text = true;
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
        }
    }
    return depth <= 0 && !is_text;
}

/* Append up to the end of the line; `*out_end` is what ended it. */
static enum clew_status take_line(struct pieces *pieces, int *out_end,
                                  struct clew_error *err)
{
    int c;

    for (c = next_byte(pieces); c != EOF && c != '\n'; c = next_byte(pieces)) {
        if (buf_append_char(&pieces->text, (char)c) != CLEW_OK) {
            return fail_at(pieces, CLEW_TOO_LARGE, "is too large", err);
        }
    }
    if (pieces->text.len > 0 &&
        pieces->text.data[pieces->text.len - 1] == '\r') {
        pieces->text.len--;
    }
    *out_end = c;
    return CLEW_OK;
}

/* A first object that does not close in its line is the whole document. */
static enum clew_status take_document(struct pieces *pieces, int *end,
                                      struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    while (status == CLEW_OK && *end != EOF) {
        if (buf_append_char(&pieces->text, '\n') != CLEW_OK) {
            return fail_at(pieces, CLEW_TOO_LARGE, "is too large", err);
        }
        status = take_line(pieces, end, err);
    }
    return status;
}

static enum clew_status next_line(struct pieces *pieces, bool *out_has,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    bool is_first = pieces->number == 0;
    int end = 0;

    do {
        pieces->number++;
        pieces->offset = pieces->at;
        status = take_line(pieces, &end, err);
    } while (status == CLEW_OK && pieces->text.len == 0 && end != EOF);
    if (status == CLEW_OK && is_first && pieces->text.len > 0 &&
        pieces->text.data[0] == '{' && end != EOF &&
        !is_whole(buf_str(&pieces->text))) {
        status = take_document(pieces, &end, err);
    }
    pieces->has_ended = end == EOF;
    *out_has = status == CLEW_OK && pieces->text.len > 0;
    return status;
}

enum clew_status pieces_line(struct pieces *pieces, bool *out_has,
                             struct clew_error *err)
{
    enum clew_status status;
    int end = 0;

    *out_has = false;
    if (pieces->has_ended) {
        return CLEW_OK;
    }
    buf_clear(&pieces->text);
    pieces->number++;
    pieces->offset = pieces->at;
    status = take_line(pieces, &end, err);
    pieces->has_ended = end == EOF;
    *out_has = status == CLEW_OK && (end != EOF || pieces->text.len > 0);
    return status;
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

struct str import_text(const json_t *object, const char *field)
{
    return json_text_at(object, field);
}

struct str import_id(const json_t *object, const char *field)
{
    struct str text = import_text(object, field);

    return text.len > 0 ? text : (struct str){0};
}

enum clew_status import_list(const json_t *object, const char *field,
                             const json_t **out, struct clew_error *err)
{
    const json_t *list = json_object_get(object, field);

    if (!json_is_array(list)) {
        return clew_fail(err, CLEW_INVALID, "its \"%s\" is no list", field);
    }
    *out = list;
    return CLEW_OK;
}
