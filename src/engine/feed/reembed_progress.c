/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reembed_progress.c - how far models have come, over tenants. See reembed.h.
 */
#include "engine/feed/reembed.h"

#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/feed/model_use.h"
#include "engine/feed/vector.h"
#include "store/db.h"

#include <stdio.h>
#include <string.h>

DB_SQL_SYSTEM(SUM_CHANGES,
              "SELECT CAST(SUM(n.change_seq) AS BIGINT),"
              " CAST(SUM(COALESCE(v.through, 0)) AS BIGINT) FROM tenants n"
              " LEFT JOIN vector_models v ON v.tenant = n.tenant"
              " AND v.model = $1");
DB_SQL_SYSTEM(SELECT_TENANTS, "SELECT tenant FROM tenants WHERE change_seq > 0"
                              " ORDER BY tenant LIMIT 1000000");

/* Episodes without a summary have no text yet. */
#define ALL_TURNS "(SELECT COUNT(*) FROM turns WHERE tenant = $1)"
#define ALL_MEMORIES "(SELECT COUNT(*) FROM memories WHERE tenant = $1)"
#define ALL_EPISODES                                                           \
    "(SELECT COUNT(*) FROM episodes WHERE tenant = $1 AND micro IS NOT NULL)"
#define DONE(table, kind)                                                      \
    "(SELECT COUNT(*) FROM " table " t JOIN vectors v ON v.tenant = t.tenant"  \
    " AND v.kind = '" kind "' AND v.id = t.id AND v.model = $2"                \
    " AND v.source_change = t.change_seq WHERE t.tenant = $1)"
#define DONE_TURNS DONE("turns", "turn")
#define DONE_MEMORIES DONE("memories", "memory")
#define DONE_EPISODES DONE("episodes", "episode")
DB_SQL(SELECT_COUNTS, "SELECT " ALL_TURNS " + " ALL_MEMORIES " + " ALL_EPISODES
                      ", " DONE_TURNS " + " DONE_MEMORIES " + " DONE_EPISODES);

/* Run `fn` in a transaction of each tenant that holds anything. */
static enum clew_status each_tenant(struct engine *engine, struct arena *arena,
                                    bool is_write, store_fn fn, void *arg,
                                    struct clew_error *err)
{
    int64_t *tenants = NULL;
    size_t count = 0;
    enum clew_status status =
        rows_tenants(engine->store, arena, &SELECT_TENANTS, DB_NO_ARGS,
                     &tenants, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct scope scope = {tenants[i]};

        status = is_write ? store_write(engine->store, &scope, fn, arg, err)
                          : store_read(engine->store, &scope, fn, arg, err);
    }
    return status;
}

struct count_work {
    const char *model;
    struct reembed_progress sum;
};

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct count_work *work = arg;
    struct vector_progress at;
    struct db_rows rows;
    enum clew_status status = vector_progress_get(tx, work->model, &at, err);

    if (status != CLEW_OK) {
        return status;
    }
    status =
        db_query(tx, &SELECT_COUNTS, DB_ARGS(db_cstr(work->model)), &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        work->sum.n_all += db_get_int(&rows, 0);
        work->sum.n_done += db_get_int(&rows, 1);
        work->sum.n_tenants++;
        work->sum.n_ready += at.ready_at != 0;
    }
    return db_end(&rows, err);
}

enum clew_status reembed_progress(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena, const char *model,
                                  struct reembed_progress *out,
                                  struct clew_error *err)
{
    struct count_work work = {.model = model};
    enum clew_status status =
        scope ? store_read(engine->store, scope, do_count, &work, err)
              : each_tenant(engine, arena, false, do_count, &work, err);

    if (status == CLEW_OK) {
        *out = work.sum;
    }
    return status;
}

struct sum_work {
    const char *model;
    int64_t all;
    int64_t done;
};

static enum clew_status do_sum(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct sum_work *work = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SUM_CHANGES, DB_ARGS(db_cstr(work->model)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        work->all = db_get_int(&rows, 0);
        work->done = db_get_int(&rows, 1);
    }
    return db_end(&rows, err);
}

enum clew_status reembed_changes(struct engine *engine, int64_t *out_all,
                                 int64_t *out_done, struct clew_error *err)
{
    struct sum_work work = {0};
    struct model_lease model;
    enum clew_status status = CLEW_OK;

    if (model_use_chosen(engine, &model)) {
        work.model = model.id;
        status = store_read_system(engine->store, do_sum, &work, err);
        model_use_release(engine, &model);
    }
    *out_all = work.all;
    *out_done = work.done;
    return status;
}

static enum clew_status do_remove(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    return vector_remove_model(tx, arg, err);
}

enum clew_status reembed_remove(struct engine *engine, struct arena *arena,
                                const char *model, struct clew_error *err)
{
    char id[96];

    (void)snprintf(id, sizeof(id), "%s", model);
    return each_tenant(engine, arena, true, do_remove, id, err);
}
