/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_stats.c - see call_stats.h.
 */
#include "engine/call/call_stats.h"

#include "engine/call/call.h"

#include <stdatomic.h>

static _Atomic int64_t n_by[CALL_STRATEGIES];
static _Atomic int64_t n_retries;
static _Atomic int64_t link_ns;

void call_stats_count(const struct call_result *result)
{
    if (result->is_repeat) {
        return; /* it was counted when it was stored */
    }
    for (size_t i = 0; i < CALL_STRATEGIES; i++) {
        if (str_eq(result->request.strategy,
                   str_of(call_strategy_name((enum call_strategy)i)))) {
            atomic_fetch_add(&n_by[i], 1);
        }
    }
    atomic_fetch_add(&n_retries, result->is_retry);
    atomic_fetch_add(&link_ns, result->link_ns);
}

void call_stats_get(struct call_stats *out)
{
    for (size_t i = 0; i < CALL_STRATEGIES; i++) {
        out->n_by[i] = atomic_load(&n_by[i]);
    }
    out->n_retries = atomic_load(&n_retries);
    out->link_ns = atomic_load(&link_ns);
}
