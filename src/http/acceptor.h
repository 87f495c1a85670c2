/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acceptor.h - take connections off a socket, and say when it is full.
 *
 * One thread a listener. A connection is handed to the HTTP library as long as
 * there is room, and a few more: those are flagged, so that the server can say
 * that it is well. Above that, and when descriptors or memory have run out, the
 * client is sent a fixed 503 instead of a closed door; the thread then rests a
 * moment, so that it never spins. Such events are logged, not more often than
 * once in ten seconds.
 * Thread-safety: open and close from one thread.
 */
#ifndef HTTP_ACCEPTOR_H
#define HTTP_ACCEPTOR_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdatomic.h>
#include <stdbool.h>

struct MHD_Daemon;
struct acceptor;

/* Connections of all listeners together. */
struct acceptor_count {
    int limit;
    atomic_int n_open;           /* whose thread was started, now */
    atomic_uint_fast64_t begun;  /* all that ever were */
    atomic_uint_fast64_t handed; /* all that the library was given */
    _Atomic int64_t told_ns;     /* when the last line was logged */
};

struct acceptor_options {
    int fd; /* the listening socket; stays the caller's */
    struct MHD_Daemon *daemon;
    struct acceptor_count *count;
    bool has_tls; /* no plain text can be sent then */
    /* End a connection that nobody needs; false if there is none. */
    bool (*make_room)(void *arg);
    void *arg;
};

enum clew_status acceptor_open(const struct acceptor_options *options,
                               struct acceptor **out_acceptor,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* No connection is taken afterwards. NULL is a no-op. */
void acceptor_close(struct acceptor *acceptor);

/* A connection began; true if it is above the limit. And it ended. */
bool acceptor_begun(struct acceptor_count *count);
void acceptor_ended(struct acceptor_count *count);
/* Is the number within the limit by now? */
bool acceptor_has_room(struct acceptor_count *count);
/* Is no place left? */
bool acceptor_is_full(struct acceptor_count *count);
/* Count and, now and then, log that somebody was sent away. */
void acceptor_refused(struct acceptor_count *count, const char *event,
                      const char *words);

#endif
