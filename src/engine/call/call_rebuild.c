/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_rebuild.c - see call_rebuild.h.
 */
#include "engine/call/call_rebuild.h"

#include "base/json.h"
#include "base/limits.h"
#include "engine/call/call_compact.h"
#include "engine/call/call_plan.h"
#include "engine/call/call_trace.h"
#include "engine/call/request_trail.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <string.h>

/* Requests decided in one transaction. */
#define STEP 100

DB_SQL(MOVE_REQUESTS, "UPDATE requests SET conversation_id = $3"
                      " WHERE tenant = $1 AND conversation_id = $2");
/* One level deeper: the old root hangs on the new one from now on. */
DB_SQL(MOVE_CHATS, "UPDATE chats SET conversation_id = $3, depth = depth + 1"
                   " WHERE tenant = $1 AND conversation_id = $2");
DB_SQL(HANG_CHAT, "UPDATE chats SET parent_id = $3, branch = $4"
                  " WHERE tenant = $1 AND id = $2");
DB_SQL(NAME_CHAT, "UPDATE chats SET branch = $3 WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_REBUILD, "SELECT after_at, after_id, report FROM link_rebuilds"
                       " WHERE tenant = $1");
DB_SQL(UPSERT_REBUILD, "INSERT INTO link_rebuilds (tenant, after_at, after_id,"
                       " report) VALUES ($1, $2, $3, $4) ON CONFLICT (tenant)"
                       " DO UPDATE SET after_at = $2, after_id = $3,"
                       " report = $4");
DB_SQL(DELETE_REBUILD, "DELETE FROM link_rebuilds WHERE tenant = $1");
DB_SQL(COUNT_ALL, "SELECT COUNT(*) FROM requests WHERE tenant = $1");

struct step {
    struct engine *engine;
    struct call_rebuild_report report; /* with this step's effects */
    struct call_rebuild_report before;
    int64_t after_ms;
    struct uuid after_id;
    bool is_first;
    bool is_last;
};

/* A stored request as a source of what it was made from. */
struct stored {
    struct arena *arena;
    const struct request *request;
};

/* --- conversations ---------------------------------------------------------
 */

/* Let everything of conversation `from` belong to `to`; the root chat of the
 * one hangs on the root chat of the other and is called `branch`. It keeps its
 * own copy of the messages they share. */
static enum clew_status join_conversation(struct store_tx *tx,
                                          const struct uuid *from,
                                          const struct uuid *to,
                                          struct str branch,
                                          struct clew_error *err)
{
    enum clew_status status =
        db_exec(tx, &MOVE_REQUESTS, DB_ARGS(db_uuid(from), db_uuid(to)), err);

    if (status == CLEW_OK) {
        status =
            db_exec(tx, &MOVE_CHATS, DB_ARGS(db_uuid(from), db_uuid(to)), err);
    }
    if (status == CLEW_OK) {
        status =
            db_exec(tx, &HANG_CHAT,
                    DB_ARGS(db_uuid(from), db_uuid(to), db_text(branch)), err);
    }
    return status;
}

static enum clew_status name_chat(struct store_tx *tx,
                                  const struct uuid *chat_id, struct str branch,
                                  struct clew_error *err)
{
    return db_exec(tx, &NAME_CHAT, DB_ARGS(db_uuid(chat_id), db_text(branch)),
                   err);
}

/* --- how far a rebuild is --------------------------------------------------
 */

/* No report (s == NULL): none is under way. */
static enum clew_status place_get(struct store_tx *tx, struct arena *arena,
                                  int64_t *out_after_ms,
                                  struct uuid *out_after_id,
                                  struct str *out_report,
                                  struct clew_error *err)
{
    struct db_rows rows;
    bool is_ok = true;
    enum clew_status status =
        db_query(tx, &SELECT_REBUILD, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out_report = (struct str){NULL, 0};
    if (db_next(&rows)) {
        *out_after_ms = db_get_int(&rows, 0);
        *out_after_id = db_get_uuid(&rows, 1);
        is_ok = rows_text(arena, &rows, 2, out_report);
    }
    status = db_end(&rows, err);
    return is_ok ? status : clew_no_memory(err);
}

static enum clew_status place_set(struct store_tx *tx, int64_t after_ms,
                                  const struct uuid *after_id,
                                  struct str report, struct clew_error *err)
{
    if (!report.s) {
        return db_exec(tx, &DELETE_REBUILD, DB_NO_ARGS, err);
    }
    return db_exec(
        tx, &UPSERT_REBUILD,
        DB_ARGS(db_int(after_ms), db_uuid(after_id), db_text(report)), err);
}

static enum clew_status count_all(struct store_tx *tx, int64_t *out_count,
                                  struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(tx, &COUNT_ALL, DB_NO_ARGS, &rows, err);

    if (status == CLEW_OK && db_next(&rows)) {
        *out_count = db_get_int(&rows, 0);
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

/* --- what the decision may ask for -----------------------------------------
 */

static enum clew_status stored_prefixes(void *arg, struct store_tx *tx,
                                        struct uuid **out_keys,
                                        size_t *out_count,
                                        struct clew_error *err)
{
    struct stored *stored = arg;

    return request_prefixes(tx, stored->arena, stored->request, out_keys,
                            out_count, err);
}

/* Message `i` of the request, from its turn; NULL if it is not there. */
static enum clew_status message_at(struct stored *stored, struct store_tx *tx,
                                   size_t i, json_t **out,
                                   struct clew_error *err)
{
    const struct request *request = stored->request;
    struct turn *turns;
    size_t count;
    json_t *content = NULL;
    enum clew_status status = turn_list_line(
        tx, stored->arena, &request->chat_id,
        request->first_seq + (int64_t)i - 1, 1, &turns, &count, err);

    *out = NULL;
    if (status != CLEW_OK || count == 0) {
        return status;
    }
    if (!turns[0].content.s ||
        json_parse(turns[0].content, &content, NULL) != CLEW_OK) {
        content = json_stringn(turns[0].text.s, turns[0].text.len);
    }
    *out = json_pack("{s:s,s:o}", "role",
                     turns[0].role == TURN_ASSISTANT ? "assistant" : "user",
                     "content", content);
    return *out ? CLEW_OK : clew_no_memory(err);
}

static enum clew_status stored_alone(void *arg, struct store_tx *tx, size_t i,
                                     struct call_digest *out,
                                     struct clew_error *err)
{
    json_t *message;
    enum clew_status status = message_at(arg, tx, i, &message, err);

    memset(out, 0, sizeof(*out));
    if (status == CLEW_OK && message) {
        status = call_hash_alone(message, out);
    }
    json_decref(message);
    return status;
}

static enum clew_status stored_needle(void *arg, struct store_tx *tx,
                                      struct str *out_needle,
                                      struct clew_error *err)
{
    struct stored *stored = arg;
    json_t *message;
    bool is_compact;
    enum clew_status status = message_at(stored, tx, 0, &message, err);

    *out_needle = (struct str){NULL, 0};
    if (status == CLEW_OK && message) {
        status =
            call_plan_needle(stored->arena, message, &is_compact, out_needle);
    }
    json_decref(message);
    return status;
}

/* --- one request -----------------------------------------------------------
 */

/* A chat that begins with this request follows it into its conversation. */
static enum clew_status move_chat(struct store_tx *tx, struct arena *arena,
                                  const struct request *old,
                                  const struct request *now,
                                  struct clew_error *err)
{
    struct request first;
    enum clew_status status =
        request_find_first(tx, arena, &old->chat_id, &first, err);

    if (status != CLEW_OK || !uuid_eq(&first.id, &old->id)) {
        return status;
    }
    if (uuid_eq(&old->conversation_id, &now->conversation_id)) {
        return name_chat(tx, &old->chat_id, now->branch, err);
    }
    if (!uuid_eq(&old->conversation_id, &old->chat_id)) {
        return CLEW_OK; /* no root: it stays with the chat it forked from */
    }
    return join_conversation(tx, &old->conversation_id, &now->conversation_id,
                             now->branch, err);
}

/* What a compacted session finds the reply by; made again where it is gone. */
static enum clew_status add_anchors(struct stored *stored, struct store_tx *tx,
                                    struct clew_error *err)
{
    const struct request *request = stored->request;
    struct turn *turns;
    int64_t *anchors;
    size_t count = 0;
    struct buf normal;
    enum clew_status status;

    if (request->reply_seq == 0) {
        return CLEW_OK;
    }
    status = turn_list_line(tx, stored->arena, &request->chat_id,
                            request->reply_seq - 1, 1, &turns, &count, err);
    if (status != CLEW_OK || count == 0) {
        return status; /* forgotten */
    }
    buf_init(&normal, LIMIT_BODY_BYTES);
    status = call_compact_normalise(&normal, turns[0].text);
    if (status == CLEW_OK) {
        status = call_compact_anchors(stored->arena, buf_str(&normal), &anchors,
                                      &count);
    }
    buf_release(&normal);
    if (status != CLEW_OK) {
        return clew_no_memory(err);
    }
    return request_add_anchors(tx, request, anchors, count, err);
}

static bool is_same(const struct request *a, const struct request *b)
{
    return uuid_eq(&a->parent_id, &b->parent_id) &&
           uuid_eq(&a->conversation_id, &b->conversation_id) &&
           str_eq(a->branch, b->branch) && str_eq(a->strategy, b->strategy) &&
           a->subtask_number == b->subtask_number &&
           uuid_eq(&a->origin_id, &b->origin_id) &&
           uuid_eq(&a->parent_origin_id, &b->parent_origin_id);
}

static enum clew_status relink(struct step *step, struct store_tx *tx,
                               struct arena *arena, const struct request *old,
                               struct clew_error *err)
{
    struct stored stored = {arena, old};
    const struct call_sources sources = {&stored, stored_prefixes, stored_alone,
                                         stored_needle};
    struct call_decision decision;
    struct request now;
    enum clew_status status =
        call_decide(tx, arena, old, &sources, &decision, err);

    if (status == CLEW_OK) {
        status = add_anchors(&stored, tx, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    step->report.n_done++;
    step->report.n_by[decision.strategy]++;
    now = *old;
    call_apply(&decision, &now);
    if (is_same(old, &now)) {
        return CLEW_OK;
    }
    step->report.n_changed++;
    status = move_chat(tx, arena, old, &now, err);
    if (status == CLEW_OK) {
        status = request_update(tx, &now, err);
    }
    return status == CLEW_OK ? call_trace_put(tx, &now, &decision, NULL, err)
                             : status;
}

/* --- the whole -------------------------------------------------------------
 */

/* The report as it is kept between steps: numbers in order. */
static void write_report(const struct call_rebuild_report *report,
                         struct buf *out)
{
    (void)buf_printf(out, "%lld %lld", (long long)report->n_done,
                     (long long)report->n_changed);
    for (size_t i = 0; i < CALL_STRATEGIES; i++) {
        (void)buf_printf(out, " %lld", (long long)report->n_by[i]);
    }
}

static void read_report(struct str text, struct call_rebuild_report *out)
{
    int64_t *const fields[] = {&out->n_done, &out->n_changed};
    struct str part;

    for (size_t i = 0; str_split(&text, ' ', &part); i++) {
        int64_t number = 0;

        if (!str_parse_int(part, &number)) {
            continue;
        }
        if (i < 2) {
            *fields[i] = number;
        } else if (i - 2 < CALL_STRATEGIES) {
            out->n_by[i - 2] = number;
        }
    }
}

/* Where an earlier run was broken off, if it was. */
static enum clew_status resume(struct step *step, struct store_tx *tx,
                               struct arena *arena, struct clew_error *err)
{
    struct str text;
    enum clew_status status =
        place_get(tx, arena, &step->after_ms, &step->after_id, &text, err);

    if (status == CLEW_OK && text.s) {
        read_report(text, &step->report);
        step->report.is_resumed = true;
    }
    return status == CLEW_OK ? count_all(tx, &step->report.n_total, err)
                             : status;
}

static enum clew_status keep_place(struct step *step, struct store_tx *tx,
                                   struct clew_error *err)
{
    struct buf text;
    enum clew_status status;

    if (step->is_last) {
        return place_set(tx, 0, NULL, (struct str){NULL, 0}, err);
    }
    buf_init(&text, 1024);
    write_report(&step->report, &text);
    status =
        place_set(tx, step->after_ms, &step->after_id, buf_str(&text), err);
    buf_release(&text);
    return status;
}

static enum clew_status do_step(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct step *step = arg;
    struct step start = *step; /* a step may be run again */
    struct request *requests;
    struct arena arena;
    struct arena scratch; /* of one request: it may have long replies */
    size_t count = 0;
    enum clew_status status = CLEW_OK;

    step->report = step->before;
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    arena_init(&scratch, LIMIT_REQUEST_ARENA_BYTES);
    if (step->is_first) {
        status = resume(step, tx, &arena, err);
    }
    if (status == CLEW_OK) {
        status = request_list_after(tx, &arena, step->after_ms, &step->after_id,
                                    STEP, &requests, &count, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = relink(step, tx, &scratch, &requests[i], err);
        arena_clear(&scratch);
        step->after_ms = requests[i].created_at_ms;
        step->after_id = requests[i].id;
        /* a move may have changed those that follow */
        if (status == CLEW_OK && i + 1 < count) {
            status = request_find(tx, &arena, &requests[i + 1].id,
                                  &requests[i + 1], err);
        }
    }
    step->is_last = count < STEP;
    if (status == CLEW_OK) {
        status = keep_place(step, tx, err);
    }
    arena_release(&scratch);
    arena_release(&arena);
    if (status != CLEW_OK) {
        *step = start;
    }
    return status;
}

enum clew_status call_rebuild(struct engine *engine, const struct scope *scope,
                              call_rebuild_fn progress, void *arg,
                              struct call_rebuild_report *out,
                              struct clew_error *err)
{
    struct step step = {
        .engine = engine, .after_ms = INT64_MIN, .is_first = true};
    enum clew_status status;

    do {
        status = store_write(engine->store, scope, do_step, &step, err);
        if (status != CLEW_OK) {
            return status;
        }
        step.is_first = false;
        step.before = step.report;
        *out = step.report;
        out->is_done = step.is_last;
    } while ((!progress || progress(arg, out)) && !step.is_last);
    return CLEW_OK;
}
