/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_end.c - what follows when a session ends. See chain.h.
 *
 * A day after the end the chains that nobody came back to go dormant: one task
 * a session looks at all of them. What came of the session is summed up at once
 * (episode/session_sum.h). Turns may be read after their session has ended, one
 * by one: each asks for the same task, which is put off for a moment where its
 * time is over, so that it comes once for all of them.
 */
#include "engine/topic/chain.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <string.h>

DB_SQL(DROP_ASKED, "DELETE FROM tasks WHERE tenant = $1 AND unique_key = $2"
                   " AND finished_at IS NULL");

/* --- asking for it ----------------------------------------------------------
 */

enum clew_status chain_rest_later(struct store_tx *tx, struct arena *arena,
                                  const struct session *session, int64_t now_ms,
                                  struct clew_error *err)
{
    int64_t due_ms = session->ended_at_ms + CHAIN_DORMANT_MS;
    int64_t soonest_ms = now_ms + SESSION_GRACE_MS;
    struct task_new task = {.kind = CHAIN_REST_TASK,
                            .execute_at_ms =
                                due_ms > now_ms ? due_ms : soonest_ms,
                            .now_ms = now_ms};

    return task_add_about(tx, arena, &task, "session_id", &session->id, err);
}

static enum clew_status add_summary(struct store_tx *tx, struct arena *arena,
                                    const struct session *session,
                                    int64_t now_ms, struct clew_error *err)
{
    struct task_new task = {.kind = SESSION_SUM_TASK,
                            .execute_at_ms = session->ended_at_ms,
                            .now_ms = now_ms};

    return task_add_about(tx, arena, &task, "session_id", &session->id, err);
}

enum clew_status chain_session_ended(struct store_tx *tx, struct arena *arena,
                                     const struct session *session,
                                     int64_t now_ms, struct clew_error *err)
{
    struct chain *chains = NULL;
    size_t count = 0;
    enum clew_status status =
        chain_list_open(tx, arena, &session->id, &chains, &count, err);

    if (status == CLEW_OK && count > 0) {
        status = chain_rest_later(tx, arena, session, now_ms, err);
    }
    return status == CLEW_OK ? add_summary(tx, arena, session, now_ms, err)
                             : status;
}

/* --- doing it ---------------------------------------------------------------
 */

struct check_work {
    struct engine *engine;
    struct arena *arena;
    const struct task *task;
    struct uuid session_id;
    struct uuid chain_id; /* an earlier version's, which asked for each chain */
    int64_t last_extended_at_ms;
    int64_t ended_at_ms;
    int64_t now_ms;
};

static enum clew_status rest(struct store_tx *tx, struct chain *chain,
                             struct clew_error *err)
{
    enum clew_status status;

    chain->phase = CHAIN_DORMANT;
    status = chain_update_row(tx, chain, err);
    return status == CLEW_OK ? chain_add_terms(tx, chain, err) : status;
}

static enum clew_status do_check(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct check_work *work = arg;
    struct session session;
    struct chain *chains = NULL;
    size_t count = 0;
    int64_t due_ms;
    enum clew_status status =
        session_find(tx, work->arena, &work->session_id, &session, err);

    if (status == CLEW_NOT_FOUND ||
        (status == CLEW_OK && session.ended_at_ms == 0)) {
        /* forgotten, or gone on with: its end asks again */
        return task_complete_noted(tx, work->task, NULL, work->now_ms, err);
    }
    due_ms = status == CLEW_OK ? session.ended_at_ms + CHAIN_DORMANT_MS : 0;
    /* gone on with and ended later; a replay has the times of its log */
    if (status == CLEW_OK && due_ms > work->now_ms && !work->engine->replay) {
        return task_put_off(tx, work->task, due_ms, err);
    }
    if (status == CLEW_OK) {
        status =
            chain_list_open(tx, work->arena, &session.id, &chains, &count, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = rest(tx, &chains[i], err);
    }
    return status == CLEW_OK
               ? task_complete_noted(tx, work->task, NULL, work->now_ms, err)
               : status;
}

/* In a replay the end of the session asked for one task where this log has one
 * for each chain: it is done with the first of them. */
static enum clew_status drop_asked(struct store_tx *tx,
                                   const struct check_work *work,
                                   struct clew_error *err)
{
    struct str key = work->task->unique_key;
    const char *slash = key.s ? memchr(key.s, '/', key.len) : NULL;
    const char *asked =
        slash ? arena_printf(work->arena, CHAIN_REST_TASK ":%.*s",
                             (int)(key.len - (size_t)(slash + 1 - key.s)),
                             slash + 1)
              : NULL;

    return work->engine->replay && asked
               ? db_exec(tx, &DROP_ASKED, DB_ARGS(db_cstr(asked)), err)
               : CLEW_OK;
}

static enum clew_status do_check_one(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    struct check_work *work = arg;
    struct chain chain;
    enum clew_status status =
        chain_find(tx, work->arena, &work->chain_id, &chain, err);

    if (status == CLEW_OK && chain.phase == CHAIN_ACTIVE &&
        (chain.last_extended_at_ms == work->last_extended_at_ms ||
         chain.last_extended_at_ms <= work->ended_at_ms)) {
        status = rest(tx, &chain, err);
    }
    if (status == CLEW_OK || status == CLEW_NOT_FOUND) {
        status = drop_asked(tx, work, err);
    }
    return status == CLEW_OK
               ? task_complete_noted(tx, work->task, NULL, work->now_ms, err)
               : status;
}

/* What an earlier version asked of one chain. */
static enum clew_status read_one(const json_t *payload, struct check_work *work,
                                 struct clew_error *err)
{
    enum clew_status status =
        json_get_uuid(payload, "chain_id", JSON_REQUIRED, &work->chain_id, err);

    if (status == CLEW_OK) {
        status =
            json_get_int(payload, "last_extended_at", JSON_REQUIRED, INT64_MIN,
                         INT64_MAX, &work->last_extended_at_ms, err);
    }
    return status == CLEW_OK
               ? json_get_int(payload, "ended_at", JSON_OPTIONAL, INT64_MIN,
                              INT64_MAX, &work->ended_at_ms, err)
               : status;
}

enum clew_status chain_check_dormancy(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err)
{
    struct check_work work = {.engine = engine,
                              .arena = arena,
                              .task = task,
                              .ended_at_ms = INT64_MIN,
                              .now_ms = clock_now_ms(engine->clock)};
    json_t *payload = NULL;
    enum clew_status status = json_parse(task->payload, &payload, err);

    if (status == CLEW_OK) {
        status = json_get_uuid(payload, "session_id", JSON_OPTIONAL,
                               &work.session_id, err);
    }
    if (status == CLEW_OK && uuid_is_nil(&work.session_id)) {
        status = read_one(payload, &work, err);
    }
    json_decref(payload);
    if (status != CLEW_OK) {
        return status;
    }
    return store_write(engine->store, &task->scope,
                       uuid_is_nil(&work.session_id) ? do_check_one : do_check,
                       &work, err);
}
