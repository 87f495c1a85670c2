/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals.h - how much there is of everything, over all tenants: for whoever
 * runs the server, never for a tenant.
 *
 * Counting runs over indexes, but over all of them: ask once in a while.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_VIEW_TOTALS_H
#define ENGINE_VIEW_TOTALS_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdint.h>

struct engine;

/* Tenants beyond these are not counted. */
#define TOTALS_MAX_TENANTS 1000

enum totals_task { TOTALS_PENDING, TOTALS_RUNNING, TOTALS_DONE, TOTALS_FAILED };
#define TOTALS_TASK_STATES 4

struct totals {
    int64_t n_tenants;
    int64_t n_turns;
    int64_t n_memories;
    int64_t n_waiting; /* turns that are not read yet */
    int64_t n_tasks[TOTALS_TASK_STATES];
    int64_t llm_calls;
    int64_t llm_failures;
    int64_t llm_input_tokens;
    int64_t llm_output_tokens;
    int64_t llm_cost_micros; /* in the currency of llm.input_price */
    int64_t store_bytes;     /* -1: not in a file here */
    int64_t index_bytes;
};

enum clew_status totals_read(struct engine *engine, struct totals *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
