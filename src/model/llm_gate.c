/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_gate.c - calls in turn. See llm_gate.h.
 */
#include "model/llm_gate.h"

#include "base/clock.h"

#include <errno.h>
#include <time.h>

void llm_gate_init(struct llm_gate *gate, struct clock *clock, int limit)
{
    pthread_condattr_t attr;

    *gate = (struct llm_gate){.clock = clock, .limit = limit};
    (void)pthread_mutex_init(&gate->lock, NULL); /* cannot fail so */
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&gate->freed, &attr);
    (void)pthread_condattr_destroy(&attr);
}

void llm_gate_release(struct llm_gate *gate)
{
    (void)pthread_cond_destroy(&gate->freed); /* nobody waits any more */
    (void)pthread_mutex_destroy(&gate->lock);
}

static struct timespec after(int64_t wait_ms)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at); /* is always there */
    at.tv_sec += (time_t)(wait_ms / 1000);
    at.tv_nsec += (long)(wait_ms % 1000) * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000L;
    }
    return at;
}

enum clew_status llm_gate_enter(struct llm_gate *gate, int64_t wait_ms,
                                struct clew_error *err)
{
    struct timespec at = after(wait_ms);
    enum clew_status status = CLEW_OK;
    int waited = 0;

    (void)pthread_mutex_lock(&gate->lock); /* cannot fail: not recursive */
    while (gate->limit > 0 && gate->in_flight >= gate->limit &&
           waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&gate->freed, &gate->lock, &at);
    }
    if (gate->limit > 0 && gate->in_flight >= gate->limit) {
        status = clew_fail(err, CLEW_UNAVAILABLE,
                           "too many calls to the language model at once");
    } else if (clock_steady_ms(gate->clock) < gate->until_ms) {
        status = clew_fail(err, CLEW_RATE_LIMITED,
                           "the language model asked to slow down; waiting");
    } else {
        gate->in_flight++;
    }
    (void)pthread_mutex_unlock(&gate->lock);
    return status;
}

void llm_gate_leave(struct llm_gate *gate)
{
    (void)pthread_mutex_lock(&gate->lock); /* as above */
    gate->in_flight--;
    (void)pthread_cond_signal(&gate->freed);
    (void)pthread_mutex_unlock(&gate->lock);
}

void llm_gate_hold(struct llm_gate *gate, int64_t wait_ms)
{
    int64_t until_ms =
        clock_steady_ms(gate->clock) +
        (wait_ms < LLM_GATE_MAX_WAIT_MS ? wait_ms : LLM_GATE_MAX_WAIT_MS);

    (void)pthread_mutex_lock(&gate->lock); /* as above */
    gate->until_ms = until_ms > gate->until_ms ? until_ms : gate->until_ms;
    (void)pthread_mutex_unlock(&gate->lock);
}
