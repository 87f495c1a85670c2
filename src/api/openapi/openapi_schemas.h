/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_schemas.h - the part `components` of the document.
 *
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef API_OPENAPI_SCHEMAS_H
#define API_OPENAPI_SCHEMAS_H

#include <jansson.h>
#include <stdbool.h>

struct api_route;

/* Every schema, error and way to show a key; NULL without memory. */
json_t *openapi_components(const struct api_route *routes);
/* The errors that a route may answer, added to its responses. */
bool openapi_add_errors(json_t *responses, const struct api_route *route);

#endif
