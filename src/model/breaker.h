/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breaker.h - stop asking an upstream that keeps failing.
 *
 * Closed: calls go through. After `threshold` failures in a row it is open:
 * calls are refused at once for `open_ms`. Then one call may try; if it
 * succeeds the breaker closes, else it opens again for twice as long, up to
 * BREAKER_MAX_FACTOR times. A trial that is never reported counts as failed
 * after open_ms.
 * Thread-safety: internally locked.
 */
#ifndef MODEL_BREAKER_H
#define MODEL_BREAKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct clock;

#define BREAKER_MAX_FACTOR 16

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_TRYING };

struct breaker {
    pthread_mutex_t lock; /* guards all below but clock, threshold, open_ms */
    struct clock *clock;
    int threshold;
    int64_t open_ms;
    int failures;     /* in a row */
    int64_t factor;   /* how many times open_ms the next opening lasts */
    int64_t until_ms; /* open, or waiting for the trial, until then */
    enum breaker_state state;
};

/* `clock` is borrowed and must outlive the breaker. */
void breaker_init(struct breaker *breaker, struct clock *clock, int threshold,
                  int64_t open_ms);
void breaker_release(struct breaker *breaker);
/* True if a call may be made now; it must be reported afterwards. */
bool breaker_allow(struct breaker *breaker);
/* What became of a call that was allowed. */
void breaker_report(struct breaker *breaker, bool is_ok);
/* For status pages. An open breaker whose time is over still says so until
 * somebody asks to call. */
enum breaker_state breaker_state(struct breaker *breaker);

#endif
