/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - place a call in its conversation; list calls; read the tree.
 */
#include "engine/call/call.h"

#include "api/answer/forms.h"
#include "api/answer/turn_out.h"
#include "api/handlers.h"
#include "base/buf.h"
#include "base/config.h"
#include "base/limits.h"
#include "engine/call/call_price.h"
#include "engine/call/canon.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"

#include <string.h>

/* Costs are kept in millionths. */
#define MICROS 1e6

static bool set_hash(json_t *object, const char *field,
                     const struct call_digest *digest, bool has)
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

/* The call that a sub-agent begins with, or one that goes on from it. */
static bool is_subtask(const struct request *r)
{
    return r->subtask_number > 0 || str_starts(r->branch, STR("subtask_"));
}

/* What POST /api/v1/link answers, and every list item begins with. */
static json_t *form_link(const struct request *r)
{
    json_t *out = json_object();
    const struct uuid *parent = uuid_or_null(&r->parent_id);

    if (out && json_set_uuid(out, "request_id", &r->id) &&
        json_set_uuid(out, "conversation_id", &r->conversation_id) &&
        json_set_uuid(out, "parent_request_id", parent) &&
        json_set_str(out, "branch_id", r->branch) &&
        json_set_uuid(out, "chat_id", &r->chat_id) &&
        json_set_str(out, "strategy", r->strategy) &&
        set_hash(out, "current_message_hash", &r->current, true) &&
        set_hash(out, "parent_message_hash", &r->parent, r->has_parent_hash) &&
        set_hash(out, "system_hash", &r->system, r->has_system) &&
        json_set_bool(out, "is_subtask", is_subtask(r)) &&
        json_set_int(out, "message_count", r->message_count)) {
        return out;
    }
    json_decref(out);
    return NULL;
}

/* What it cost, and how that is known; null where it is not. */
static bool set_cost(json_t *object, const struct engine *engine,
                     const struct request_call *call)
{
    static const char *const from[] = {
        [CALL_COST_REPLY] = "reply", [CALL_COST_PRICES] = "prices"};
    const char *prices = config_str(engine->config, "proxy.prices");
    int64_t micros = 0;
    enum call_cost_from known = call_cost(str_of(prices), call, &micros);

    return json_set(object, "cost",
                    known == CALL_COST_UNKNOWN
                        ? json_null()
                        : json_real((double)micros / MICROS)) &&
           json_set_cstr(object, "cost_from", from[known]);
}

static json_t *form_request(const struct engine *engine,
                            const struct request *r)
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
        set_count(out, "cache_read_tokens", call->cache_read_tokens) &&
        set_count(out, "cache_write_tokens", call->cache_write_tokens) &&
        set_cost(out, engine, call) &&
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
                                   struct call_input *input,
                                   struct clew_error *err)
{
    const json_t *body = call->body;
    const json_t *system = json_object_get(body, "system");
    enum clew_status status =
        json_get_array(body, "messages", JSON_REQUIRED, CALL_MAX_MESSAGES,
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

static void take_reply(struct call_input *input,
                       const struct canon_reply *reply)
{
    input->reply = reply->message;
    input->call.response_id = reply->id;
    input->call.stop_reason = reply->stop_reason;
    input->call.input_tokens = reply->input_tokens;
    input->call.output_tokens = reply->output_tokens;
    input->call.cache_read_tokens = reply->cache_read_tokens;
    input->call.cache_write_tokens = reply->cache_write_tokens;
    input->call.cost_micros = reply->cost_micros;
    input->call.is_complete = reply->message != NULL;
    if (!input->call.model.s) {
        input->call.model = reply->model;
    }
}

enum clew_status link_post(struct api_call *call, struct clew_error *err)
{
    struct call_input input = {.created_at_ms = CALL_NOW,
                               .sent_at_ms = api_sent_ms(call),
                               .call = {.api = STR("link"),
                                        .input_tokens = -1,
                                        .output_tokens = -1,
                                        .cache_read_tokens = -1,
                                        .cache_write_tokens = -1,
                                        .cost_micros = -1,
                                        .duration_ms = -1,
                                        .first_byte_ms = -1}};
    struct canon_request canon = {0};
    struct canon_reply reply = {0};
    struct call_result result;
    const json_t *response = json_object_get(call->body, "response");
    enum clew_status status = read_input(call, &input, err);

    if (status == CLEW_OK && is_chat_form(input.messages)) {
        status = canon_request_of(CANON_CHAT, call->body, &canon, err);
        input.messages = canon.messages;
    }
    if (status == CLEW_OK && response && !json_is_null(response)) {
        status = canon_reply_of(response, &reply);
        if (status != CLEW_OK) {
            status = clew_no_memory(err);
        } else if (!reply.message) {
            status = clew_fail_field(err, "response",
                                     "\"response\" is no reply of a known API");
        }
        take_reply(&input, &reply);
    }
    if (status == CLEW_OK) {
        status = call_link(call->engine, &call->scope, call->arena, &input,
                           &result, err);
    }
    if (status == CLEW_OK) {
        call->out = form_link(&result.request);
        if (!call->out ||
            !json_set_bool(call->out, "is_retry", result.is_retry) ||
            !json_set_int(call->out, "new_turns",
                          (int64_t)result.n_new_turns) ||
            !json_set_cstr(call->out, "note", result.note)) {
            status = clew_no_memory(err);
        }
    }
    canon_request_release(&canon);
    canon_reply_release(&reply);
    return status;
}

/* --- GET /api/v1/requests --------------------------------------------------
 */

/* A call with what it says. */
struct previewed {
    struct request request;
    struct str preview;
};

static json_t *form_row(const struct api_call *call, const void *row)
{
    const struct previewed *item = row;
    json_t *out = form_request(call->engine, &item->request);

    return form_finish(out, out && json_set_str(out, "preview", item->preview));
}

static struct str mark_row(struct api_call *call, const void *row)
{
    const struct previewed *item = row;

    return api_mark(call, item->request.created_at_ms, &item->request.id);
}

static enum clew_status add_previews(struct api_call *call,
                                     const struct request *rows, size_t count,
                                     struct previewed **out,
                                     struct clew_error *err)
{
    struct previewed *items = arena_zero(call->arena, count, sizeof(*items));
    struct str *texts = NULL;
    enum clew_status status = request_previews(
        call->engine, &call->scope, call->arena, rows, count, &texts, err);

    if (status == CLEW_OK && count > 0 && !items) {
        status = clew_no_memory(err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        items[i] = (struct previewed){rows[i], texts[i]};
    }
    *out = items;
    return status;
}

/* "failed", or an HTTP status. */
static enum clew_status read_status(const struct api_call *call,
                                    int64_t *out_status, struct clew_error *err)
{
    struct str text = {0};
    enum clew_status status =
        api_query_str(call, "status", LIMIT_NAME_BYTES, &text, err);

    if (status == CLEW_OK && str_eq(text, STR("failed"))) {
        *out_status = REQUEST_FAILED;
        return CLEW_OK;
    }
    if (status == CLEW_OK && text.s &&
        (!str_parse_int(text, out_status) || *out_status < 100 ||
         *out_status > 599)) {
        return clew_fail_field(err, "status",
                               "\"status\" must be failed or an HTTP status");
    }
    return status;
}

static enum clew_status read_filters(const struct api_call *call,
                                     struct request_filter *filter,
                                     struct clew_error *err)
{
    enum clew_status status =
        api_query_str(call, "user_id", LIMIT_NAME_BYTES, &filter->user_id, err);

    if (status == CLEW_OK) {
        status =
            api_query_str(call, "model", LIMIT_NAME_BYTES, &filter->model, err);
    }
    if (status == CLEW_OK) {
        status = read_status(call, &filter->status, err);
    }
    if (status == CLEW_OK) {
        status = api_query_time(call, "since", &filter->since_ms, err);
    }
    return status == CLEW_OK
               ? api_query_time(call, "until", &filter->before_ms, err)
               : status;
}

enum clew_status requests_list(struct api_call *call, struct clew_error *err)
{
    struct request_filter filter = {.before_ms = INT64_MAX};
    struct previewed *items = NULL;
    struct request *rows = NULL;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = api_query_uuid(call, "conversation_id",
                                &filter.conversation_id, err);
    }
    if (status == CLEW_OK) {
        status = read_filters(call, &filter, err);
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
    if (status == CLEW_OK) {
        status = add_previews(call, rows, count, &items, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(items, count, form_row, mark_row),
                                 err)
               : status;
}

/* --- GET /api/v1/requests/{id} ---------------------------------------------
 */

/* A turn as a tree; NULL without memory. */
static json_t *form_turn(const struct turn *turn)
{
    struct json_out out;
    struct buf text;
    json_t *json = NULL;

    buf_init(&text, LIMIT_BODY_BYTES);
    json_out_init(&out, &text);
    turn_out(&out, turn);
    if (buf_status(&text) != CLEW_OK ||
        json_parse(buf_str(&text), &json, NULL) != CLEW_OK) {
        json = NULL;
    }
    buf_release(&text);
    return json;
}

/* The turns that a call brought, and those it was answered with. */
static enum clew_status add_turns(struct api_call *call,
                                  const struct request *request,
                                  struct clew_error *err)
{
    int64_t last = request->reply_seq > request->last_seq ? request->reply_seq
                                                          : request->last_seq;
    int64_t first = request->first_seq > 0 ? request->first_seq : 1;
    int64_t want = last - first + 1;
    json_t *list = json_array();
    struct turn *turns = NULL;
    size_t count = 0;
    bool is_ok = list != NULL;
    enum clew_status status = CLEW_OK;

    if (want > 0) {
        status = turn_list(call->engine, &call->scope, call->arena,
                           &request->chat_id, first - 1,
                           want < LIMIT_PAGE_MAX ? want : LIMIT_PAGE_MAX,
                           &turns, &count, err);
    }
    if (status == CLEW_OK) {
        status = api_show_turns(call, turns, count, err);
    }
    for (size_t i = 0; status == CLEW_OK && is_ok && i < count; i++) {
        is_ok = turns[i].seq > last ||
                json_array_append_new(list, form_turn(&turns[i])) == 0;
    }
    if (!json_set(call->out, "turns", list) || !is_ok) {
        return clew_no_memory(err);
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

enum clew_status requests_get(struct api_call *call, struct clew_error *err)
{
    struct request request;
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = request_get(call->engine, &call->scope, call->arena, &id,
                             &request, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->out = form_request(call->engine, &request);
    return call->out ? add_turns(call, &request, err) : clew_no_memory(err);
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
        is_ok = json_array_append_new(
                    requests, form_request(call->engine, &rows[i])) == 0;
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
    return is_ok ? CLEW_OK : clew_no_memory(err);
}
