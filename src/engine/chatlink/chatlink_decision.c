/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_decision.c - rows of link_decisions. See chatlink_decision.h.
 */
#include "engine/chatlink/chatlink_decision.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pack.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "store/db.h"

/* The longest record of what was seen. */
#define SIGNALS_BYTES (1u << 20)

#define COLUMNS                                                                \
    "id, user_id, chat_id, other_chat_id, turn_id, seq, algorithmic, llm,"     \
    " threshold, decision, agreement, confidence, packed, outcome,"            \
    " outcome_by, outcome_at, created_at, updated_at, signals"

DB_SQL(SELECT_ONE,
       "SELECT " COLUMNS " FROM link_decisions WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_CHAT, "SELECT " COLUMNS " FROM link_decisions WHERE tenant = $1"
                    " AND chat_id = $2 ORDER BY +created_at, id LIMIT 100");
DB_SQL(SELECT_JUDGED,
       "SELECT " COLUMNS " FROM link_decisions WHERE tenant = $1"
       " AND outcome IS NOT NULL ORDER BY outcome_at DESC, id DESC LIMIT $2");
/* `at` with a plus is sorted by, not walked by: a chat has few. */
#define PAGE_OF(at)                                                            \
    " AND ($2 = '' OR decision = $2) AND ($6 = '' OR user_id = $6)"            \
    " AND (" at " < $3 OR (" at " = $3 AND id < $4))"                          \
    " ORDER BY " at " DESC, id DESC LIMIT $5"
DB_SQL(LIST_ALL,
       "SELECT " COLUMNS
       " FROM link_decisions WHERE tenant = $1" PAGE_OF("created_at"));
DB_SQL(LIST_CHAT,
       "SELECT " COLUMNS " FROM link_decisions WHERE tenant = $1"
       " AND id IN (SELECT id FROM link_decisions WHERE tenant = $1 AND "
       "chat_id = $7 UNION ALL SELECT id FROM link_decisions WHERE tenant = $1 "
       "AND other_chat_id = $7)" PAGE_OF("+created_at"));
/* What was inferred of one decision says nothing of another. */
#define KEPT_OUTCOME(column)                                                   \
    " " column " = CASE WHEN link_decisions.decision = excluded.decision"      \
    " OR link_decisions.outcome_by = 'feedback'"                               \
    " THEN link_decisions." column " END"

DB_SQL(PUT,
       "INSERT INTO link_decisions (tenant, " COLUMNS ") VALUES ($1, $2, $3,"
       " $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,"
       " $19, '') ON CONFLICT (tenant, chat_id, other_chat_id) DO UPDATE SET"
       " turn_id = excluded.turn_id, seq = excluded.seq,"
       " algorithmic = excluded.algorithmic, llm = excluded.llm,"
       " threshold = excluded.threshold, decision = excluded.decision,"
       " agreement = excluded.agreement, confidence = excluded.confidence,"
       " signals = '', packed = excluded.packed, updated_at = "
       "excluded.updated_at," KEPT_OUTCOME("outcome") "," KEPT_OUTCOME(
           "outcome_by") "," KEPT_OUTCOME("outcome_at"));
DB_SQL(JUDGE, "UPDATE link_decisions SET outcome = $3, outcome_by = $4,"
              " outcome_at = $5 WHERE tenant = $1 AND id = $2"
              " AND (outcome IS NULL OR ($4 = 'feedback' AND (outcome <> $3"
              " OR outcome_by <> 'feedback')))");
DB_SQL(UNJUDGE, "UPDATE link_decisions SET outcome = 'incorrect'"
                " WHERE tenant = $1 AND id = $2 AND outcome_by = 'inferred'");
DB_SQL(SELECT_JOINED,
       "SELECT chat_id, other_chat_id FROM link_decisions WHERE tenant = $1"
       " AND chat_id = ANY($2) AND " CHATLINK_STANDS(""));
DB_SQL(COUNT_OUTCOME,
       "INSERT INTO link_counters (tenant, n_outcomes) VALUES ($1, 1)"
       " ON CONFLICT (tenant) DO UPDATE SET"
       " n_outcomes = link_counters.n_outcomes + 1 RETURNING n_outcomes");

struct uuid chatlink_decision_id(int64_t chat_created_at_ms,
                                 const struct uuid *chat_id,
                                 const struct uuid *other_chat_id)
{
    struct str other = {(const char *)other_chat_id->b,
                        sizeof(other_chat_id->b)};

    return uuid_derive(chat_created_at_ms, chat_id, "link", str_hash(other));
}

bool chatlink_decision_is_link(const struct chatlink_decision *decision)
{
    return str_eq(decision->decision, STR("link"));
}

bool chatlink_decision_is_said(const struct chatlink_decision *decision)
{
    return str_eq(decision->outcome_by, STR("feedback"));
}

bool chatlink_decision_stands(const struct chatlink_decision *decision)
{
    bool is_wrong = chatlink_decision_is_said(decision) &&
                    str_eq(decision->outcome, STR("incorrect"));

    return chatlink_decision_is_link(decision) != is_wrong;
}

void chatlink_decision_set(struct chatlink_decision *decision,
                           const struct chatlink_verdict *verdict,
                           const struct chatlink_opinion *opinion)
{
    bool has_llm = opinion && opinion->is_there;

    decision->decision = verdict->is_link ? STR("link") : STR("no_link");
    decision->agreement = !has_llm             ? STR("absent")
                          : verdict->is_agreed ? STR("yes")
                                               : STR("no");
    decision->confidence =
        verdict->confidence == CHATLINK_HIGH ? STR("high") : STR("uncertain");
    decision->llm = has_llm ? chatlink_probability(opinion) : -1;
}

enum clew_status chatlink_decision_note(struct chatlink_decision *decision,
                                        struct arena *arena, const char *name,
                                        json_t *value, struct clew_error *err)
{
    json_t *signals = NULL;
    struct buf text;
    bool is_ok;

    if (!decision->signals.len ||
        json_parse(decision->signals, &signals, NULL) != CLEW_OK) {
        signals = json_object();
    }
    is_ok = json_set(signals, name, value);
    buf_init(&text, SIGNALS_BYTES);
    is_ok = is_ok && json_write(&text, signals) == CLEW_OK;
    if (is_ok) {
        decision->signals = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    json_decref(signals);
    return is_ok && decision->signals.s ? CLEW_OK : clew_no_memory(err);
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct chatlink_decision *out = item;

    out->id = db_get_uuid(rows, 0);
    out->chat_id = db_get_uuid(rows, 2);
    out->other_chat_id = db_get_uuid(rows, 3);
    out->turn_id = db_get_uuid(rows, 4);
    out->seq = db_get_int(rows, 5);
    out->algorithmic = db_get_real(rows, 6);
    out->llm = db_is_null(rows, 7) ? -1 : db_get_real(rows, 7);
    out->threshold = db_get_real(rows, 8);
    out->outcome_at_ms = db_get_int(rows, 15);
    out->created_at_ms = db_get_int(rows, 16);
    out->updated_at_ms = db_get_int(rows, 17);
    return rows_text(arena, rows, 1, &out->user_id) &&
           rows_text(arena, rows, 9, &out->decision) &&
           rows_text(arena, rows, 10, &out->agreement) &&
           rows_text(arena, rows, 11, &out->confidence) &&
           rows_packed(arena, rows, 12, 18, &out->signals) &&
           rows_text(arena, rows, 13, &out->outcome) &&
           rows_text(arena, rows, 14, &out->outcome_by);
}

enum clew_status chatlink_decision_put(struct store_tx *tx,
                                       const struct chatlink_decision *decision,
                                       struct clew_error *err)
{
    struct buf packed;
    enum clew_status status;

    buf_init(&packed, SIGNALS_BYTES + SIGNALS_BYTES / 64);
    status = pack(decision->signals, &packed);
    if (status != CLEW_OK) {
        buf_release(&packed);
        return clew_fail(err, status, "could not keep a link's signals");
    }
    status = db_exec(
        tx, &PUT,
        DB_ARGS(db_uuid(&decision->id), db_text(decision->user_id),
                db_uuid(&decision->chat_id), db_uuid(&decision->other_chat_id),
                db_uuid(&decision->turn_id), db_int(decision->seq),
                db_real(decision->algorithmic),
                decision->llm < 0 ? db_null() : db_real(decision->llm),
                db_real(decision->threshold), db_text(decision->decision),
                db_text(decision->agreement), db_text(decision->confidence),
                db_bytes(packed.data, packed.len), db_text(decision->outcome),
                db_text(decision->outcome_by),
                rows_int_or_null(decision->outcome_at_ms),
                db_int(decision->created_at_ms),
                db_int(decision->updated_at_ms)),
        err);
    buf_release(&packed);
    return status;
}

enum clew_status chatlink_decision_find(struct store_tx *tx,
                                        struct arena *arena,
                                        const struct uuid *id,
                                        struct chatlink_decision *out,
                                        struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(id)), row_of, out,
                    sizeof(*out), "link", err);
}

static enum clew_status select_all(struct store_tx *tx, struct arena *arena,
                                   const struct db_sql *sql,
                                   const struct db_value *args, size_t n_args,
                                   struct chatlink_decision **out,
                                   size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chatlink_decision), .fn = row_of};

    return rows_all(tx, &list, sql, args, n_args, out, out_count, err);
}

enum clew_status chatlink_decision_of_chat(
    struct store_tx *tx, struct arena *arena, const struct uuid *chat_id,
    struct chatlink_decision **out, size_t *out_count, struct clew_error *err)
{
    return select_all(tx, arena, &SELECT_CHAT, DB_ARGS(db_uuid(chat_id)), out,
                      out_count, err);
}

enum clew_status chatlink_decision_judged(struct store_tx *tx,
                                          struct arena *arena, int64_t limit,
                                          struct chatlink_decision **out,
                                          size_t *out_count,
                                          struct clew_error *err)
{
    return select_all(tx, arena, &SELECT_JUDGED, DB_ARGS(db_int(limit)), out,
                      out_count, err);
}

/* Count an outcome; every so many, ask for a tuning. */
static enum clew_status count_outcome(struct store_tx *tx, struct arena *arena,
                                      int64_t now_ms, struct clew_error *err)
{
    struct task_new task = {.kind = CHATLINK_TUNE_TASK,
                            .unique_key = STR("links"),
                            .payload = STR("{}"),
                            .execute_at_ms = now_ms,
                            .now_ms = now_ms};
    int64_t count = 0;
    enum clew_status status =
        rows_number(tx, &COUNT_OUTCOME, DB_NO_ARGS, &count, err);

    if (status == CLEW_OK && count > 0 &&
        count % CHATLINK_OUTCOMES_PER_TUNING == 0) {
        status = task_add(tx, arena, &task, err);
    }
    return status;
}

enum clew_status
chatlink_decision_judge(struct store_tx *tx, struct arena *arena,
                        const struct chatlink_decision *decision,
                        bool is_correct, const char *by, int64_t now_ms,
                        bool *out_is_set, struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status =
        db_exec_count(tx, &JUDGE,
                      DB_ARGS(db_uuid(&decision->id),
                              db_cstr(is_correct ? "correct" : "incorrect"),
                              db_cstr(by), db_int(now_ms)),
                      &count, err);

    if (status == CLEW_OK && count > 0 && !decision->outcome.s) {
        status = count_outcome(tx, arena, now_ms, err);
    }
    if (status == CLEW_OK) {
        *out_is_set = count > 0;
    }
    return status;
}

enum clew_status
chatlink_decision_unjudge(struct store_tx *tx,
                          const struct chatlink_decision *decision,
                          struct clew_error *err)
{
    return db_exec(tx, &UNJUDGE, DB_ARGS(db_uuid(&decision->id)), err);
}

/* --- whole operations ------------------------------------------------------
 */

struct work {
    struct arena *arena;
    const struct chatlink_filter *filter;
    const struct uuid *id;
    struct chatlink_decision decision;
    struct chatlink_decision *items;
    size_t count;
};

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;

    return chatlink_decision_find(tx, work->arena, work->id, &work->decision,
                                  err);
}

enum clew_status
chatlink_decision_get(struct engine *engine, const struct scope *scope,
                      struct arena *arena, const struct uuid *id,
                      struct chatlink_decision *out, struct clew_error *err)
{
    struct work work = {.arena = arena, .id = id};
    enum clew_status status =
        store_read(engine->store, scope, do_get, &work, err);

    if (status == CLEW_OK) {
        *out = work.decision;
    }
    return status;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    const struct chatlink_filter *filter = work->filter;
    bool is_first = uuid_is_nil(&filter->before_id);
    struct db_value before = db_bytes(filter->before_id.b, 16);
    struct db_value decision =
        db_text(filter->decision.s ? filter->decision : STR(""));
    struct db_value user =
        db_text(filter->user_id.s ? filter->user_id : STR(""));
    struct db_value time =
        db_int(is_first ? INT64_MAX : filter->before_time_ms);

    before.type = DB_UUID; /* the nil id is a value here, not NULL */
    if (uuid_is_nil(&filter->chat_id)) {
        return select_all(
            tx, work->arena, &LIST_ALL,
            DB_ARGS(decision, time, before, db_int(filter->limit), user),
            &work->items, &work->count, err);
    }
    return select_all(tx, work->arena, &LIST_CHAT,
                      DB_ARGS(decision, time, before, db_int(filter->limit),
                              user, db_uuid(&filter->chat_id)),
                      &work->items, &work->count, err);
}

enum clew_status chatlink_decision_list(
    struct engine *engine, const struct scope *scope, struct arena *arena,
    const struct chatlink_filter *filter, struct chatlink_decision **out,
    size_t *out_count, struct clew_error *err)
{
    struct work work = {.arena = arena, .filter = filter};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out = work.items;
        *out_count = work.count;
    }
    return status;
}

/* --- joined chats ----------------------------------------------------------
 */

struct joined {
    struct uuid chat_id;
    struct uuid other_chat_id;
};

static bool joined_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct joined *out = item;

    (void)arena;
    out->chat_id = db_get_uuid(rows, 0);
    out->other_chat_id = db_get_uuid(rows, 1);
    return true;
}

static struct chat_profile *profile_of(struct chat_profile *profiles,
                                       size_t count, const struct uuid *id)
{
    for (size_t i = 0; i < count; i++) {
        if (uuid_eq(&profiles[i].chat_id, id)) {
            return &profiles[i];
        }
    }
    return NULL;
}

enum clew_status chatlink_decision_group(struct store_tx *tx,
                                         struct arena *arena,
                                         struct chat_profile *profiles,
                                         size_t count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct joined), .fn = joined_of};
    struct uuid *ids = arena_zero(arena, count + 1, sizeof(*ids));
    const struct joined *pairs;
    enum clew_status status = ids ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        ids[i] = profiles[i].chat_id;
        profiles[i].group = i + 1;
    }
    if (status == CLEW_OK) {
        status = rows_add(tx, &list, &SELECT_JOINED,
                          DB_ARGS(db_uuids(ids, count)), err);
    }
    pairs = list.items;
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        const struct chat_profile *a =
            profile_of(profiles, count, &pairs[i].chat_id);
        const struct chat_profile *b =
            profile_of(profiles, count, &pairs[i].other_chat_id);
        size_t from = b ? b->group : 0;

        for (size_t k = 0; a && b && k < count; k++) {
            if (profiles[k].group == from) {
                profiles[k].group = a->group;
            }
        }
    }
    return status;
}
