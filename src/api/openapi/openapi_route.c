/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_route.c - a route's text and its body. See openapi_route.h.
 */
#include "api/openapi/openapi_route.h"

#include "api/api.h"
#include "api/openapi/openapi.h"
#include "api/openapi/openapi_type.h"

#include <stdio.h>
#include <string.h>

#define MAX_NAME 96
#define ONE_TURN "NewTurn"
#define MANY_TURNS "NewTurnBatch"

/* The text up to `mark`, and what follows it. */
static struct str cut(struct str *rest, struct str mark)
{
    size_t at = str_find(*rest, mark, 0);
    struct str first;

    if (at == SIZE_MAX) {
        return (struct str){0};
    }
    first = str_trim(str_sub(*rest, 0, at));
    *rest = str_sub(*rest, at + mark.len, rest->len);
    return first;
}

struct str openapi_operation_id(const struct api_route *route)
{
    struct str text = str_of(route->schema);

    return cut(&text, STR(":"));
}

bool openapi_is_required(const struct api_route *route, const char *name)
{
    struct str text = str_of(route->schema);
    struct str words;
    struct str word;

    (void)cut(&text, STR(":"));
    words = cut(&text, STR(">"));
    while (str_split(&words, ',', &word)) {
        if (str_eq(str_trim(word), str_of(name))) {
            return true;
        }
    }
    return false;
}

void openapi_answer_of(const struct api_route *route,
                       struct openapi_answer *out)
{
    struct str text = str_of(route->schema);
    struct str word;

    *out = (struct openapi_answer){.status = STR("200"),
                                   .media = STR("application/json")};
    (void)cut(&text, STR(">"));
    while (str_split(&text, ' ', &word)) {
        if (word.len == 3 && word.s[0] >= '1' && word.s[0] <= '5') {
            out->status = word;
        } else if (str_find(word, STR("/"), 0) != SIZE_MAX) {
            out->media = word;
        } else if (word.len > 2 && word.s[0] == '[') {
            out->name = str_sub(word, 1, word.len - 1);
            out->is_page = true;
        } else if (word.len > 0) {
            out->name = word;
        }
    }
}

static const struct openapi_field *find_field(struct str name)
{
    for (size_t i = 0; openapi_fields[i].name; i++) {
        if (str_eq(name, str_of(openapi_fields[i].name))) {
            return &openapi_fields[i];
        }
    }
    return NULL;
}

json_t *openapi_field_of(const struct api_route *route, const char *name)
{
    struct str id = openapi_operation_id(route);
    const struct openapi_field *field;
    char own[MAX_NAME];

    (void)snprintf(own, sizeof(own), "%.*s.%s", (int)id.len, id.s, name);
    field = find_field(str_of(own));
    if (!field) {
        field = find_field(str_of(name));
    }
    /* a test finds what has no row */
    return field ? openapi_described(field->type, field->about) : json_object();
}

json_t *openapi_body_name(const struct api_route *route)
{
    struct str id = openapi_operation_id(route);

    return json_sprintf("%c%.*sBody", id.s[0] - 'a' + 'A', (int)id.len - 1,
                        id.s + 1);
}

/* An object of these fields, and no others. */
static json_t *fields_schema(const struct api_route *route,
                             const char *const *fields, const char *about)
{
    json_t *properties = json_object();
    json_t *required = json_array();
    bool is_ok = properties && required;

    for (size_t i = 0; is_ok && fields[i]; i++) {
        is_ok =
            json_set(properties, fields[i], openapi_field_of(route, fields[i]));
        if (is_ok && openapi_is_required(route, fields[i])) {
            is_ok =
                json_array_append_new(required, json_string(fields[i])) == 0;
        }
    }
    if (!is_ok) {
        json_decref(properties);
        json_decref(required);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:b, s:o, s:o}", "type", "object",
                     "description", about, "additionalProperties", 0,
                     "required", required, "properties", properties);
}

/* One turn, or a batch of them. */
static bool add_turn_bodies(json_t *schemas, const struct api_route *route)
{
    json_t *list = openapi_field_of(route, "turns");
    json_t *unless = openapi_field_of(route, "unless_forgotten");
    json_t *begun = openapi_field_of(route, "begun_at");
    json_t *fork_of = openapi_field_of(route, "fork_of");
    json_t *at_seq = openapi_field_of(route, "at_seq");
    json_t *subtask = openapi_field_of(route, "subtask");
    bool is_ok = list && json_set(list, "minItems", json_integer(1)) &&
                 json_set(list, "maxItems", json_integer(1000));

    is_ok =
        json_set(schemas, MANY_TURNS,
                 json_pack(
                     "{s:s, s:s, s:b, s:[s], s:{s:o, s:o, s:o, s:o, s:o, s:o}}",
                     "type", "object", "description",
                     "Turns to store, all or none", "additionalProperties", 0,
                     "required", "turns", "properties", "turns", list,
                     "unless_forgotten", unless, "begun_at", begun, "fork_of",
                     fork_of, "at_seq", at_seq, "subtask", subtask)) &&
        is_ok;
    return is_ok && json_set(schemas, ONE_TURN,
                             fields_schema(route, route->body_fields + 6,
                                           "A turn to store"));
}

bool openapi_add_body(json_t *schemas, const struct api_route *route)
{
    json_t *name = openapi_body_name(route);
    bool is_batch = strcmp(route->body_fields[0], "turns") == 0;
    json_t *schema =
        is_batch ? openapi_described(ONE_TURN "/" MANY_TURNS, route->summary)
                 : fields_schema(route, route->body_fields, route->summary);
    bool is_ok = name && schema;

    if (is_ok) {
        is_ok = json_set(schemas, json_string_value(name), schema) &&
                (!is_batch || add_turn_bodies(schemas, route));
    } else {
        json_decref(schema);
    }
    json_decref(name);
    return is_ok;
}
