/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.h - the route table as an OpenAPI 3.1 document.
 *
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include <jansson.h>

struct api_route;

/* A name and what it looks like, as JSON schema text. */
struct openapi_schema {
    const char *name;
    const char *json;
};

/* What each field and query parameter of this name looks like: one name means
 * one thing in the whole API. Ends with a NULL name. */
extern const struct openapi_schema openapi_fields[];
/* The objects that come back. Ends with a NULL name. */
extern const struct openapi_schema openapi_objects[];

/* The document; NULL without memory. */
json_t *openapi_document(const struct api_route *routes);

#endif
