/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gist_later.c - turns once more, for their gists. See gist_later.h.
 */
#include "engine/understand/gist_later.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/read/gist.h"
#include "engine/understand/seen.h"
#include "store/db.h"

/* Talk that was read, and whether it has its gist. */
DB_SQL(SELECT_PAGE,
       "SELECT t.id, t.change_seq, CASE WHEN t.role IN ('user', 'assistant')"
       " AND NOT EXISTS (SELECT 1 FROM gists g WHERE g.tenant = $1 AND"
       " g.id = t.id AND g.model = $4) AND NOT EXISTS (SELECT 1 FROM unread u"
       " WHERE u.tenant = $1 AND u.turn_id = t.id) THEN 1 ELSE 0 END FROM"
       " turns t WHERE t.tenant = $1 AND t.change_seq > $2"
       " ORDER BY t.change_seq LIMIT $3");
DB_SQL(SELECT_TURN, "SELECT COUNT(*) FROM turns WHERE tenant = $1 AND id = $2");

/* Turns of a page: some 6 ms of a core each. */
#define PAGE 32

struct lacking {
    struct uuid id;
    int64_t change_seq;
    bool is_lacking;
    struct reader_gist gist;
};

struct stepping {
    struct engine *engine;
    const struct task *task;
    struct arena *arena;
    int64_t after;
    int64_t model;
    struct lacking *turns;
    size_t count;
};

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct lacking *out = item;

    (void)arena;
    out->id = db_get_uuid(rows, 0);
    out->change_seq = db_get_int(rows, 1);
    out->is_lacking = db_get_int(rows, 2) != 0;
    return true;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct stepping *s = arg;
    struct rows_list list = {
        .arena = s->arena, .size = sizeof(struct lacking), .fn = row_of};

    return rows_all(tx, &list, &SELECT_PAGE,
                    DB_ARGS(db_int(s->after), db_int(PAGE), db_int(s->model)),
                    &s->turns, &s->count, err);
}

/* What the reader makes of each; one that is forgotten meanwhile has none. */
static enum clew_status look(struct stepping *s, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < s->count && status == CLEW_OK; i++) {
        struct seen seen;

        if (s->turns[i].is_lacking) {
            status = seen_get(s->engine, &s->task->scope, s->arena,
                              &s->turns[i].id, &seen, err);
            s->turns[i].gist = seen.gist;
            status = status == CLEW_NOT_FOUND ? CLEW_OK : status;
        }
    }
    return status;
}

static enum clew_status put(struct store_tx *tx, const struct stepping *s,
                            const struct lacking *turn, struct clew_error *err)
{
    struct gist gist = {.id = turn->id, .place = turn->gist.at};
    int64_t is_there = 0;
    enum clew_status status = rows_number(
        tx, &SELECT_TURN, DB_ARGS(db_uuid(&turn->id)), &is_there, err);

    if (status != CLEW_OK || !is_there) {
        return status;
    }
    status = db_take_changes(tx, 1, &gist.change_seq, err);
    return status == CLEW_OK ? gist_put(tx, &gist, s->model, err) : status;
}

static enum clew_status do_step(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    const struct stepping *s = arg;
    int64_t now_ms = clock_now_ms(s->engine->clock);
    struct task_new next = {.kind = GIST_TASK,
                            .unique_key = STR("all"),
                            .priority = -10, /* everything else comes first */
                            .execute_at_ms = now_ms,
                            .now_ms = now_ms};
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < s->count && status == CLEW_OK; i++) {
        if (s->turns[i].gist.is_known) {
            status = put(tx, s, &s->turns[i], err);
        }
    }
    if (status == CLEW_OK) {
        status = task_remove(tx, s->task, err);
    }
    if (status != CLEW_OK || s->count < PAGE) {
        return status;
    }
    next.payload =
        str_of(arena_printf(s->arena, "{\"after\":%lld}",
                            (long long)s->turns[s->count - 1].change_seq));
    return next.payload.s ? task_add(tx, s->arena, &next, err)
                          : clew_no_memory(err);
}

enum clew_status gist_later_task(struct engine *engine, const struct task *task,
                                 struct arena *arena, struct clew_error *err)
{
    struct stepping s = {.engine = engine,
                         .task = task,
                         .arena = arena,
                         .model = gist_model(engine)};
    json_t *payload = NULL;
    enum clew_status status = json_parse(task->payload, &payload, err);

    if (status == CLEW_OK) {
        status = json_get_int(payload, "after", JSON_OPTIONAL, 0, INT64_MAX,
                              &s.after, err);
    }
    json_decref(payload);
    if (status == CLEW_OK && s.model != 0) {
        status = store_read(engine->store, &task->scope, do_list, &s, err);
    }
    if (status == CLEW_OK) {
        status = look(&s, err);
    }
    return status == CLEW_OK
               ? store_write(engine->store, &task->scope, do_step, &s, err)
               : status;
}
