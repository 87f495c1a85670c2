/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_type.h - types in one word, as JSON schemas.
 *
 *   text uuid time date count bool any object     what they say
 *   int 1..500 =50    number 0..1                 with bounds and a default
 *   a|b|c             one of these words
 *   Name              the object of that name
 *   [T]  {T}          a list of T, an object whose values are T
 *   A/B               one or the other
 *   T?                or null
 *
 * Thread-safety: pure functions.
 */
#ifndef API_OPENAPI_TYPE_H
#define API_OPENAPI_TYPE_H

#include "base/str.h"

#include <jansson.h>

/* The schema of a type; NULL without memory, or if it is no type (a test reads
 * all there are). */
json_t *openapi_type(struct str text);
/* The same with a description. */
json_t *openapi_described(const char *type, const char *about);
/* {"$ref"} to the schema `name`. */
json_t *openapi_reference(struct str name);

#endif
