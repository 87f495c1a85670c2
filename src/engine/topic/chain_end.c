/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_end.c - what follows when a session ends. See chain.h.
 *
 * A day after the end each chain that nobody came back to goes dormant; what
 * came of the session is summed up at once (episode/session_sum.h). Turns may
 * be read after their session has ended: a chain that has the same session's
 * turns since the check was asked for is not one that somebody came back to.
 */
#include "engine/topic/chain.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

/* --- asking for it ----------------------------------------------------------
 */

enum clew_status chain_rest_later(struct store_tx *tx, struct arena *arena,
                                  const struct session *session,
                                  const struct chain *chain, int64_t now_ms,
                                  struct clew_error *err)
{
    char chain_id[UUID_TEXT_SIZE];
    char session_id[UUID_TEXT_SIZE];
    struct task_new task = {.kind = "check_chain_dormancy",
                            .execute_at_ms =
                                session->ended_at_ms + CHAIN_DORMANT_MS,
                            .now_ms = now_ms};
    const char *key;
    const char *payload;

    uuid_format(&chain->id, chain_id);
    uuid_format(&session->id, session_id);
    key = arena_printf(arena, "%s/%s", chain_id, session_id);
    payload = arena_printf(arena,
                           "{\"chain_id\":\"%s\",\"last_extended_at\":%lld,"
                           "\"ended_at\":%lld}",
                           chain_id, (long long)chain->last_extended_at_ms,
                           (long long)session->ended_at_ms);
    if (!key || !payload) {
        return clew_no_memory(err);
    }
    task.unique_key = str_of(key);
    task.payload = str_of(payload);
    return task_add(tx, arena, &task, err);
}

static enum clew_status add_summary(struct store_tx *tx, struct arena *arena,
                                    const struct session *session,
                                    int64_t now_ms, struct clew_error *err)
{
    char id[UUID_TEXT_SIZE];
    struct task_new task = {.kind = "generate_session_summary",
                            .execute_at_ms = session->ended_at_ms,
                            .now_ms = now_ms};
    const char *payload;

    uuid_format(&session->id, id);
    payload = arena_printf(arena, "{\"session_id\":\"%s\"}", id);
    if (!payload) {
        return clew_no_memory(err);
    }
    task.unique_key = str_of(id);
    task.payload = str_of(payload);
    return task_add(tx, arena, &task, err);
}

enum clew_status chain_session_ended(struct store_tx *tx, struct arena *arena,
                                     const struct session *session,
                                     int64_t now_ms, struct clew_error *err)
{
    struct chain *chains = NULL;
    size_t count = 0;
    enum clew_status status =
        chain_list_open(tx, arena, &session->id, &chains, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        if (chains[i].phase == CHAIN_ACTIVE) {
            status =
                chain_rest_later(tx, arena, session, &chains[i], now_ms, err);
        }
    }
    return status == CLEW_OK ? add_summary(tx, arena, session, now_ms, err)
                             : status;
}

/* --- doing it ---------------------------------------------------------------
 */

struct check_work {
    struct arena *arena;
    const struct task *task;
    struct uuid chain_id;
    int64_t last_extended_at_ms;
    int64_t ended_at_ms; /* of the session; INT64_MIN: an earlier version's */
    int64_t now_ms;
};

static enum clew_status do_check(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct check_work *work = arg;
    struct chain chain;
    enum clew_status status =
        chain_find(tx, work->arena, &work->chain_id, &chain, err);

    if (status == CLEW_NOT_FOUND) {
        return task_complete_noted(tx, work->task, NULL, work->now_ms,
                                   err); /* forgotten */
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (chain.phase == CHAIN_ACTIVE &&
        (chain.last_extended_at_ms == work->last_extended_at_ms ||
         chain.last_extended_at_ms <= work->ended_at_ms)) {
        chain.phase = CHAIN_DORMANT;
        status = chain_update_row(tx, &chain, err);
        if (status == CLEW_OK) {
            status = chain_add_terms(tx, &chain, err);
        }
    }
    return status == CLEW_OK
               ? task_complete_noted(tx, work->task, NULL, work->now_ms, err)
               : status;
}

enum clew_status chain_check_dormancy(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err)
{
    struct check_work work = {.arena = arena,
                              .task = task,
                              .ended_at_ms = INT64_MIN,
                              .now_ms = clock_now_ms(engine->clock)};
    json_t *payload = NULL;
    enum clew_status status = json_parse(task->payload, &payload, err);

    if (status == CLEW_OK) {
        status = json_get_uuid(payload, "chain_id", JSON_REQUIRED,
                               &work.chain_id, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_int(payload, "last_extended_at", JSON_REQUIRED, INT64_MIN,
                         INT64_MAX, &work.last_extended_at_ms, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(payload, "ended_at", JSON_OPTIONAL, INT64_MIN,
                              INT64_MAX, &work.ended_at_ms, err);
    }
    json_decref(payload);
    return status == CLEW_OK
               ? store_write(engine->store, &task->scope, do_check, &work, err)
               : status;
}
