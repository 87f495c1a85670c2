/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_stats.c - see link_stats.h.
 */
#include "engine/link_stats.h"

#include "engine/link.h"

#include <stdatomic.h>

static _Atomic int64_t n_by[LINK_STRATEGIES];
static _Atomic int64_t n_retries;
static _Atomic int64_t link_ns;

void link_stats_count(const struct link_result *result)
{
    if (result->is_repeat) {
        return; /* it was counted when it was stored */
    }
    for (size_t i = 0; i < LINK_STRATEGIES; i++) {
        if (str_eq(result->request.strategy,
                   str_of(link_strategy_name((enum link_strategy)i)))) {
            atomic_fetch_add(&n_by[i], 1);
        }
    }
    atomic_fetch_add(&n_retries, result->is_retry);
    atomic_fetch_add(&link_ns, result->link_ns);
}

void link_stats_get(struct link_stats *out)
{
    for (size_t i = 0; i < LINK_STRATEGIES; i++) {
        out->n_by[i] = atomic_load(&n_by[i]);
    }
    out->n_retries = atomic_load(&n_retries);
    out->link_ns = atomic_load(&link_ns);
}
