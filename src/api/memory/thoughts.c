/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thoughts.c - /api/v1/memory: an agent speaks, and is told what others said.
 *
 * The shape of the answer is fixed (spec/lineage.md): fields may be added, none
 * is ever renamed.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/json_out.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "engine/thought/thought.h"

#include <string.h>

/* Bytes that any number of characters within the limits can have. */
#define MAX_TEXT_BYTES (THOUGHT_MAX_PROMPT_CHARS * 4)
/* Of the memory that is told, as it is written: within LIMIT_ANSWER_BYTES with
 * all that stands beside it. */
#define RESPONSE_BYTES 60000u

/* --- reading ----------------------------------------------------------------
 */

static enum clew_status read_ids(struct api_call *call, const json_t *list,
                                 struct thought_input *input,
                                 struct clew_error *err)
{
    size_t count = json_array_size(list);
    struct uuid *ids = arena_zero(call->arena, count, sizeof(*ids));
    size_t i;
    json_t *item;

    if (!ids) {
        return clew_no_memory(err);
    }
    json_array_foreach (list, i, item) {
        struct str text = str_of(json_string_value(item));

        if (!json_is_string(item) || !uuid_parse(text, &ids[i])) {
            return clew_fail_field(err, "consolidates",
                                   "\"consolidates[%zu]\" must be a UUID", i);
        }
    }
    input->consolidates = ids;
    input->n_consolidates = count;
    return CLEW_OK;
}

static enum clew_status read_body(struct api_call *call,
                                  struct thought_input *input,
                                  struct clew_error *err)
{
    const json_t *body = call->body;
    const json_t *list = NULL;
    enum clew_status status = json_get_str(body, "prompt", JSON_REQUIRED,
                                           MAX_TEXT_BYTES, &input->prompt, err);

    if (status == CLEW_OK) {
        status = json_get_str(body, "agent_id", JSON_REQUIRED, MAX_TEXT_BYTES,
                              &input->agent_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(body, "agent_name", JSON_REQUIRED, MAX_TEXT_BYTES,
                              &input->agent_name, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(body, "context", JSON_OPTIONAL, MAX_TEXT_BYTES,
                              &input->context, err);
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(body, "session_id", JSON_OPTIONAL,
                               &input->session_id, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_uuid(body, "refines", JSON_OPTIONAL, &input->refines, err);
    }
    if (status == CLEW_OK) {
        status = json_get_array(body, "consolidates", JSON_OPTIONAL,
                                THOUGHT_MAX_SOURCES, &list, err);
    }
    if (status == CLEW_OK) {
        status = json_get_bool(body, "read_only", JSON_OPTIONAL,
                               &input->is_read_only, err);
    }
    input->has_refines = json_is_string(json_object_get(body, "refines"));
    input->has_consolidates = list != NULL;
    return status == CLEW_OK && list ? read_ids(call, list, input, err)
                                     : status;
}

/* The query string as the body it stands for. */
static enum clew_status body_of_query(struct api_call *call, json_t **out_body,
                                      struct clew_error *err)
{
    static const char *const names[] = {"prompt",  "agent_id",   "agent_name",
                                        "context", "session_id", "refines"};
    json_t *body = json_object();
    struct str text;
    struct str id;
    json_t *list;
    bool is_ok = body != NULL;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < sizeof(names) / sizeof(names[0]) && status == CLEW_OK; i++) {
        text = (struct str){NULL, 0};
        status = api_query_str(call, names[i], MAX_TEXT_BYTES, &text, err);
        if (status == CLEW_OK && text.s) {
            is_ok = is_ok && json_set_str(body, names[i], text);
        }
    }
    text = (struct str){NULL, 0};
    if (status == CLEW_OK) {
        status =
            api_query_str(call, "consolidates", MAX_TEXT_BYTES, &text, err);
    }
    if (status == CLEW_OK && text.s) {
        list = json_array();
        while (list && str_split(&text, ',', &id)) {
            is_ok = is_ok && json_array_append_new(
                                 list, json_stringn(id.s, id.len)) == 0;
        }
        is_ok = json_set(body, "consolidates", list) && is_ok;
    }
    text = (struct str){NULL, 0};
    if (status == CLEW_OK) {
        status = api_query_str(call, "read_only", LIMIT_NAME_BYTES, &text, err);
    }
    if (status == CLEW_OK && text.s) {
        bool is_true = str_eq(text, STR("true")) || str_eq(text, STR("1"));

        if (!is_true && !str_eq(text, STR("false")) &&
            !str_eq(text, STR("0"))) {
            status = clew_fail_field(err, "read_only",
                                     "\"read_only\" must be true or false");
        }
        is_ok = is_ok && json_set_bool(body, "read_only", is_true);
    }
    if (status == CLEW_OK && !is_ok) {
        status = clew_no_memory(err);
    }
    *out_body = body;
    return status;
}

/* --- answering --------------------------------------------------------------
 */

static struct str preview(struct str text)
{
    return str_sub(text, 0, utf8_cut_chars(text, THOUGHT_PREVIEW_CHARS));
}

static json_t *form_source(const struct thought_source *source)
{
    const struct memory *memory = &source->memory;
    json_t *out = json_object();
    bool is_ok =
        out && json_set_uuid(out, "thought_id", &memory->id) &&
        json_set_str(out, "contributor",
                     memory->agent_name.s ? memory->agent_name
                                          : memory->origin) &&
        json_set_real(out, "score", source->score) &&
        json_set_str(out, "content_preview", preview(memory->summary)) &&
        json_set_uuid(out, "refined_by",
                      source->is_superseded ? &source->refined_by : NULL) &&
        json_set_bool(out, "superseded", source->is_superseded) &&
        json_set_str(out, "type", memory->type) &&
        json_set_cstr(out, "thought_type",
                      memory_lineage_name(memory->lineage)) &&
        json_set_real(out, "weight", memory->weight);

    return form_finish(out, is_ok);
}

static json_t *form_sources(const struct thought_result *result)
{
    json_t *list = json_array();
    bool is_ok = list != NULL;

    for (size_t i = 0; i < result->n_sources && i < THOUGHT_SHOWN; i++) {
        is_ok = is_ok && json_array_append_new(
                             list, form_source(&result->sources[i])) == 0;
    }
    return form_finish(list, is_ok);
}

static json_t *form_highways(const struct thought_result *result)
{
    json_t *list = json_array();
    bool is_ok = list != NULL;

    for (size_t i = 0; i < result->n_highways; i++) {
        const struct thought_highway *highway = &result->highways[i];
        json_t *item = json_object();

        is_ok = is_ok && item &&
                json_set_uuid(item, "thought_id", &highway->id) &&
                json_set_int(item, "accesses", highway->access_count) &&
                json_set_int(item, "agents", highway->agent_count) &&
                json_set_str(item, "content_preview", highway->preview);
        is_ok = json_array_append_new(list, item) == 0 && is_ok;
    }
    return form_finish(list, is_ok);
}

static json_t *form_clusters(const struct thought_result *result)
{
    json_t *out;
    json_t *list;
    bool is_ok;

    if (result->n_clusters == 0) {
        return json_null();
    }
    out = json_object();
    list = json_array();
    is_ok = out && list;
    for (size_t i = 0; is_ok && i < result->n_clusters; i++) {
        json_t *item = json_object();

        is_ok = item && json_set_str(item, "tag", result->clusters[i].tag) &&
                json_set_int(item, "count", (int64_t)result->clusters[i].count);
        is_ok = json_array_append_new(list, item) == 0 && is_ok;
    }
    is_ok = json_set(out, "clusters", list) && is_ok;
    return form_finish(out, is_ok);
}

/* The first that holds; NULL if all were superseded. */
static const struct memory *best_of(const struct thought_result *result)
{
    for (size_t i = 0; i < result->n_sources; i++) {
        if (!result->sources[i].is_superseded) {
            return &result->sources[i].memory;
        }
    }
    return NULL;
}

/* A thought is told whole; of a longer memory the beginning, and how long it
 * is. */
static struct str told(struct api_call *call, struct str text)
{
    size_t len = json_out_cut(text, RESPONSE_BYTES);

    return len == text.len
               ? text
               : str_of(arena_printf(call->arena, "%.*s… (%zu bytes)", (int)len,
                                     text.s, text.len));
}

/* A sentence a model can use as it stands. */
static const char *response_text(struct api_call *call,
                                 const struct thought_result *result)
{
    const char *stored = uuid_is_nil(&result->contributed) ? "" : "Stored. ";
    const struct memory *best;
    struct str text;

    if (result->n_sources == 0) {
        return arena_printf(call->arena, "%sNo related thoughts yet.", stored);
    }
    best = best_of(result);
    if (!best) {
        return arena_printf(
            call->arena, "%s%zu related thought%s, superseded since.", stored,
            result->n_sources, result->n_sources == 1 ? "" : "s");
    }
    text = told(call, best->summary);
    if (!text.s) {
        return NULL;
    }
    return arena_printf(
        call->arena, "%s%zu related thought%s. Most relevant, by %.*s: %.*s",
        stored, result->n_sources, result->n_sources == 1 ? "" : "s",
        (int)(best->agent_name.s ? best->agent_name.len : best->origin.len),
        best->agent_name.s ? best->agent_name.s : best->origin.s, (int)text.len,
        text.s);
}

static bool set_result(struct api_call *call, json_t *out,
                       const struct thought_result *result)
{
    json_t *object = json_object();
    bool is_ok =
        object &&
        json_set_cstr(object, "response", response_text(call, result)) &&
        json_set(object, "sources", form_sources(result)) &&
        json_set(object, "highways_nearby", form_highways(result)) &&
        json_set(object, "disambiguation", form_clusters(result)) &&
        json_set_str(object, "guidance", result->guidance) &&
        json_set_str(object, "onboarding", result->onboarding) &&
        json_set_uuid(object, "thought_id", uuid_or_null(&result->contributed));

    return json_set(out, "result", object) && is_ok;
}

static json_t *form_lineage_summary(const struct thought_result *result)
{
    const struct lineage *lineage = &result->lineage;
    json_t *out = json_object();
    bool is_ok =
        out && json_set_bool(out, "has_lineage", true) &&
        json_set_int(out, "chain_length", (int64_t)lineage->count) &&
        json_set_uuid(out, "deepest_ancestor", &lineage->nodes[0].memory.id) &&
        json_set_uuid(out, "latest_refinement",
                      &lineage->nodes[lineage->count - 1].memory.id) &&
        json_set_bool(out, "truncated", lineage->is_truncated);

    return form_finish(out, is_ok);
}

static bool set_trace(json_t *out, const struct thought_result *result)
{
    json_t *object = json_object();
    json_t *operations = json_array();
    bool is_ok = object && operations;

    for (size_t i = 0; is_ok && i < result->n_operations; i++) {
        is_ok = json_array_append_new(operations,
                                      json_string(thought_operation_name(
                                          result->operations[i]))) == 0;
    }
    is_ok = json_set_uuid(object, "session_id", &result->session_id) &&
            json_set(object, "operations", operations) && is_ok &&
            json_set_int(object, "thoughts_retrieved",
                         (int64_t)result->n_sources) &&
            json_set_int(object, "thoughts_contributed",
                         !uuid_is_nil(&result->contributed)) &&
            json_set_bool(object, "contribution_threshold_met",
                          result->is_over_threshold) &&
            json_set_bool(object, "context_used", result->is_context_used) &&
            json_set_cstr(object, "retrieval_method", "hybrid");
    if (is_ok && result->has_lineage) {
        is_ok =
            json_set(object, "lineage_summary", form_lineage_summary(result));
    }
    return json_set(out, "trace", object) && is_ok;
}

static enum clew_status answer(struct api_call *call,
                               struct thought_input *input,
                               struct clew_error *err)
{
    struct thought_result result;
    enum clew_status status;

    input->key_id = str_of(call->key_id);
    /* a key that may only read leaves nothing behind */
    if (call->role < API_ROLE_WRITE) {
        input->is_read_only = true;
    }
    status = thought_handle(call->engine, &call->scope, call->arena, input,
                            &result, err);
    if (status != CLEW_OK) {
        return status;
    }
    call->out = json_object();
    if (!call->out || !set_result(call, call->out, &result) ||
        !set_trace(call->out, &result)) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

enum clew_status thoughts_post(struct api_call *call, struct clew_error *err)
{
    struct thought_input input = {0};
    enum clew_status status = read_body(call, &input, err);

    return status == CLEW_OK ? answer(call, &input, err) : status;
}

enum clew_status thoughts_get(struct api_call *call, struct clew_error *err)
{
    struct thought_input input = {0};
    enum clew_status status = body_of_query(call, &call->body, err);

    if (status == CLEW_OK) {
        status = read_body(call, &input, err);
    }
    input.is_read_only = true; /* a GET, which any link can make, only asks */
    return status == CLEW_OK ? answer(call, &input, err) : status;
}
