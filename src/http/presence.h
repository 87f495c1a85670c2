/* SPDX-License-Identifier: Apache-2.0 */
/*
 * presence.h - whether the client of a request is still there.
 *
 * For handlers that wait for somebody else: they poll presence_fd() beside it,
 * for no event, as a hang-up wakes every poll, and ask presence_is_lost() at
 * least once a second.
 *
 * A client that has only shut down its sending side may still listen, and one
 * that has closed its socket looks the same until something is sent to it. An
 * interim answer (100 Continue), which HTTP/1.1 allows for at any time before
 * the answer, is sent once to find out. Where none may be, or the client still
 * listens, it gets its answer, but its place is anybody's from then on
 * (watch.h), and silence is borne for `patience_ms` only. One whose connection
 * is gone in both directions is lost at once. Thread-safety: as a request.
 */
#ifndef HTTP_PRESENCE_H
#define HTTP_PRESENCE_H

#include "http/http.h"

#include <stdbool.h>
#include <stdint.h>

struct watch_entry;

/* Borrows socket and entry; both live as long as the request's connection. */
struct presence {
    int fd;
    struct watch_entry *watched; /* may be NULL */
    int64_t patience_ms;
    bool may_probe; /* HTTP/1.1 in plain, and nothing was answered yet */
    bool is_lost;   /* once and for all */
};

/* -1 for in-process callers, who are always there. */
int presence_fd(const struct http_request *request);
/* `since_ns` is when the handler last had something for the client, or began
 * (clock_mono_ns()). */
bool presence_is_lost(const struct http_request *request, int64_t since_ns);
/* What presence_is_lost() said last. */
bool presence_was_lost(const struct http_request *request);

#endif
