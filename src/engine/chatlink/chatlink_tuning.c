/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_tuning.c - fit, store and revert tunings. See chatlink_tuning.h.
 */
#include "engine/chatlink/chatlink_tuning.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "store/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID 0.01
#define MAX_PROMPT_SIGNALS 12
/* Disagreements before the LLM's word is weighed anew, and its bounds. */
#define MIN_DISAGREEMENTS 10
#define LLM_WEIGHT_MIN 0.8
#define LLM_WEIGHT_MAX 1.25

#define COLUMNS                                                                \
    "id, previous_id, is_current, threshold, keyword, entity, topic, recency," \
    " llm_weight, prompt_signals, reason, metrics, created_at"

DB_SQL(SELECT_CURRENT, "SELECT " COLUMNS " FROM link_tunings WHERE tenant = $1"
                       " AND is_current = 1");
DB_SQL(SELECT_ONE,
       "SELECT " COLUMNS " FROM link_tunings WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_HISTORY, "SELECT " COLUMNS " FROM link_tunings WHERE tenant = $1"
                       " ORDER BY created_at DESC, id DESC LIMIT $2");
DB_SQL(RETIRE, "UPDATE link_tunings SET is_current = 0 WHERE tenant = $1"
               " AND is_current = 1");
DB_SQL(INSERT,
       "INSERT INTO link_tunings (tenant, " COLUMNS ") VALUES ($1, $2, $3, $4,"
       " $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)");

/* --- fitting ---------------------------------------------------------------
 */

static double score_of(const struct chatlink_tuning *tuning,
                       const struct chatlink_sample *sample)
{
    return tuning->weights.keyword * sample->signals[0] +
           tuning->weights.entity * sample->signals[1] +
           tuning->weights.topic * sample->signals[2] +
           tuning->weights.recency * sample->signals[3];
}

/* What `tuning` would have made of the samples. */
static void chatlink_tuning_measure(const struct chatlink_tuning *tuning,
                                    const struct chatlink_sample *samples,
                                    size_t count, struct chatlink_metrics *out)
{
    size_t right = 0;
    size_t positives = 0;
    size_t false_positives = 0;
    size_t false_negatives = 0;

    for (size_t i = 0; i < count; i++) {
        bool says = score_of(tuning, &samples[i]) > tuning->threshold;

        positives += samples[i].should_link;
        right += says == samples[i].should_link;
        false_positives += says && !samples[i].should_link;
        false_negatives += !says && samples[i].should_link;
    }
    out->accuracy = count ? (double)right / (double)count : 0;
    out->false_positive_rate =
        count > positives
            ? (double)false_positives / (double)(count - positives)
            : 0;
    out->false_negative_rate =
        positives ? (double)false_negatives / (double)positives : 0;
}

/* The weights with `delta` moved from the other three to recency. */
static struct chatlink_weights shifted(const struct chatlink_weights *from,
                                       double delta)
{
    double others = from->keyword + from->entity + from->topic;
    double share = others > 0 ? (others - delta) / others : 1;
    struct chatlink_weights out = {from->keyword * share, from->entity * share,
                                   from->topic * share, from->recency + delta};

    return out;
}

/* Does an LLM or the algorithm win their disputes? Move its weight a step. */
static double llm_weight_after(const struct chatlink_tuning *from,
                               const struct chatlink_sample *samples,
                               size_t count)
{
    size_t n = 0;
    size_t llm_right = 0;
    double weight = from->llm_weight;

    for (size_t i = 0; i < count; i++) {
        bool says = score_of(from, &samples[i]) > from->threshold;

        if (samples[i].has_llm && samples[i].llm_said_link != says) {
            n++;
            llm_right += samples[i].llm_said_link == samples[i].should_link;
        }
    }
    if (n >= MIN_DISAGREEMENTS && llm_right * 2 != n) {
        weight += llm_right * 2 > n ? CHATLINK_STEP : -CHATLINK_STEP;
    }
    return fmin(LLM_WEIGHT_MAX, fmax(LLM_WEIGHT_MIN, weight));
}

bool chatlink_tuning_fit(const struct chatlink_tuning *from,
                         const struct chatlink_sample *samples, size_t count,
                         struct chatlink_tuning *out,
                         struct chatlink_metrics *out_before,
                         struct chatlink_metrics *out_after)
{
    struct chatlink_tuning best = *from;
    double best_cost = 0;
    bool is_better = false;

    chatlink_tuning_measure(from, samples, count, out_before);
    *out_after = *out_before;
    for (int k = -1; k <= 1; k++) {
        struct chatlink_tuning tried = *from;

        tried.weights = shifted(&from->weights, k * CHATLINK_STEP);
        if (tried.weights.recency < 0.05 || tried.weights.recency > 0.5) {
            continue;
        }
        for (int step = -5; step <= 5; step++) {
            struct chatlink_metrics metrics;
            double cost = abs(k) + fabs(step * GRID);

            tried.threshold = from->threshold + step * GRID;
            if (tried.threshold < CHATLINK_THRESHOLD_MIN - 1e-9 ||
                tried.threshold > CHATLINK_THRESHOLD_MAX + 1e-9) {
                continue;
            }
            chatlink_tuning_measure(&tried, samples, count, &metrics);
            /* better, or as good as the best so far by a smaller move */
            if (metrics.accuracy > out_after->accuracy + 1e-12 ||
                (is_better && metrics.accuracy == out_after->accuracy &&
                 cost < best_cost)) {
                best = tried;
                best_cost = cost;
                *out_after = metrics;
                is_better = true;
            }
        }
    }
    best.llm_weight = llm_weight_after(from, samples, count);
    *out = best;
    return is_better || best.llm_weight != from->llm_weight;
}

/* --- rows ------------------------------------------------------------------
 */

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct chatlink_tuning *out = item;

    out->id = db_get_uuid(rows, 0);
    out->previous_id = db_get_uuid(rows, 1);
    out->is_current = db_get_int(rows, 2) != 0;
    out->threshold = db_get_real(rows, 3);
    out->weights.keyword = db_get_real(rows, 4);
    out->weights.entity = db_get_real(rows, 5);
    out->weights.topic = db_get_real(rows, 6);
    out->weights.recency = db_get_real(rows, 7);
    out->llm_weight = db_get_real(rows, 8);
    out->created_at_ms = db_get_int(rows, 12);
    return rows_text(arena, rows, 9, &out->prompt_signals) &&
           rows_text(arena, rows, 10, &out->reason) &&
           rows_text(arena, rows, 11, &out->metrics);
}

static void set_defaults(const struct engine *engine,
                         struct chatlink_tuning *out)
{
    memset(out, 0, sizeof(*out));
    out->threshold = config_real(engine->config, "links.threshold");
    out->weights = chatlink_default_weights;
    out->llm_weight = 1;
    out->prompt_signals = STR("[]");
    out->reason = STR("the defaults");
    out->metrics = STR("{}");
    out->is_current = true;
}

enum clew_status chatlink_tuning_current(struct store_tx *tx,
                                         const struct engine *engine,
                                         struct arena *arena,
                                         struct chatlink_tuning *out,
                                         struct clew_error *err)
{
    enum clew_status status =
        rows_one(tx, arena, &SELECT_CURRENT, DB_NO_ARGS, row_of, out,
                 sizeof(*out), "tuning", err);

    if (status == CLEW_NOT_FOUND) {
        set_defaults(engine, out);
        return CLEW_OK;
    }
    return status;
}

/* A row of the history. */
static enum clew_status keep(struct store_tx *tx,
                             const struct chatlink_tuning *tuning,
                             bool is_current, struct clew_error *err)
{
    return db_exec(
        tx, &INSERT,
        DB_ARGS(db_uuid(&tuning->id), db_uuid(&tuning->previous_id),
                db_int(is_current), db_real(tuning->threshold),
                db_real(tuning->weights.keyword),
                db_real(tuning->weights.entity), db_real(tuning->weights.topic),
                db_real(tuning->weights.recency), db_real(tuning->llm_weight),
                db_text(tuning->prompt_signals), db_text(tuning->reason),
                db_text(tuning->metrics), db_int(tuning->created_at_ms)),
        err);
}

/* Put `tuning` in force in the place of the one that is. */
static enum clew_status adopt(struct store_tx *tx,
                              const struct chatlink_tuning *tuning,
                              struct clew_error *err)
{
    enum clew_status status = db_exec(tx, &RETIRE, DB_NO_ARGS, err);

    return status == CLEW_OK ? keep(tx, tuning, true, err) : status;
}

/* --- learning --------------------------------------------------------------
 */

/* Read the four signals that were recorded; false if they are not there. */
static bool sample_of(const struct chatlink_decision *decision,
                      struct chatlink_sample *out)
{
    static const char *const names[4] = {"keyword", "entity", "topic",
                                         "recency"};
    json_t *signals = NULL;
    bool is_ok = json_parse(decision->signals, &signals, NULL) == CLEW_OK;

    memset(out, 0, sizeof(*out));
    for (int i = 0; is_ok && i < 4; i++) {
        json_t *value = json_object_get(signals, names[i]);

        is_ok = json_is_number(value);
        out->signals[i] = is_ok ? json_number_value(value) : 0;
    }
    json_decref(signals);
    out->was_link = chatlink_decision_is_link(decision);
    out->should_link =
        out->was_link == str_eq(decision->outcome, STR("correct"));
    out->has_llm = decision->llm >= 0;
    out->llm_said_link = decision->llm > 0.5;
    return is_ok;
}

/* Add the names in `list` that `names` does not have. */
static bool add_names(json_t *names, const json_t *list)
{
    const json_t *name;
    size_t i;

    json_array_foreach (list, i, name) {
        const json_t *known;
        bool is_new = json_is_string(name);
        size_t k;

        json_array_foreach (names, k, known) {
            is_new = is_new && !json_equal(known, name);
        }
        if (is_new && json_array_size(names) < MAX_PROMPT_SIGNALS &&
            json_array_append(names, (json_t *)(uintptr_t)name) != 0) {
            return false;
        }
    }
    return true;
}

/* What the algorithm saw where the LLM was wrong: the prompt names it next
 * time. */
static bool list_missed(const struct chatlink_decision *decisions, size_t count,
                        json_t *names)
{
    for (size_t i = 0; i < count; i++) {
        struct chatlink_sample sample;
        json_t *signals = NULL;
        bool is_ok;

        if (!sample_of(&decisions[i], &sample) || !sample.has_llm ||
            sample.llm_said_link == sample.should_link ||
            json_parse(decisions[i].signals, &signals, NULL) != CLEW_OK) {
            continue;
        }
        is_ok = add_names(names, json_object_get(signals, "seen"));
        json_decref(signals);
        if (!is_ok) {
            return false;
        }
    }
    return true;
}

static struct str text_of(struct arena *arena, const json_t *json)
{
    struct buf text;
    struct str out = {NULL, 0};

    buf_init(&text, 1 << 20);
    if (json_write(&text, json) == CLEW_OK) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    return out;
}

static struct str metrics_text(struct arena *arena,
                               const struct chatlink_metrics *before,
                               const struct chatlink_metrics *after,
                               size_t count)
{
    json_t *json = json_object();
    struct str out = {NULL, 0};

    if (json && json_set_int(json, "decisions", (int64_t)count) &&
        json_set_real(json, "accuracy_before", before->accuracy) &&
        json_set_real(json, "accuracy_after", after->accuracy) &&
        json_set_real(json, "false_positive_rate_before",
                      before->false_positive_rate) &&
        json_set_real(json, "false_positive_rate_after",
                      after->false_positive_rate) &&
        json_set_real(json, "false_negative_rate_before",
                      before->false_negative_rate) &&
        json_set_real(json, "false_negative_rate_after",
                      after->false_negative_rate)) {
        out = text_of(arena, json);
    }
    json_decref(json);
    return out;
}

struct work {
    struct engine *engine;
    const struct task *task;
    struct arena *arena;
    int64_t now_ms;
    int64_t limit;
    struct chatlink_tuning tuning;
    struct chatlink_tuning *history;
    size_t count;
};

/* Samples of the decisions whose signals can be read. */
static size_t samples_of(const struct chatlink_decision *decisions,
                         size_t count, struct chatlink_sample *out)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        n += sample_of(&decisions[i], &out[n]);
    }
    return n;
}

static enum clew_status
describe(struct work *work, struct chatlink_tuning *tuning,
         const struct chatlink_decision *decisions, size_t count,
         const struct chatlink_metrics *before,
         const struct chatlink_metrics *after, struct clew_error *err)
{
    json_t *names = NULL;
    bool is_ok = json_parse(tuning->prompt_signals, &names, NULL) == CLEW_OK &&
                 list_missed(decisions, count, names);

    tuning->reason = str_of(arena_printf(
        work->arena,
        "accuracy %.3f to %.3f, false positives %.1f %% to %.1f %%, false "
        "negatives %.1f %% to %.1f %%",
        before->accuracy, after->accuracy, before->false_positive_rate * 100,
        after->false_positive_rate * 100, before->false_negative_rate * 100,
        after->false_negative_rate * 100));
    if (is_ok) {
        tuning->prompt_signals = text_of(work->arena, names);
    }
    json_decref(names);
    tuning->metrics = metrics_text(work->arena, before, after, count);
    if (!is_ok || !tuning->reason.s || !tuning->prompt_signals.s ||
        !tuning->metrics.s) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

/* Nothing was better: said in the history, beside the one that stays. */
static enum clew_status note_unchanged(struct store_tx *tx, struct work *work,
                                       const struct chatlink_tuning *current,
                                       const struct chatlink_sample *samples,
                                       size_t count, struct clew_error *err)
{
    struct chatlink_tuning row = *current;
    struct chatlink_metrics now;

    chatlink_tuning_measure(current, samples, count, &now);
    row.id = uuid_derive(work->now_ms, &work->task->id, "tuning", 0);
    row.previous_id = current->id;
    row.created_at_ms = work->now_ms;
    row.reason = str_of(arena_printf(
        work->arena,
        "nothing changed: no step is right more often than accuracy %.3f, "
        "false positives %.1f %%, false negatives %.1f %%",
        now.accuracy, now.false_positive_rate * 100,
        now.false_negative_rate * 100));
    row.metrics = metrics_text(work->arena, &now, &now, count);
    return row.reason.s && row.metrics.s ? keep(tx, &row, false, err)
                                         : clew_no_memory(err);
}

static enum clew_status do_tune(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    struct chatlink_tuning current;
    struct chatlink_tuning next;
    struct chatlink_metrics before;
    struct chatlink_metrics after;
    struct chatlink_decision *decisions = NULL;
    struct chatlink_sample *samples;
    size_t count = 0;
    enum clew_status status =
        chatlink_tuning_current(tx, work->engine, work->arena, &current, err);

    if (status == CLEW_OK) {
        status = chatlink_decision_judged(
            tx, work->arena, CHATLINK_TUNING_SAMPLE, &decisions, &count, err);
    }
    samples = arena_zero(work->arena, count + 1, sizeof(*samples));
    if (status != CLEW_OK || !samples) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    if (chatlink_tuning_fit(&current, samples,
                            samples_of(decisions, count, samples), &next,
                            &before, &after)) {
        next.id = uuid_derive(work->now_ms, &work->task->id, "tuning", 0);
        next.previous_id = current.id;
        next.created_at_ms = work->now_ms;
        status = describe(work, &next, decisions, count, &before, &after, err);
        if (status == CLEW_OK) {
            status = adopt(tx, &next, err);
        }
    } else {
        status = note_unchanged(tx, work, &current, samples,
                                samples_of(decisions, count, samples), err);
    }
    return status == CLEW_OK
               ? task_complete_noted(tx, work->task, NULL, work->now_ms, err)
               : status;
}

enum clew_status chatlink_tuning_task(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .task = task,
                        .arena = arena,
                        .now_ms = clock_now_ms(engine->clock)};

    return store_write(engine->store, &task->scope, do_tune, &work, err);
}

/* --- looking and going back ------------------------------------------------
 */

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    struct rows_list list = {.arena = work->arena,
                             .size = sizeof(struct chatlink_tuning),
                             .fn = row_of};
    enum clew_status status = chatlink_tuning_current(
        tx, work->engine, work->arena, &work->tuning, err);

    if (status == CLEW_OK) {
        status = rows_add(tx, &list, &SELECT_HISTORY,
                          DB_ARGS(db_int(work->limit)), err);
    }
    work->history = list.items;
    work->count = list.count;
    return status;
}

enum clew_status chatlink_tuning_list(struct engine *engine,
                                      const struct scope *scope,
                                      struct arena *arena, int64_t limit,
                                      struct chatlink_tuning *out_current,
                                      struct chatlink_tuning **out_history,
                                      size_t *out_count, struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .limit = limit};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out_current = work.tuning;
        *out_history = work.history;
        *out_count = work.count;
    }
    return status;
}

static bool is_same(const struct chatlink_tuning *a,
                    const struct chatlink_tuning *b)
{
    const struct chatlink_weights *was = &a->weights;
    const struct chatlink_weights *is = &b->weights;

    return a->threshold == b->threshold && a->llm_weight == b->llm_weight &&
           was->keyword == is->keyword && was->entity == is->entity &&
           was->topic == is->topic && was->recency == is->recency;
}

/* "reverted by hand to the defaults: threshold 0.65 to 0.70, …" */
static struct str say_reverted(struct arena *arena,
                               const struct chatlink_tuning *from,
                               const struct chatlink_tuning *to)
{
    const struct chatlink_weights *was = &from->weights;
    const struct chatlink_weights *is = &to->weights;

    return str_of(arena_printf(
        arena,
        "reverted by hand to %s: threshold %.2f to %.2f, keyword %.2f to %.2f, "
        "entity %.2f to %.2f, topic %.2f to %.2f, recency %.2f to %.2f, the "
        "model's word %.2f to %.2f",
        uuid_is_nil(&to->id) ? "the defaults" : "the tuning before",
        from->threshold, to->threshold, was->keyword, is->keyword, was->entity,
        is->entity, was->topic, is->topic, was->recency, is->recency,
        from->llm_weight, to->llm_weight));
}

static enum clew_status do_revert(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct work *work = arg;
    struct chatlink_tuning current;
    struct chatlink_tuning *tuning = &work->tuning;
    enum clew_status status =
        chatlink_tuning_current(tx, work->engine, work->arena, &current, err);

    if (status != CLEW_OK) {
        return status;
    }
    set_defaults(work->engine, tuning);
    if (is_same(&current, tuning)) {
        return clew_fail(err, CLEW_CONFLICT,
                         "the defaults are in force: there is no tuning to "
                         "revert");
    }
    if (!uuid_is_nil(&current.previous_id)) {
        status = rows_one(tx, work->arena, &SELECT_ONE,
                          DB_ARGS(db_uuid(&current.previous_id)), row_of,
                          tuning, sizeof(*tuning), "tuning", err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    tuning->reason = say_reverted(work->arena, &current, tuning);
    if (!tuning->reason.s) {
        return clew_no_memory(err);
    }
    /* the next step back goes before this one, not to what was left */
    tuning->id = action_new_id(work->engine, work->now_ms);
    tuning->created_at_ms = work->now_ms;
    tuning->metrics = STR("{}");
    tuning->is_current = true;
    status = adopt(tx, tuning, err);
    if (status == CLEW_OK) {
        struct action_new action = {.kind = ACTION_TUNING_REVERT,
                                    .made = &tuning->id,
                                    .at_ms = work->now_ms};

        status = action_add(tx, &action, err);
    }
    return status;
}

enum clew_status chatlink_tuning_revert(struct engine *engine,
                                        const struct scope *scope,
                                        struct arena *arena,
                                        struct chatlink_tuning *out,
                                        struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .arena = arena,
                        .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status =
        store_write(engine->store, scope, do_revert, &work, err);

    if (status == CLEW_OK) {
        *out = work.tuning;
    }
    return status;
}
