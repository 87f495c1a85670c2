/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - rows of the sessions table. See session.h.
 */
#include "engine/chat/session.h"

#include "base/clock.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "store/db.h"

#define COLUMNS "id, chat_id, user_id, started_at, last_activity_at, ended_at"

DB_SQL(SELECT_OPEN, "SELECT " COLUMNS " FROM sessions WHERE tenant = $1"
                    " AND chat_id = ANY($2) AND ended_at IS NULL");
DB_SQL(SELECT_ONE,
       "SELECT " COLUMNS " FROM sessions WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_LAST, "SELECT " COLUMNS " FROM sessions WHERE tenant = $1"
                    " AND chat_id = $2 ORDER BY started_at DESC, id DESC"
                    " LIMIT 1");
DB_SQL(SELECT_BY_HAND, "SELECT 1 FROM actions WHERE tenant = $1"
                       " AND subject = $2" ACTION_BY_SUBJECT
                       " AND kind = '" ACTION_SESSION_END "' LIMIT 1");
DB_SQL(SELECT_CHAT,
       "SELECT s.id, s.chat_id, s.user_id, s.started_at, s.last_activity_at,"
       " s.ended_at, y.packed, y.summary FROM sessions s"
       " LEFT JOIN session_summaries y"
       " ON y.tenant = s.tenant AND y.session_id = s.id WHERE s.tenant = $1"
       " AND s.chat_id = $2 AND (s.started_at > $3 OR (s.started_at = $3"
       " AND s.id > $4)) ORDER BY s.started_at, s.id LIMIT $5");
DB_SQL(INSERT, "INSERT INTO sessions (tenant, " COLUMNS ")"
               " VALUES ($1, $2, $3, $4, $5, $6, $7)");
DB_SQL(UPDATE, "UPDATE sessions SET last_activity_at = $3, ended_at = $4"
               " WHERE tenant = $1 AND id = $2");

/* Whose open sessions nobody looks after: of many tenants hardly any. */
DB_SQL_SYSTEM(SELECT_TENANTS,
              "SELECT t.tenant FROM tenants t WHERE EXISTS (SELECT 1 FROM"
              " sessions s WHERE s.tenant = t.tenant AND s.ended_at IS NULL)"
              " AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.tenant ="
              " t.tenant AND k.finished_at IS NULL"
              " AND k.unique_key >= '" SESSION_TIMEOUT_TASK ":'"
              " AND k.unique_key < '" SESSION_TIMEOUT_TASK ";')"
              " ORDER BY t.tenant");
/* Open ones, unless any is looked after: then all are. */
DB_SQL(SELECT_UNWATCHED,
       "SELECT " COLUMNS " FROM sessions WHERE tenant = $1"
       " AND ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM tasks"
       " WHERE tenant = $1 AND finished_at IS NULL"
       " AND unique_key >= '" SESSION_TIMEOUT_TASK ":'"
       " AND unique_key < '" SESSION_TIMEOUT_TASK ";')"
       " ORDER BY last_activity_at LIMIT $2");

/* Sessions of an older store that are taken up at once. */
#define MAX_RESUMED 100000

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct session *out = item;

    out->id = db_get_uuid(rows, 0);
    out->chat_id = db_get_uuid(rows, 1);
    out->started_at_ms = db_get_int(rows, 3);
    out->last_activity_at_ms = db_get_int(rows, 4);
    out->ended_at_ms = db_get_int(rows, 5);
    return rows_text(arena, rows, 2, &out->user_id);
}

enum clew_status session_find_open(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_ids, size_t count,
                                   struct session **out_sessions,
                                   size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct session), .fn = row_of};

    return rows_all(tx, &list, &SELECT_OPEN, DB_ARGS(db_uuids(chat_ids, count)),
                    out_sessions, out_count, err);
}

enum clew_status session_find(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id,
                              struct session *out_session,
                              struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(id)), row_of,
                    out_session, sizeof(*out_session), "session", err);
}

enum clew_status session_find_last(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_id,
                                   struct session *out_session,
                                   struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_LAST, DB_ARGS(db_uuid(chat_id)), row_of,
                    out_session, sizeof(*out_session), "session", err);
}

enum clew_status session_is_timed_out(struct store_tx *tx,
                                      const struct session *session,
                                      bool *out_is, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status;
    bool is_by_hand;

    if (session->ended_at_ms == 0 ||
        session->ended_at_ms != session->last_activity_at_ms) {
        *out_is = false;
        return CLEW_OK;
    }
    /* a person may have ended it at its last word */
    status = db_query(tx, &SELECT_BY_HAND, DB_ARGS(db_uuid(&session->id)),
                      &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    is_by_hand = db_next(&rows);
    status = db_end(&rows, err);
    if (status == CLEW_OK) {
        *out_is = !is_by_hand;
    }
    return status;
}

int64_t session_watch_at_ms(int64_t over_ms, int64_t now_ms)
{
    int64_t soonest_ms = now_ms + SESSION_GRACE_MS;

    /* silence must be longer than the timeout */
    return over_ms >= soonest_ms ? over_ms + 1 : soonest_ms;
}

enum clew_status session_watch(struct store_tx *tx, struct arena *arena,
                               const struct session *session, int64_t over_ms,
                               int64_t now_ms, struct clew_error *err)
{
    struct task_new task = {.kind = SESSION_TIMEOUT_TASK,
                            .execute_at_ms =
                                session_watch_at_ms(over_ms, now_ms),
                            .now_ms = now_ms};

    return task_add_about(tx, arena, &task, "session_id", &session->id, err);
}

enum clew_status session_insert(struct store_tx *tx,
                                const struct session *session,
                                struct clew_error *err)
{
    return db_exec(tx, &INSERT,
                   DB_ARGS(db_uuid(&session->id), db_uuid(&session->chat_id),
                           db_text(session->user_id),
                           db_int(session->started_at_ms),
                           db_int(session->last_activity_at_ms),
                           rows_int_or_null(session->ended_at_ms)),
                   err);
}

enum clew_status session_update(struct store_tx *tx,
                                const struct session *session,
                                struct clew_error *err)
{
    return db_exec(tx, &UPDATE,
                   DB_ARGS(db_uuid(&session->id),
                           db_int(session->last_activity_at_ms),
                           rows_int_or_null(session->ended_at_ms)),
                   err);
}

struct list_work {
    struct arena *arena;
    const struct uuid *chat_id;
    int64_t after_ms;
    const struct uuid *after_id;
    int64_t limit;
    struct rows_list list;
};

static bool view_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct session_view *out = item;

    return row_of(arena, rows, &out->session) &&
           rows_packed(arena, rows, 6, 7, &out->summary);
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct list_work *work = arg;
    struct db_value after = db_bytes(work->after_id->b, 16);

    after.type = DB_UUID; /* the nil id is a value here, not NULL */
    work->list = (struct rows_list){.arena = work->arena,
                                    .size = sizeof(struct session_view),
                                    .fn = view_of};
    return rows_add(tx, &work->list, &SELECT_CHAT,
                    DB_ARGS(db_uuid(work->chat_id), db_int(work->after_ms),
                            after, db_int(work->limit)),
                    err);
}

enum clew_status session_list(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *chat_id,
                              int64_t after_ms, const struct uuid *after_id,
                              int64_t limit, struct session_view **out,
                              size_t *out_count, struct clew_error *err)
{
    struct list_work work = {.arena = arena,
                             .chat_id = chat_id,
                             .after_ms = after_ms,
                             .after_id = after_id,
                             .limit = limit};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out = work.list.items;
        *out_count = work.list.count;
    }
    return status;
}

/* --- sessions that nobody looks after --------------------------------------
 */

struct resume_work {
    struct arena *arena;
    int64_t now_ms;
};

static enum clew_status do_resume(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct resume_work *work = arg;
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct session), .fn = row_of};
    struct session *sessions = NULL;
    size_t count = 0;
    enum clew_status status =
        rows_all(tx, &list, &SELECT_UNWATCHED, DB_ARGS(db_int(MAX_RESUMED)),
                 &sessions, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status =
            session_watch(tx, work->arena, &sessions[i],
                          sessions[i].last_activity_at_ms, work->now_ms, err);
    }
    return status;
}

enum clew_status session_resume(struct engine *engine, struct arena *arena,
                                struct clew_error *err)
{
    struct resume_work work = {.arena = arena,
                               .now_ms = clock_now_ms(engine->clock)};
    int64_t *tenants = NULL;
    size_t count = 0;
    enum clew_status status =
        rows_tenants(engine->store, arena, &SELECT_TENANTS, DB_NO_ARGS,
                     &tenants, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct scope scope = {.tenant = tenants[i]};

        status = store_write(engine->store, &scope, do_resume, &work, err);
    }
    return status;
}
