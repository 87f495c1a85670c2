/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - a request and a response, whatever carries them.
 *
 * The same handlers serve sockets (http/server.h), the command line working
 * on a data folder, MCP and tests: they see only these two structs. Nothing
 * here knows of the engine.
 * Thread-safety: a request and its response belong to one thread at a time.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>

enum http_method {
    HTTP_GET,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_HEAD,
    HTTP_OPTIONS,
    HTTP_OTHER
};

struct http_header {
    struct str name; /* as received; compare without case */
    struct str value;
};

struct http_request {
    struct arena *arena; /* for whatever is made while handling it */
    enum http_method method;
    struct str path;  /* still percent-encoded, without the query */
    struct str query; /* raw, without '?' */
    const struct http_header *headers;
    size_t n_headers;
    struct str body;
    bool is_loopback; /* the peer is on this machine (or a unix socket) */
    bool is_trusted;  /* in-process caller: the operator at the command line */
    char id[40];      /* request id, also in the answer's x-request-id */
};

/*
 * A streamed body. `read` fills up to `cap` bytes and returns how many; 0 ends
 * the stream, -1 breaks the connection off. It may block. `free` is called
 * once, always.
 */
struct http_stream {
    ptrdiff_t (*read)(void *arg, char *out, size_t cap);
    void (*free)(void *arg);
    void *arg;
};

struct http_response {
    int status;
    struct buf body;           /* used unless `stream.read` is set */
    struct http_stream stream; /* zero if unused */
    struct http_header *headers; /* in the request's arena */
    size_t n_headers;
    size_t cap_headers;
};

/* The value of the first such header, or the empty slice with s == NULL. */
struct str http_header_of(const struct http_request *request, const char *name);
/* A query parameter, percent-decoded into the arena; s == NULL if not there.
 * CLEW_INVALID for a broken encoding. */
enum clew_status http_query_of(const struct http_request *request,
                               const char *name, struct str *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_INVALID naming the first query parameter not in the NULL-terminated
 * list. */
enum clew_status http_check_query(const struct http_request *request,
                                  const char *const *known,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Percent-decode into the arena. */
enum clew_status http_decode(struct arena *arena, struct str text,
                             bool plus_is_space, struct str *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

void http_response_init(struct http_response *response, size_t limit_bytes);
void http_response_release(struct http_response *response);
/* Add a header; both strings are copied into the request's arena. */
enum clew_status http_response_header(const struct http_request *request,
                                      struct http_response *response,
                                      const char *name,
                                      const char *value) CLEW_MUST_CHECK;

/* Answers one request. Never fails: what goes wrong becomes an answer. */
typedef void (*http_handler)(void *arg, const struct http_request *request,
                             struct http_response *response);

#endif
