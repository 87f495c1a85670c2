/* SPDX-License-Identifier: Apache-2.0 */
/*
 * router.h - which row of a table of path patterns answers a request.
 *
 * A pattern is a path whose segments are literal or "{name}", which stands for
 * one non-empty segment; a last segment "{name*}" stands for all the rest, also
 * for nothing. Where several patterns fit, the one that is literal at the first
 * segment in which they differ wins. HEAD is answered by GET's row.
 * The table stays the caller's: the router only looks at it.
 * Thread-safety: pure functions.
 */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include "http/http.h"

#define ROUTER_MAX_PARAMS 4
/* Room for "GET, HEAD, POST, …, OPTIONS". */
#define ROUTER_ALLOW_SIZE 64

/* Row `i` of the caller's table; pattern NULL past the end. */
struct router_row {
    enum http_method method;
    const char *pattern;
};
typedef struct router_row (*router_row_fn)(const void *table, size_t i);

struct router_match {
    size_t row;                           /* index in the caller's table */
    struct str params[ROUTER_MAX_PARAMS]; /* decoded, in the request's arena */
    size_t n_params;
    char allow[ROUTER_ALLOW_SIZE]; /* for the Allow header of a 405 */
};

/*
 * Find the row for a request. CLEW_NOT_FOUND if no pattern fits the path,
 * CLEW_NO_METHOD if only other methods do (then `allow` is filled),
 * CLEW_INVALID for a path that cannot be decoded.
 */
enum clew_status router_find(router_row_fn row_at, const void *table,
                             const struct http_request *request,
                             struct router_match *out_match,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
