/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_prune.c - finished tasks go: those of long ago, and those of a tenant
 * that has many. See task.h.
 */
#include "engine/core/task.h"

#include "base/clock.h"
#include "base/config.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

/* Finished rows dropped in one commit. */
#define PRUNE_ROWS 500
#define ARENA_BYTES ((size_t)1 << 20)
/* Tenants looked at in one go; a round of upkeep finds the others. */
#define MAX_TENANTS 10000
/* Other processes' clocks may be behind. */
#define SKEW_MS CLOCK_MINUTE_MS

DB_SQL_SYSTEM(PRUNE, "DELETE FROM tasks WHERE tenant = $1 AND id = $2"
                     " AND finished_at IS NOT NULL");
DB_SQL_SYSTEM(SELECT_OLD,
              "SELECT k.tenant, k.id FROM tenants t JOIN tasks k ON k.tenant ="
              " t.tenant AND k.finished_at IS NOT NULL AND k.finished_at < $1"
              " AND (k.status = 'done' OR k.finished_at < $2) LIMIT $3");
/* Whose tasks were done since. */
DB_SQL_SYSTEM(SELECT_ACTIVE,
              "SELECT t.tenant FROM tenants t WHERE EXISTS (SELECT 1 FROM"
              " tasks k WHERE k.tenant = t.tenant AND k.finished_at IS NOT NULL"
              " AND k.finished_at >= $1) LIMIT $2");
DB_SQL_SYSTEM(
    SELECT_BEYOND,
    "SELECT tenant, id FROM tasks WHERE tenant = $1 AND status ="
    " 'done' AND finished_at IS NOT NULL ORDER BY finished_at DESC, id DESC"
    " LIMIT $3 OFFSET $2");

struct old_task {
    int64_t tenant;
    struct uuid id;
};

struct pruning {
    const struct db_sql *sql; /* which */
    struct db_value args[3];
    struct rows_list old;
};

static bool old_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct old_task *out = item;

    (void)arena;
    out->tenant = db_get_int(rows, 0);
    out->id = db_get_uuid(rows, 1);
    return true;
}

static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct pruning *work = arg;

    work->old.count = 0;
    return rows_add(tx, &work->old, work->sql, work->args, 3, err);
}

static enum clew_status do_prune(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    const struct pruning *work = arg;
    const struct old_task *old = work->old.items;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->old.count && status == CLEW_OK; i++) {
        status =
            db_exec(tx, &PRUNE,
                    DB_ARGS(db_int(old[i].tenant), db_uuid(&old[i].id)), err);
    }
    return status;
}

/* Drop the tasks that a statement names. */
static enum clew_status drop(struct engine *engine, struct arena *arena,
                             const struct db_sql *sql,
                             const struct db_value args[3], int64_t *out_count,
                             struct clew_error *err)
{
    struct pruning work = {
        .sql = sql,
        .args = {args[0], args[1], args[2]},
        .old = {.arena = arena, .size = sizeof(struct old_task), .fn = old_of}};
    enum clew_status status =
        store_read_system(engine->store, do_find, &work, err);

    if (status == CLEW_OK && work.old.count > 0) {
        status = store_write_system(engine->store, do_prune, &work, err);
    }
    if (status == CLEW_OK) {
        *out_count = (int64_t)work.old.count;
    }
    return status;
}

enum clew_status task_prune(struct engine *engine, int64_t now_ms,
                            int64_t *out_count, struct clew_error *err)
{
    int64_t done = config_int(engine->config, "tasks.keep_days");
    int64_t failed = config_int(engine->config, "tasks.keep_failed_days");
    struct arena arena;
    enum clew_status status;

    if (failed < done) {
        failed = done;
    }
    arena_init(&arena, ARENA_BYTES);
    status =
        drop(engine, &arena, &SELECT_OLD,
             (const struct db_value[]){db_int(now_ms - done * CLOCK_DAY_MS),
                                       db_int(now_ms - failed * CLOCK_DAY_MS),
                                       db_int(PRUNE_ROWS)},
             out_count, err);
    arena_release(&arena);
    return status;
}

enum clew_status task_trim(struct engine *engine, int64_t now_ms,
                           int64_t *out_count, struct clew_error *err)
{
    int64_t most = config_int(engine->config, "tasks.keep_done");
    int64_t since_ms = atomic_load(&engine->tasks_trimmed_ms);
    int64_t *tenants = NULL;
    size_t n_tenants = 0;
    struct arena arena;
    enum clew_status status;

    *out_count = 0;
    arena_init(&arena, ARENA_BYTES);
    status = rows_tenants(engine->store, &arena, &SELECT_ACTIVE,
                          DB_ARGS(db_int(since_ms), db_int(MAX_TENANTS)),
                          &tenants, &n_tenants, err);
    for (size_t i = 0; i < n_tenants && status == CLEW_OK; i++) {
        int64_t count = 0;

        status = drop(engine, &arena, &SELECT_BEYOND,
                      (const struct db_value[]){
                          db_int(tenants[i]), db_int(most), db_int(PRUNE_ROWS)},
                      &count, err);
        *out_count += count;
    }
    if (status == CLEW_OK && *out_count == 0) {
        atomic_store(&engine->tasks_trimmed_ms, now_ms - SKEW_MS);
    }
    arena_release(&arena);
    return status;
}
