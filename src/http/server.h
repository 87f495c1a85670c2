/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - HTTP over sockets: libmicrohttpd, one thread per connection.
 *
 * Reads whole requests within limits, hands them to one handler, sends its
 * answer. A connection has a thread, so a handler may block; their number is
 * bounded, and who comes above it is told so (acceptor.h). What is over a
 * limit, comes too slowly or from a foreign web page never reaches the handler.
 * Thread-safety: open and close from one thread; the handler is called from
 * many.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

#include <stddef.h>
#include <stdint.h>

struct server;

struct server_options {
    const char *listen;   /* see listener.h; sockets handed over by a service
                             manager are used instead if there are any */
    const char *tls_cert; /* PEM files, both or neither */
    const char *tls_key;
    const char *allowed_hosts;   /* comma-separated, see peer.h; may be NULL */
    const char *trusted_proxies; /* the same */
    http_handler handler;
    http_admit admit; /* NULL: every body is read */
    void *arg;        /* of both */
    /* May any web page ask for it? NULL: nothing is public. */
    bool (*is_public)(const struct http_request *request);
    /* 0 = the default of limits.h */
    int max_connections;
    int64_t idle_ms; /* silence, and time to send the headers */
    int64_t body_ms; /* time to send the whole body */
    size_t max_header_bytes;
    size_t max_body_bytes;   /* as sent, and once more when unpacked */
    size_t max_bodies_bytes; /* of all requests together */
};

/* Bind, start the threads, answer. The caller server_close()s it. Strings in
 * the options must outlive the server. */
enum clew_status server_open(const struct server_options *options,
                             struct server **out_server,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* "http://127.0.0.1:2539" with the real port, or "unix:PATH". */
const char *server_url(const struct server *server);
/*
 * Stop accepting, let the requests under way finish for at most `drain_ms`,
 * tell streams to end (http_is_stopping()), then whoever waits for others to
 * break off (http_is_over()), which takes two seconds at most, and close
 * everything. A handler that still runs is waited for: nothing is torn off
 * half-way.
 */
void server_close(struct server *server, int64_t drain_ms);

#endif
