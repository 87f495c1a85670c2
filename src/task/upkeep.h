/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upkeep.h - what a server does by itself, every second.
 *
 * One thread: it notices that another embedding model was chosen, adds tasks
 * for rows that model has not seen, merges what has grown in the search
 * indexes, writes to files what has lain in memory for a while, and drops tasks
 * that were finished long ago. Nothing
 * waits for it and nothing depends on it but speed after a restart.
 * Thread-safety: internally locked.
 */
#ifndef TASK_UPKEEP_H
#define TASK_UPKEEP_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

struct engine;
struct upkeep;
struct worker_pool;

/* `pool` (may be NULL) is woken when tasks were added. */
enum clew_status upkeep_open(struct engine *engine, struct worker_pool *pool,
                             struct upkeep **out_upkeep,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Ends after the step under way; long tasks of the pool are asked to end as
 * well, so close this before the pool. NULL is a no-op. */
void upkeep_close(struct upkeep *upkeep);

/* One round, in the caller's thread; for tests. `is_idle_round` also writes
 * what is in memory and drops old tasks. */
void upkeep_round(struct engine *engine, struct worker_pool *pool,
                  bool is_idle_round);

#endif
