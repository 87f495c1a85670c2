/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.h - the route table as an OpenAPI 3.1 document.
 *
 * Paths, bodies, roles and errors come from routes.c; what each field means and
 * looks like comes from tables of rows {name, type, what it is}, the type
 * written as openapi_type.h says. A name that ends with "!" is always there.
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include <jansson.h>

struct api_route;

/* One field, parameter or property. */
struct openapi_field {
    const char *name;  /* NULL ends a table */
    const char *type;  /* see openapi_type.h */
    const char *about; /* one line; never NULL */
};

/*
 * An object that comes back. One whose only field has the name "" is another
 * name for that field's type; a field "*" says that there are others besides.
 */
struct openapi_object {
    const char *name; /* NULL ends a table */
    const char *about;
    const struct openapi_field *fields;
};

/* For the rows of a table of objects. */
#define OPENAPI_FIELDS(...)                                                    \
    ((const struct openapi_field[]){__VA_ARGS__, {NULL, NULL, NULL}})

/* What each body field and parameter is. One name means one thing in the whole
 * API, but where "operationId.name" has a row of its own. */
extern const struct openapi_field openapi_fields[];
/* The objects that come back, a table per part of the API. */
extern const struct openapi_object openapi_talk[];
extern const struct openapi_object openapi_keep[];
extern const struct openapi_object openapi_server[];

/* The document; NULL without memory. */
json_t *openapi_document(const struct api_route *routes);

#endif
