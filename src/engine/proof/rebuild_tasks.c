/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild_tasks.c - later work that follows from the log and is not waiting.
 *
 * Ids and attempts of a task are its own; what must be there is one open task
 * per key. Only missing ones are of interest: one too many does its work again,
 * which every kind bears.
 */
#include "engine/proof/rebuild_internal.h"

#include "engine/core/rows.h"
#include "store/db.h"

#define PAGE 500

DB_SQL(SELECT_OPEN,
       "SELECT unique_key, kind, payload, priority, execute_at, created_at"
       " FROM tasks WHERE tenant = $1 AND finished_at IS NULL"
       " AND unique_key > $2 ORDER BY unique_key LIMIT $3");
DB_SQL(SELECT_KNOWN, "SELECT COUNT(*) FROM tasks WHERE tenant = $1"
                     " AND unique_key = $2"
                     " AND (finished_at IS NULL OR status = 'failed')");
DB_SQL(ADD_TASK,
       "INSERT INTO tasks (tenant, id, kind, unique_key, payload, status,"
       " priority, execute_at, attempts, created_at) VALUES ($1, $2, $3, $4,"
       " $5, 'pending', $6, $7, 0, $8)"
       " ON CONFLICT (tenant, unique_key) WHERE finished_at IS NULL"
       " DO NOTHING");

struct open_task {
    struct str key;
    struct str kind;
    struct str payload;
    int64_t priority;
    int64_t execute_at_ms;
    int64_t created_at_ms;
};

struct open_tasks {
    struct str after;
    struct rows_list list;
};

static bool task_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct open_task *out = item;

    out->priority = db_get_int(rows, 3);
    out->execute_at_ms = db_get_int(rows, 4);
    out->created_at_ms = db_get_int(rows, 5);
    return rows_text(arena, rows, 0, &out->key) &&
           rows_text(arena, rows, 1, &out->kind) &&
           rows_text(arena, rows, 2, &out->payload);
}

static enum clew_status do_open(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct open_tasks *open = arg;

    open->list.count = 0;
    return rows_add(tx, &open->list, &SELECT_OPEN,
                    DB_ARGS(db_text(open->after), db_int(PAGE)), err);
}

/* A task that follows from the log is open, or was given up for all to see. */
static enum clew_status want_task(struct rebuild *r, struct store_tx *tx,
                                  const struct open_task *task,
                                  struct clew_error *err)
{
    struct uuid id = uuid_new(task->created_at_ms);
    struct db_rows rows;
    bool is_known;
    enum clew_status status =
        db_query(tx, &SELECT_KNOWN, DB_ARGS(db_text(task->key)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    is_known = db_next(&rows) && db_get_int(&rows, 0) > 0;
    status = db_end(&rows, err);
    if (status != CLEW_OK || is_known) {
        return status;
    }
    r->report.n_tasks++;
    r->report.n_differences++;
    if (r->options->is_dry_run) {
        return CLEW_OK;
    }
    return db_exec(tx, &ADD_TASK,
                   DB_ARGS(db_uuid(&id), db_text(task->kind),
                           db_text(task->key), db_text(task->payload),
                           db_int(task->priority), db_int(task->execute_at_ms),
                           db_int(task->created_at_ms)),
                   err);
}

enum clew_status rebuild_compare_tasks(struct rebuild *r, struct store_tx *tx,
                                       struct arena *arena,
                                       struct clew_error *err)
{
    struct open_tasks open = {.after = STR(""),
                              .list = {.arena = arena,
                                       .size = sizeof(struct open_task),
                                       .fn = task_of}};
    enum clew_status status;

    do {
        const struct open_task *tasks;

        status = store_read(r->scratch.store, &r->scope, do_open, &open, err);
        tasks = open.list.items;
        for (size_t i = 0; i < open.list.count && status == CLEW_OK; i++) {
            status = want_task(r, tx, &tasks[i], err);
            open.after = tasks[i].key;
        }
    } while (status == CLEW_OK && open.list.count == PAGE);
    return status;
}
