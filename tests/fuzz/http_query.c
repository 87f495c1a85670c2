/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_query.c - fuzz: any bytes as a request's address, through query, routes
 * and the Host check; what is decoded is UTF-8 without NUL.
 */
#include "base/utf8.h"
#include "http/http.h"
#include "http/peer.h"
#include "http/router.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct router_row table[] = {
    {HTTP_GET, "/"},
    {HTTP_GET, "/a/{id}"},
    {HTTP_GET, "/a/{id}/b"},
    {HTTP_POST, "/a/b"},
    {HTTP_GET, "/{x}/{y}/{z}/{u}/{v}"},
    {HTTP_GET, "/v1/{rest*}"},
    {HTTP_OTHER, NULL},
};

static struct router_row row_at(const void *rows, size_t i)
{
    return ((const struct router_row *)rows)[i];
}

static void check(struct str text)
{
    if (text.s && (!utf8_is_valid(text) || memchr(text.s, 0, text.len))) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const known[] = {"a", "limit", "cursor", NULL};
    struct str target = {(const char *)data, len};
    struct http_header headers[] = {{STR("Host"), target},
                                    {STR("Origin"), target}};
    struct http_request request;
    struct router_match match;
    struct clew_error err;
    struct arena arena;
    struct str out = {0};

    arena_init(&arena, 1 << 24);
    http_request_init(&request, &arena, HTTP_GET, target, target);
    request.headers = headers;
    request.n_headers = 2;
    if (http_query_of(&request, "a", &out, &err) == CLEW_OK) {
        check(out);
    }
    if (http_check_query(&request, known, &err) != CLEW_OK) {
        check(str_of(err.field));
    }
    if (router_find(row_at, table, &request, &match, &err) == CLEW_OK) {
        for (size_t i = 0; i < match.n_params; i++) {
            check(match.params[i]);
        }
    }
    if (peer_check_host(&request, true, "a, b", &err) == CLEW_OK && len == 0) {
        abort(); /* an empty Host is nobody's */
    }
    http_request_id(target, request.id);
    check(str_of(request.id));
    arena_release(&arena);
    return 0;
}
