/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - later work, and the traces of what was decided.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "api/server/trace_reading.h"
#include "base/limits.h"
#include "engine/core/advice.h"
#include "engine/core/task.h"
#include "engine/core/trace.h"
#include "engine/topic/chain.h"

static json_t *form_task(const struct task *task)
{
    json_t *out = json_object();
    bool is_ok = out && json_set_uuid(out, "id", &task->id) &&
                 json_set_str(out, "kind", task->kind) &&
                 json_set_str(out, "unique_key", task->unique_key) &&
                 json_set_str(out, "status", task->status) &&
                 json_set_int(out, "priority", task->priority) &&
                 json_set_int(out, "attempts", task->attempts) &&
                 json_set_str(out, "last_error", task->last_error) &&
                 json_set_time(out, "execute_at", &task->execute_at_ms) &&
                 json_set_time(out, "created_at", &task->created_at_ms) &&
                 form_set_time(out, "finished_at", task->finished_at_ms);

    return form_finish(out, is_ok);
}

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_task(row);
}

static struct str mark_row(struct api_call *call, const void *row)
{
    const struct task *task = row;

    return api_mark(call, task->created_at_ms, &task->id);
}

static bool is_status(struct str text)
{
    return str_eq(text, STR("pending")) || str_eq(text, STR("running")) ||
           str_eq(text, STR("done")) || str_eq(text, STR("failed"));
}

enum clew_status tasks_list(struct api_call *call, struct clew_error *err)
{
    struct task_filter filter = {0};
    struct task *tasks = NULL;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = api_query_str(call, "status", LIMIT_NAME_BYTES, &filter.status,
                               err);
    }
    if (status == CLEW_OK && filter.status.s && !is_status(filter.status)) {
        return clew_fail_field(
            err, "status", "\"status\" is pending, running, done or failed");
    }
    if (status == CLEW_OK) {
        status = api_mark_parse(&page, &filter.before_time_ms,
                                &filter.before_id, err);
    }
    filter.limit = status == CLEW_OK ? page.limit + 1 : 0;
    if (status == CLEW_OK) {
        status = task_list(call->engine, &call->scope, call->arena, &filter,
                           &tasks, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(tasks, count, form_row, mark_row),
                                 err)
               : status;
}

/* What the chains that were considered are called by now; one that is gone
 * has no name. */
static enum clew_status name_chains(struct api_call *call, json_t *decisions,
                                    struct clew_error *err)
{
    const json_t *list =
        json_object_get(json_object_get(decisions, "chains"), "considered");
    json_t *item;
    size_t i;

    json_array_foreach (list, i, item) {
        const char *text = json_string_value(json_object_get(item, "chain_id"));
        struct chain_detail detail = {0};
        struct uuid id;
        enum clew_status status;

        if (!text || !uuid_parse(str_of(text), &id)) {
            continue;
        }
        status = chain_get(call->engine, &call->scope, call->arena, &id,
                           &detail, err);
        if (status == CLEW_OK &&
            !json_set_str(item, "topic", detail.chain.topic)) {
            return clew_no_memory(err);
        }
        if (status != CLEW_OK && status != CLEW_NOT_FOUND) {
            return status;
        }
    }
    return CLEW_OK;
}

/* The calls of a language model that the turn was sent with. */
static enum clew_status name_calls(struct api_call *call, const struct uuid *id,
                                   json_t *decisions, struct clew_error *err)
{
    struct advice_sent *sent = NULL;
    json_t *list = NULL;
    size_t count = 0;
    enum clew_status status = advice_sent_list(
        call->engine, &call->scope, call->arena, id, &sent, &count, err);

    if (status != CLEW_OK || count == 0) {
        return status;
    }
    list = json_array();
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        json_t *item = json_object();

        if (!json_set_str(item, "purpose", sent[i].purpose) ||
            !json_set_str(item, "model", sent[i].model) ||
            !json_set_time(item, "at", &sent[i].at_ms) ||
            !json_set_int(item, "first_seq", sent[i].first_seq) ||
            !json_set_int(item, "last_seq", sent[i].last_seq) ||
            !json_set_int(item, "input_tokens", sent[i].input_tokens) ||
            !json_set_int(item, "output_tokens", sent[i].output_tokens) ||
            json_array_append(list, item) != 0) {
            status = clew_no_memory(err);
        }
        json_decref(item);
    }
    if (!json_set(decisions, "llm_calls", list)) {
        return clew_no_memory(err);
    }
    return status;
}

enum clew_status traces_get(struct api_call *call, struct clew_error *err)
{
    json_t *decisions = NULL;
    struct trace trace;
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = trace_get(call->engine, &call->scope, call->arena, &id, &trace,
                           err);
    }
    if (status == CLEW_OK) {
        status = json_parse(trace.data, &decisions, err);
    }
    if (status == CLEW_OK) {
        status = name_chains(call, decisions, err);
    }
    if (status == CLEW_OK) {
        status = trace_add_reading(call, &id, decisions, err);
    }
    if (status == CLEW_OK) {
        status = name_calls(call, &id, decisions, err);
    }
    if (status != CLEW_OK) {
        json_decref(decisions);
        return status;
    }
    call->out = json_object();
    if (!json_set(call->out, "decisions", decisions) ||
        !json_set_uuid(call->out, "id", &trace.id) ||
        !json_set_uuid(call->out, "chat_id", &trace.chat_id) ||
        !json_set_time(call->out, "created_at", &trace.created_at_ms)) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}
