/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - rows of the sessions table. See session.h.
 */
#include "engine/session.h"

#include "base/clock.h"
#include "engine/action.h"
#include "engine/chain.h"
#include "engine/engine.h"
#include "engine/rows.h"
#include "store/db.h"

#define COLUMNS "id, chat_id, user_id, started_at, last_activity_at, ended_at"

DB_SQL(SELECT_OPEN, "SELECT " COLUMNS " FROM sessions WHERE tenant = $1"
                    " AND chat_id = ANY($2) AND ended_at IS NULL");
DB_SQL(SELECT_ONE,
       "SELECT " COLUMNS " FROM sessions WHERE tenant = $1 AND id = $2");
DB_SQL(INSERT, "INSERT INTO sessions (tenant, " COLUMNS ")"
               " VALUES ($1, $2, $3, $4, $5, $6, $7)");
DB_SQL(UPDATE, "UPDATE sessions SET last_activity_at = $3, ended_at = $4"
               " WHERE tenant = $1 AND id = $2");

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
    enum clew_status status = rows_add(tx, &list, &SELECT_OPEN,
                                       DB_ARGS(db_uuids(chat_ids, count)), err);

    if (status == CLEW_OK) {
        *out_sessions = list.items;
        *out_count = list.count;
    }
    return status;
}

enum clew_status session_find(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id,
                              struct session *out_session,
                              struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(id)), row_of,
                    out_session, sizeof(*out_session), "session", err);
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

struct end_work {
    struct arena *arena;
    const struct uuid *id;
    int64_t now_ms;
    struct session session;
};

static enum clew_status do_end(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct end_work *work = arg;
    enum clew_status status =
        session_find(tx, work->arena, work->id, &work->session, err);

    if (status != CLEW_OK || work->session.ended_at_ms != 0) {
        return status;
    }
    work->session.ended_at_ms = work->now_ms;
    status = session_update(tx, &work->session, err);
    if (status == CLEW_OK) {
        status = chain_session_ended(tx, work->arena, &work->session,
                                     work->now_ms, err);
    }
    if (status == CLEW_OK) {
        struct action_new action = {.kind = ACTION_SESSION_END,
                                    .subject = work->id,
                                    .at_ms = work->now_ms};

        status = action_add(tx, &action, err);
    }
    return status;
}

enum clew_status session_end(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             struct session *out_session,
                             struct clew_error *err)
{
    struct end_work work = {
        .arena = arena, .id = id, .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status =
        store_write(engine->store, scope, do_end, &work, err);

    if (status == CLEW_OK) {
        *out_session = work.session;
    }
    return status;
}
