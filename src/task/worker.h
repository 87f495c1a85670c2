/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - threads that do what tasks ask for.
 *
 * A pool of a few threads claims due tasks, a hand at a time, and runs the
 * handler of their kind (task/handlers.c). Claiming a hand is one commit and so
 * is settling it, so that many small tasks do not compete with what people
 * write. Between tasks a thread sleeps until the next one is due,
 * until worker_wake(), or for a second, since other processes add tasks too.
 * Tests use worker_run_due() instead of threads: it runs everything due at the
 * engine's clock, in the caller's thread.
 * Thread-safety: internally locked.
 */
#ifndef TASK_WORKER_H
#define TASK_WORKER_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/core/task.h"

#include <stddef.h>

struct engine;
struct worker_pool;

/* Every kind of task that a replay does not run (rebuild_handlers has those
 * that it does); ends with a row whose kind is NULL. */
extern const struct task_handler task_handlers[];

enum clew_status worker_pool_open(struct engine *engine, size_t n_threads,
                                  struct worker_pool **out_pool,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Lets running tasks finish. NULL is a no-op. */
void worker_pool_close(struct worker_pool *pool);
/* Tasks may have been added: look at once. NULL is a no-op. */
void worker_wake(struct worker_pool *pool);

/* Run all tasks due now, also those that come due by running them, until `max`
 * were begun. `*out_run` counts them. */
enum clew_status worker_run_due(struct engine *engine, size_t max,
                                size_t *out_run,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
