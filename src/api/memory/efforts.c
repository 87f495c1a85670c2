/* SPDX-License-Identifier: Apache-2.0 */
/*
 * efforts.c - /api/v1/efforts: efforts and contexts to work in.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/ask/context.h"
#include "engine/effort/effort_thread.h"

#include <string.h>

static json_t *form_effort(const struct effort *effort)
{
    json_t *out = json_object();
    bool is_ok =
        json_set_uuid(out, "id", &effort->memory_id) &&
        json_set_str(out, "goal", effort->summary) &&
        json_set_str(out, "summary", effort->summary) &&
        json_set_str(out, "status", effort->status) &&
        json_set_cstr(out, "state", effort_state_name(effort->state)) &&
        json_set_str(out, "resolution", effort->resolution) &&
        json_set_str(out, "outcome", effort->outcome) &&
        json_set_uuid(out, "chat_id", &effort->thread_id) &&
        json_set_uuid(out, "parent_id", uuid_or_null(&effort->parent_id)) &&
        json_set_uuid(out, "twin_of", uuid_or_null(&effort->twin_of)) &&
        json_set_str(out, "user_id", effort->user_id) &&
        json_set_bool(out, "spawned", effort->is_spawned) &&
        json_set_int(out, "raw_tokens", effort->raw_tokens);

    return form_finish(out, is_ok);
}

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_effort(row);
}

static enum clew_status answer(struct api_call *call,
                               const struct effort *effort,
                               struct clew_error *err)
{
    return api_answer(call, form_effort(effort), err);
}

enum clew_status efforts_post(struct api_call *call, struct clew_error *err)
{
    struct effort_spawn input = {.sent_at_ms = api_sent_ms(call)};
    struct effort effort;
    enum clew_status status =
        json_get_str(call->body, "user_id", JSON_REQUIRED, LIMIT_NAME_BYTES,
                     &input.user_id, err);

    if (status == CLEW_OK) {
        status = api_body_text(call, "goal", JSON_REQUIRED, LIMIT_TITLE_BYTES,
                               &input.goal, err);
    }
    if (status == CLEW_OK && str_trim(input.goal).len == 0) {
        status = clew_fail_field(err, "goal", "\"goal\" must not be empty");
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(call->body, "chat_id", JSON_OPTIONAL,
                               &input.chat_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(call->body, "parent_id", JSON_OPTIONAL,
                               &input.parent_id, err);
    }
    if (status == CLEW_OK) {
        status = effort_spawn(call->engine, &call->scope, call->arena, &input,
                              &effort, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->http_status = 201;
    return answer(call, &effort, err);
}

enum clew_status efforts_list(struct api_call *call, struct clew_error *err)
{
    struct str user_id = STR("");
    struct str all = STR("");
    struct uuid chat_id = {0};
    struct effort *efforts = NULL;
    size_t count = 0;
    enum clew_status status =
        api_query_str(call, "user_id", LIMIT_NAME_BYTES, &user_id, err);

    if (status == CLEW_OK) {
        status = api_query_uuid(call, "chat_id", &chat_id, err);
    }
    if (status == CLEW_OK) {
        status = api_query_str(call, "all", LIMIT_NAME_BYTES, &all, err);
    }
    if (status == CLEW_OK) {
        bool with_closed =
            all.len > 0 && !str_eq(all, STR("false")) && !str_eq(all, STR("0"));

        status =
            effort_list_all(call->engine, &call->scope, call->arena, &chat_id,
                            user_id, with_closed, &efforts, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, NULL,
                                 API_ROWS(efforts, count, form_row, NULL), err)
               : status;
}

API_BY_ID(efforts_get, struct effort, effort_get, form_row)

enum clew_status efforts_collapse(struct api_call *call, struct clew_error *err)
{
    struct effort effort;
    struct effort_ending ending = {0};
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = api_body_text(call, "resolution", JSON_OPTIONAL,
                               LIMIT_CONTENT_BYTES, &ending.resolution, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(call->body, "outcome", JSON_OPTIONAL,
                              LIMIT_NAME_BYTES, &ending.outcome, err);
    }
    if (status == CLEW_OK) {
        status = effort_collapse(call->engine, &call->scope, call->arena, &id,
                                 &ending, &effort, err);
    }
    return status == CLEW_OK ? answer(call, &effort, err) : status;
}

API_BY_ID(efforts_expand, struct effort, effort_expand, form_row)

/* A turn in the effort's thread: as POST /turns, with the chat known. */
enum clew_status efforts_turns(struct api_call *call, struct clew_error *err)
{
    struct effort effort;
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = effort_get(call->engine, &call->scope, call->arena, &id,
                            &effort, err);
    }
    if (status == CLEW_OK && !json_object_get(call->body, "user_id") &&
        !json_set_str(call->body, "user_id", effort.user_id)) {
        return clew_no_memory(err);
    }
    return status == CLEW_OK ? turns_post_to(call, &effort.thread_id, err)
                             : status;
}

enum clew_status efforts_context(struct api_call *call, struct clew_error *err)
{
    struct context_request request = {0};
    struct context *context = arena_zero(call->arena, 1, sizeof(*context));
    struct effort effort;
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (!context) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = effort_get(call->engine, &call->scope, call->arena, &id,
                            &effort, err);
    }
    if (status == CLEW_OK) {
        status = api_query_int(call, "budget_tokens", CONTEXT_MIN_TOKENS,
                               CONTEXT_MAX_TOKENS, &request.budget_tokens, err);
    }
    if (status == CLEW_OK) {
        request.chat_id = effort.thread_id;
        status = context_build(call->engine, &call->scope, call->arena,
                               &request, context, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->out = form_context(context);
    if (!call->out || !json_set(call->out, "effort", form_effort(&effort))) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}
