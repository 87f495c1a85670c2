/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - claim, run, settle. See worker.h.
 */
#include "task/worker.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "engine/engine.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define POLL_MS 1000 /* other processes may add tasks */
#define MAX_THREADS 16

struct worker_pool {
    struct engine *engine;
    pthread_mutex_t lock; /* guards is_closing and n_wakes */
    pthread_cond_t changed;
    bool is_closing;
    unsigned n_wakes; /* counts worker_wake(), so that none is missed */
    pthread_t threads[MAX_THREADS];
    size_t n_threads;
};

static task_fn handler_of(struct str kind)
{
    for (const struct task_handler *row = task_handlers; row->kind; row++) {
        if (str_eq(kind, str_of(row->kind))) {
            return row->fn;
        }
    }
    return NULL;
}

/* Run one claimed task and settle it. */
static enum clew_status run_one(struct engine *engine, const struct task *task,
                                struct arena *arena, struct clew_error *err)
{
    struct clew_error failure = {.status = CLEW_OK};
    task_fn fn = handler_of(task->kind);
    enum clew_status outcome =
        fn ? fn(engine, task, arena, &failure)
           : clew_fail(&failure, CLEW_INVALID, "no handler for this kind");

    if (outcome != CLEW_OK) {
        log_event(LOG_WARN, "task", "failed", "kind=%.*s attempt=%lld code=%s",
                  (int)task->kind.len, task->kind.s, (long long)task->attempts,
                  clew_status_code(outcome));
    }
    return task_settle(engine, task, outcome, failure.message,
                       clock_now_ms(engine->clock), err);
}

/* Claim and run one task; CLEW_NOT_FOUND if none is due. */
static enum clew_status step(struct engine *engine, struct clew_error *err)
{
    struct arena arena;
    struct task task;
    enum clew_status status;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status =
        task_claim(engine, &arena, clock_now_ms(engine->clock), &task, err);
    if (status == CLEW_OK) {
        status = run_one(engine, &task, &arena, err);
    }
    arena_release(&arena);
    return status;
}

/* Sleep until woken, closing, or POLL_MS have passed. */
static void rest(struct worker_pool *pool, unsigned seen)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail on Linux */
    until.tv_sec += POLL_MS / 1000;
    pthread_mutex_lock(&pool->lock);
    while (!pool->is_closing && pool->n_wakes == seen &&
           pthread_cond_timedwait(&pool->changed, &pool->lock, &until) == 0) {
    }
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *arg)
{
    struct worker_pool *pool = arg;

    for (;;) {
        struct clew_error err = {.status = CLEW_OK};
        enum clew_status status;
        unsigned seen;
        bool is_closing;

        pthread_mutex_lock(&pool->lock);
        seen = pool->n_wakes;
        is_closing = pool->is_closing;
        pthread_mutex_unlock(&pool->lock);
        if (is_closing) {
            return NULL;
        }
        status = step(pool->engine, &err);
        if (status == CLEW_OK) {
            continue;
        }
        if (status != CLEW_NOT_FOUND) {
            log_event(LOG_WARN, "task", "claim_failed", "code=%s",
                      clew_status_code(status));
        }
        rest(pool, seen);
    }
}

enum clew_status worker_pool_open(struct engine *engine, size_t n_threads,
                                  struct worker_pool **out_pool,
                                  struct clew_error *err)
{
    struct worker_pool *pool = alloc_zero(1, sizeof(*pool));
    pthread_condattr_t attributes;

    if (!pool) {
        return clew_no_memory(err);
    }
    pool->engine = engine;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (n_threads > MAX_THREADS) {
        n_threads = MAX_THREADS;
    }
    for (; pool->n_threads < n_threads; pool->n_threads++) {
        if (pthread_create(&pool->threads[pool->n_threads], NULL, work, pool)) {
            worker_pool_close(pool);
            return clew_fail(err, CLEW_UNAVAILABLE,
                             "could not start a worker thread");
        }
    }
    *out_pool = pool;
    return CLEW_OK;
}

void worker_pool_close(struct worker_pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->is_closing = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_threads; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    alloc_free(pool);
}

void worker_wake(struct worker_pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->n_wakes++;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

enum clew_status worker_run_due(struct engine *engine, size_t max,
                                size_t *out_run, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    *out_run = 0;
    while (*out_run < max) {
        status = step(engine, err);
        if (status != CLEW_OK) {
            break;
        }
        (*out_run)++;
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}
