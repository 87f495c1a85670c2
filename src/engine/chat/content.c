/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content.c - text out of message content. See content.h.
 */
#include "engine/chat/content.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"

#include <string.h>

/* Of a block without text its type is shown, so much of it. */
#define MAX_TYPE_BYTES 64

/* Append text with NUL shown as U+FFFD: no store keeps NUL in text. */
static void append_text(struct buf *out, const char *s, size_t len)
{
    while (len > 0) {
        const char *nul = memchr(s, '\0', len);
        size_t part = nul ? (size_t)(nul - s) : len;

        (void)buf_append(out, s, part); /* failures are kept in the buffer */
        s += part;
        len -= part;
        if (nul) {
            (void)buf_append_cstr(out, "\xEF\xBF\xBD");
            s++;
            len--;
        }
    }
}

static void append_json_text(struct buf *out, const json_t *string)
{
    append_text(out, json_string_value(string), json_string_length(string));
}

static void append_block(struct buf *out, const json_t *block);

/* Text of an array of blocks, one per line. */
static void append_blocks(struct buf *out, const json_t *blocks)
{
    size_t i;
    json_t *block;

    json_array_foreach (blocks, i, block) {
        size_t before = out->len;

        if (before > 0 && out->data[before - 1] != '\n') {
            (void)buf_append_char(out, '\n');
        }
        append_block(out, block);
    }
}

static const json_t *string_at(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);

    return json_is_string(value) ? value : NULL;
}

static void append_mark(struct buf *out, const char *type, const json_t *name)
{
    struct str text = str_of(type);

    (void)buf_append_char(out, '[');
    (void)buf_append(out, text.s, utf8_cut(text, MAX_TYPE_BYTES));
    if (name) {
        (void)buf_append_cstr(out, ": ");
        append_json_text(out, name);
    }
    (void)buf_append_char(out, ']');
}

static void append_tool_result(struct buf *out, const json_t *block)
{
    const json_t *inner = json_object_get(block, "content");

    if (json_is_string(inner)) {
        append_json_text(out, inner);
    } else if (json_is_array(inner)) {
        append_blocks(out, inner);
    } else {
        append_mark(out, "tool_result", NULL);
    }
}

static void append_block(struct buf *out, const json_t *block)
{
    const json_t *type = string_at(block, "type");
    const json_t *text = string_at(block, "text");

    if (json_is_string(block)) {
        append_json_text(out, block);
    } else if (text) {
        append_json_text(out, text); /* text, input_text, output_text … */
    } else if (type && strcmp(json_string_value(type), "tool_result") == 0) {
        append_tool_result(out, block);
    } else {
        append_mark(out, type ? json_string_value(type) : "block",
                    string_at(block, "name"));
    }
}

static enum clew_status check_shape(const json_t *value, struct clew_error *err)
{
    size_t i;
    json_t *block;

    if (json_is_string(value)) {
        return CLEW_OK;
    }
    if (!json_is_array(value)) {
        return clew_fail_field(err, "content",
                               "\"content\" must be a string or an array of "
                               "content blocks");
    }
    json_array_foreach (value, i, block) {
        if (!json_is_object(block) && !json_is_string(block)) {
            return clew_fail_field(err, "content",
                                   "\"content[%zu]\" must be an object", i);
        }
    }
    return CLEW_OK;
}

static enum clew_status over_limit(struct clew_error *err, size_t limit_bytes,
                                   enum clew_status status)
{
    if (status != CLEW_TOO_LARGE) {
        return clew_fail(err, status, "out of memory");
    }
    (void)clew_fail(err, CLEW_TOO_LARGE, "\"content\" is over %zu bytes",
                    limit_bytes);
    if (err) {
        memcpy(err->field, "content", sizeof("content"));
    }
    return CLEW_TOO_LARGE;
}

/* Keep the buffer's bytes in the arena. */
static enum clew_status keep(struct arena *arena, const struct buf *b,
                             struct str *out)
{
    *out = arena_str(arena, buf_str(b));
    return out->s ? CLEW_OK : CLEW_NO_MEMORY;
}

enum clew_status content_parse(struct arena *arena, const json_t *value,
                               size_t limit_bytes, struct content *out,
                               struct clew_error *err)
{
    struct buf text;
    struct buf json;
    struct content found = {{NULL, 0}, {NULL, 0}};
    enum clew_status status = check_shape(value, err);

    if (status != CLEW_OK) {
        return status;
    }
    /* a NUL grows to three bytes in the text, so leave it room */
    buf_init(&text, limit_bytes * 3);
    buf_init(&json, limit_bytes);
    if (json_is_string(value)) {
        size_t len = json_string_length(value);

        status = len > limit_bytes ? CLEW_TOO_LARGE : CLEW_OK;
        if (status == CLEW_OK) {
            append_json_text(&text, value);
        }
        if (status == CLEW_OK && memchr(json_string_value(value), '\0', len)) {
            status = json_write(&json, value);
        }
    } else {
        append_blocks(&text, value);
        status = json_write(&json, value);
    }
    if (status == CLEW_OK) {
        status = buf_status(&text);
    }
    if (status == CLEW_OK) {
        status = keep(arena, &text, &found.text);
    }
    if (status == CLEW_OK && json.len > 0) {
        status = keep(arena, &json, &found.json);
    }
    buf_release(&text);
    buf_release(&json);
    if (status != CLEW_OK) {
        return over_limit(err, limit_bytes, status);
    }
    *out = found;
    return CLEW_OK;
}

/* --- what tools were given --- */

/* Values within values that are looked at. */
#define MAX_DEPTH 8
/* A longer run without a space is data in letters, not text. */
#define MAX_RUN_BYTES 1024

static bool is_text(struct str text)
{
    return text.len <= MAX_RUN_BYTES ||
           memchr(text.s, ' ', MAX_RUN_BYTES) != NULL ||
           memchr(text.s, '\n', MAX_RUN_BYTES) != NULL;
}

/* "key: text" on a line of its own; without key in a list. */
static void append_value(struct buf *out, const char *key, const json_t *value)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n') {
        (void)buf_append_char(out, '\n');
    }
    if (key) {
        (void)buf_append_cstr(out, key);
        (void)buf_append_cstr(out, ": ");
    }
    if (json_is_string(value)) {
        append_json_text(out, value);
    } else if (json_is_integer(value)) {
        (void)buf_printf(out, "%" JSON_INTEGER_FORMAT,
                         json_integer_value(value));
    } else {
        (void)buf_printf(out, "%g", json_number_value(value));
    }
}

static void append_values(struct buf *out, const char *key, json_t *value,
                          int depth)
{
    const char *name;
    json_t *inner;
    size_t i;

    if (depth > MAX_DEPTH) {
        return;
    }
    if (json_is_object(value)) {
        json_object_foreach (value, name, inner) {
            append_values(out, name, inner, depth + 1);
        }
    } else if (json_is_array(value)) {
        json_array_foreach (value, i, inner) {
            append_values(out, key, inner, depth + 1);
        }
    } else if (json_is_number(value) ||
               (json_is_string(value) && is_text(json_text(value)))) {
        append_value(out, key, value);
    }
}

/* Arguments may be JSON in a string. */
static void append_input(struct buf *out, json_t *input)
{
    struct str text = json_text(input);
    json_t *parsed = NULL;

    if (json_is_string(input) && text.len > 0 && text.s[0] == '{' &&
        json_parse(text, &parsed, NULL) == CLEW_OK) {
        append_values(out, NULL, parsed, 0);
        json_decref(parsed);
        return;
    }
    append_values(out, NULL, input, 0);
}

static void append_inputs(struct buf *out, const json_t *block)
{
    struct str name = str_of(json_string_value(string_at(block, "name")));
    json_t *input = json_object_get(block, "input");

    if (string_at(block, "text") || str_ifind(name, STR("clew"), 0) == 0 ||
        str_ifind(name, STR("mcp__clew"), 0) == 0) {
        return;
    }
    input = input ? input : json_object_get(block, "arguments");
    if (!input && json_is_object(json_object_get(block, "content"))) {
        input = json_object_get(block, "content"); /* a result with fields */
    }
    if (input) {
        append_input(out, input);
    }
}

enum clew_status content_inputs(struct arena *arena, struct str json,
                                struct str *out)
{
    json_t *blocks = NULL;
    struct buf text;
    const json_t *block;
    size_t i;
    enum clew_status status = CLEW_OK;

    *out = (struct str){0};
    if (!json.s || json.len > LIMIT_TOOL_INPUT_BYTES || json.s[0] != '[') {
        return CLEW_OK;
    }
    if (json_parse(json, &blocks, NULL) != CLEW_OK) {
        return CLEW_OK; /* not as content_parse() left it */
    }
    buf_init(&text, (size_t)LIMIT_TOOL_INPUT_BYTES * 3);
    json_array_foreach (blocks, i, block) {
        append_inputs(&text, block);
    }
    if (text.len > 0) {
        status = buf_status(&text);
    }
    if (status == CLEW_OK && text.len > 0) {
        status = keep(arena, &text, out);
    }
    buf_release(&text);
    json_decref(blocks);
    return status;
}
