/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.h - read a stream of server-sent events, in pieces of any size.
 *
 * Follows the event stream format of the HTML standard: lines end in LF, CR or
 * CRLF, several "data" lines are joined by LF, comments and unknown fields are
 * skipped, an event without data is none, and an event that the end of the
 * stream cuts off is dropped. An event over the ceiling is dropped and counted;
 * the events around it are still read.
 * Thread-safety: none; one owner at a time.
 */
#ifndef BASE_SSE_H
#define BASE_SSE_H

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called for each event; the slices live until it returns. `name` is "" where
 * the stream gave none. */
typedef void (*sse_fn)(void *arg, struct str name, struct str data);

struct sse {
    sse_fn fn;
    void *arg;
    struct buf line;
    struct buf name;
    struct buf data;
    bool has_data;
    bool is_after_cr; /* a LF right now belongs to the CR before it */
    bool is_started;  /* past a possible byte order mark */
    bool is_lost;     /* the current event went over the ceiling */
    uint64_t n_lost;
};

/* Cannot fail and allocates nothing. `limit` bytes is the largest event. */
void sse_init(struct sse *sse, size_t limit, sse_fn fn, void *arg);
void sse_release(struct sse *sse);
void sse_feed(struct sse *sse, const char *bytes, size_t len);

#endif
