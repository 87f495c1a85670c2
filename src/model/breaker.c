/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breaker.c - a circuit breaker. See breaker.h.
 */
#include "model/breaker.h"

#include "base/clock.h"

void breaker_init(struct breaker *breaker, struct clock *clock, int threshold,
                  int64_t open_ms)
{
    (void)pthread_mutex_init(&breaker->lock, NULL); /* cannot fail on Linux */
    breaker->clock = clock;
    breaker->threshold = threshold;
    breaker->open_ms = open_ms;
    breaker->failures = 0;
    breaker->factor = 1;
    breaker->until_ms = 0;
    breaker->state = BREAKER_CLOSED;
}

void breaker_release(struct breaker *breaker)
{
    (void)pthread_mutex_destroy(&breaker->lock); /* nobody holds it */
}

bool breaker_allow(struct breaker *breaker)
{
    int64_t now = clock_steady_ms(breaker->clock);
    bool is_allowed = true;

    (void)pthread_mutex_lock(&breaker->lock);
    if (breaker->state != BREAKER_CLOSED) {
        is_allowed = now >= breaker->until_ms;
        if (is_allowed) {
            breaker->state = BREAKER_TRYING;
            breaker->until_ms = now + breaker->open_ms;
        }
    }
    (void)pthread_mutex_unlock(&breaker->lock);
    return is_allowed;
}

/* Called with the lock held. */
static void open_it(struct breaker *breaker, int64_t now)
{
    breaker->state = BREAKER_OPEN;
    breaker->until_ms = now + breaker->open_ms * breaker->factor;
    if (breaker->factor < BREAKER_MAX_FACTOR) {
        breaker->factor *= 2;
    }
}

void breaker_report(struct breaker *breaker, bool is_ok)
{
    int64_t now = clock_steady_ms(breaker->clock);

    (void)pthread_mutex_lock(&breaker->lock);
    if (is_ok) {
        breaker->failures = 0;
        breaker->factor = 1;
        breaker->state = BREAKER_CLOSED;
    } else {
        breaker->failures++;
        /* calls that were under way when it opened change nothing */
        if (breaker->state == BREAKER_TRYING ||
            (breaker->state == BREAKER_CLOSED &&
             breaker->failures >= breaker->threshold)) {
            open_it(breaker, now);
        }
    }
    (void)pthread_mutex_unlock(&breaker->lock);
}

enum breaker_state breaker_state(struct breaker *breaker)
{
    enum breaker_state state;

    (void)pthread_mutex_lock(&breaker->lock);
    state = breaker->state;
    (void)pthread_mutex_unlock(&breaker->lock);
    return state;
}
