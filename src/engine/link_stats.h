/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_stats.h - how calls were linked since the start, for /metrics.
 *
 * The numbers belong to the process as a whole (as a scrape does), so they are
 * static. A write that is not committed is not counted.
 * Thread-safety: lock-free.
 */
#ifndef ENGINE_LINK_STATS_H
#define ENGINE_LINK_STATS_H

#include "engine/link_decide.h"

#include <stdint.h>

struct link_stats {
    int64_t n_by[LINK_STRATEGIES];
    int64_t n_retries; /* of these, the same messages again */
    int64_t link_ns;   /* all time spent on linking */
};

struct link_result;

void link_stats_count(const struct link_result *result);
void link_stats_get(struct link_stats *out);

#endif
