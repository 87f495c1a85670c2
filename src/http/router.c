/* SPDX-License-Identifier: Apache-2.0 */
/*
 * router.c - match paths against patterns. See router.h.
 *
 * The patterns are compared as text, row by row: most rows fail within their
 * first literal segment, so a table of a hundred rows costs about a microsecond
 * and needs neither a compiled form nor a start-up step.
 */
#include "http/router.h"

#include <stdio.h>
#include <string.h>

/* One segment of a path or pattern, without its slash. */
static struct str next_segment(const char **at, const char *end)
{
    const char *from = *at;
    const char *slash = memchr(from, '/', (size_t)(end - from));
    const char *to = slash ? slash : end;

    *at = slash ? slash + 1 : end + 1; /* past the end: nothing is left */
    return (struct str){from, (size_t)(to - from)};
}

static bool is_param(struct str segment)
{
    return segment.len > 2 && segment.s[0] == '{';
}

static bool is_rest(struct str segment)
{
    return is_param(segment) && segment.s[segment.len - 2] == '*';
}

static void add_param(struct str value, struct str *params, size_t *n_params)
{
    if (*n_params < ROUTER_MAX_PARAMS) {
        params[(*n_params)++] = value;
    }
}

/* Does `path` fit `pattern`? Fills up to ROUTER_MAX_PARAMS raw parameters. */
static bool router_fits(const char *pattern, struct str path,
                        struct str *params, size_t *out_n_params)
{
    const char *p = pattern + 1; /* both begin with '/' */
    const char *p_end = pattern + strlen(pattern);
    const char *s = path.s + 1;
    const char *s_end = path.s + path.len;
    size_t n_params = 0;

    if (path.len == 0 || path.s[0] != '/') {
        return false;
    }
    while (p <= p_end) {
        struct str want = next_segment(&p, p_end);
        struct str have;

        if (is_rest(want)) {
            have.s = s <= s_end ? s : s_end;
            have.len = (size_t)(s_end - have.s);
            add_param(have, params, &n_params);
            *out_n_params = n_params;
            return true;
        }
        if (s > s_end) {
            return false;
        }
        have = next_segment(&s, s_end);
        if (is_param(want) ? have.len == 0 : !str_eq(want, have)) {
            return false;
        }
        if (is_param(want)) {
            add_param(have, params, &n_params);
        }
    }
    *out_n_params = n_params;
    return s > s_end;
}

/* How specific one segment is: literal, then one, then all the rest. */
static int rank_of(struct str segment)
{
    if (is_rest(segment)) {
        return 0;
    }
    return is_param(segment) ? 1 : 2;
}

/* Both patterns fit one path; is `a` the more literal one? */
static bool is_closer(const char *a, const char *b)
{
    const char *a_end = a + strlen(a);
    const char *b_end = b + strlen(b);

    for (a++, b++; a <= a_end && b <= b_end;) {
        int rank_a = rank_of(next_segment(&a, a_end));
        int rank_b = rank_of(next_segment(&b, b_end));

        if (rank_a != rank_b) {
            return rank_a > rank_b;
        }
    }
    return false;
}

static void format_allow(unsigned methods, char out[ROUTER_ALLOW_SIZE])
{
    size_t len = 0;

    methods |= 1u << HTTP_OPTIONS;
    if (methods & 1u << HTTP_GET) {
        methods |= 1u << HTTP_HEAD;
    }
    out[0] = '\0';
    for (int i = HTTP_GET; i < HTTP_OTHER; i++) {
        if (methods >> i & 1) {
            len += (size_t)snprintf(out + len, ROUTER_ALLOW_SIZE - len, "%s%s",
                                    len ? ", " : "",
                                    http_method_name((enum http_method)i));
        }
    }
}

static enum clew_status decode_params(const struct http_request *request,
                                      struct router_match *match,
                                      struct clew_error *err)
{
    for (size_t i = 0; i < match->n_params; i++) {
        enum clew_status status = http_decode(request->arena, match->params[i],
                                              false, &match->params[i], err);

        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

enum clew_status router_find(router_row_fn row_at, const void *table,
                             const struct http_request *request,
                             struct router_match *out_match,
                             struct clew_error *err)
{
    enum http_method method =
        request->method == HTTP_HEAD ? HTTP_GET : request->method;
    struct router_match match = {0};
    const char *best = NULL;
    unsigned methods = 0;

    for (size_t i = 0;; i++) {
        struct router_row row = row_at(table, i);
        struct str params[ROUTER_MAX_PARAMS];
        size_t n_params = 0;

        if (!row.pattern) {
            break;
        }
        if (!router_fits(row.pattern, request->path, params, &n_params)) {
            continue;
        }
        methods |= 1u << row.method;
        if (row.method != method || (best && !is_closer(row.pattern, best))) {
            continue;
        }
        best = row.pattern;
        match.row = i;
        match.n_params = n_params;
        memcpy(match.params, params, n_params * sizeof(params[0]));
    }
    format_allow(methods, match.allow);
    *out_match = match;
    if (!best) {
        return methods ? clew_fail(err, CLEW_NO_METHOD,
                                   "this address answers only %s", match.allow)
                       : clew_fail(err, CLEW_NOT_FOUND, "no such address");
    }
    return decode_params(request, out_match, err);
}
