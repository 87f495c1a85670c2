/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_gate.h - how many calls may be on their way to one endpoint, and when.
 *
 * At most `limit` at once; the next waits for one to end, no longer than it
 * says. An endpoint that asks to slow down (429) is left alone for as long as
 * it says, within LLM_GATE_MAX_WAIT_MS.
 * Thread-safety: internally locked.
 */
#ifndef MODEL_LLM_GATE_H
#define MODEL_LLM_GATE_H

#include "clew/attr.h"
#include "clew/status.h"

#include <pthread.h>
#include <stdint.h>

struct clock;

/* Whatever it asks for, it is tried again after this. */
#define LLM_GATE_MAX_WAIT_MS (10 * 60 * 1000LL)

struct llm_gate {
    pthread_mutex_t lock; /* guards in_flight and until_ms */
    pthread_cond_t freed;
    struct clock *clock;
    int limit; /* 0: any number */
    int in_flight;
    int64_t until_ms; /* nothing is asked before then */
};

/* `clock` is borrowed and must outlive the gate. */
void llm_gate_init(struct llm_gate *gate, struct clock *clock, int limit);
void llm_gate_release(struct llm_gate *gate);
/* Pass; llm_gate_leave() must follow. CLEW_RATE_LIMITED while it is to be left
 * alone, CLEW_UNAVAILABLE if nobody left within `wait_ms`. */
enum clew_status llm_gate_enter(struct llm_gate *gate, int64_t wait_ms,
                                struct clew_error *err) CLEW_MUST_CHECK;
void llm_gate_leave(struct llm_gate *gate);
/* It asked for so much time. */
void llm_gate_hold(struct llm_gate *gate, int64_t wait_ms);

#endif
