/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - JSON with limits and field names. See json.h.
 */
#include "base/json.h"

#include "base/clock.h"
#include "base/json_digits.h"
#include "base/json_out.h"
#include "base/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_setup(void)
{
    json_digits_setup();
}

/* Does the number that ends before `at` begin like one whose digits matter?
 * A mark of a fraction or an exponent follows a digit. */
static bool is_odd(struct str text, size_t at, size_t n_digits)
{
    char c = text.s[at];

    return n_digits > 0 && (c == '.' || (c | 0x20) == 'e');
}

/*
 * Depth and node count from the bytes alone, so that a hostile document is
 * refused before it costs memory. Counts separators outside strings: an upper
 * bound that valid documents reach within one. Sees on the way whether there
 * are numbers whose digits say more than their value.
 */
static enum clew_status scan_shape(struct str text, size_t max_depth,
                                   bool *out_has_odd, struct clew_error *err)
{
    bool in_string = false;
    size_t depth = 0;
    size_t nodes = 1;
    size_t n_digits = 0; /* right before here */

    for (size_t i = 0; i < text.len; i++) {
        char c = text.s[i];

        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = false;
            }
            continue;
        }
        if (c >= '0' && c <= '9') {
            /* -0, and what is longer than a double is exact */
            *out_has_odd = *out_has_odd || ++n_digits > 15 ||
                           (c == '0' && i > 0 && text.s[i - 1] == '-');
            continue;
        }
        *out_has_odd = *out_has_odd || is_odd(text, i, n_digits);
        n_digits = 0;
        if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            nodes++;
            if (++depth > max_depth) {
                return clew_fail(err, CLEW_TOO_LARGE,
                                 "the document is nested more than %zu deep",
                                 max_depth);
            }
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        } else if (c == ',' && ++nodes > LIMIT_JSON_NODES) {
            return clew_fail(err, CLEW_TOO_LARGE,
                             "the document has more than %u values",
                             LIMIT_JSON_NODES);
        }
    }
    return CLEW_OK;
}

/* Most that a value takes with its place in what holds it: jansson's structs, a
 * table grown by doubling, and the heap's own. A key counts as a string, too.
 */
#define ARRAY_BYTES 224
#define OBJECT_BYTES 256
#define PAIR_BYTES 128
#define ITEM_BYTES 96
#define STRING_BYTES 96

static size_t node_bytes(char c)
{
    switch (c) {
    case ',':
        return ITEM_BYTES;
    case ':':
        return PAIR_BYTES;
    case '[':
        return ARRAY_BYTES;
    case '{':
        return OBJECT_BYTES;
    default:
        return 0;
    }
}

/* What the escape at `at` may stand for: mostly a quote, but "\u005b" is a
 * bracket. */
static size_t escape_bytes(struct str text, size_t at)
{
    struct str code = str_sub(text, at, at + 5);

    return code.len == 5 && str_starts(code, STR("\\u00")) &&
                   code.s[4] >= '2' && code.s[4] <= '7'
               ? OBJECT_BYTES
               : STRING_BYTES / 2;
}

/* Past the string that begins at `at`. What is JSON in it (arguments of tools)
 * may be parsed, too: each mark in it counts, wherever it stands. */
static size_t skip_string(struct str text, size_t at, size_t *bytes)
{
    bool is_json = at + 1 < text.len && strchr("[{\\ ", text.s[at + 1]);
    size_t from = at++;

    for (; at < text.len && text.s[at] != '"'; at++) {
        char c = text.s[at];

        if (c == '\\') {
            *bytes += is_json ? escape_bytes(text, at) : 0;
            at++;
        } else if (is_json) {
            *bytes += node_bytes(c);
        }
    }
    *bytes += STRING_BYTES + (is_json ? ITEM_BYTES + at - from : 0);
    return at;
}

size_t json_tree_bytes(struct str text)
{
    size_t bytes = ITEM_BYTES + text.len; /* strings, and digits of numbers */

    for (size_t i = 0; i < text.len; i++) {
        if (text.s[i] == '"') {
            i = skip_string(text, i, &bytes);
        } else {
            bytes += node_bytes(text.s[i]);
        }
    }
    return bytes;
}

/* What jansson says, without what it quotes of the input after " near ". */
static enum clew_status syntax_error(json_error_t *where,
                                     struct clew_error *err)
{
    char *near = strstr(where->text, " near ");

    /* without memory it often has no words at all */
    if (json_error_code(where) == json_error_out_of_memory ||
        where->text[0] == '\0') {
        return clew_no_memory(err);
    }
    if (near) {
        *near = '\0';
    }
    return clew_fail(err, CLEW_INVALID,
                     "not valid JSON at line %d column %d: %s", where->line,
                     where->column, where->text);
}

static enum clew_status parse(struct str text, size_t max_depth,
                              bool keeps_digits, json_t **out_json,
                              struct clew_error *err)
{
    const size_t flags =
        JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
    bool has_odd = false;
    bool is_wide = false;
    json_error_t where;
    json_t *json;
    enum clew_status status = scan_shape(text, max_depth, &has_odd, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)json_ran_out(); /* what was before does not count */
    json = json_loadb(text.s, text.len, flags, &where);
    if (!json && json_error_code(&where) == json_error_numeric_overflow) {
        /* a whole number past 64 bits: read numbers as JavaScript does */
        is_wide = true;
        json = json_loadb(text.s, text.len, flags | JSON_DECODE_INT_AS_REAL,
                          &where);
    }
    if (json_ran_out()) {
        json_decref(json);
        return clew_no_memory(err);
    }
    if (!json) {
        return syntax_error(&where, err);
    }
    if (keeps_digits && (has_odd || is_wide)) {
        status = json_digits_keep(text, is_wide, &json, err);
    }
    if (status != CLEW_OK) {
        json_decref(json);
        return status;
    }
    *out_json = json;
    return CLEW_OK;
}

enum clew_status json_parse(struct str text, json_t **out_json,
                            struct clew_error *err)
{
    return parse(text, LIMIT_JSON_DEPTH, true, out_json, err);
}

enum clew_status json_parse_inner(struct str text, json_t **out_json,
                                  struct clew_error *err)
{
    return parse(text, LIMIT_JSON_DEPTH - LIMIT_JSON_DEPTH_AROUND, true,
                 out_json, err);
}

enum clew_status json_parse_values(struct str text, json_t **out_json,
                                   struct clew_error *err)
{
    return parse(text, LIMIT_JSON_DEPTH, false, out_json, err);
}

/* A number as it was written, or as its value is. */
static void number_out(struct json_out *out, const char *field,
                       const json_t *number)
{
    struct str digits = json_digits_of(number);

    if (digits.s && !out->is_by_value) {
        json_out_raw(out, field, digits);
    } else if (json_is_integer(number)) {
        json_out_int(out, field, (int64_t)json_integer_value(number));
    } else {
        json_out_real(out, field, json_real_value(number));
    }
}

void json_out_tree(struct json_out *out, const char *field, const json_t *json)
{
    const char *key;
    size_t i;
    json_t *item;

    switch (json_typeof(json)) {
    case JSON_OBJECT:
        json_out_object(out, field);
        json_object_foreach ((json_t *)(uintptr_t)json, key, item) {
            json_out_field(out, str_of(key));
            json_out_tree(out, NULL, item);
        }
        json_out_end_object(out);
        break;
    case JSON_ARRAY:
        json_out_array(out, field);
        json_array_foreach (json, i, item) {
            json_out_tree(out, NULL, item);
        }
        json_out_end_array(out);
        break;
    case JSON_STRING:
        json_out_str(out, field, json_text(json));
        break;
    case JSON_INTEGER:
    case JSON_REAL:
        number_out(out, field, json);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        json_out_bool(out, field, json_is_true(json));
        break;
    case JSON_NULL:
        json_out_null(out, field);
        break;
    }
}

enum clew_status json_write(struct buf *out, const json_t *json)
{
    struct json_out writer;

    json_out_init(&writer, out);
    json_out_tree(&writer, NULL, json);
    return buf_status(out);
}

enum clew_status json_write_values(struct buf *out, const json_t *json)
{
    struct json_out writer;

    json_out_init(&writer, out);
    writer.is_by_value = true;
    json_out_tree(&writer, NULL, json);
    return buf_status(out);
}

json_t *json_copy_tree(const json_t *json)
{
    return json_digits_copy(json);
}

enum clew_status json_check_fields(const json_t *object,
                                   const char *const *known,
                                   struct clew_error *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(object)) {
        return clew_fail(err, CLEW_INVALID, "a JSON object is expected");
    }
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        const char *const *name = known;

        while (*name && strcmp(*name, key) != 0) {
            name++;
        }
        if (!*name) {
            char names[STR_NAMES_SIZE];

            str_names(known, names);
            return clew_fail_field(err, key, "unknown field \"%.80s\"%s%s", key,
                                   names[0] ? "; there are " : "", names);
        }
    }
    return CLEW_OK;
}

/* The field's value, or NULL where it is missing or null. */
static enum clew_status find(const json_t *object, const char *field,
                             enum json_need need, const json_t **out,
                             struct clew_error *err)
{
    const json_t *value = json_object_get(object, field);

    if (json_is_null(value)) {
        value = NULL;
    }
    if (!value && need == JSON_REQUIRED) {
        return clew_fail_field(err, field, "\"%s\" is required", field);
    }
    *out = value;
    return CLEW_OK;
}

enum clew_status json_get_str(const json_t *object, const char *field,
                              enum json_need need, size_t max_bytes,
                              struct str *out, struct clew_error *err)
{
    const json_t *value = NULL;
    enum clew_status status = find(object, field, need, &value, err);

    if (status != CLEW_OK || !value) {
        return status;
    }
    if (!json_is_string(value)) {
        return clew_fail_field(err, field, "\"%s\" must be a string", field);
    }
    if (json_string_length(value) > max_bytes) {
        return clew_fail_field(err, field, "\"%s\" is longer than %zu bytes",
                               field, max_bytes);
    }
    if (need == JSON_REQUIRED && json_string_length(value) == 0) {
        return clew_fail_field(err, field, "\"%s\" is empty", field);
    }
    if (memchr(json_string_value(value), '\0', json_string_length(value))) {
        return clew_fail_field(err, field, "\"%s\" must not contain NUL",
                               field);
    }
    out->s = json_string_value(value);
    out->len = json_string_length(value);
    return CLEW_OK;
}

/* 5 and 5.0 are one number, as they are in JavaScript. */
static bool whole_number(const json_t *value, int64_t *out)
{
    double real = json_real_value(value);

    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return true;
    }
    if (!json_is_real(value) || real != floor(real) || fabs(real) > 1e15) {
        return false;
    }
    *out = (int64_t)real;
    return true;
}

enum clew_status json_get_int(const json_t *object, const char *field,
                              enum json_need need, int64_t min, int64_t max,
                              int64_t *out, struct clew_error *err)
{
    int64_t number = 0;
    const json_t *value = NULL;
    enum clew_status status = find(object, field, need, &value, err);

    if (status != CLEW_OK || !value) {
        return status;
    }
    if (!whole_number(value, &number)) {
        return clew_fail_field(err, field, "\"%s\" must be a whole number",
                               field);
    }
    if (number < min || number > max) {
        return clew_fail_field(err, field,
                               "\"%s\" must be from %" PRId64 " to %" PRId64,
                               field, min, max);
    }
    *out = number;
    return CLEW_OK;
}

enum clew_status json_get_real(const json_t *object, const char *field,
                               enum json_need need, double min, double max,
                               double *out, struct clew_error *err)
{
    const json_t *value = NULL;
    enum clew_status status = find(object, field, need, &value, err);

    if (status != CLEW_OK || !value) {
        return status;
    }
    if (!json_is_number(value)) {
        return clew_fail_field(err, field, "\"%s\" must be a number", field);
    }
    if (!(json_number_value(value) >= min && json_number_value(value) <= max)) {
        return clew_fail_field(err, field, "\"%s\" must be from %g to %g",
                               field, min, max);
    }
    *out = json_number_value(value);
    return CLEW_OK;
}

enum clew_status json_get_bool(const json_t *object, const char *field,
                               enum json_need need, bool *out,
                               struct clew_error *err)
{
    const json_t *value = NULL;
    enum clew_status status = find(object, field, need, &value, err);

    if (status != CLEW_OK || !value) {
        return status;
    }
    if (!json_is_boolean(value)) {
        return clew_fail_field(err, field, "\"%s\" must be true or false",
                               field);
    }
    *out = json_is_true(value);
    return CLEW_OK;
}

enum clew_status json_get_uuid(const json_t *object, const char *field,
                               enum json_need need, struct uuid *out,
                               struct clew_error *err)
{
    struct str text = {NULL, 0};
    enum clew_status status =
        json_get_str(object, field, need, LIMIT_NAME_BYTES, &text, err);

    if (status != CLEW_OK || !text.s) {
        return status;
    }
    if (!uuid_parse(text, out)) {
        return clew_fail_field(err, field, "\"%s\" must be a UUID", field);
    }
    return CLEW_OK;
}

enum clew_status json_get_time(const json_t *object, const char *field,
                               enum json_need need, int64_t *out_ms,
                               struct clew_error *err)
{
    struct str text = {NULL, 0};
    enum clew_status status =
        json_get_str(object, field, need, LIMIT_NAME_BYTES, &text, err);

    if (status != CLEW_OK || !text.s) {
        return status;
    }
    if (!clock_parse(text, out_ms)) {
        return clew_fail_field(
            err, field, "\"%s\" must be an RFC 3339 time, years 1 to 9999",
            field);
    }
    return CLEW_OK;
}

enum clew_status json_get_array(const json_t *object, const char *field,
                                enum json_need need, size_t max_items,
                                const json_t **out, struct clew_error *err)
{
    const json_t *value = NULL;
    enum clew_status status = find(object, field, need, &value, err);

    if (status != CLEW_OK || !value) {
        return status;
    }
    if (!json_is_array(value)) {
        return clew_fail_field(err, field, "\"%s\" must be an array", field);
    }
    if (json_array_size(value) > max_items) {
        return clew_fail_field(err, field, "\"%s\" has more than %zu items",
                               field, max_items);
    }
    *out = value;
    return CLEW_OK;
}

struct str json_text(const json_t *value)
{
    return (struct str){json_string_value(value), json_string_length(value)};
}

struct str json_text_at(const json_t *object, const char *field)
{
    return json_text(json_object_get(object, field));
}

bool json_set(json_t *object, const char *field, json_t *value)
{
    return value && json_object_set_new(object, field, value) == 0;
}

bool json_set_str(json_t *object, const char *field, struct str value)
{
    return json_set(object, field,
                    value.s ? json_stringn(value.s, value.len) : json_null());
}

bool json_set_cstr(json_t *object, const char *field, const char *value)
{
    return json_set(object, field, value ? json_string(value) : json_null());
}

bool json_set_int(json_t *object, const char *field, int64_t value)
{
    return json_set(object, field, json_integer(value));
}

bool json_set_real(json_t *object, const char *field, double value)
{
    return json_set(object, field, json_real(value));
}

json_t *json_score(double value)
{
    return json_real(nearbyint(value * 1e4) / 1e4);
}

bool json_set_score(json_t *object, const char *field, double value)
{
    return json_set(object, field, json_score(value));
}

bool json_set_bool(json_t *object, const char *field, bool value)
{
    return json_set(object, field, json_boolean(value));
}

bool json_set_uuid(json_t *object, const char *field, const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    if (!id) {
        return json_set(object, field, json_null());
    }
    uuid_format(id, text);
    return json_set_cstr(object, field, text);
}

bool json_set_time(json_t *object, const char *field, const int64_t *time_ms)
{
    char text[CLOCK_TEXT_SIZE];

    if (!time_ms) {
        return json_set(object, field, json_null());
    }
    clock_format(*time_ms, text);
    return json_set_cstr(object, field, text);
}
