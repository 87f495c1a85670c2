/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.c - POST /api/v1/recall: find what was said.
 */
#include "api/handlers.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/search.h"
#include "engine/turn.h"

static const struct {
    const char *name;
    uint32_t kind;
} kinds[] = {{"turn", RECALL_TURN},
             {"memory", RECALL_MEMORY},
             {"episode", RECALL_EPISODE},
             {"chat", RECALL_CHAT}};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

#define DEFAULT_LIMIT 10

static const char *kind_name(uint32_t kind)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].name;
        }
    }
    return "turn";
}

static uint32_t kind_of(const json_t *value)
{
    struct str name = {json_string_value(value), json_string_length(value)};

    for (size_t i = 0; name.s && i < N_KINDS; i++) {
        if (str_eq(name, str_of(kinds[i].name))) {
            return kinds[i].kind;
        }
    }
    return 0;
}

static enum clew_status read_kinds(const json_t *body, uint32_t *out_kinds,
                                   struct clew_error *err)
{
    const json_t *list = NULL;
    size_t i;
    json_t *value;
    enum clew_status status =
        json_get_array(body, "kinds", JSON_OPTIONAL, N_KINDS, &list, err);

    if (status != CLEW_OK || !list) {
        return status;
    }
    json_array_foreach (list, i, value) {
        uint32_t kind = kind_of(value);

        if (!kind) {
            return clew_fail_field(err, "kinds",
                                   "\"kinds\" may hold turn, memory, episode "
                                   "and chat");
        }
        *out_kinds |= kind;
    }
    return CLEW_OK;
}

static enum clew_status read_times(const json_t *body, struct search_query *out,
                                   struct clew_error *err)
{
    enum clew_status status =
        json_get_time(body, "since", JSON_OPTIONAL, &out->since_ms, err);

    if (status == CLEW_OK) {
        status =
            json_get_time(body, "until", JSON_OPTIONAL, &out->until_ms, err);
    }
    if (status == CLEW_OK) {
        status = json_get_time(body, "at", JSON_OPTIONAL, &out->at_ms, err);
    }
    return status;
}

static enum clew_status read_query(struct api_call *call,
                                   struct search_query *out, bool *out_explain,
                                   struct clew_error *err)
{
    const json_t *body = call->body;
    int64_t limit = DEFAULT_LIMIT;
    enum clew_status status = json_get_str(body, "query", JSON_REQUIRED,
                                           LIMIT_QUERY_BYTES, &out->query, err);

    if (status == CLEW_OK) {
        status = json_get_str(body, "user_id", JSON_OPTIONAL, LIMIT_NAME_BYTES,
                              &out->user_id, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_uuid(body, "chat_id", JSON_OPTIONAL, &out->chat_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(body, "timezone", JSON_OPTIONAL, LIMIT_NAME_BYTES,
                              &out->timezone, err);
    }
    if (status == CLEW_OK) {
        status = read_kinds(body, &out->kinds, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(body, "limit", JSON_OPTIONAL, 1, LIMIT_PAGE_MAX,
                              &limit, err);
    }
    if (status == CLEW_OK) {
        status = read_times(body, out, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_bool(body, "explain", JSON_OPTIONAL, out_explain, err);
    }
    out->limit = (size_t)limit;
    return status;
}

/* Where a score comes from. */
static json_t *form_why(const struct recall_parts *parts)
{
    json_t *why = json_object();

    if (!why || !json_set_real(why, "lexical", (double)parts->lexical) ||
        !json_set_real(why, "neighbour", (double)parts->neighbour) ||
        !json_set_real(why, "vector", (double)parts->vector) ||
        !json_set_real(why, "window", (double)parts->window) ||
        !json_set_real(why, "time", (double)parts->time) ||
        !json_set_real(why, "prior", (double)parts->prior) ||
        !json_set_real(why, "chat", (double)parts->chat)) {
        json_decref(why);
        return NULL;
    }
    return why;
}

static const struct uuid *id_or_null(const struct uuid *id)
{
    return uuid_is_nil(id) ? NULL : id;
}

static json_t *form_hit(const struct search_hit *hit, bool has_why)
{
    const struct recall_item *item = &hit->item;
    const struct turn *turn = hit->turn;
    json_t *out = json_object();
    bool is_ok =
        out && json_set_cstr(out, "kind", kind_name(item->kind)) &&
        json_set_uuid(out, "id", &item->id) &&
        json_set_uuid(out, "chat_id", id_or_null(&item->chat)) &&
        json_set_uuid(out, "turn_id", turn ? &turn->id : NULL) &&
        json_set_str(out, "external_id",
                     turn ? turn->external_id : (struct str){0}) &&
        json_set_str(out, "text", hit->text) &&
        json_set_real(out, "score", item->score) &&
        json_set_time(out, "created_at", &item->created_at_ms) &&
        json_set_bool(out, "superseded", hit->is_superseded) &&
        json_set_uuid(out, "refined_by", id_or_null(&hit->refined_by)) &&
        json_set_bool(out, "is_instruction",
                      hit->memory && hit->memory->is_instruction) &&
        json_set_str(out, "source_ref", hit->source_ref);

    if (is_ok && has_why) {
        is_ok = json_set(out, "why", form_why(&item->parts));
    }
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *form_trace(const struct recall_result *ranking)
{
    json_t *trace = json_object();
    json_t *terms = json_array();
    bool is_ok = trace && terms;

    for (size_t i = 0; is_ok && i < ranking->n_terms; i++) {
        is_ok = json_array_append_new(terms,
                                      json_stringn(ranking->terms[i].s,
                                                   ranking->terms[i].len)) == 0;
    }
    is_ok = json_set(trace, "terms", terms) && is_ok;
    is_ok = is_ok &&
            json_set_int(trace, "scanned", (int64_t)ranking->n_scanned) &&
            json_set_int(trace, "candidates", (int64_t)ranking->n_candidates);
    if (!is_ok) {
        json_decref(trace);
        return NULL;
    }
    return trace;
}

enum clew_status recall_post(struct api_call *call, struct clew_error *err)
{
    struct search_query query = {.since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = clock_now_ms(call->engine->clock)};
    struct search_result result = {0};
    bool has_why = false;
    json_t *items;
    enum clew_status status = read_query(call, &query, &has_why, err);

    if (status == CLEW_OK) {
        status = search_run(call->engine, &call->scope, call->arena, &query,
                            &result, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    items = json_array();
    for (size_t i = 0; i < result.count; i++) {
        if (json_array_append_new(items, form_hit(&result.hits[i], has_why))) {
            json_decref(items);
            return api_no_memory(err);
        }
    }
    call->out = json_object();
    if (!json_set(call->out, "items", items) ||
        !json_set(call->out, "trace", form_trace(&result.ranking))) {
        return api_no_memory(err);
    }
    return CLEW_OK;
}
