/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_stats.h - how calls were linked since the start, for /metrics.
 *
 * The numbers belong to the process as a whole (as a scrape does), so they are
 * static. A write that is not committed is not counted.
 * Thread-safety: lock-free.
 */
#ifndef ENGINE_CALL_STATS_H
#define ENGINE_CALL_STATS_H

#include "engine/call/call_decide.h"

#include <stdint.h>

struct call_stats {
    int64_t n_by[CALL_STRATEGIES];
    int64_t n_retries; /* of these, the same messages again */
    int64_t link_ns;   /* all time spent on linking */
};

struct call_result;

void call_stats_count(const struct call_result *result);
void call_stats_get(struct call_stats *out);

#endif
