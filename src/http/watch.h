/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - cut off connections that take too long to say what they want.
 *
 * The HTTP library only knows silence; a client that sends a byte now and then
 * would hold its connection for ever. Here each connection has a deadline,
 * moved by the server as the request goes on; a thread looks once a second
 * and shuts down the sockets that are past theirs. When there are many, each
 * new connection costs the one that has been waiting longest its place, so
 * that whoever holds connections without a request keeps nobody else out. An
 * upload that has all but stopped waits, too, and so does an answer that its
 * client does not take; they go after who only waits. Of an answer that is
 * taken too slowly no end is awaited: a client has some patience to use up,
 * which comes back with the bytes that it takes and while it owes nothing. What
 * is cut off is logged, not more often than once in ten seconds. Thread-safety:
 * internally locked.
 */
#ifndef HTTP_WATCH_H
#define HTTP_WATCH_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch;
struct watch_entry;

#define WATCH_NEVER INT64_MAX

/* Starts the thread. `crowd` connections are many; `patience_ms` is borne with
 * a client that does not take its answer. The caller watch_free()s it, with no
 * entry left. */
enum clew_status watch_new(size_t crowd, int64_t patience_ms,
                           struct watch **out_watch) CLEW_MUST_CHECK;
void watch_free(struct watch *watch);

/* Watch socket `fd`, which waits for a request, until watch_remove(); NULL on
 * OOM. */
struct watch_entry *watch_add(struct watch *watch, int fd, int64_t deadline_ns);
/* Must happen before the socket is closed. NULL is a no-op. */
void watch_remove(struct watch *watch, struct watch_entry *entry);
/* A request is there, or is over: move the deadline (clock_mono_ns()). NULL is
 * a no-op. */
void watch_busy(struct watch_entry *entry, int64_t deadline_ns);
void watch_wait(struct watch_entry *entry, int64_t deadline_ns);
/* Its body is on its way, and so many bytes of it have come. */
void watch_upload(struct watch_entry *entry, int64_t deadline_ns);
void watch_progress(struct watch_entry *entry, size_t n_bytes);
/* So many bytes of an answer are the client's to take, until one of the others
 * is called. */
void watch_answer(struct watch_entry *entry, size_t n_bytes);
/* Its request is handled, but others may have its place. */
void watch_yield(struct watch_entry *entry);
/* Cut off the upload that is parked for longest, for what it holds; or whoever
 * waits for longest, for its place. False if nobody does. */
bool watch_cut_parked(struct watch *watch);
bool watch_cut_waiting(struct watch *watch);

#endif
