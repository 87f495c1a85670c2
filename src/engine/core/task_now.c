/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_now.c - one task by its key, before its time. See task.h.
 */
#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "store/db.h"

DB_SQL(WAKE, "UPDATE tasks SET execute_at = $3 WHERE tenant = $1"
             " AND unique_key = $2 AND finished_at IS NULL"
             " AND status = 'pending'");
DB_SQL(SELECT_OPEN, "SELECT id, payload, attempts FROM tasks"
                    " WHERE tenant = $1 AND unique_key = $2"
                    " AND finished_at IS NULL AND attempts < $4"
                    " AND (lease_until IS NULL OR lease_until <= $3)");
DB_SQL(COUNT_DUE, "SELECT COUNT(*) FROM tasks WHERE tenant = $1"
                  " AND unique_key = $2 AND finished_at IS NULL"
                  " AND (execute_at <= $3 OR lease_until > $3)");
/* Unless a worker took it since. */
DB_SQL(CLAIM, "UPDATE tasks SET status = 'running', attempts = attempts + 1,"
              " lease_until = $5 WHERE tenant = $1 AND id = $2"
              " AND attempts = $3 AND finished_at IS NULL"
              " AND (lease_until IS NULL OR lease_until <= $4)");

struct str task_key(struct arena *arena, const struct uuid *id, int64_t seq)
{
    char text[UUID_TEXT_SIZE];
    const char *key;

    uuid_format(id, text);
    key = arena_printf(arena, "%s:%lld", text, (long long)seq);
    return key ? str_of(key) : (struct str){NULL, 0};
}

int64_t task_key_seq(struct str key)
{
    int64_t seq = 0;
    size_t at = key.len;

    while (at > 0 && key.s[at - 1] != ':') {
        at--;
    }
    for (; at < key.len && key.s[at] >= '0' && key.s[at] <= '9' &&
           seq < INT64_MAX / 100;
         at++) {
        seq = seq * 10 + (key.s[at] - '0');
    }
    return seq;
}

/* As task_add() makes it; s == NULL without memory. */
static struct str key_of(struct arena *arena, const char *kind,
                         struct str unique_key)
{
    const char *key =
        arena_printf(arena, "%s:%.*s", kind, (int)unique_key.len, unique_key.s);

    return key ? str_of(key) : (struct str){NULL, 0};
}

enum clew_status task_wake(struct store_tx *tx, struct arena *arena,
                           const char *kind, struct str unique_key,
                           int64_t execute_at_ms, bool *out_found,
                           struct clew_error *err)
{
    struct str key = key_of(arena, kind, unique_key);
    int64_t count = 0;
    enum clew_status status =
        key.s ? db_exec_count(tx, &WAKE,
                              DB_ARGS(db_text(key), db_int(execute_at_ms)),
                              &count, err)
              : clew_no_memory(err);

    *out_found = count > 0;
    return status;
}

enum clew_status task_is_due(struct store_tx *tx, struct arena *arena,
                             const char *kind, struct str unique_key,
                             int64_t now_ms, bool *out_due,
                             struct clew_error *err)
{
    struct str key = key_of(arena, kind, unique_key);
    int64_t count = 0;
    enum clew_status status =
        key.s ? rows_number(tx, &COUNT_DUE,
                            DB_ARGS(db_text(key), db_int(now_ms)), &count, err)
              : clew_no_memory(err);

    *out_due = count > 0;
    return status;
}

struct claiming {
    struct engine *engine;
    struct arena *arena;
    struct task task;
    int64_t now_ms;
    bool is_claimed;
};

static bool open_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct task *out = item;

    out->id = db_get_uuid(rows, 0);
    out->attempts = db_get_int(rows, 2);
    return rows_text(arena, rows, 1, &out->payload);
}

static enum clew_status do_claim(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct claiming *c = arg;
    struct rows_list list = {
        .arena = c->arena, .size = sizeof(struct task), .fn = open_of};
    int64_t until_ms = c->now_ms + task_lease_ms(c->engine);
    int64_t count = 0;
    enum clew_status status =
        rows_add(tx, &list, &SELECT_OPEN,
                 DB_ARGS(db_text(c->task.unique_key), db_int(c->now_ms),
                         db_int(TASK_MAX_ATTEMPTS)),
                 err);

    if (status == CLEW_OK && list.count > 0) {
        const struct task *found = list.items;

        c->task.id = found->id;
        c->task.payload = found->payload;
        c->task.attempts = found->attempts + 1;
        status =
            db_exec_count(tx, &CLAIM,
                          DB_ARGS(db_uuid(&found->id), db_int(found->attempts),
                                  db_int(c->now_ms), db_int(until_ms)),
                          &count, err);
    }
    c->is_claimed = count > 0;
    return status;
}

enum clew_status task_do_now(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const char *kind,
                             struct str unique_key, task_fn fn,
                             struct clew_error *err)
{
    struct claiming c = {
        .engine = engine,
        .arena = arena,
        .task = {.scope = *scope,
                 .kind = str_of(kind),
                 .unique_key = key_of(arena, kind, unique_key)},
        .now_ms = clock_now_ms(engine->clock)};
    struct clew_error failure = {.status = CLEW_OK};
    enum clew_status status =
        c.task.unique_key.s
            ? store_write(engine->store, scope, do_claim, &c, err)
            : clew_no_memory(err);

    if (status != CLEW_OK || !c.is_claimed) {
        return status;
    }
    status = fn(engine, &c.task, arena, &failure);
    return task_settle(engine, &c.task, status, failure.message,
                       clock_now_ms(engine->clock), err);
}
