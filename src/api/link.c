/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - place a call in its conversation; list calls; read the tree.
 */
#include "engine/link.h"

#include "api/forms.h"
#include "api/handlers.h"
#include "base/limits.h"
#include "engine/canon.h"
#include "engine/chat.h"

#include <string.h>

static bool set_hash(json_t *object, const char *field,
                     const struct link_digest *digest, bool has)
{
    char hex[SHA256_HEX_SIZE];

    if (!has) {
        return json_set(object, field, json_null());
    }
    hex_format(digest->b, sizeof(digest->b), hex);
    return json_set_cstr(object, field, hex);
}

static bool set_count(json_t *object, const char *field, int64_t count)
{
    return json_set(object, field,
                    count < 0 ? json_null() : json_integer(count));
}

/* What POST /api/v1/link answers, and every list item begins with. */
static json_t *form_link(const struct request *r)
{
    json_t *out = json_object();
    const struct uuid *parent =
        uuid_is_nil(&r->parent_id) ? NULL : &r->parent_id;

    if (out && json_set_uuid(out, "request_id", &r->id) &&
        json_set_uuid(out, "conversation_id", &r->conversation_id) &&
        json_set_uuid(out, "parent_request_id", parent) &&
        json_set_str(out, "branch_id", r->branch) &&
        json_set_uuid(out, "chat_id", &r->chat_id) &&
        json_set_str(out, "strategy", r->strategy) &&
        set_hash(out, "current_message_hash", &r->current, true) &&
        set_hash(out, "parent_message_hash", &r->parent, r->has_parent_hash) &&
        set_hash(out, "system_hash", &r->system, r->has_system) &&
        json_set_bool(out, "is_subtask", r->subtask_number > 0) &&
        json_set_int(out, "message_count", r->message_count)) {
        return out;
    }
    json_decref(out);
    return NULL;
}

static json_t *form_request(const struct request *r)
{
    const struct request_call *call = &r->call;
    json_t *out = form_link(r);

    if (out && json_set_str(out, "user_id", r->user_id) &&
        json_set_str(out, "api", call->api) &&
        json_set_str(out, "model", call->model) &&
        set_count(out, "status", call->status ? call->status : -1) &&
        json_set_str(out, "stop_reason", call->stop_reason) &&
        json_set_str(out, "error", call->error) &&
        json_set_bool(out, "is_complete", call->is_complete) &&
        set_count(out, "input_tokens", call->input_tokens) &&
        set_count(out, "output_tokens", call->output_tokens) &&
        set_count(out, "duration_ms", call->duration_ms) &&
        set_count(out, "first_byte_ms", call->first_byte_ms) &&
        json_set_int(out, "first_seq", r->first_seq) &&
        json_set_int(out, "last_seq", r->last_seq) &&
        set_count(out, "reply_seq", r->reply_seq ? r->reply_seq : -1) &&
        json_set_time(out, "created_at", &r->created_at_ms)) {
        return out;
    }
    json_decref(out);
    return NULL;
}

/* --- POST /api/v1/link -----------------------------------------------------
 */

/* OpenAI's form shows by what only it has. */
static bool is_chat_form(const json_t *messages)
{
    const json_t *message;
    size_t i;

    json_array_foreach (messages, i, message) {
        const char *role = json_string_value(json_object_get(message, "role"));

        if (json_object_get(message, "tool_calls") ||
            (role && strcmp(role, "tool") == 0)) {
            return true;
        }
    }
    return false;
}

static enum clew_status read_input(const struct api_call *call,
                                   struct link_input *input,
                                   struct clew_error *err)
{
    const json_t *body = call->body;
    const json_t *system = json_object_get(body, "system");
    enum clew_status status =
        json_get_array(body, "messages", JSON_REQUIRED, LINK_MAX_MESSAGES,
                       &input->messages, err);

    if (status == CLEW_OK) {
        status =
            json_get_uuid(body, "request_id", JSON_OPTIONAL, &input->id, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_uuid(body, "chat_id", JSON_OPTIONAL, &input->chat_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_time(body, "created_at", JSON_OPTIONAL,
                               &input->created_at_ms, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(body, "user_id", JSON_OPTIONAL, LIMIT_NAME_BYTES,
                              &input->user_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(body, "model", JSON_OPTIONAL, LIMIT_NAME_BYTES,
                              &input->call.model, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (system && !json_is_null(system) && !json_is_string(system) &&
        !json_is_array(system)) {
        return clew_fail_field(err, "system",
                               "\"system\" must be text or a list of blocks");
    }
    input->system = system;
    return CLEW_OK;
}

static void take_reply(struct link_input *input,
                       const struct canon_reply *reply)
{
    input->reply = reply->message;
    input->call.response_id = reply->id;
    input->call.stop_reason = reply->stop_reason;
    input->call.input_tokens = reply->input_tokens;
    input->call.output_tokens = reply->output_tokens;
    input->call.is_complete = reply->message != NULL;
    if (!input->call.model.s) {
        input->call.model = reply->model;
    }
}

enum clew_status link_post(struct api_call *call, struct clew_error *err)
{
    struct link_input input = {.created_at_ms = LINK_NOW,
                               .call = {.api = STR("link"),
                                        .input_tokens = -1,
                                        .output_tokens = -1,
                                        .duration_ms = -1,
                                        .first_byte_ms = -1}};
    struct canon_request canon = {0};
    struct canon_reply reply = {0};
    struct link_result result;
    const json_t *response = json_object_get(call->body, "response");
    enum clew_status status = read_input(call, &input, err);

    if (status == CLEW_OK && is_chat_form(input.messages)) {
        status = canon_request_of(CANON_CHAT, call->body, &canon, err);
        input.messages = canon.messages;
    }
    if (status == CLEW_OK && response && !json_is_null(response)) {
        status = canon_reply_of(response, &reply);
        if (status != CLEW_OK) {
            status = api_no_memory(err);
        } else if (!reply.message) {
            status = clew_fail_field(err, "response",
                                     "\"response\" is no reply of a known API");
        }
        take_reply(&input, &reply);
    }
    if (status == CLEW_OK) {
        status = link_request(call->engine, &call->scope, call->arena, &input,
                              &result, err);
    }
    if (status == CLEW_OK) {
        call->out = form_link(&result.request);
        if (!call->out ||
            !json_set_bool(call->out, "is_retry", result.is_retry) ||
            !json_set_int(call->out, "new_turns",
                          (int64_t)result.n_new_turns) ||
            !json_set_cstr(call->out, "note", result.note)) {
            status = api_no_memory(err);
        }
    }
    canon_request_release(&canon);
    canon_reply_release(&reply);
    return status;
}

/* --- GET /api/v1/requests --------------------------------------------------
 */

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_request(row);
}

static struct str mark_row(struct api_call *call, const void *row)
{
    const struct request *request = row;

    return api_mark(call, request->created_at_ms, &request->id);
}

enum clew_status requests_list(struct api_call *call, struct clew_error *err)
{
    struct request_filter filter = {.before_ms = INT64_MAX};
    struct request *rows = NULL;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = api_query_uuid(call, "conversation_id",
                                &filter.conversation_id, err);
    }
    if (status == CLEW_OK) {
        status =
            api_mark_parse(&page, &filter.before_ms, &filter.before_id, err);
    }
    if (status == CLEW_OK) {
        filter.limit = page.limit + 1;
        status = request_list(call->engine, &call->scope, call->arena, &filter,
                              &rows, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 &(struct api_rows){rows, count,
                                                    sizeof(rows[0]), form_row,
                                                    mark_row},
                                 err)
               : status;
}

/* --- GET /api/v1/conversations/{id} ----------------------------------------
 */

/* Each request with the ids of its children, oldest first. */
static bool add_children(json_t *items, const struct request *rows,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_t *parent = NULL;

        if (!json_object_get(json_array_get(items, i), "children")) {
            (void)json_set(json_array_get(items, i), "children", json_array());
        }
        /* parents are earlier: walk back to the nearest */
        for (size_t k = i; k-- > 0 && !parent;) {
            if (uuid_eq(&rows[k].id, &rows[i].parent_id)) {
                parent = json_object_get(json_array_get(items, k), "children");
            }
        }
        if (parent) {
            char id[UUID_TEXT_SIZE];

            uuid_format(&rows[i].id, id);
            if (json_array_append_new(parent, json_string(id)) != 0) {
                return false;
            }
        }
    }
    return true;
}

enum clew_status conversations_get(struct api_call *call,
                                   struct clew_error *err)
{
    struct request *rows;
    struct chat *chats;
    struct uuid id;
    size_t n_rows;
    size_t n_chats;
    json_t *requests = json_array();
    json_t *branches = json_array();
    bool is_ok = requests && branches;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = request_tree(call->engine, &call->scope, call->arena, &id,
                              &rows, &n_rows, err);
    }
    if (status == CLEW_OK) {
        status = chat_tree(call->engine, &call->scope, call->arena, &id, &chats,
                           &n_chats, err);
    }
    for (size_t i = 0; status == CLEW_OK && is_ok && i < n_rows; i++) {
        is_ok = json_array_append_new(requests, form_request(&rows[i])) == 0;
    }
    for (size_t i = 0; status == CLEW_OK && is_ok && i < n_chats; i++) {
        is_ok = json_array_append_new(branches,
                                      form_chat(call->engine, &chats[i])) == 0;
    }
    if (status == CLEW_OK && is_ok) {
        call->out = json_object();
        is_ok = add_children(requests, rows, n_rows) &&
                json_set_uuid(call->out, "id", &id) &&
                json_set(call->out, "requests", json_incref(requests)) &&
                json_set(call->out, "branches", json_incref(branches));
    }
    json_decref(requests);
    json_decref(branches);
    if (status != CLEW_OK) {
        return status;
    }
    return is_ok ? CLEW_OK : api_no_memory(err);
}
