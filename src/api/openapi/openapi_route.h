/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_route.h - what the column `schema` of a route says (see api.h).
 *
 * Thread-safety: pure functions.
 */
#ifndef API_OPENAPI_ROUTE_H
#define API_OPENAPI_ROUTE_H

#include "base/str.h"

#include <jansson.h>
#include <stdbool.h>

struct api_route;

struct openapi_answer {
    struct str status; /* "200" */
    struct str media;  /* "application/json" */
    struct str name;   /* of a schema; empty if there is none */
    bool is_page;      /* a list page of it */
};

/* "createChat"; empty if the route has no text. */
struct str openapi_operation_id(const struct api_route *route);
/* Is the field or parameter one of the words before '>'? */
bool openapi_is_required(const struct api_route *route, const char *name);
void openapi_answer_of(const struct api_route *route,
                       struct openapi_answer *out);

/*
 * Schemas of a route's body: CreateChatBody; for a route that takes one or many
 * (its first field is "turns") NewTurn and NewTurnBatch besides. True if they
 * are in `schemas` now.
 */
bool openapi_add_body(json_t *schemas, const struct api_route *route);
/* "CreateChatBody" */
json_t *openapi_body_name(const struct api_route *route);
/* The row of a field or parameter as a schema with its description. */
json_t *openapi_field_of(const struct api_route *route, const char *name);

#endif
