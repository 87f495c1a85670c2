/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyse.c - POST /api/v1/analyse: what a text does and what is in it; and
 * /api/v1/analyse/feedback, where people set an act right.
 */
#include "api/handlers.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engine/capture/intent_ask.h"
#include "engine/core/engine.h"
#include "engine/understand/correction.h"
#include "text/analysis.h"

#include <math.h>

/* Keywords shown: the most telling ones. */
#define MAX_KEYWORDS 20
/* Items of each other list: a book has more sentences than anybody reads. */
#define MAX_LISTED 1000

struct request {
    struct str text;
    struct str previous;
    struct analysis_options options;
};

static const char *entity_name(enum entity_kind kind)
{
    static const char *const names[] = {
        [ENTITY_PERSON] = "person",
        [ENTITY_PLACE] = "place",
        [ENTITY_ORGANISATION] = "organisation",
        [ENTITY_PRODUCT] = "product",
        [ENTITY_PROJECT] = "project",
        [ENTITY_FILE] = "file",
        [ENTITY_URL] = "url",
        [ENTITY_EMAIL] = "email",
        [ENTITY_DATE] = "date",
        [ENTITY_AMOUNT] = "amount",
        [ENTITY_NUMBER] = "number",
        [ENTITY_NAME] = "name",
    };

    return names[kind];
}

static const char *grain_name(enum date_grain grain)
{
    static const char *const names[] = {
        [DATE_TIME] = "time",   [DATE_DAY] = "day",   [DATE_WEEK] = "week",
        [DATE_MONTH] = "month", [DATE_YEAR] = "year", [DATE_RANGE] = "range"};

    return names[grain];
}

/* Four digits are more than any of these figures is worth. */
static bool set_rounded(json_t *out, const char *field, float value)
{
    return json_set_real(out, field, round((double)value * 1e4) / 1e4);
}

/* {"text","from","to"}: a stretch of the source, in bytes. */
static json_t *form_span(struct str text, uint32_t from, uint32_t to)
{
    json_t *out = json_object();

    if (!out || !json_set_str(out, "text", str_sub(text, from, to)) ||
        !json_set_int(out, "from", from) || !json_set_int(out, "to", to)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *form_sentence(const struct analysis *a,
                             const struct sentence *sentence)
{
    json_t *out = form_span(a->text, sentence->span.from, sentence->span.to);

    if (!out || !json_set_bool(out, "question", sentence->is_question)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *form_segment(struct str text, const struct intent_segment *seg)
{
    json_t *out = form_span(text, seg->from, seg->to);

    if (!out || !json_set_cstr(out, "act", intent_act_name(seg->act)) ||
        !set_rounded(out, "confidence", seg->confidence) ||
        !json_set_cstr(out, "rule", seg->rule)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *form_entity(const struct analysis *a,
                           const struct entity *entity)
{
    json_t *out = form_span(a->text, entity->span.from, entity->span.to);

    if (!out || !json_set_cstr(out, "kind", entity_name(entity->kind))) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *form_keyword(const struct keyword *keyword)
{
    json_t *out = json_object();

    if (!out || !json_set_str(out, "word", keyword->word) ||
        !json_set_str(out, "stem", keyword->stem) ||
        !json_set_int(out, "count", keyword->count) ||
        !set_rounded(out, "idf", keyword->idf)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *form_date(const struct analysis *a, const struct date *date)
{
    json_t *out = form_span(a->text, date->span.from, date->span.to);

    if (!out || !json_set_time(out, "since", &date->from_ms) ||
        !json_set_time(out, "until", &date->to_ms) ||
        !json_set_cstr(out, "grain", grain_name(date->grain)) ||
        !json_set_bool(out, "relative", date->is_relative)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static bool set_lists(json_t *out, const struct analysis *a,
                      const struct intent *intent)
{
    json_t *sentences = json_array();
    json_t *segments = json_array();
    json_t *entities = json_array();
    json_t *keywords = json_array();
    json_t *dates = json_array();
    bool is_ok = true;

    for (size_t i = 0; is_ok && i < a->n_sentences && i < MAX_LISTED; i++) {
        is_ok = json_array_append_new(sentences,
                                      form_sentence(a, &a->sentences[i])) == 0;
    }
    for (size_t i = 0; is_ok && i < intent->n_segments && i < MAX_LISTED; i++) {
        is_ok = json_array_append_new(
                    segments, form_segment(a->text, &intent->segments[i])) == 0;
    }
    for (size_t i = 0; is_ok && i < a->n_entities && i < MAX_LISTED; i++) {
        is_ok = json_array_append_new(entities,
                                      form_entity(a, &a->entities[i])) == 0;
    }
    for (size_t i = 0; is_ok && i < a->n_keywords && i < MAX_KEYWORDS; i++) {
        is_ok =
            json_array_append_new(keywords, form_keyword(&a->keywords[i])) == 0;
    }
    for (size_t i = 0; is_ok && i < a->n_dates && i < MAX_LISTED; i++) {
        is_ok = json_array_append_new(dates, form_date(a, &a->dates[i])) == 0;
    }
    /* json_set() takes what it is given, also on failure: set them all */
    is_ok = json_set(out, "sentences", sentences) && is_ok;
    is_ok = json_set(out, "segments", segments) && is_ok;
    is_ok = json_set(out, "entities", entities) && is_ok;
    is_ok = json_set(out, "keywords", keywords) && is_ok;
    return json_set(out, "dates", dates) && is_ok;
}

static enum clew_status read_request(struct api_call *call, struct request *out,
                                     struct clew_error *err)
{
    enum clew_status status =
        json_get_str(call->body, "text", JSON_REQUIRED, LIMIT_CONTENT_BYTES,
                     &out->text, err);

    if (status == CLEW_OK) {
        status = json_get_str(call->body, "previous", JSON_OPTIONAL,
                              LIMIT_CONTENT_BYTES, &out->previous, err);
    }
    return status;
}

static enum clew_status read_time(struct api_call *call, struct request *out,
                                  struct clew_error *err)
{
    int64_t offset;
    enum clew_status status;

    out->options.time_ms = clock_now_ms(call->engine->clock);
    status = json_get_time(call->body, "created_at", JSON_OPTIONAL,
                           &out->options.time_ms, err);
    if (status == CLEW_OK) {
        status = json_get_str(call->body, "timezone", JSON_OPTIONAL,
                              LIMIT_NAME_BYTES, &out->options.timezone, err);
    }
    if (status == CLEW_OK && !text_zone_offset(out->options.timezone,
                                               out->options.time_ms, &offset)) {
        return clew_fail_field(err, "timezone",
                               "\"timezone\" is no zone that is known");
    }
    return status;
}

static bool set_act(json_t *out, const struct intent *intent, bool is_corrected)
{
    return json_set_cstr(out, "act", intent_act_name(intent->act)) &&
           set_rounded(out, "confidence", intent->confidence) &&
           json_set_cstr(out, "level", intent_level_name(intent->level)) &&
           json_set_cstr(out, "rule", intent->rule) &&
           json_set_bool(out, "corrected", is_corrected);
}

enum clew_status analyse_post(struct api_call *call, struct clew_error *err)
{
    struct request request = {0};
    struct analysis analysis;
    struct intent intent;
    bool is_corrected = false;
    enum clew_status status = read_request(call, &request, err);

    if (status == CLEW_OK) {
        status = read_time(call, &request, err);
    }
    if (status == CLEW_OK) {
        status = analysis_run(call->arena, request.text, &request.options,
                              &analysis, err);
    }
    if (status == CLEW_OK) {
        status = correction_intent(call->engine, &call->scope, call->arena,
                                   request.text, request.previous, &intent,
                                   &is_corrected, err);
    }
    if (status == CLEW_OK && !is_corrected &&
        intent_ask_now(call->engine, &call->scope, call->arena, request.text,
                       request.previous, &intent) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->out = json_object();
    if (!call->out || !set_act(call->out, &intent, is_corrected) ||
        !set_lists(call->out, &analysis, &intent)) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

enum clew_status analyse_feedback(struct api_call *call, struct clew_error *err)
{
    struct request request = {0};
    struct str name = {0};
    enum intent_act act;
    enum clew_status status = read_request(call, &request, err);

    if (status == CLEW_OK) {
        status = json_get_str(call->body, "act", JSON_REQUIRED,
                              LIMIT_NAME_BYTES, &name, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (!intent_act_parse(name, &act)) {
        return clew_fail_field(err, "act",
                               "\"act\" must be greeting, question, request, "
                               "inform, commit, accept or reject");
    }
    status = correction_add(call->engine, &call->scope, call->arena,
                            request.text, request.previous, act, err);
    if (status != CLEW_OK) {
        return status;
    }
    call->out = json_object();
    if (!call->out || !json_set_cstr(call->out, "act", intent_act_name(act))) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}
