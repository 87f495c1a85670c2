/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llmread.c - ask, check, write. See llmread.h.
 */
#include "engine/llmread/llmread.h"

#include "base/clock.h"
#include "engine/core/action.h"
#include "engine/core/advice.h"
#include "engine/core/commit.h"
#include "engine/core/consent.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/trace.h"
#include "engine/core/work.h"
#include "engine/llmread/earlier.h"
#include "engine/llmread/llmread_internal.h"
#include "engine/llmread/prompt.h"
#include "engine/llmread/stretch.h"
#include "model/llm.h"
#include "store/db.h"

#include <string.h>

/* Readings of one chat that are looked at for how far it was read. */
#define MAX_READINGS 200
/* An answer that makes no sense is asked for once more. */
#define MAX_TRIES 2

/* The plus keeps SQLite from walking all actions in their order. */
DB_SQL(SELECT_READINGS,
       "SELECT packed, detail FROM actions WHERE tenant = $1 AND subject = $2"
       " AND kind = '" ACTION_LLM_READ "'" ACTION_BY_SUBJECT
       " ORDER BY +seq DESC LIMIT $3");

/* Turns of other chats that the shown notes were drawn from: the notes may be
 * replaced by then. */
DB_SQL(SELECT_CITED,
       "SELECT DISTINCT t.id FROM memory_refs r CROSS JOIN turns t"
       " WHERE r.tenant = $1 AND r.memory_id = ANY($2) AND r.chat_id <> $3"
       " AND t.tenant = $1 AND t.chat_id = r.chat_id"
       " AND t.seq BETWEEN r.first_seq AND r.last_seq LIMIT 1000");

struct work {
    struct engine *engine;
    const struct scope *scope;
    struct arena *arena;
    struct uuid chat_id;
    int64_t now_ms;
    int64_t after_seq;
    int64_t through_seq; /* 0: as much as fits */
    struct stretch stretch;
    struct uuid *cited; /* turns of other chats, by the notes that are shown */
    size_t n_cited;
    bool is_unsure;
    json_t *answer;      /* NULL: skipped or refused */
    const json_t *shown; /* chats, by the action that is replayed */
    struct str key;
    struct str model;
    struct found found;
    struct llmread_report *report;
    struct batch_work batch;
};

/* --- how far ---------------------------------------------------------------
 */

static bool text_row(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    return rows_packed(arena, rows, 0, 1, item);
}

/* Does the reading still hold: was nothing asked, or is its answer there? */
static enum clew_status holds(struct store_tx *tx, struct arena *arena,
                              struct str text, int64_t *out_through,
                              struct clew_error *err)
{
    json_t *detail = NULL;
    struct str key = {NULL, 0};
    struct str answer = {NULL, 0};
    int64_t through = 0;
    enum clew_status status = json_parse(text, &detail, err);

    if (status == CLEW_OK) {
        status = json_get_int(detail, "through", JSON_REQUIRED, 0, INT64_MAX,
                              &through, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(detail, "answer", JSON_OPTIONAL, 1024, &key, err);
    }
    if (status == CLEW_OK && key.s) {
        status = advice_find(tx, arena, key, &answer, err);
    }
    if (status == CLEW_OK && (!key.s || answer.s) && through > *out_through) {
        *out_through = through;
    }
    json_decref(detail);
    return status;
}

enum clew_status llmread_through(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chat_id, int64_t *out_seq,
                                 struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct str), .fn = text_row};
    int64_t through = 0;
    const struct str *texts;
    enum clew_status status =
        rows_add(tx, &list, &SELECT_READINGS,
                 DB_ARGS(db_uuid(chat_id), db_int(MAX_READINGS)), err);

    texts = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = holds(tx, arena, texts[i], &through, err);
    }
    if (status == CLEW_OK) {
        *out_seq = through;
    }
    return status;
}

/* --- asking ----------------------------------------------------------------
 */

static enum clew_status load_cited(struct work *work, struct store_tx *tx,
                                   struct clew_error *err)
{
    const struct stretch *s = &work->stretch;
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = arena_zero(work->arena, s->n_notes + 1, sizeof(*ids));

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < s->n_notes; i++) {
        ids[i] = s->notes[i].memory.id;
    }
    return s->n_notes == 0 ? CLEW_OK
                           : rows_all(tx, &list, &SELECT_CITED,
                                      DB_ARGS(db_uuids(ids, s->n_notes),
                                              db_uuid(&work->chat_id)),
                                      &work->cited, &work->n_cited, err);
}

static enum clew_status do_load(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status = consent_check(tx, err);

    if (status == CLEW_OK) {
        status = llmread_through(tx, work->arena, &work->chat_id,
                                 &work->after_seq, err);
    }
    if (status == CLEW_OK) {
        status = stretch_load(work->engine, tx, work->arena, &work->chat_id,
                              work->after_seq, 0, &work->stretch, err);
    }
    if (status == CLEW_OK) {
        status = earlier_load(work->engine, tx, work->arena, work->after_seq,
                              &work->stretch, err);
    }
    work->n_cited = 0;
    return status == CLEW_OK ? load_cited(work, tx, err) : status;
}

/* The turns of this chat that are shown, those to understand by too. */
static struct advice_of shown_turns(const struct work *work)
{
    const struct stretch *s = &work->stretch;
    struct advice_of out = {.chat_id = work->chat_id,
                            .first_seq = s->from_seq,
                            .last_seq = s->through_seq};

    for (size_t i = 0; i < s->n_turns; i++) {
        if (uuid_eq(&s->turns[i].turn.chat_id, &work->chat_id) &&
            s->turns[i].turn.seq < out.first_seq) {
            out.first_seq = s->turns[i].turn.seq;
        }
    }
    return out;
}

/* What is shown of other chats: turns that are to be understood by, how earlier
 * ones began, efforts and notes. */
static enum clew_status shown_beside(const struct work *work,
                                     struct advice_of *of,
                                     struct clew_error *err)
{
    const struct stretch *s = &work->stretch;
    size_t n = 0;
    struct uuid *ids = arena_zero(work->arena,
                                  s->n_turns + s->n_chats + s->n_efforts +
                                      s->n_notes + work->n_cited + 1,
                                  sizeof(*ids));

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < s->n_turns; i++) {
        const struct uuid *chat = &s->turns[i].turn.chat_id;

        if (!uuid_eq(chat, &work->chat_id) &&
            (n == 0 || !uuid_eq(chat, &ids[n - 1]))) {
            ids[n++] = *chat;
        }
    }
    for (size_t i = 0; i < s->n_chats; i++) {
        ids[n++] = s->chats[i].id;
    }
    for (size_t i = 0; i < s->n_efforts; i++) {
        ids[n++] = s->efforts[i].memory.id;
    }
    for (size_t i = 0; i < s->n_notes; i++) {
        ids[n++] = s->notes[i].memory.id;
    }
    for (size_t i = 0; i < work->n_cited; i++) {
        ids[n++] = work->cited[i];
    }
    of->beside = ids;
    of->n_beside = n;
    return CLEW_OK;
}

/* Ask until an answer makes sense; work->answer stays NULL if none does. */
static enum clew_status consult(struct work *work, struct clew_error *err)
{
    struct advice_of of = shown_turns(work);
    char trouble[256] = "";
    bool is_garbled = false;
    enum clew_status status = shown_beside(work, &of, err);

    for (int i = 0; i < MAX_TRIES && status == CLEW_OK && !work->answer; i++) {
        struct llm_request request;
        struct clew_error why = {0};
        json_t *answer = NULL;

        status = prompt_write(work->arena, &work->stretch,
                              i > 0 ? trouble : NULL, &request, err);
        if (status != CLEW_OK) {
            return status;
        }
        request.out_garbled = &is_garbled;
        status = advice_ask(work->engine, work->scope, work->arena, "read", &of,
                            &request, &answer, &work->key, &why);
        if (status == CLEW_OK) {
            status = found_read(work->arena, &work->stretch, answer,
                                &work->found, &why);
            is_garbled = status == CLEW_INVALID;
        }
        if (status == CLEW_OK) {
            work->answer = answer;
            return CLEW_OK;
        }
        json_decref(answer);
        if (!is_garbled) {
            return clew_fail_code(err, status, why.code, "%s", why.message);
        }
        status = CLEW_OK;
        (void)memcpy(trouble, why.message, sizeof(trouble) - 1);
    }
    return status;
}

/* --- writing ---------------------------------------------------------------
 */

static json_t *ids_of(const struct stretch_known *list, size_t count)
{
    json_t *out = json_array();
    char text[UUID_TEXT_SIZE];

    for (size_t i = 0; out && i < count; i++) {
        uuid_format(&list[i].memory.id, text);
        if (json_array_append_new(out, json_string(text)) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static bool set_counts(json_t *out, const struct llmread_report *report)
{
    const struct apply_counts *n = &report->counts;
    json_t *dropped = json_object();
    bool is_ok = dropped && json_set_int(out, "kept", (int64_t)n->kept) &&
                 json_set_int(out, "known", (int64_t)n->known) &&
                 json_set_int(out, "refined", (int64_t)n->refined) &&
                 json_set_int(out, "opened", (int64_t)n->opened) &&
                 json_set_int(out, "ended", (int64_t)n->ended) &&
                 json_set_int(out, "named", (int64_t)n->named) &&
                 json_set_int(out, "removed", (int64_t)n->removed) &&
                 json_set_int(out, "linked", (int64_t)n->linked) &&
                 json_set_int(out, "parted", (int64_t)n->parted);

    for (size_t i = 0; i < FOUND_FAULTS && is_ok; i++) {
        is_ok = report->faults[i] == 0 ||
                json_set_int(dropped, found_fault_name((enum found_fault)i),
                             (int64_t)report->faults[i]);
    }
    return json_set(out, "dropped", dropped) && is_ok;
}

/* What was sent, and what came of it, with the last turn that was. */
static enum clew_status note_trace(struct work *work, struct store_tx *tx,
                                   struct clew_error *err)
{
    const struct stretch *s = &work->stretch;
    json_t *entry = json_object();
    bool is_ok =
        entry && json_set_str(entry, "model", work->model) &&
        json_set_int(entry, "from_seq", s->from_seq) &&
        json_set_int(entry, "through_seq", s->through_seq) &&
        json_set_int(entry, "before", (int64_t)(s->n_turns - s->n_own)) &&
        json_set(entry, "efforts", ids_of(s->efforts, s->n_efforts)) &&
        json_set(entry, "notes", ids_of(s->notes, s->n_notes)) &&
        json_set(entry, "chats", earlier_ids(s)) &&
        json_set_bool(entry, "refused", !work->answer) &&
        set_counts(entry, work->report);

    if (!is_ok) {
        json_decref(entry);
        return clew_no_memory(err);
    }
    return trace_add(tx, work->arena, &s->turns[s->n_turns - 1].turn.id,
                     "llm_read", entry, err);
}

static enum clew_status note_action(struct work *work, struct store_tx *tx,
                                    struct clew_error *err)
{
    struct action_new action = {.kind = ACTION_LLM_READ,
                                .subject = &work->chat_id,
                                .at_ms = work->now_ms,
                                .detail = json_object()};
    bool is_ok =
        action.detail &&
        json_set_int(action.detail, "from", work->stretch.from_seq) &&
        json_set_int(action.detail, "through", work->stretch.through_seq) &&
        json_set_cstr(action.detail, "stretch", work->stretch.digest);

    if (is_ok && work->answer) {
        is_ok = json_set_str(action.detail, "answer", work->key);
    }
    if (is_ok && work->report->outcome != LLMREAD_SKIPPED) {
        is_ok = json_set_str(action.detail, "model", work->model) &&
                json_set(action.detail, "chats", earlier_ids(&work->stretch));
    }
    if (!is_ok) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

/* The stretch as it stands now, and the answer held against it. */
static enum clew_status look_again(struct work *work, struct store_tx *tx,
                                   struct clew_error *err)
{
    const struct stretch asked = work->stretch;
    char digest[STRETCH_DIGEST];
    int64_t through = 0;
    enum clew_status status = CLEW_OK;

    memcpy(digest, work->stretch.digest, sizeof(digest));
    if (!work->engine->replay) {
        status =
            llmread_through(tx, work->arena, &work->chat_id, &through, err);
    }
    if (status == CLEW_OK) {
        status = stretch_load(work->engine, tx, work->arena, &work->chat_id,
                              work->after_seq, work->through_seq,
                              &work->stretch, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (strcmp(digest, work->stretch.digest) != 0) {
        work->report->outcome = LLMREAD_STALE;
        /* a turn was forgotten between its loading and the question */
        return work->engine->replay || !work->key.s
                   ? CLEW_OK
                   : advice_drop(tx, work->key, err);
    }
    if (through > work->after_seq) {
        work->report->outcome = LLMREAD_STALE;
        return CLEW_OK;
    }
    return work->engine->replay
               ? earlier_again(tx, work->arena, work->shown, &work->stretch,
                               err)
               : earlier_stand(tx, work->arena, asked.chats, asked.n_chats,
                               &work->stretch, err);
}

static enum clew_status do_apply(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    struct llmread_report *report = work->report;
    enum clew_status status;

    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
    status = look_again(work, tx, err);
    if (status != CLEW_OK || report->outcome == LLMREAD_STALE) {
        return status;
    }
    if (work->answer) {
        status = found_read(work->arena, &work->stretch, work->answer,
                            &work->found, err);
        memcpy(report->faults, work->found.faults, sizeof(report->faults));
    }
    if (status == CLEW_OK && work->answer) {
        status =
            apply_found(&work->batch, &work->stretch, &work->found, work->key,
                        work->model, work->now_ms, &report->counts, err);
        report->faults[FOUND_NO_WORTH] = report->counts.worthless;
    }
    if (status == CLEW_OK && report->outcome != LLMREAD_SKIPPED) {
        status = note_trace(work, tx, err);
    }
    return status == CLEW_OK ? note_action(work, tx, err) : status;
}

static enum clew_status apply(struct work *work, struct clew_error *err)
{
    work->through_seq = work->stretch.through_seq;
    return commit_write(work->engine, work->scope, do_apply, work, &work->batch,
                        err);
}

/* --- whole operations ------------------------------------------------------
 */

enum clew_status llmread_next(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *chat_id,
                              bool is_unsure, struct llmread_report *out,
                              struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .scope = scope,
                        .arena = arena,
                        .chat_id = *chat_id,
                        .now_ms = clock_now_ms(engine->clock),
                        .report = out};
    bool is_sure = false;
    enum clew_status status;

    *out = (struct llmread_report){.outcome = LLMREAD_NOTHING};
    if (!engine->llm) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "no language model is configured");
    }
    work.model = str_of(llm_model(engine->llm));
    status = store_read(engine->store, scope, do_load, &work, err);
    if (status != CLEW_OK || work.stretch.n_own == 0) {
        return status;
    }
    out->n_turns = work.stretch.n_own;
    out->has_more = work.stretch.is_full;
    if (is_unsure) {
        status =
            llmread_is_sure(engine, scope, arena, &work.stretch, &is_sure, err);
    }
    if (status == CLEW_OK && !is_sure) {
        status = consult(&work, err);
    }
    out->outcome = is_sure       ? LLMREAD_SKIPPED
                   : work.answer ? LLMREAD_READ
                                 : LLMREAD_REFUSED;
    if (status == CLEW_OK) {
        status = apply(&work, err);
    }
    json_decref(work.answer);
    return status;
}

enum clew_status llmread_again(struct engine *engine, const struct scope *scope,
                               struct arena *arena, const struct uuid *chat_id,
                               const json_t *detail, struct clew_error *err)
{
    struct llmread_report report = {.outcome = LLMREAD_READ};
    struct work work = {.engine = engine,
                        .scope = scope,
                        .arena = arena,
                        .chat_id = *chat_id,
                        .now_ms = clock_now_ms(engine->clock),
                        .report = &report};
    struct str digest = {NULL, 0};
    int64_t from = 0;
    enum clew_status status =
        json_get_int(detail, "from", JSON_REQUIRED, 1, INT64_MAX, &from, err);

    if (status == CLEW_OK) {
        status = json_get_int(detail, "through", JSON_REQUIRED, 1, INT64_MAX,
                              &work.through_seq, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_str(detail, "answer", JSON_OPTIONAL, 1024, &work.key, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(detail, "model", JSON_OPTIONAL, 1024, &work.model,
                              err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_str(detail, "stretch", JSON_REQUIRED, 64, &digest, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (digest.len == STRETCH_DIGEST - 1) {
        memcpy(work.stretch.digest, digest.s, digest.len);
    }
    if (!work.model.s) {
        return CLEW_OK; /* skipped: nothing was asked */
    }
    if (work.key.s && !engine->replay->answer.s) {
        return CLEW_OK; /* a turn was forgotten, and the answer with it */
    }
    if (work.key.s) {
        status = json_parse(engine->replay->answer, &work.answer, err);
    }
    work.after_seq = from - 1;
    work.shown = json_object_get(detail, "chats");
    if (status == CLEW_OK) {
        status = commit_write(engine, scope, do_apply, &work, &work.batch, err);
    }
    json_decref(work.answer);
    return status;
}
