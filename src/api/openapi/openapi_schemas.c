/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_schemas.c - schemas, errors and keys. See openapi_schemas.h.
 */
#include "api/openapi/openapi_schemas.h"

#include "api/api.h"
#include "api/mounts.h"
#include "api/openapi/openapi.h"
#include "api/openapi/openapi_route.h"
#include "api/openapi/openapi_type.h"

#include <stdio.h>
#include <string.h>

/* --- objects --- */

/* {"properties","required"} from rows; false without memory. */
static bool set_properties(json_t *out, const struct openapi_field *fields)
{
    json_t *properties = json_object();
    json_t *required = json_array();
    bool is_ok = properties && required;

    for (size_t i = 0; is_ok && fields[i].name; i++) {
        struct str name = str_of(fields[i].name);
        bool is_always = name.len > 0 && name.s[name.len - 1] == '!';
        json_t *schema = openapi_described(fields[i].type, fields[i].about);

        name = str_sub(name, 0, name.len - is_always);
        if (str_eq(name, STR("*"))) {
            is_ok = json_set(out, "additionalProperties", schema);
            continue;
        }
        is_ok = json_object_setn_new(properties, name.s, name.len, schema) == 0;
        if (is_ok && is_always) {
            is_ok = json_array_append_new(required,
                                          json_stringn(name.s, name.len)) == 0;
        }
    }
    /* json_set() takes what it gets: each call must happen */
    is_ok = json_set(out, "properties", properties) && is_ok;
    return json_set(out, "required", required) && is_ok;
}

static json_t *object_schema(const struct openapi_object *object)
{
    json_t *out;

    if (object->fields[0].name[0] == '\0') {
        return openapi_described(object->fields[0].type, object->about);
    }
    out =
        json_pack("{s:s, s:s}", "type", "object", "description", object->about);
    if (out && !set_properties(out, object->fields)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static bool add_objects(json_t *schemas, const struct openapi_object *table)
{
    bool is_ok = true;

    for (size_t i = 0; is_ok && table[i].name; i++) {
        is_ok = json_set(schemas, table[i].name, object_schema(&table[i]));
    }
    return is_ok;
}

/* ChatPage: {"items":[Chat],"next_cursor"}. */
static bool add_page(json_t *schemas, struct str name)
{
    char page[64];
    json_t *cursor = openapi_described(
        "text?", "To ask for the next page with; null on the last one");
    json_t *items =
        json_pack("{s:s, s:s, s:o}", "type", "array", "description",
                  "The items of this page", "items", openapi_reference(name));

    (void)snprintf(page, sizeof(page), "%.*sPage", (int)name.len, name.s);
    return json_set(schemas, page,
                    json_pack("{s:s, s:s, s:[s,s], s:{s:o, s:o}}", "type",
                              "object", "description", "A page of a list",
                              "required", "items", "next_cursor", "properties",
                              "items", items, "next_cursor", cursor));
}

static bool add_of_routes(json_t *schemas, const struct api_route *routes)
{
    bool is_ok = true;

    for (size_t i = 0; is_ok && routes[i].path; i++) {
        struct openapi_answer answer;

        openapi_answer_of(&routes[i], &answer);
        if (answer.is_page) {
            is_ok = add_page(schemas, answer.name);
        }
        if (is_ok && routes[i].body_fields) {
            is_ok = openapi_add_body(schemas, &routes[i]);
        }
    }
    return is_ok;
}

/* --- errors --- */

enum { ON_ALL, ON_KEY, ON_ID, ON_BODY, ON_WRITE };

static const struct {
    const char *status;
    const char *name;
    const char *about;
    int where;
} errors[] = {
    {"400", "Invalid", "A field or parameter is wrong; `field` names it",
     ON_ALL},
    {"401", "Unauthorized", "A valid key is required", ON_KEY},
    {"403", "Forbidden", "The key may not do that", ON_KEY},
    {"404", "NotFound", "Unknown, or not yours", ON_ID},
    {"409", "Conflict", "It conflicts with what is stored", ON_WRITE},
    {"413", "TooLarge", "Over a limit", ON_BODY},
    {"415", "UnsupportedMediaType", "The body must be application/json",
     ON_BODY},
    {"429", "RateLimited",
     "Too many requests: Retry-After says when to ask "
     "again",
     ON_KEY},
    {"503", "Unavailable", "Nothing was done; the same may succeed later",
     ON_ALL},
    {"default", "Failed", "Anything else that went wrong", ON_ALL},
};

static bool has_error(const struct api_route *route, int where)
{
    switch (where) {
    case ON_KEY:
        return route->role != API_ROLE_NONE;
    case ON_ID:
        return strchr(route->path, '{') != NULL;
    case ON_BODY:
        return route->body_fields != NULL;
    case ON_WRITE:
        return route->role >= API_ROLE_WRITE && route->method != HTTP_GET;
    default:
        return true;
    }
}

bool openapi_add_errors(json_t *responses, const struct api_route *route)
{
    bool is_ok = true;

    for (size_t i = 0; is_ok && i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (has_error(route, errors[i].where)) {
            is_ok = json_set(responses, errors[i].status,
                             json_pack("{s:o}", "$ref",
                                       json_sprintf("#/components/responses/%s",
                                                    errors[i].name)));
        }
    }
    return is_ok;
}

static json_t *error_response(size_t i)
{
    json_t *out = json_pack("{s:s, s:{s:{s:o}}}", "description",
                            errors[i].about, "content", "application/json",
                            "schema", openapi_reference(STR("Error")));

    if (out &&
        (strcmp(errors[i].status, "429") == 0 ||
         strcmp(errors[i].status, "503") == 0) &&
        !json_set(out, "headers",
                  json_pack("{s:{s:s, s:{s:s}}}", "Retry-After", "description",
                            "Seconds to wait", "schema", "type", "integer"))) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *error_responses(void)
{
    json_t *out = json_object();
    bool is_ok = out != NULL;

    for (size_t i = 0; is_ok && i < sizeof(errors) / sizeof(errors[0]); i++) {
        is_ok = json_set(out, errors[i].name, error_response(i));
    }
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* --- all of it --- */

static json_t *keys(void)
{
    return json_pack(
        "{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s, s:s},"
        " s:{s:s, s:s, s:s, s:s}}",
        "bearer", "type", "http", "scheme", "bearer", "description",
        "A clew key. None is needed on a loopback address before the first "
        "key is made",
        "apiKey", "type", "apiKey", "in", "header", "name", "x-api-key",
        "description", "A clew key", "clewKey", "type", "apiKey", "in",
        "header", "name", "x-clew-key", "description",
        "A clew key, where Authorization belongs to the provider");
}

json_t *openapi_components(const struct api_route *routes)
{
    json_t *schemas = json_object();

    if (!schemas || !add_objects(schemas, openapi_talk) ||
        !add_objects(schemas, openapi_keep) ||
        !add_objects(schemas, openapi_server) ||
        !add_of_routes(schemas, routes)) {
        json_decref(schemas);
        return NULL;
    }
    return json_pack("{s:o, s:o, s:o}", "schemas", schemas, "responses",
                     error_responses(), "securitySchemes", keys());
}
