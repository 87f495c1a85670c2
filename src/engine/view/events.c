/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - what happened since one last looked. See events.h.
 */
#include "engine/view/events.h"

#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/core/forgotten.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "store/db.h"

#include <stdlib.h>

/* Rows with a time are told this much later, so that none that is still being
 * committed is passed by. */
#define SETTLE_MS 250
/* So many of them at once, and what else has the time of the last: a mark says
 * no more than that. The recorder stores 64 at a time. */
#define MAX_TIMED 200
#define MOST_TIMED "500"

DB_SQL(LAST, "SELECT change_seq FROM tenants WHERE tenant = $1");
/* kind of row, id, chat, what, status, user, seq, time, change number */
DB_SQL(TURNS, "SELECT 0, id, chat_id, role, NULL, user_id, seq, stored_at,"
              " change_seq FROM turns WHERE tenant = $1 AND change_seq > $2"
              " AND change_seq <= $3");
DB_SQL(MEMORIES,
       "SELECT CASE WHEN type = 'effort' THEN 2 ELSE 1 END, id, chat_id, type,"
       " CASE WHEN retracted_at IS NULL THEN status ELSE 'retracted' END,"
       " user_id, 0, updated_at, change_seq FROM memories WHERE tenant = $1"
       " AND change_seq > $2 AND change_seq <= $3");
DB_SQL(TOMBSTONES, "SELECT 4, id, NULL, kind, NULL, NULL, 0, created_at,"
                   " change_seq FROM tombstones WHERE tenant = $1"
                   " AND change_seq > $2 AND change_seq <= $3"
                   " AND kind NOT IN ('chat', '" FORGOTTEN_KIND
                   "')"); /* told by its turns */
DB_SQL(CALLS, "SELECT 3, id, chat_id, COALESCE(model, ''),"
              " CASE WHEN error IS NULL THEN NULL ELSE 'failed' END, user_id,"
              " 0, stored_at, 0 FROM requests WHERE tenant = $1"
              " AND stored_at > $2 AND stored_at <= COALESCE((SELECT stored_at"
              " FROM requests WHERE tenant = $1 AND stored_at > $2"
              " AND stored_at <= $3 ORDER BY stored_at LIMIT 1 OFFSET $4), $3)"
              " ORDER BY stored_at LIMIT " MOST_TIMED);
DB_SQL(FAILED, "SELECT 5, id, NULL, kind, status, NULL, 0, finished_at, 0"
               " FROM tasks WHERE tenant = $1" TASK_FAILED
               " AND finished_at > $2 AND finished_at <= COALESCE((SELECT"
               " finished_at FROM tasks WHERE tenant = $1" TASK_FAILED
               " AND finished_at > $2 AND finished_at <= $3"
               " ORDER BY finished_at LIMIT 1 OFFSET $4), $3)"
               " ORDER BY finished_at LIMIT " MOST_TIMED);

static const char *const names[] = {
    "turn", "memory", "effort", "call", "forgotten", "task_failed", "missed"};

const char *event_kind_name(enum event_kind kind)
{
    return names[kind];
}

struct work {
    struct engine *engine;
    struct arena *arena;
    struct events_mark mark;
    struct event *events;
    size_t count;
};

static enum clew_status last_change(struct store_tx *tx, int64_t *out,
                                    struct clew_error *err)
{
    return rows_number(tx, &LAST, DB_NO_ARGS, out, err);
}

static enum clew_status do_now(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;

    work->mark.stored_ms = clock_now_ms(work->engine->clock) - SETTLE_MS;
    work->mark.failed_ms = work->mark.stored_ms;
    return last_change(tx, &work->mark.change_seq, err);
}

enum clew_status events_now(struct engine *engine, const struct scope *scope,
                            struct events_mark *out, struct clew_error *err)
{
    struct work work = {.engine = engine};
    enum clew_status status =
        store_read(engine->store, scope, do_now, &work, err);

    if (status == CLEW_OK) {
        *out = work.mark;
    }
    return status;
}

static bool event_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct event *out = item;

    out->kind = (enum event_kind)db_get_int(rows, 0);
    out->id = db_get_uuid(rows, 1);
    out->chat_id = db_get_uuid(rows, 2);
    out->seq = db_get_int(rows, 6);
    out->at_ms = db_get_int(rows, 7);
    out->mark.change_seq = db_get_int(rows, 8);
    return rows_text(arena, rows, 3, &out->what) &&
           rows_text(arena, rows, 4, &out->status) &&
           rows_text(arena, rows, 5, &out->user_id);
}

/* Changes in their order, what has only a time after them. */
static int compare(const void *a, const void *b)
{
    const struct event *x = a;
    const struct event *y = b;
    int64_t p = x->mark.change_seq ? x->mark.change_seq : INT64_MAX;
    int64_t q = y->mark.change_seq ? y->mark.change_seq : INT64_MAX;

    if (p == q) {
        p = x->at_ms;
        q = y->at_ms;
    }
    return (p > q) - (p < q);
}

/* Is there another of this kind, and of this moment, after it? */
static bool has_peer(const struct work *work, size_t i)
{
    const struct event *event = &work->events[i];

    for (size_t k = i + 1; k < work->count; k++) {
        if (work->events[k].at_ms != event->at_ms) {
            break;
        }
        if (work->events[k].kind == event->kind) {
            return true;
        }
    }
    return false;
}

/* Each event says where to go on after it. Whoever goes on amid those of one
 * moment hears them again: better than not at all. */
static void set_marks(struct work *work, int64_t through)
{
    struct events_mark mark = work->mark;

    for (size_t i = 0; i < work->count; i++) {
        struct event *event = &work->events[i];

        if (event->mark.change_seq) {
            mark.change_seq = event->mark.change_seq;
        } else {
            mark.change_seq = through;
            if (has_peer(work, i)) {
                /* not yet */
            } else if (event->kind == EVENT_CALL) {
                mark.stored_ms = event->at_ms;
            } else {
                mark.failed_ms = event->at_ms;
            }
        }
        event->mark = mark;
    }
    mark.change_seq = through;
    work->mark = mark;
}

static enum clew_status read_changes(struct store_tx *tx,
                                     const struct work *work, int64_t through,
                                     struct rows_list *list,
                                     struct clew_error *err)
{
    static const struct db_sql *const sqls[] = {&TURNS, &MEMORIES, &TOMBSTONES};
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < 3 && status == CLEW_OK && through > work->mark.change_seq; i++) {
        status = rows_add(
            tx, list, sqls[i],
            DB_ARGS(db_int(work->mark.change_seq), db_int(through)), err);
    }
    return status;
}

/* Too much to tell: one event says so. */
static enum clew_status skip(struct work *work, int64_t last,
                             struct clew_error *err)
{
    work->events = arena_zero(work->arena, 1, sizeof(*work->events));
    if (!work->events) {
        return clew_no_memory(err);
    }
    work->count = 1;
    work->mark.change_seq = last;
    work->events[0] = (struct event){
        .kind = EVENT_MISSED, .what = STR("changes"), .mark = work->mark};
    return CLEW_OK;
}

static enum clew_status do_after(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct event), .fn = event_of};
    int64_t until = clock_now_ms(work->engine->clock) - SETTLE_MS;
    int64_t last = 0;
    int64_t through;
    enum clew_status status = last_change(tx, &last, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (last - work->mark.change_seq > EVENTS_MAX_BEHIND) {
        return skip(work, last, err);
    }
    through = last - work->mark.change_seq > EVENTS_STEP
                  ? work->mark.change_seq + EVENTS_STEP
                  : last;
    status = read_changes(tx, work, through, &list, err);
    if (status == CLEW_OK) {
        status = rows_add(tx, &list, &CALLS,
                          DB_ARGS(db_int(work->mark.stored_ms), db_int(until),
                                  db_int(MAX_TIMED - 1)),
                          err);
    }
    if (status == CLEW_OK) {
        status = rows_add(tx, &list, &FAILED,
                          DB_ARGS(db_int(work->mark.failed_ms), db_int(until),
                                  db_int(MAX_TIMED - 1)),
                          err);
    }
    if (status == CLEW_OK) {
        work->events = list.items;
        work->count = list.count;
        if (list.count > 1) {
            qsort(list.items, list.count, sizeof(struct event), compare);
        }
        set_marks(work, through > work->mark.change_seq
                            ? through
                            : work->mark.change_seq);
    }
    return status;
}

enum clew_status events_after(struct engine *engine, const struct scope *scope,
                              struct arena *arena, struct events_mark *mark,
                              struct event **out, size_t *out_count,
                              struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .mark = *mark};
    enum clew_status status =
        store_read(engine->store, scope, do_after, &work, err);

    if (status == CLEW_OK) {
        *mark = work.mark;
        *out = work.events;
        *out_count = work.count;
    }
    return status;
}
