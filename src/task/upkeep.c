/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upkeep.c - one thread for the indexes and the choice of model. See upkeep.h.
 */
#include "task/upkeep.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/log.h"
#include "engine/capture/read_task.h"
#include "engine/core/engine.h"
#include "engine/core/repack.h"
#include "engine/core/task.h"
#include "engine/feed/model_use.h"
#include "engine/feed/reembed.h"
#include "engine/feed/vector_graph.h"
#include "engine/key/key.h"
#include "index/index.h"
#include "model/embed.h"
#include "store/store.h"
#include "task/worker.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define ROUND_SECONDS 1
/* What is only in memory is written every so many rounds. */
#define FLUSH_ROUNDS 30
/* Plain texts are looked for soon, when the first who asked have their answers,
 * and every so many rounds: another process may be of an earlier version. */
#define PACK_ROUND 2
#define PACK_ROUNDS 3600
/* Tenants looked after in one round; the others have their turn when those
 * are quiet. */
#define MAX_TENANTS 4096
/* Merges of one tenant in a row, so that each has its turn. */
#define MAX_MERGES 8

struct upkeep {
    struct engine *engine;
    struct worker_pool *pool;
    pthread_mutex_t lock; /* guards is_closing */
    pthread_cond_t changed;
    bool is_closing;
    bool is_started;
    pthread_t thread;
};

/* Vectors that are too many for this process go into the database. */
static enum clew_status keep_graph(struct engine *engine,
                                   struct worker_pool *pool,
                                   const struct model_lease *model,
                                   int64_t tenant)
{
    bool is_added = false;
    enum clew_status status = vector_graph_keep(
        engine, model->indexes, model->id, model->dim, tenant, &is_added, NULL);

    if (is_added) {
        worker_wake(pool);
    }
    return status;
}

/* Files that were not read whole when opened, and in idle rounds all of them in
 * turn: a disk may lose what it once had. */
static enum clew_status scrub(struct index_set *set, int64_t tenant, bool again)
{
    bool is_damaged = false;
    enum clew_status status =
        index_scrub(set, tenant, again, &is_damaged, NULL);

    if (is_damaged) {
        log_event(LOG_WARN, "upkeep", "index_damaged",
                  "tenant=%lld done=\"made again from the log\"",
                  (long long)tenant);
    }
    return status;
}

/* Merge and, if asked, write what the loaded tenants hold. */
static void keep_set(struct engine *engine, struct worker_pool *pool,
                     const struct model_lease *model, bool is_idle_round)
{
    struct index_set *set = model->indexes;
    int64_t *tenants = alloc_array(NULL, MAX_TENANTS, sizeof(*tenants));
    size_t n = tenants ? index_set_loaded(set, tenants, MAX_TENANTS) : 0;

    for (size_t i = 0; i < n; i++) {
        enum clew_status status = keep_graph(engine, pool, model, tenants[i]);
        bool has_more = true;

        for (int k = 0; k < MAX_MERGES && has_more && status == CLEW_OK &&
                        !model_use_is_stopping(engine);
             k++) {
            status = index_maintain(set, tenants[i], &has_more, NULL);
        }
        if (status == CLEW_OK) {
            status = scrub(set, tenants[i], is_idle_round);
        }
        if (is_idle_round && status == CLEW_OK &&
            !model_use_is_stopping(engine)) {
            status = index_flush(set, tenants[i], NULL);
        }
        if (status != CLEW_OK) {
            log_event(LOG_WARN, "upkeep", "index_failed", "tenant=%lld code=%s",
                      (long long)tenants[i], clew_status_code(status));
        }
    }
    alloc_free(tenants);
}

/* Tasks for the chosen model; the one before it goes when none are left. */
static void plan(struct engine *engine, struct worker_pool *pool)
{
    struct reembed_lag lag = {0};
    enum clew_status status;

    model_use_refresh(engine);
    status = reembed_plan(engine, &lag, NULL);
    if (status != CLEW_OK) {
        log_event(LOG_WARN, "upkeep", "plan_failed", "code=%s",
                  clew_status_code(status));
        return;
    }
    if (lag.n_added > 0) {
        worker_wake(pool);
    }
    if (lag.n_unready == 0) {
        model_use_drop_old(engine);
    }
}

/* Finished tasks go after a while, or when there are many. */
static void prune(struct engine *engine)
{
    int64_t count = 0;
    enum clew_status status = CLEW_OK;

    do {
        status = task_prune(engine, clock_now_ms(engine->clock), &count, NULL);
    } while (status == CLEW_OK && count > 0 && !model_use_is_stopping(engine));
    while (status == CLEW_OK && !model_use_is_stopping(engine)) {
        status = task_trim(engine, clock_now_ms(engine->clock), &count, NULL);
        if (count == 0) {
            break;
        }
    }
    if (status != CLEW_OK) {
        log_event(LOG_WARN, "upkeep", "prune_failed", "code=%s",
                  clew_status_code(status));
    }
}

/* No turn waits for a task that nobody adds. */
static void resume_reading(struct engine *engine)
{
    struct arena arena;
    enum clew_status status;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status = read_task_resume(engine, &arena, NULL);
    arena_release(&arena);
    if (status != CLEW_OK) {
        log_event(LOG_WARN, "upkeep", "reading_later", "code=%s",
                  clew_status_code(status));
    }
}

/* Nor does a plain text. Looking for one walks whole tables, and none is
 * written but by an earlier clew. */
static bool resume_packing(struct engine *engine)
{
    struct arena arena;
    enum clew_status status;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status = repack_resume(engine, &arena, NULL);
    arena_release(&arena);
    if (status != CLEW_OK) {
        log_event(LOG_WARN, "upkeep", "packing_later", "code=%s",
                  clew_status_code(status));
    }
    return status == CLEW_OK;
}

/* What was brought in at once is read before anybody asks. */
static void catch_up(struct engine *engine)
{
    enum clew_status status = index_catch_up(engine->indexes, NULL);

    if (status != CLEW_OK) {
        /* whoever asks reads it */
        log_event(LOG_WARN, "upkeep", "index_later", "code=%s",
                  clew_status_code(status));
    }
}

/* What was brought in at once must not be looked up by old statistics. */
static void refresh(struct engine *engine)
{
    enum clew_status status = store_refresh(engine->store, NULL);

    if (status != CLEW_OK) {
        log_event(LOG_WARN, "upkeep", "refresh_failed", "code=%s",
                  clew_status_code(status));
    }
}

/* Who may use the proxy should the store go down. Its failures are the
 * store's, and told there. */
static void confirm_keys(struct engine *engine)
{
    clew_ignore(key_confirm(engine, NULL));
}

void upkeep_round(struct engine *engine, struct worker_pool *pool,
                  bool is_idle_round)
{
    struct model_lease shipped = {.indexes = engine->indexes,
                                  .id = engine->embedder->id,
                                  .dim = engine->embedder->dim};
    struct model_lease open[MODEL_USE_SLOTS];
    size_t n;

    confirm_keys(engine);
    refresh(engine);
    plan(engine, pool);
    catch_up(engine);
    if (is_idle_round) {
        prune(engine);
        resume_reading(engine);
    }
    keep_set(engine, pool, &shipped, is_idle_round);
    n = model_use_all(engine, open);
    for (size_t i = 0; i < n; i++) {
        keep_set(engine, pool, &open[i], is_idle_round);
        model_use_release(engine, &open[i]);
    }
}

/* Sleep for a round; false if the end was asked for. */
static bool rest(struct upkeep *upkeep)
{
    struct timespec until;
    bool is_closing;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail on Linux */
    until.tv_sec += ROUND_SECONDS;
    (void)pthread_mutex_lock(&upkeep->lock);
    while (!upkeep->is_closing &&
           pthread_cond_timedwait(&upkeep->changed, &upkeep->lock, &until) ==
               0) {
    }
    is_closing = upkeep->is_closing;
    (void)pthread_mutex_unlock(&upkeep->lock);
    return !is_closing;
}

static void *work(void *arg)
{
    struct upkeep *upkeep = arg;
    unsigned round = 0;
    bool is_due = false;

    do {
        round++;
        upkeep_round(upkeep->engine, upkeep->pool, round % FLUSH_ROUNDS == 0);
        is_due = is_due || round % PACK_ROUNDS == PACK_ROUND;
        if (is_due) {
            is_due = !resume_packing(upkeep->engine);
        }
    } while (rest(upkeep));
    return NULL;
}

enum clew_status upkeep_open(struct engine *engine, struct worker_pool *pool,
                             struct upkeep **out_upkeep, struct clew_error *err)
{
    struct upkeep *upkeep = alloc_zero(1, sizeof(*upkeep));
    pthread_condattr_t attributes;

    if (!upkeep) {
        return clew_no_memory(err);
    }
    upkeep->engine = engine;
    upkeep->pool = pool;
    (void)pthread_mutex_init(&upkeep->lock, NULL); /* cannot fail on Linux */
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&upkeep->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (pthread_create(&upkeep->thread, NULL, work, upkeep) != 0) {
        upkeep_close(upkeep);
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not start the upkeep thread");
    }
    upkeep->is_started = true;
    *out_upkeep = upkeep;
    return CLEW_OK;
}

void upkeep_close(struct upkeep *upkeep)
{
    if (!upkeep) {
        return;
    }
    model_use_stop(upkeep->engine);
    (void)pthread_mutex_lock(&upkeep->lock);
    upkeep->is_closing = true;
    (void)pthread_cond_signal(&upkeep->changed);
    (void)pthread_mutex_unlock(&upkeep->lock);
    if (upkeep->is_started) {
        (void)pthread_join(upkeep->thread, NULL);
    }
    (void)pthread_cond_destroy(&upkeep->changed);
    (void)pthread_mutex_destroy(&upkeep->lock);
    alloc_free(upkeep);
}
