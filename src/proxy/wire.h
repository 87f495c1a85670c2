/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - one HTTP exchange with an upstream, read as it comes.
 *
 * wire_open() sends the request and returns when the answer's headers are
 * there; wire_read() hands out the body piece by piece, in the caller's thread.
 * At most WIRE_BUFFER_BYTES wait here: then the upstream is not read from, and
 * TCP holds it back. Connections stay open in the pool and are used again.
 *
 * Over TLS it speaks HTTP/2 where the upstream does; certificates are always
 * checked. Only addresses from the configuration come here. No redirect is
 * followed, no proxy from the environment used, no cookie or netrc kept.
 * Thread-safety: the pool is internally locked; a wire belongs to one thread.
 */
#ifndef PROXY_WIRE_H
#define PROXY_WIRE_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

#include <stdbool.h>
#include <stdint.h>

struct wire;
struct wire_pool;

#define WIRE_BUFFER_BYTES (128u * 1024)

struct wire_options {
    int64_t connect_timeout_ms;
    int64_t idle_timeout_ms; /* silence of the upstream */
    const char *ca_file;     /* more to trust than the system does; "": nothing.
                                Borrowed; outlives the pool */
};

struct wire_request {
    enum http_method method;
    const char *url;
    bool is_plain; /* connect to loopback addresses only */
    const struct http_header *headers;
    size_t n_headers;
    struct str body;                   /* must live until wire_close() */
    const struct http_request *client; /* whom it is for; as long */
};

struct wire_answer {
    int status;
    struct http_header *headers; /* in the arena, values terminated */
    size_t n_headers;
    int64_t content_length; /* -1 if not told */
};

/* CLEW_INVALID, field "proxy.ca_file", if that file cannot be read. */
enum clew_status wire_pool_new(const struct wire_options *options,
                               struct wire_pool **out_pool,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Every wire must be closed before. NULL is a no-op. */
void wire_pool_free(struct wire_pool *pool);

/*
 * CLEW_UPSTREAM if it cannot be reached or breaks off, CLEW_TIMEOUT if it does
 * not answer in time, CLEW_UNAVAILABLE if before that the client has gone or
 * the server's own time is over. The caller wire_close()s the wire.
 */
enum clew_status wire_open(struct wire_pool *pool, struct arena *arena,
                           const struct wire_request *request,
                           struct wire **out_wire, struct wire_answer *out,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Up to `cap` bytes; 0 at the end, -1 if it broke off, or was broken off as
 * above. Blocks. */
ptrdiff_t wire_read(struct wire *wire, char *out, size_t cap);
/* Also in mid-stream: the upstream sees the connection end. */
void wire_close(struct wire *wire);

#endif
