/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - claim, run, settle. See worker.h.
 */
#include "task/worker.h"

#include "base/alloc.h"
#include "base/background.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "engine/core/engine.h"
#include "engine/proof/rebuild.h"

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
    static const struct task_handler *const tables[] = {task_handlers,
                                                        rebuild_handlers};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const struct task_handler *row = tables[i]; row->kind; row++) {
            if (str_eq(kind, str_of(row->kind))) {
                return row->fn;
            }
        }
    }
    return NULL;
}

/* A hand of claimed tasks. */
struct hand {
    struct engine *engine;
    struct worker_pool *pool; /* NULL: in the caller's thread */
    struct task *tasks;
    size_t count;
    size_t n_done; /* the first ones, moved together: to be settled */
    int64_t until_ms;
};

static bool is_closing(struct worker_pool *pool)
{
    bool is_it;

    if (!pool) {
        return false;
    }
    pthread_mutex_lock(&pool->lock);
    is_it = pool->is_closing;
    pthread_mutex_unlock(&pool->lock);
    return is_it;
}

/* Run one claimed task. A failure is settled at once, success with others. */
static enum clew_status run_one(struct hand *hand, const struct task *task,
                                struct clew_error *err)
{
    struct engine *engine = hand->engine;
    struct clew_error failure = {.status = CLEW_OK};
    task_fn fn = handler_of(task->kind);
    enum clew_status outcome;
    struct arena arena;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    outcome =
        fn ? fn(engine, task, &arena, &failure)
           : clew_fail(&failure, CLEW_INVALID, "no handler for this kind");
    arena_release(&arena);
    if (outcome == CLEW_OK) {
        hand->tasks[hand->n_done++] = *task;
        return CLEW_OK;
    }
    log_event(LOG_WARN, "task", "failed", "kind=%.*s attempt=%lld code=%s",
              (int)task->kind.len, task->kind.s, (long long)task->attempts,
              clew_status_code(outcome));
    return task_settle(engine, task, outcome, failure.message,
                       clock_now_ms(engine->clock), err);
}

/* Claims still in hand hold while slow ones before them run. */
static void hold_rest(struct hand *hand, size_t from)
{
    int64_t now_ms = clock_now_ms(hand->engine->clock);
    int64_t lease_ms = task_lease_ms(hand->engine);

    if (hand->until_ms - now_ms < lease_ms / 2) {
        hand->until_ms = now_ms + lease_ms;
        /* if not, another worker does them */
        clew_ignore(task_hold(hand->engine, &hand->tasks[from],
                              hand->count - from, hand->until_ms, NULL));
    }
}

static enum clew_status run_hand(struct hand *hand, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    enum clew_status settled;
    size_t i = 0;

    for (; i < hand->count && status == CLEW_OK && !is_closing(hand->pool);
         i++) {
        struct task task = hand->tasks[i];

        if (i > 0) {
            hold_rest(hand, i);
        }
        status = run_one(hand, &task, err);
    }
    settled = task_settle_done(hand->engine, hand->tasks, hand->n_done,
                               clock_now_ms(hand->engine->clock), err);
    if (i < hand->count) {
        /* if not, they come back when the claim ends */
        clew_ignore(
            task_release(hand->engine, &hand->tasks[i], hand->count - i, NULL));
    }
    return status == CLEW_OK ? settled : status;
}

/* Claim and run what is due, a hand of it; CLEW_NOT_FOUND if nothing is. */
static enum clew_status step(struct engine *engine, struct worker_pool *pool,
                             size_t *out_run, struct clew_error *err)
{
    int64_t now_ms = clock_now_ms(engine->clock);
    struct hand hand = {.engine = engine,
                        .pool = pool,
                        .until_ms = now_ms + task_lease_ms(engine)};
    enum clew_status status;
    struct arena arena;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status = task_claim(engine, &arena, now_ms, &hand.tasks, &hand.count, err);
    *out_run = hand.count;
    if (status == CLEW_OK) {
        status = hand.count > 0 ? run_hand(&hand, err) : CLEW_NOT_FOUND;
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

    background_begin("clew-worker");
    for (;;) {
        struct clew_error err = {.status = CLEW_OK};
        enum clew_status status;
        size_t n_run;
        unsigned seen;

        pthread_mutex_lock(&pool->lock);
        seen = pool->n_wakes;
        pthread_mutex_unlock(&pool->lock);
        if (is_closing(pool)) {
            return NULL;
        }
        status = step(pool->engine, pool, &n_run, &err);
        if (status == CLEW_OK) {
            continue;
        }
        if (status != CLEW_NOT_FOUND) {
            char words[sizeof(err.message)];

            log_event(LOG_WARN, "task", "claim_failed",
                      "code=%s message=\"%s\"", clew_status_code(status),
                      log_words(err.message, words, sizeof(words)));
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
    atomic_store(&pool->engine->is_stopping, true);
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
    while (*out_run < max && status == CLEW_OK) {
        size_t n_run = 0;

        status = step(engine, NULL, &n_run, err);
        *out_run += n_run;
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}
