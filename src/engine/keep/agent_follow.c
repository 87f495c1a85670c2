/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_follow.c - fields of an artifact, turn by turn. See agent_follow.h.
 */
#include "engine/keep/agent_follow.h"

#include "base/utf8.h"
#include "talk/effort_words.h"

#include <string.h>

/* A value may be a whole turn, but not a book. */
#define MAX_VALUE_BYTES (16u * 1024)
/* Of a field with many values: so many, and so long together; the oldest are
 * let go. What all fields hold must fit a memory's (note_json()). */
#define MAX_VALUES 500
#define LIST_BYTES (32u * 1024)
/* A sentence of fewer telling words says that it is over, not how. */
#define TELLING 2
/* So sure the reader must be that a sentence of the assistant's tells
 * something: "I need your order number" has the words and not the number. */
#define WORTH 0.3f
#define SUPPOSED 0.5f

struct follow {
    struct arena *arena;
    const struct agent *agent;
    const struct agent_said *turn;
    const struct agent_said *before;
    json_t *fields;
    json_t *from; /* AGENT_FROM of the fields */
};

/* --- values ----------------------------------------------------------------
 */

const json_t *agent_field_value(const struct agent_field *field,
                                const json_t *fields)
{
    const json_t *value =
        json_object_getn(fields, field->name.s, field->name.len);

    return json_is_array(value) && json_array_size(value) == 0 ? NULL : value;
}

/* A list under a field's name, made if it is not there; NULL without memory. */
static json_t *list_at(json_t *object, const struct agent_field *field)
{
    json_t *list = json_object_getn(object, field->name.s, field->name.len);

    if (json_is_array(list)) {
        return list;
    }
    list = json_array();
    return json_object_setn_new(object, field->name.s, field->name.len, list) ==
                   0
               ? list
               : NULL;
}

/* Let go of the oldest until `more` bytes fit. */
static void make_room(json_t *values, json_t *origins, size_t more)
{
    const json_t *value;
    size_t total = more;
    size_t i;

    json_array_foreach (values, i, value) {
        total += json_string_length(value);
    }
    while (json_array_size(values) > 0 &&
           (total > LIST_BYTES || json_array_size(values) >= MAX_VALUES)) {
        total -= json_string_length(json_array_get(values, 0));
        (void)json_array_remove(values, 0); /* both have as many */
        (void)json_array_remove(origins, 0);
    }
}

static json_t *origin_of(const struct agent_said *turn)
{
    return json_pack("{s:I,s:s}", "seq", (json_int_t)turn->seq, "by",
                     turn->is_user ? "user" : "assistant");
}

/* Is the value there the user's own? */
static bool is_users(const struct follow *f, const struct agent_field *field)
{
    const json_t *origin =
        json_object_getn(f->from, field->name.s, field->name.len);

    return agent_field_value(field, f->fields) &&
           !str_eq(str_of(json_string_value(json_object_get(origin, "by"))
                              ? json_string_value(json_object_get(origin, "by"))
                              : "user"),
                   STR("assistant"));
}

static bool set_value(struct follow *f, const struct agent_field *field,
                      struct str value, const struct agent_said *turn)
{
    json_t *values;
    json_t *origins;
    json_t *text;

    value.len = utf8_cut(value, MAX_VALUE_BYTES);
    text = json_stringn(value.s, value.len);
    if (!field->is_many) {
        return json_object_setn_new(f->fields, field->name.s, field->name.len,
                                    text) == 0 &&
               json_object_setn_new(f->from, field->name.s, field->name.len,
                                    origin_of(turn)) == 0;
    }
    values = list_at(f->fields, field);
    origins = list_at(f->from, field);
    make_room(values, origins, value.len);
    return json_array_append_new(values, text) == 0 &&
           json_array_append_new(origins, origin_of(turn)) == 0;
}

/* --- what a turn gives -----------------------------------------------------
 */

static enum clew_status count_words(struct follow *f, struct str text,
                                    size_t *out)
{
    struct effort_words words;
    enum clew_status status = effort_words_of(f->arena, text, &words);

    *out = status == CLEW_OK ? words.count : 0;
    return status;
}

/* Does it hold a number or a code of its own? */
static bool has_code(const struct analysis *analysis, size_t from, size_t to)
{
    for (size_t i = 0; i < analysis->tokens.count; i++) {
        const struct token *token = &analysis->tokens.items[i];

        if (token->from >= from && token->to <= to &&
            (token->kind == TOKEN_NUMBER || token->kind == TOKEN_CODE)) {
            return true;
        }
    }
    return false;
}

/* Does the sentence the value stands in tell something? The reader says so, or
 * a number does that is not only supposed. */
static bool is_told(const struct agent_said *turn, struct str value)
{
    size_t at = (size_t)(value.s - turn->text.s);
    const struct analysis *analysis = turn->analysis;

    for (size_t i = 0; analysis && i < analysis->n_sentences; i++) {
        if (at < analysis->sentences[i].span.to) {
            const struct reader_sentence *read =
                turn->read ? &turn->read[i] : NULL;

            if (read && 1 - read->keep[READER_KEEP_NONE] >= WORTH) {
                return true;
            }
            return (!read || read->flag[READER_SUPPOSED] < SUPPOSED) &&
                   has_code(analysis, at, at + value.len);
        }
    }
    return false;
}

/* … or is it only said that all is well? */
static bool is_telling(const struct agent_said *turn, struct str text, size_t n)
{
    return n >= TELLING &&
           (!turn->is_user || !turn->read || is_told(turn, text));
}

/* May this side of the talk give it? */
static bool may_give(const struct follow *f, const struct agent_field *field)
{
    switch (field->by) {
    case AGENT_BY_USER:
        return f->turn->is_user;
    case AGENT_BY_ASSISTANT:
        return !f->turn->is_user;
    case AGENT_BY_EITHER:
        /* what has no words of its own would take all that is said */
        return f->turn->is_user ||
               (field->rule.n_words > 0 && !is_users(f, field));
    }
    return false;
}

/* How it ended stands in the words that tell something: the user's, else the
 * assistant's that were accepted: a sentence that tells what to do, or the
 * last that tells anything. */
static enum clew_status ending(struct follow *f, const struct agent_said *said,
                               struct str *out)
{
    enum clew_status status = CLEW_OK;
    bool is_advice = false;

    for (size_t i = 0;
         status == CLEW_OK && i < said->intent->n_segments && !is_advice; i++) {
        const struct intent_segment *seg = &said->intent->segments[i];
        struct str text = str_trim(str_sub(said->text, seg->from, seg->to));
        size_t n;

        if (seg->act == INTENT_QUESTION || seg->act == INTENT_GREETING) {
            continue;
        }
        status = count_words(f, text, &n);
        if (status == CLEW_OK && is_telling(said, text, n)) {
            *out = text;
            is_advice = said->is_user || seg->act == INTENT_REQUEST ||
                        (seg->flags & INTENT_ADVICE);
        }
    }
    return status;
}

static enum clew_status concluding(struct follow *f,
                                   const struct agent_field *field,
                                   struct str *out,
                                   const struct agent_said **out_by)
{
    struct str value = {NULL, 0};
    enum clew_status status = CLEW_OK;

    if (field->by != AGENT_BY_ASSISTANT) {
        status = ending(f, f->turn, &value);
    }
    if (status == CLEW_OK && value.len == 0 && f->before &&
        !f->before->is_user && field->by != AGENT_BY_USER) {
        status = ending(f, f->before, &value);
        *out_by = value.len > 0 ? f->before : f->turn;
    }
    if (value.len > 0) {
        *out = value;
    }
    return status;
}

/* What the turn gives to a field at a step, and whose words they are. */
static enum clew_status value_of(struct follow *f,
                                 const struct agent_field *field,
                                 enum agent_step step, struct str *out,
                                 const struct agent_said **out_by)
{
    const struct agent_said *turn = f->turn;

    *out = (struct str){NULL, 0};
    *out_by = turn;
    if (may_give(f, field)) {
        *out = str_trim(agent_value(field, step, turn->text, turn->intent));
    }
    if (out->len > 0 && !turn->is_user && !is_told(turn, *out)) {
        *out = (struct str){NULL, 0};
    }
    /* rules that hold for the step hold for the turn that was accepted */
    if (step == AGENT_CONCLUDES && field->from == step &&
        field->rule.n_words == 0 && field->take == AGENT_SENTENCE &&
        (out->len > 0 || field->by == AGENT_BY_ASSISTANT)) {
        return concluding(f, field, out, out_by);
    }
    return CLEW_OK;
}

static enum clew_status take_all(struct follow *f, enum agent_step step,
                                 struct agent_news *out)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < f->agent->n_fields && status == CLEW_OK; i++) {
        const struct agent_field *field = &f->agent->fields[i];
        const struct agent_said *by;
        struct str value;

        status = value_of(f, field, step, &value, &by);
        if (status != CLEW_OK || value.len == 0) {
            continue;
        }
        out->first = out->first.s ? out->first : value;
        status = set_value(f, field, value, by) ? CLEW_OK : CLEW_NO_MEMORY;
    }
    return status;
}

/* --- refusing --------------------------------------------------------------
 */

static bool is_from(const json_t *origin, int64_t seq)
{
    return json_integer_value(json_object_get(origin, "seq")) == seq;
}

/* Does the user say no to what came before? To a question it is an answer as a
 * whole, but its first sentence still says no. */
static bool is_refusal(const struct intent *intent)
{
    return intent->act == INTENT_REJECT ||
           (intent->n_segments > 0 && intent->segments[0].act == INTENT_REJECT);
}

/* "No, that's another one": what the assistant just gave is no value. */
static void take_back(struct follow *f)
{
    for (size_t i = 0; i < f->agent->n_fields; i++) {
        const struct agent_field *field = &f->agent->fields[i];
        json_t *origin =
            json_object_getn(f->from, field->name.s, field->name.len);
        json_t *list =
            json_object_getn(f->fields, field->name.s, field->name.len);

        if (!field->is_many && is_from(origin, f->before->seq)) {
            (void)json_object_deln(f->fields, field->name.s, field->name.len);
            (void)json_object_deln(f->from, field->name.s, field->name.len);
        }
        for (size_t k = json_array_size(origin); field->is_many && k-- > 0;) {
            if (is_from(json_array_get(origin, k), f->before->seq)) {
                (void)json_array_remove(origin, k); /* it is there */
                (void)json_array_remove(list, k);
            }
        }
    }
}

/* --- the whole -------------------------------------------------------------
 */

static bool is_wanted(const struct agent_field *field, enum agent_step step)
{
    return field->is_required && field->has_extraction &&
           (field->from == step || step == AGENT_CONCLUDES);
}

static bool lacks(const struct follow *f, enum agent_step step)
{
    for (size_t i = 0; i < f->agent->n_fields; i++) {
        if (is_wanted(&f->agent->fields[i], step) &&
            !agent_field_value(&f->agent->fields[i], f->fields)) {
            return true;
        }
    }
    return false;
}

/* "Sure", "that's the one": an answer to a question, or a yes while something
 * required is not there yet, is no end. */
static bool is_mere_answer(const struct follow *f)
{
    const struct intent *intent = f->turn->intent;

    return f->agent->concludes.n_words == 0 && intent->act == INTENT_ACCEPT &&
           !(intent->flags & INTENT_STRONG) &&
           (lacks(f, AGENT_CONCLUDES) ||
            (f->before && f->before->intent->act == INTENT_QUESTION &&
             !(intent->flags & INTENT_THANKS)));
}

/* Does it give a field with words of its own that is wanted at any step? */
static bool gives_any(const struct follow *f)
{
    for (size_t i = 0; i < f->agent->n_fields; i++) {
        const struct agent_field *field = &f->agent->fields[i];

        if (field->from == AGENT_NONE && field->rule.n_words > 0 &&
            agent_value(field, AGENT_EXTENDS, f->turn->text, f->turn->intent)
                    .len > 0) {
            return true;
        }
    }
    return false;
}

/* The step a turn is, by its side of the talk. */
static enum agent_step step_of(const struct follow *f, bool is_open)
{
    const struct agent_said *turn = f->turn;
    struct intent intent = *turn->intent;
    enum agent_step step;

    /* thanks for what was told take it, once all is there */
    if (is_open && turn->is_user && (intent.flags & INTENT_THANKS) &&
        strcmp(intent.rule, "acknowledgement") == 0 &&
        !lacks(f, AGENT_CONCLUDES)) {
        intent.act = INTENT_ACCEPT;
    }
    step = agent_match(f->agent, turn->text, &intent, is_open);

    if (!is_open) {
        return turn->is_user ? step : AGENT_NONE;
    }
    if (step == AGENT_CONCLUDES && (!turn->is_user || is_mere_answer(f))) {
        step = AGENT_EXTENDS;
    }
    return step == AGENT_NONE && gives_any(f) ? AGENT_EXTENDS : step;
}

enum clew_status agent_follow(struct arena *arena, const struct agent *agent,
                              const struct agent_said *turn,
                              const struct agent_said *before, bool is_open,
                              json_t *fields, struct agent_news *out)
{
    struct follow f = {arena, agent, turn, before, fields, NULL};
    enum clew_status status;

    *out = (struct agent_news){.step = AGENT_NONE};
    f.from = json_object_get(fields, AGENT_FROM);
    if (!f.from) {
        f.from = json_object();
        if (!json_set(fields, AGENT_FROM, f.from)) {
            return CLEW_NO_MEMORY;
        }
    }
    out->step = step_of(&f, is_open);
    if (is_open && turn->is_user && before && !before->is_user &&
        is_refusal(turn->intent)) {
        take_back(&f);
        out->step = out->step == AGENT_NONE ? AGENT_EXTENDS : out->step;
    }
    status = out->step == AGENT_NONE ? CLEW_OK : take_all(&f, out->step, out);
    if (out->step == AGENT_OPENS && lacks(&f, AGENT_OPENS)) {
        out->step = AGENT_NONE;
    }
    /* an assistant's turn that gave nothing is none of its */
    if (!turn->is_user && out->first.len == 0) {
        out->step = AGENT_NONE;
    }
    out->is_incomplete =
        out->step == AGENT_CONCLUDES && lacks(&f, AGENT_CONCLUDES);
    return status;
}
