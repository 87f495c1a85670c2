/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_type.c - types in one word. See openapi_type.h.
 *
 * Types nest as deep as the tables write them, which is not deep.
 */
#include "api/openapi/openapi_type.h"

#include "base/json.h"

#include <stdlib.h>

static const struct {
    const char *name;
    const char *json;
} plain[] = {
    {"text", "{\"type\":\"string\"}"},
    {"uuid", "{\"type\":\"string\",\"format\":\"uuid\"}"},
    {"time", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    {"date", "{\"type\":\"string\",\"format\":\"date\"}"},
    {"count", "{\"type\":\"integer\",\"minimum\":0}"},
    {"bool", "{\"type\":\"boolean\"}"},
    {"object", "{\"type\":\"object\",\"additionalProperties\":true}"},
    {"any", "{}"},
    {"null", "{\"type\":\"null\"}"},
};

json_t *openapi_reference(struct str name)
{
    return json_pack(
        "{s:o}", "$ref",
        json_sprintf("#/components/schemas/%.*s", (int)name.len, name.s));
}

/* Where `mark` stands outside all brackets; SIZE_MAX if nowhere. */
static size_t find_outside(struct str text, char mark)
{
    int depth = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.s[i];

        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        if (depth == 0 && c == mark) {
            return i;
        }
    }
    return SIZE_MAX;
}

static json_t *words_type(struct str text)
{
    json_t *words = json_array();
    struct str word;
    bool is_ok = words != NULL;

    while (is_ok && str_split(&text, '|', &word)) {
        is_ok =
            json_array_append_new(words, json_stringn(word.s, word.len)) == 0;
    }
    if (!is_ok) {
        json_decref(words);
        return NULL;
    }
    return json_pack("{s:s, s:o}", "type", "string", "enum", words);
}

static json_t *number_of(struct str text)
{
    double value = strtod(text.s, NULL); /* what follows is no digit */

    return value == (double)(json_int_t)value ? json_integer((json_int_t)value)
                                              : json_real(value);
}

/* "int 1..500 =50", "number 0..1" */
static json_t *number_type(struct str text)
{
    struct str word;
    bool is_int = str_starts(text, STR("int"));
    json_t *out = json_pack("{s:s}", "type", is_int ? "integer" : "number");
    bool is_ok = out != NULL;

    (void)str_split(&text, ' ', &word); /* the type itself */
    while (is_ok && str_split(&text, ' ', &word)) {
        size_t dots = str_find(word, STR(".."), 0);

        if (word.s[0] == '=') {
            is_ok =
                json_set(out, "default", number_of(str_sub(word, 1, word.len)));
        } else if (dots != SIZE_MAX) {
            is_ok = json_set(out, "minimum", number_of(word)) &&
                    json_set(out, "maximum",
                             number_of(str_sub(word, dots + 2, word.len)));
        }
    }
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* Whatever it is, or null. */
static json_t *or_null(json_t *schema)
{
    json_t *type = json_object_get(schema, "type");
    json_t *words = json_object_get(schema, "enum");

    if (!json_is_string(type)) {
        return json_pack("{s:[o, {s:s}]}", "oneOf", schema, "type", "null");
    }
    if ((words && json_array_append_new(words, json_null()) != 0) ||
        !json_set(schema, "type", json_pack("[O, s]", type, "null"))) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

static json_t *one_of(struct str text, size_t mark)
{
    json_t *list = json_array();
    bool is_ok = list != NULL;

    while (is_ok && text.len > 0) {
        size_t end = mark == SIZE_MAX ? text.len : mark;

        is_ok = json_array_append_new(list,
                                      openapi_type(str_sub(text, 0, end))) == 0;
        text = str_sub(text, end < text.len ? end + 1 : end, text.len);
        mark = find_outside(text, '/');
    }
    if (!is_ok) {
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:o}", "oneOf", list);
}

static json_t *plain_type(struct str text)
{
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (str_eq(text, str_of(plain[i].name))) {
            return json_loads(plain[i].json, 0, NULL);
        }
    }
    return NULL;
}

json_t *openapi_type(struct str text)
{
    size_t mark = find_outside(text, '/');
    char first = text.len > 0 ? text.s[0] : '\0';
    struct str inner = str_sub(text, 1, text.len > 0 ? text.len - 1 : 0);

    if (mark != SIZE_MAX) {
        return one_of(text, mark);
    }
    if (text.len > 1 && text.s[text.len - 1] == '?') {
        json_t *schema = openapi_type(str_sub(text, 0, text.len - 1));

        return schema ? or_null(schema) : NULL;
    }
    if (first == '[') {
        return json_pack("{s:s, s:o}", "type", "array", "items",
                         openapi_type(inner));
    }
    if (first == '{') {
        return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
                         openapi_type(inner));
    }
    if (first >= 'A' && first <= 'Z') {
        return openapi_reference(text);
    }
    if (str_find(text, STR("|"), 0) != SIZE_MAX) {
        return words_type(text);
    }
    if (str_starts(text, STR("int")) || str_starts(text, STR("number"))) {
        return number_type(text);
    }
    return plain_type(text);
}

json_t *openapi_described(const char *type, const char *about)
{
    json_t *out = openapi_type(str_of(type));

    if (out && about && !json_set(out, "description", json_string(about))) {
        json_decref(out);
        return NULL;
    }
    return out;
}
