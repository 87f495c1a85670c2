/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.c - records, cap and ledger around an LLM. See advice.h.
 */
#include "engine/core/advice.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/sha256.h"
#include "engine/core/action.h"
#include "engine/core/consent.h"
#include "engine/core/engine.h"
#include "engine/core/redact.h"
#include "engine/core/rows.h"
#include "store/db.h"
#include "text/analysis.h"

#include <math.h>

DB_SQL(SELECT_ANSWER,
       "SELECT answer FROM llm_answers WHERE tenant = $1 AND key = $2");
DB_SQL(INSERT_ANSWER,
       "INSERT INTO llm_answers (tenant, key, purpose, model, chat_id, answer,"
       " created_at, first_seq, last_seq, input_tokens, output_tokens,"
       " beside)"
       " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
       " ON CONFLICT DO NOTHING");
/* Numbers of the log are given out in order: what was forgotten since. */
DB_SQL(SELECT_LAST_GONE, "SELECT COALESCE(MAX(change_seq), 0) FROM tombstones"
                         " WHERE tenant = $1");
DB_SQL(COUNT_GONE_SINCE, "SELECT COUNT(*) FROM tombstones WHERE tenant = $1"
                         " AND change_seq > $2 AND kind IN ('turn', 'memory')");
DB_SQL(DROP_ANSWER, "DELETE FROM llm_answers WHERE tenant = $1 AND key = $2");
DB_SQL(SELECT_USED,
       "SELECT COALESCE(SUM(input_tokens + output_tokens), 0) FROM llm_ledger"
       " WHERE tenant = $1 AND day = $2");
DB_SQL(ADD_TO_LEDGER,
       "INSERT INTO llm_ledger (tenant, day, purpose, model, calls, failures,"
       " input_tokens, output_tokens, cost_micros)"
       " VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8)"
       " ON CONFLICT (tenant, day, purpose, model) DO UPDATE SET"
       " calls = llm_ledger.calls + 1,"
       " failures = llm_ledger.failures + excluded.failures,"
       " input_tokens = llm_ledger.input_tokens + excluded.input_tokens,"
       " output_tokens = llm_ledger.output_tokens + excluded.output_tokens,"
       " cost_micros = llm_ledger.cost_micros + excluded.cost_micros");
DB_SQL(SELECT_USAGE,
       "SELECT day, purpose, model, calls, failures, input_tokens,"
       " output_tokens, cost_micros FROM llm_ledger WHERE tenant = $1"
       " AND day > $2 ORDER BY day DESC, purpose, model LIMIT 10000");

struct work {
    struct arena *arena;
    struct str purpose;
    struct str model;
    const struct advice_of *of;
    unsigned char key[SHA256_SIZE];
    int64_t now_ms;
    struct str known;  /* the recorded answer; s == NULL if there is none */
    int64_t used;      /* tokens of today */
    int64_t last_gone; /* what was forgotten before it was asked */
    bool is_late;      /* something was forgotten while it was asked */
    struct llm_answer answer;
    struct str text; /* of the answer, to be recorded */
    bool has_failed;
    int64_t cost_micros;
};

static int64_t day_of(int64_t time_ms)
{
    return time_ms / CLOCK_DAY_MS;
}

static void key_of(struct str model, const struct llm_request *request,
                   unsigned char out[SHA256_SIZE])
{
    struct sha256 hash;

    sha256_init(&hash);
    sha256_add_str(&hash, model);
    sha256_add(&hash, "", 1);
    sha256_add_str(&hash, request->system);
    sha256_add(&hash, "", 1);
    sha256_add_str(&hash, request->prompt);
    sha256_add(&hash, "", 1);
    sha256_add_str(&hash, str_of(request->schema));
    sha256_get(&hash, out);
}

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_ANSWER,
                 DB_ARGS(db_bytes(work->key, sizeof(work->key))), &rows, err);
    bool is_ok = true;

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        is_ok = rows_text(work->arena, &rows, 0, &work->known);
    }
    status = db_end(&rows, err);
    if (status != CLEW_OK || !is_ok) {
        return status != CLEW_OK ? status : CLEW_NO_MEMORY;
    }
    status = work->known.s ? CLEW_OK : consent_check(tx, err);
    if (status != CLEW_OK) {
        return status;
    }
    status =
        rows_number(tx, &SELECT_LAST_GONE, DB_NO_ARGS, &work->last_gone, err);
    if (status != CLEW_OK) {
        return status;
    }
    return rows_number(tx, &SELECT_USED, DB_ARGS(db_int(day_of(work->now_ms))),
                       &work->used, err);
}

static struct db_value beside_of(const struct advice_of *of)
{
    return of->n_beside > 0
               ? db_bytes(of->beside, of->n_beside * sizeof(struct uuid))
               : db_null();
}

static enum clew_status do_record(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct work *work = arg;
    int64_t n_gone = 0;
    enum clew_status status = db_exec(
        tx, &ADD_TO_LEDGER,
        DB_ARGS(db_int(day_of(work->now_ms)), db_text(work->purpose),
                db_text(work->model), db_int(work->has_failed),
                db_int(work->answer.input_tokens),
                db_int(work->answer.output_tokens), db_int(work->cost_micros)),
        err);

    if (status != CLEW_OK || work->has_failed || !work->of) {
        return status;
    }
    status = rows_number(tx, &COUNT_GONE_SINCE,
                         DB_ARGS(db_int(work->last_gone)), &n_gone, err);
    work->is_late = n_gone > 0;
    if (status != CLEW_OK || work->is_late) {
        return status; /* it may say what was forgotten meanwhile */
    }
    return db_exec(
        tx, &INSERT_ANSWER,
        DB_ARGS(db_bytes(work->key, sizeof(work->key)), db_text(work->purpose),
                db_text(work->model), db_uuid(&work->of->chat_id),
                db_text(work->text), db_int(work->now_ms),
                db_int(work->of->first_seq), db_int(work->of->last_seq),
                db_int(work->answer.input_tokens),
                db_int(work->answer.output_tokens), beside_of(work->of)),
        err);
}

/* So much a million tokens is as many millionths a token. */
static int64_t cost_of(const struct engine *engine,
                       const struct llm_answer *answer)
{
    return llround((double)answer->input_tokens *
                       config_real(engine->config, "llm.input_price") +
                   (double)answer->output_tokens *
                       config_real(engine->config, "llm.output_price"));
}

/* Call, and write down what came of it. */
static enum clew_status call(struct engine *engine, const struct scope *scope,
                             struct work *work,
                             const struct llm_request *request,
                             struct clew_error *err)
{
    enum clew_status status =
        llm_ask(engine->llm, work->arena, request, &work->answer, err);
    enum clew_status recorded;
    struct buf text;

    buf_init(&text, 4u << 20);
    work->has_failed = status != CLEW_OK;
    if (status == CLEW_OK && json_write(&text, work->answer.json) == CLEW_OK) {
        work->text = arena_str(work->arena, buf_str(&text));
    }
    buf_release(&text);
    if (status == CLEW_OK && !work->text.s) {
        status = clew_no_memory(err);
    }
    if (work->answer.input_tokens == 0) {
        /* the endpoint did not say: count it ourselves */
        work->answer.input_tokens =
            (int64_t)(text_token_estimate(request->system) +
                      text_token_estimate(request->prompt));
        work->answer.output_tokens = (int64_t)text_token_estimate(work->text);
    }
    work->cost_micros = cost_of(engine, &work->answer);
    recorded = status == CLEW_NO_MEMORY
                   ? status
                   : store_write(engine->store, scope, do_record, work,
                                 status == CLEW_OK ? err : NULL);
    if (status == CLEW_OK && recorded == CLEW_OK && work->is_late) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "something was forgotten while the language model "
                         "was asked");
    }
    return status == CLEW_OK ? recorded : status;
}

static enum clew_status name_key(const struct work *work, struct str *out_key,
                                 struct clew_error *err)
{
    char hex[2 * SHA256_SIZE + 1];

    hex_format(work->key, SHA256_SIZE, hex);
    *out_key = arena_str(work->arena, str_of(hex));
    return out_key->s ? CLEW_OK : clew_no_memory(err);
}

bool advice_is_there(const struct engine *engine)
{
    return engine->llm || (engine->replay && engine->replay->answer.s);
}

enum clew_status advice_find(struct store_tx *tx, struct arena *arena,
                             struct str hex, struct str *out_text,
                             struct clew_error *err)
{
    unsigned char key[SHA256_SIZE];
    struct db_rows rows;
    bool is_ok = true;
    enum clew_status status;

    *out_text = (struct str){NULL, 0};
    if (hex.len != 2 * SHA256_SIZE || !hex_parse(hex, key, sizeof(key))) {
        return CLEW_OK;
    }
    status = db_query(tx, &SELECT_ANSWER, DB_ARGS(db_bytes(key, sizeof(key))),
                      &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        is_ok = rows_text(arena, &rows, 0, out_text);
    }
    status = db_end(&rows, err);
    return status == CLEW_OK && !is_ok ? clew_no_memory(err) : status;
}

enum clew_status advice_drop(struct store_tx *tx, struct str hex,
                             struct clew_error *err)
{
    unsigned char key[SHA256_SIZE];

    if (hex.len != 2 * SHA256_SIZE || !hex_parse(hex, key, sizeof(key))) {
        return CLEW_OK;
    }
    return db_exec(tx, &DROP_ANSWER, DB_ARGS(db_bytes(key, sizeof(key))), err);
}

enum clew_status advice_ask(struct engine *engine, const struct scope *scope,
                            struct arena *arena, const char *purpose,
                            const struct advice_of *of,
                            const struct llm_request *wanted,
                            json_t **out_answer, struct str *out_key,
                            struct clew_error *err)
{
    struct llm_request masked = *wanted;
    const struct llm_request *request = &masked;
    struct work work = {.arena = arena,
                        .purpose = str_of(purpose),
                        .of = of,
                        .now_ms = clock_now_ms(engine->clock)};
    int64_t cap = config_int(engine->config, "llm.daily_tokens");
    int64_t needed = (int64_t)(text_token_bound(wanted->system) +
                               text_token_bound(wanted->prompt)) +
                     wanted->max_tokens;
    enum clew_status status;

    if (engine->replay && engine->replay->answer.s) {
        return json_parse(engine->replay->answer, out_answer, err);
    }
    if (!engine->llm) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "no language model is configured");
    }
    /* whatever redact.mode keeps: no secret leaves */
    status = redact_str(arena, &masked.prompt, err);
    if (status != CLEW_OK) {
        return status;
    }
    work.model = str_of(llm_model(engine->llm));
    key_of(work.model, request, work.key);
    status = store_read(engine->store, scope, do_look, &work, err);
    if (status == CLEW_OK && work.known.s) {
        status = json_parse(work.known, out_answer, err);
        return status == CLEW_OK ? name_key(&work, out_key, err) : status;
    }
    if (status == CLEW_OK && work.used + needed > cap) {
        return clew_fail_code(
            err, CLEW_RATE_LIMITED, ADVICE_SPENT,
            "the day's tokens for the language model are used");
    }
    if (status == CLEW_OK) {
        status = call(engine, scope, &work, request, err);
    }
    if (status == CLEW_OK && of) {
        status = name_key(&work, out_key, err);
    }
    if (status == CLEW_OK) {
        *out_answer = work.answer.json;
    } else {
        json_decref(work.answer.json);
    }
    return status;
}

/* One message of the person, with the manual where the API wants it. */
static json_t *messages_of(const struct llm *llm, struct str system,
                           struct str prompt, json_t **out_system)
{
    bool is_apart = str_eq(str_of(llm_kind(llm)), STR("anthropic"));

    *out_system = is_apart ? json_stringn(system.s, system.len) : NULL;
    if (is_apart) {
        return json_pack("[{s:s, s:s%}]", "role", "user", "content", prompt.s,
                         prompt.len);
    }
    return json_pack("[{s:s, s:s%}, {s:s, s:s%}]", "role", "system", "content",
                     system.s, system.len, "role", "user", "content", prompt.s,
                     prompt.len);
}

static enum clew_status do_used(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status = consent_check(tx, err);

    return status == CLEW_OK
               ? rows_number(tx, &SELECT_USED,
                             DB_ARGS(db_int(day_of(work->now_ms))), &work->used,
                             err)
               : status;
}

/* Is there a model, and may it be asked, and so much today? */
static enum clew_status may_talk(struct engine *engine,
                                 const struct scope *scope, int64_t needed,
                                 struct clew_error *err)
{
    struct work work = {.now_ms = clock_now_ms(engine->clock)};
    enum clew_status status;

    if (!engine->llm) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "no language model is configured");
    }
    status = store_read(engine->store, scope, do_used, &work, err);
    if (status == CLEW_OK &&
        work.used + needed > config_int(engine->config, "llm.daily_tokens")) {
        return clew_fail_code(
            err, CLEW_RATE_LIMITED, ADVICE_SPENT,
            "the day's tokens for the language model are used");
    }
    return status;
}

/* What a reply cost, by our own count where the endpoint does not say. */
static enum clew_status note_talk(struct engine *engine,
                                  const struct scope *scope,
                                  const struct advice_talk *talk,
                                  struct str prompt,
                                  const struct llm_reply *reply,
                                  bool has_failed, struct clew_error *err)
{
    struct advice_call call = {.purpose = str_of(talk->purpose),
                               .model = str_of(llm_model(engine->llm)),
                               .input_tokens = reply->input_tokens,
                               .output_tokens = reply->output_tokens,
                               .has_failed = has_failed};

    if (call.input_tokens == 0 && (!has_failed || reply->text.len > 0)) {
        call.input_tokens = (int64_t)(text_token_estimate(talk->system) +
                                      text_token_estimate(prompt));
    }
    if (call.output_tokens == 0) {
        call.output_tokens = (int64_t)text_token_estimate(reply->text);
    }
    return advice_note(engine, scope, &call, err);
}

enum clew_status advice_talk(struct engine *engine, const struct scope *scope,
                             struct arena *arena,
                             const struct advice_talk *talk,
                             struct llm_reply *out, struct clew_error *err)
{
    struct llm_talk asked = {.max_tokens = talk->max_tokens,
                             .on_piece = talk->on_piece,
                             .is_over = talk->is_over,
                             .arg = talk->arg};
    struct str prompt = talk->prompt;
    json_t *system = NULL;
    json_t *messages;
    enum clew_status status;
    enum clew_status noted;

    *out = (struct llm_reply){.text = STR("")};
    /* whatever redact.mode keeps: no secret leaves */
    status = redact_str(arena, &prompt, err);
    if (status == CLEW_OK) {
        status = may_talk(engine, scope,
                          (int64_t)(text_token_bound(talk->system) +
                                    text_token_bound(prompt)) +
                              talk->max_tokens,
                          err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    messages = messages_of(engine->llm, talk->system, prompt, &system);
    asked.messages = messages;
    asked.system = system;
    status = messages ? llm_talk(engine->llm, arena, &asked, out, err)
                      : clew_no_memory(err);
    json_decref(messages);
    json_decref(system);
    if (status == CLEW_NO_MEMORY) {
        return status;
    }
    noted = note_talk(engine, scope, talk, prompt, out, status != CLEW_OK,
                      status == CLEW_OK ? err : NULL);
    return status == CLEW_OK ? noted : status;
}

enum clew_status advice_note(struct engine *engine, const struct scope *scope,
                             const struct advice_call *call,
                             struct clew_error *err)
{
    struct work work = {.purpose = call->purpose,
                        .model = call->model,
                        .now_ms = clock_now_ms(engine->clock),
                        .has_failed = call->has_failed,
                        .answer = {.input_tokens = call->input_tokens,
                                   .output_tokens = call->output_tokens}};

    work.cost_micros = cost_of(engine, &work.answer);
    return store_write(engine->store, scope, do_record, &work, err);
}

struct usage_work {
    int64_t after_day;
    struct rows_list list;
};

static bool usage_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct advice_usage *out = item;

    out->day_ms = db_get_int(rows, 0) * CLOCK_DAY_MS;
    out->calls = db_get_int(rows, 3);
    out->failures = db_get_int(rows, 4);
    out->input_tokens = db_get_int(rows, 5);
    out->output_tokens = db_get_int(rows, 6);
    out->cost_micros = db_get_int(rows, 7);
    return rows_text(arena, rows, 1, &out->purpose) &&
           rows_text(arena, rows, 2, &out->model);
}

static enum clew_status do_usage(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct usage_work *work = arg;

    work->list.count = 0;
    return rows_add(tx, &work->list, &SELECT_USAGE,
                    DB_ARGS(db_int(work->after_day)), err);
}

enum clew_status advice_usage_list(struct engine *engine,
                                   const struct scope *scope,
                                   struct arena *arena, int64_t days,
                                   struct advice_usage **out, size_t *out_count,
                                   struct clew_error *err)
{
    struct usage_work work = {.after_day =
                                  day_of(clock_now_ms(engine->clock)) - days,
                              .list = {.arena = arena,
                                       .size = sizeof(struct advice_usage),
                                       .fn = usage_of}};
    enum clew_status status =
        store_read(engine->store, scope, do_usage, &work, err);

    if (status == CLEW_OK) {
        *out = work.list.items;
        *out_count = work.list.count;
    }
    return status;
}
