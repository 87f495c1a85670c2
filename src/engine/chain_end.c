/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_end.c - what follows when a session ends. See chain.h.
 *
 * A day after the end each chain that nobody came back to goes dormant; what
 * the session was about is written down at once.
 */
#include "engine/chain.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/rows.h"
#include "store/db.h"

#include <stdio.h>

/* Turns of a session that its summary speaks of, the last ones. */
#define MAX_SUMMED 2000

/* From the end of the chat backwards: a session that just ended is there. */
DB_SQL(SELECT_LAST_SEQ,
       "SELECT seq FROM turns WHERE tenant = $1 AND chat_id = $2"
       " AND session_id = $3 ORDER BY seq DESC LIMIT 1");
DB_SQL(SELECT_SESSION_TOPICS,
       "SELECT c.topic, c.state, COUNT(*), MIN(m.seq) FROM claims m JOIN chains"
       " c ON c.tenant = m.tenant AND c.id = m.chain_id JOIN turns t"
       " ON t.tenant = m.tenant AND t.chat_id = m.chat_id AND t.seq = m.seq"
       " WHERE m.tenant = $1 AND t.session_id = $2 AND m.chat_id = $3"
       " AND m.seq > $4 AND m.seq <= $5"
       " GROUP BY c.id, c.topic, c.state ORDER BY MIN(m.seq), c.id LIMIT 20");
DB_SQL(UPSERT_SUMMARY,
       "INSERT INTO session_summaries (tenant, session_id, chat_id, summary,"
       " created_at) VALUES ($1, $2, $3, $4, $5)"
       " ON CONFLICT (tenant, session_id)"
       " DO UPDATE SET summary = excluded.summary");

#define SUMMARY_BYTES 4000

/* --- asking for it ----------------------------------------------------------
 */

static enum clew_status add_check(struct store_tx *tx, struct arena *arena,
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
    payload =
        arena_printf(arena, "{\"chain_id\":\"%s\",\"last_extended_at\":%lld}",
                     chain_id, (long long)chain->last_extended_at_ms);
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
        status = add_check(tx, arena, session, &chains[i], now_ms, err);
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
        chain.last_extended_at_ms == work->last_extended_at_ms) {
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
    struct check_work work = {
        .arena = arena, .task = task, .now_ms = clock_now_ms(engine->clock)};
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
    json_decref(payload);
    return status == CLEW_OK
               ? store_write(engine->store, &task->scope, do_check, &work, err)
               : status;
}

struct summary_work {
    struct arena *arena;
    const struct task *task;
    struct uuid session_id;
    int64_t now_ms;
};

/* "Talked about A (4 claims), B (concluded, 2 claims)." */
static enum clew_status write_topics(struct store_tx *tx,
                                     const struct session *session,
                                     struct buf *out, struct clew_error *err)
{
    struct db_rows rows;
    size_t count = 0;
    int64_t last_seq = 0;
    enum clew_status status = db_query(
        tx, &SELECT_LAST_SEQ,
        DB_ARGS(db_uuid(&session->chat_id), db_uuid(&session->id)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    last_seq = db_next(&rows) ? db_get_int(&rows, 0) : 0;
    status = db_end(&rows, err);
    if (status == CLEW_OK) {
        status =
            db_query(tx, &SELECT_SESSION_TOPICS,
                     DB_ARGS(db_uuid(&session->id), db_uuid(&session->chat_id),
                             db_int(last_seq - MAX_SUMMED), db_int(last_seq)),
                     &rows, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    while (db_next(&rows)) {
        struct str topic = db_get_text(&rows, 0);
        bool is_over = str_eq(db_get_text(&rows, 1), STR("concluded"));
        long long n = (long long)db_get_int(&rows, 2);

        (void)buf_printf(out, "%s%.*s (%s%lld claim%s)",
                         count++ ? ", " : "Talked about ", (int)topic.len,
                         topic.s, is_over ? "concluded, " : "", n,
                         n == 1 ? "" : "s");
    }
    (void)buf_append_cstr(out, count ? "." : "Nothing was claimed.");
    return db_end(&rows, err);
}

static enum clew_status do_summary(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct summary_work *work = arg;
    struct session session;
    struct buf text;
    enum clew_status status =
        session_find(tx, work->arena, &work->session_id, &session, err);

    if (status == CLEW_NOT_FOUND) {
        return task_complete_noted(tx, work->task, NULL, work->now_ms,
                                   err); /* forgotten */
    }
    buf_init(&text, SUMMARY_BYTES);
    if (status == CLEW_OK) {
        status = write_topics(tx, &session, &text, err);
    }
    if (status == CLEW_OK) {
        status = db_exec(
            tx, &UPSERT_SUMMARY,
            DB_ARGS(db_uuid(&session.id), db_uuid(&session.chat_id),
                    db_text(buf_str(&text)), db_int(session.ended_at_ms)),
            err);
    }
    buf_release(&text);
    return status == CLEW_OK
               ? task_complete_noted(tx, work->task, NULL, work->now_ms, err)
               : status;
}

enum clew_status chain_summarise_session(struct engine *engine,
                                         const struct task *task,
                                         struct arena *arena,
                                         struct clew_error *err)
{
    struct summary_work work = {
        .arena = arena, .task = task, .now_ms = clock_now_ms(engine->clock)};
    json_t *payload = NULL;
    enum clew_status status = json_parse(task->payload, &payload, err);

    if (status == CLEW_OK) {
        status = json_get_uuid(payload, "session_id", JSON_REQUIRED,
                               &work.session_id, err);
    }
    json_decref(payload);
    return status == CLEW_OK ? store_write(engine->store, &task->scope,
                                           do_summary, &work, err)
                             : status;
}
