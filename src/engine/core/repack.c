/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repack.c - plain rows become packed ones, some at a time. See repack.h.
 */
#include "engine/core/repack.h"

#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/core/trace.h"
#include "store/db.h"

#define NEXT " ORDER BY id LIMIT $2"
#define BY_ID " WHERE tenant = $1 AND id = $2 AND "
#define PLAIN_TRACE "data <> ''"
#define PLAIN_LINK "signals <> ''"
#define PLAIN_ACTION "detail <> ''"
#define PLAIN_EPISODE "citations IS NOT NULL"
#define PLAIN_UPDATE "claim_ids <> ''"
DB_SQL(SELECT_TRACES, "SELECT id, data FROM traces WHERE tenant = $1"
                      " AND " PLAIN_TRACE NEXT);
DB_SQL(DROP_TRACE, "DELETE FROM traces WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_LINKS, "SELECT id, signals FROM link_decisions WHERE tenant = $1"
                     " AND " PLAIN_LINK NEXT);
DB_SQL(PACK_LINK,
       "UPDATE link_decisions SET packed = $3, signals = ''" BY_ID PLAIN_LINK);
DB_SQL(SELECT_ACTIONS, "SELECT id, detail FROM actions WHERE tenant = $1"
                       " AND " PLAIN_ACTION NEXT);
DB_SQL(PACK_ACTION,
       "UPDATE actions SET packed = $3, detail = ''" BY_ID PLAIN_ACTION);
DB_SQL(SELECT_EPISODES, "SELECT id, citations FROM episodes WHERE tenant = $1"
                        " AND " PLAIN_EPISODE NEXT);
DB_SQL(PACK_EPISODE,
       "UPDATE episodes SET packed = $3, citations = NULL" BY_ID PLAIN_EPISODE);
DB_SQL(SELECT_UPDATES, "SELECT id, claim_ids FROM chain_updates WHERE"
                       " tenant = $1 AND " PLAIN_UPDATE NEXT);
DB_SQL(PACK_UPDATE, "UPDATE chain_updates SET packed = $3,"
                    " claim_ids = ''" BY_ID PLAIN_UPDATE);
/* Where rows are plain and no task will come for them. */
#define HAS(table, plain)                                                      \
    "EXISTS (SELECT 1 FROM " table " WHERE tenant = t.tenant AND " plain ")"
#define HAS_ANY                                                                \
    HAS("traces", PLAIN_TRACE)                                                 \
    " OR " HAS("link_decisions", PLAIN_LINK) " OR " HAS(                       \
        "actions",                                                             \
        PLAIN_ACTION) " OR " HAS("episodes",                                   \
                                 PLAIN_EPISODE) " OR " HAS("chain_updates",    \
                                                           PLAIN_UPDATE)
DB_SQL_SYSTEM(SELECT_TENANTS,
              "SELECT t.tenant FROM tenants t WHERE (" HAS_ANY ") AND NOT"
              " EXISTS (SELECT 1 FROM tasks k WHERE k.tenant = t.tenant AND"
              " k.unique_key = '" REPACK_TASK ":all' AND k.finished_at IS"
              " NULL) LIMIT $1");

/* Rows of a transaction: others wait for a moment only. */
#define PAGE 100
#define MAX_TENANTS 100000
#define ARENA_BYTES ((size_t)256 << 20)

/* Rows whose text shrinks where they are. Traces are most of a store: they are
 * written anew, so that whole pages of the file become free. */
static const struct table {
    const struct db_sql *select;
    const struct db_sql *update;
} tables[] = {
    {&SELECT_ACTIONS, &PACK_ACTION},
    {&SELECT_EPISODES, &PACK_EPISODE},
    {&SELECT_LINKS, &PACK_LINK},
    {&SELECT_UPDATES, &PACK_UPDATE},
};

struct plain {
    struct uuid id;
    struct str text;
};

struct stepping {
    struct engine *engine;
    const struct task *task;
    struct arena arena; /* of one step */
    bool is_done;
};

static bool plain_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct plain *out = item;

    out->id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &out->text);
}

/* One page of traces; how many it had. */
static enum clew_status pack_traces(struct store_tx *tx, struct arena *arena,
                                    size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct plain), .fn = plain_of};
    struct plain *traces = NULL;
    enum clew_status status =
        rows_all(tx, &list, &SELECT_TRACES, DB_ARGS(db_int(PAGE)), &traces,
                 out_count, err);

    for (size_t i = 0; status == CLEW_OK && i < *out_count; i++) {
        status = db_exec(tx, &DROP_TRACE, DB_ARGS(db_uuid(&traces[i].id)), err);
    }
    for (size_t i = 0; status == CLEW_OK && i < *out_count; i++) {
        status = trace_put(tx, &traces[i].id, traces[i].text, err);
    }
    return status;
}

/* One page of one table; how many rows it had. */
static enum clew_status pack_page(struct store_tx *tx, struct arena *arena,
                                  const struct table *table, size_t *out_count,
                                  struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct plain), .fn = plain_of};
    struct plain *rows = NULL;
    enum clew_status status = rows_all(
        tx, &list, table->select, DB_ARGS(db_int(PAGE)), &rows, out_count, err);

    for (size_t i = 0; status == CLEW_OK && i < *out_count; i++) {
        struct db_value packed;

        if (!rows_pack(arena, rows[i].text, &packed)) {
            return clew_no_memory(err);
        }
        status = db_exec(tx, table->update,
                         DB_ARGS(db_uuid(&rows[i].id), packed), err);
    }
    return status;
}

static enum clew_status add_task(struct store_tx *tx, struct arena *arena,
                                 int64_t now_ms, struct clew_error *err)
{
    struct task_new task = {.kind = REPACK_TASK,
                            .unique_key = STR("all"),
                            .payload = STR("{}"),
                            .priority = -10, /* everything else comes first */
                            .execute_at_ms = now_ms,
                            .now_ms = now_ms};

    return task_add(tx, arena, &task, err);
}

static enum clew_status do_step(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct stepping *s = arg;
    int64_t now_ms = clock_now_ms(s->engine->clock);
    size_t count = 0;
    enum clew_status status = pack_traces(tx, &s->arena, &count, err);

    s->is_done = false;
    for (size_t i = 0; status == CLEW_OK && count == 0 &&
                       i < sizeof(tables) / sizeof(tables[0]);
         i++) {
        status = pack_page(tx, &s->arena, &tables[i], &count, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    s->is_done = count == 0 || atomic_load(&s->engine->is_stopping);
    if (!s->is_done) {
        return task_extend(tx, s->task, now_ms + task_lease_ms(s->engine), err);
    }
    status = task_complete(tx, s->task, now_ms, err);
    return status == CLEW_OK && count > 0
               ? add_task(tx, &s->arena, now_ms, err) /* for the next process */
               : status;
}

enum clew_status repack_task(struct engine *engine, const struct task *task,
                             struct arena *arena, struct clew_error *err)
{
    struct stepping s = {.engine = engine, .task = task};
    enum clew_status status = CLEW_OK;

    (void)arena; /* a step's memory is freed with it */
    arena_init(&s.arena, ARENA_BYTES);
    while (status == CLEW_OK && !s.is_done) {
        status = store_write(engine->store, &task->scope, do_step, &s, err);
        arena_clear(&s.arena);
    }
    arena_release(&s.arena);
    return status;
}

struct adding {
    struct arena *arena;
    int64_t now_ms;
};

static enum clew_status do_add(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct adding *adding = arg;

    return add_task(tx, adding->arena, adding->now_ms, err);
}

enum clew_status repack_resume(struct engine *engine, struct arena *arena,
                               struct clew_error *err)
{
    struct adding adding = {.arena = arena,
                            .now_ms = clock_now_ms(engine->clock)};
    int64_t *tenants = NULL;
    size_t count = 0;
    enum clew_status status =
        rows_tenants(engine->store, arena, &SELECT_TENANTS,
                     DB_ARGS(db_int(MAX_TENANTS)), &tenants, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct scope scope = {.tenant = tenants[i]};

        status = store_write(engine->store, &scope, do_add, &adding, err);
    }
    return status;
}
