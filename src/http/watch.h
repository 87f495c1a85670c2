/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - cut off connections that take too long to say what they want.
 *
 * The HTTP library only knows silence; a client that sends a byte now and then
 * would hold its connection for ever. Here each connection has a deadline,
 * moved by the server as the request goes on; a thread looks once a second
 * and shuts down the sockets that are past theirs.
 * Thread-safety: internally locked.
 */
#ifndef HTTP_WATCH_H
#define HTTP_WATCH_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdint.h>

struct watch;
struct watch_entry;

#define WATCH_NEVER INT64_MAX

/* Starts the thread. The caller watch_free()s it, with no entry left. */
enum clew_status watch_new(struct watch **out_watch) CLEW_MUST_CHECK;
void watch_free(struct watch *watch);

/* Watch socket `fd` until watch_remove(); NULL on OOM. */
struct watch_entry *watch_add(struct watch *watch, int fd, int64_t deadline_ns);
/* Must happen before the socket is closed. NULL is a no-op. */
void watch_remove(struct watch *watch, struct watch_entry *entry);
/* Move the deadline (clock_mono_ns()). NULL is a no-op. */
void watch_set(struct watch_entry *entry, int64_t deadline_ns);

#endif
