/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.c - write the OpenAPI document from the table. See openapi.h.
 *
 * Values are added with json_set(), which refuses NULL and takes what it gets:
 * a failure anywhere only clears `is_ok`, and the whole tree is dropped at the
 * end.
 */
#include "api/openapi.h"

#include "api/api.h"

#include <stdio.h>
#include <string.h>

#define MAX_NAME 64

static const char *role_names[] = {"none", "read", "write", "admin"};

/* The parsed schema of a name, or {} (anything) if the table lacks it. */
static json_t *schema_of(const struct openapi_schema *table, struct str name)
{
    for (size_t i = 0; table[i].name; i++) {
        if (str_eq(name, str_of(table[i].name))) {
            return json_loads(table[i].json, 0, NULL);
        }
    }
    return json_object();
}

static json_t *reference(const char *name)
{
    return json_pack("{s:o}", "$ref",
                     json_sprintf("#/components/schemas/%s", name));
}

/* Is `name` one of the comma-separated words before '>' in the schema text? */
static bool is_required(const char *schema, const char *name)
{
    struct str rest = str_of(schema);
    struct str part;
    size_t end = str_find(rest, STR(">"), 0);

    rest = str_sub(rest, 0, end);
    while (str_split(&rest, ',', &part)) {
        if (str_eq(str_trim(part), str_of(name))) {
            return true;
        }
    }
    return false;
}

static json_t *request_body(const struct api_route *route)
{
    json_t *properties = json_object();
    json_t *required = json_array();
    json_t *schema = NULL;
    bool is_ok = properties && required;

    for (size_t i = 0; is_ok && route->body_fields[i]; i++) {
        const char *name = route->body_fields[i];

        is_ok =
            json_set(properties, name, schema_of(openapi_fields, str_of(name)));
        if (is_ok && route->schema && is_required(route->schema, name)) {
            is_ok = json_array_append_new(required, json_string(name)) == 0;
        }
    }
    schema = json_pack("{s:s, s:b, s:o, s:o}", "type", "object",
                       "additionalProperties", 0, "required", required,
                       "properties", properties);
    if (!is_ok) {
        json_decref(schema);
        return NULL;
    }
    return json_pack("{s:b, s:{s:{s:o}}}", "required",
                     json_array_size(required) > 0, "content",
                     "application/json", "schema", schema);
}

/* The answer's schema: "Name", "[Name]" for a page of them, or anything. */
static json_t *answer_schema(struct str name)
{
    char text[MAX_NAME];
    bool is_list = name.len > 2 && name.s[0] == '[';

    if (name.len == 0) {
        return json_object();
    }
    if (is_list) {
        name = str_sub(name, 1, name.len - 1);
    }
    (void)snprintf(text, sizeof(text), "%.*s", (int)name.len, name.s);
    if (!is_list) {
        return reference(text);
    }
    return json_pack("{s:s, s:[s,s], s:{s:{s:s, s:o}, s:{s:[s,s]}}}", "type",
                     "object", "required", "items", "next_cursor", "properties",
                     "items", "type", "array", "items", reference(text),
                     "next_cursor", "type", "string", "null");
}

/* Status and schema from "… > 201 Chat". */
static void split_answer(const char *schema, char status[8], struct str *name)
{
    struct str text = str_of(schema);
    size_t mark = str_find(text, STR(">"), 0);
    struct str word;

    (void)snprintf(status, 8, "200");
    *name = (struct str){0};
    if (mark == SIZE_MAX) {
        return;
    }
    text = str_trim(str_sub(text, mark + 1, text.len));
    while (str_split(&text, ' ', &word)) {
        if (word.len == 3 && word.s[0] >= '1' && word.s[0] <= '5') {
            (void)snprintf(status, 8, "%.3s", word.s);
        } else if (word.len > 0) {
            *name = word;
        }
    }
}

static json_t *responses(const struct api_route *route)
{
    json_t *out = json_object();
    char status[8];
    struct str name;
    bool is_raw = !route->schema;
    bool is_ok;

    split_answer(route->schema, status, &name);
    if (is_raw) {
        is_ok = json_set(out, status,
                         json_pack("{s:s}", "description", "the answer"));
    } else {
        is_ok = json_set(out, status,
                         json_pack("{s:s, s:{s:{s:o}}}", "description",
                                   "the answer", "content", "application/json",
                                   "schema", answer_schema(name)));
    }
    is_ok = is_ok &&
            json_set(out, "default",
                     json_pack("{s:s, s:{s:{s:o}}}", "description",
                               "what went wrong", "content", "application/json",
                               "schema", reference("Error")));
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static bool add_parameter(json_t *list, const char *where, struct str name)
{
    json_t *schema;

    if (strcmp(where, "path") == 0) {
        /* An id unless the name says otherwise; text in any case. */
        schema = str_eq(name, STR("id")) ? schema_of(openapi_fields, name)
                                         : json_pack("{s:s}", "type", "string");
    } else {
        schema = schema_of(openapi_fields, name);
    }
    return json_array_append_new(
               list, json_pack("{s:s%, s:s, s:b, s:o}", "name", name.s,
                               name.len, "in", where, "required",
                               strcmp(where, "path") == 0, "schema", schema)) ==
           0;
}

static json_t *parameters(const struct api_route *route)
{
    json_t *list = json_array();
    const char *at = route->path;
    bool is_ok = list != NULL;

    while (is_ok && (at = strchr(at, '{')) != NULL) {
        size_t len = strcspn(at + 1, "}*");

        is_ok = add_parameter(list, "path", (struct str){at + 1, len});
        at++;
    }
    for (size_t i = 0; is_ok && route->query && route->query[i]; i++) {
        is_ok = add_parameter(list, "query", str_of(route->query[i]));
    }
    if (!is_ok) {
        json_decref(list);
        return NULL;
    }
    return list;
}

/* "chats_fork"-like: the path's words joined, with the method in front. */
static json_t *operation_id(const struct api_route *route)
{
    char text[128];
    size_t len = 0;

    len += (size_t)snprintf(text, sizeof(text), "%s",
                            http_method_name(route->method));
    for (const char *at = route->path; *at && len + 1 < sizeof(text); at++) {
        bool is_word = (*at >= 'a' && *at <= 'z') ||
                       (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');

        if (is_word) {
            text[len++] = *at;
        } else if (text[len - 1] != '_') {
            text[len++] = '_';
        }
    }
    while (len > 0 && text[len - 1] == '_') {
        len--;
    }
    for (size_t i = 0; i < len; i++) {
        text[i] =
            (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
    }
    return json_stringn(text, len);
}

static json_t *operation(const struct api_route *route)
{
    json_t *out = json_object();
    bool is_ok =
        json_set(out, "operationId", operation_id(route)) &&
        json_set(out, "summary", json_string(route->summary)) &&
        json_set(out, "parameters", parameters(route)) &&
        json_set(out, "responses", responses(route)) &&
        json_set(out, "x-clew-role", json_string(role_names[route->role]));

    if (is_ok && route->body_fields) {
        is_ok = json_set(out, "requestBody", request_body(route));
    }
    if (is_ok && route->role == API_ROLE_NONE) {
        is_ok = json_set(out, "security", json_array());
    }
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* OpenAPI knows no "{name*}": the rest of a path is written as "{name}". */
static void plain_path(const char *path, char *out, size_t size)
{
    size_t len = 0;

    for (; *path && len + 1 < size; path++) {
        if (*path != '*') {
            out[len++] = *path;
        }
    }
    out[len] = '\0';
}

static bool add_route(json_t *paths, const struct api_route *route)
{
    char path[160];
    char method[16];
    json_t *item;
    size_t len;

    plain_path(route->path, path, sizeof(path));
    item = json_object_get(paths, path);
    if (!item) {
        item = json_object();
        if (!json_set(paths, path, item)) {
            return false;
        }
    }
    len = (size_t)snprintf(method, sizeof(method), "%s",
                           http_method_name(route->method));
    for (size_t i = 0; i < len; i++) {
        method[i] = (char)(method[i] + 32);
    }
    return json_set(item, method, operation(route));
}

static json_t *components(void)
{
    json_t *schemas = json_object();
    bool is_ok = schemas != NULL;

    for (size_t i = 0; is_ok && openapi_objects[i].name; i++) {
        is_ok = json_set(schemas, openapi_objects[i].name,
                         json_loads(openapi_objects[i].json, 0, NULL));
    }
    if (!is_ok) {
        json_decref(schemas);
        return NULL;
    }
    return json_pack("{s:o, s:{s:{s:s, s:s}, s:{s:s, s:s, s:s}}}", "schemas",
                     schemas, "securitySchemes", "bearer", "type", "http",
                     "scheme", "bearer", "apiKey", "type", "apiKey", "in",
                     "header", "name", "x-api-key");
}

json_t *openapi_document(const struct api_route *routes)
{
    json_t *out = json_object();
    json_t *paths = json_object();
    bool is_ok = out && paths;

    for (size_t i = 0; is_ok && routes[i].path; i++) {
        is_ok = add_route(paths, &routes[i]);
    }
    is_ok =
        is_ok && json_set(out, "openapi", json_string("3.1.0")) &&
        json_set(out, "info",
                 json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "title", "clew",
                           "version", CLEW_VERSION, "summary",
                           "A memory engine for AI conversations", "license",
                           "name", "Apache-2.0", "identifier", "Apache-2.0")) &&
        json_set(out, "security",
                 json_pack("[{s:[]}, {s:[]}]", "bearer", "apiKey"));
    is_ok = json_set(out, "paths", paths) && is_ok;
    is_ok = is_ok && json_set(out, "components", components());
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}
