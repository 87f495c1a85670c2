/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.c - /api/v1/start: begin a conversation with what there is already.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/ask/start.h"

static json_t *form_start_chat(const struct engine *engine,
                               const struct start_chat *chat)
{
    json_t *out = form_chat(engine, &chat->chat);
    json_t *counts = json_array();
    bool is_ok = out && counts;

    for (size_t i = 0; is_ok && i < chat->n_counts; i++) {
        json_t *count = json_object();

        is_ok = json_set_str(count, "type", chat->counts[i].type) &&
                json_set_str(count, "status", chat->counts[i].status) &&
                json_set_int(count, "count", chat->counts[i].count);
        is_ok = json_array_append_new(counts, count) == 0 && is_ok;
    }
    is_ok = json_set(out, "artifacts", counts) && is_ok &&
            json_set_int(out, "n_artifacts", chat->n_memories) &&
            json_set_bool(out, "has_open_effort", chat->has_open_effort) &&
            json_set_str(out, "summary", chat->summary);
    return form_finish(out, is_ok);
}

static json_t *form_start_memory(const struct memory *memory, size_t n)
{
    json_t *out = json_object();
    bool is_ok = json_set_int(out, "n", (int64_t)n) &&
                 json_set_uuid(out, "id", &memory->id) &&
                 json_set_str(out, "type", memory->type) &&
                 json_set_str(out, "status", memory->status) &&
                 json_set_str(out, "summary", memory->summary) &&
                 json_set_str(out, "resolution", memory->resolution) &&
                 json_set_uuid(out, "chat_id", uuid_or_null(&memory->chat_id));

    return form_finish(out, is_ok);
}

static json_t *form_option(const struct start_option *option)
{
    json_t *out = json_object();
    bool is_ok =
        json_set_int(out, "n", option->n) &&
        json_set_cstr(out, "action", start_action_name(option->action)) &&
        json_set_str(out, "label", option->label) &&
        (uuid_is_nil(&option->chat_id) ||
         json_set_uuid(out, "chat_id", &option->chat_id));

    return form_finish(out, is_ok);
}

static json_t *form_start(const struct engine *engine,
                          const struct start *start)
{
    json_t *out = json_object();
    json_t *chats = json_array();
    json_t *memories = json_array();
    json_t *options = json_array();
    bool is_ok = json_set(out, "related_chats", chats);

    is_ok = json_set(out, "relevant_memories", memories) && is_ok;
    is_ok = json_set(out, "options", options) && is_ok;
    for (size_t i = 0; is_ok && i < start->n_chats; i++) {
        is_ok = json_array_append_new(
                    chats, form_start_chat(engine, &start->chats[i])) == 0;
    }
    for (size_t i = 0; is_ok && i < start->n_memories; i++) {
        is_ok =
            json_array_append_new(
                memories, form_start_memory(&start->memories[i], i + 1)) == 0;
    }
    for (size_t i = 0; is_ok && i < start->n_options; i++) {
        is_ok = json_array_append_new(options,
                                      form_option(&start->options[i])) == 0;
    }
    is_ok = is_ok && json_set_uuid(out, "id", &start->id) &&
            json_set_str(out, "text", start->text);
    return form_finish(out, is_ok);
}

enum clew_status start_post(struct api_call *call, struct clew_error *err)
{
    struct str user_id = {0};
    struct str intent = {0};
    struct start *start = arena_zero(call->arena, 1, sizeof(*start));
    enum clew_status status = json_get_str(call->body, "user_id", JSON_REQUIRED,
                                           LIMIT_NAME_BYTES, &user_id, err);

    if (status == CLEW_OK) {
        status = json_get_str(call->body, "intent", JSON_REQUIRED,
                              LIMIT_QUERY_BYTES, &intent, err);
    }
    if (status == CLEW_OK && !start) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = start_begin(call->engine, &call->scope, call->arena, user_id,
                             intent, start, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    return api_answer(call, form_start(call->engine, start), err);
}

enum clew_status start_choose_post(struct api_call *call,
                                   struct clew_error *err)
{
    struct start_choice choice;
    struct str user_id = {0};
    struct str answer = {0};
    struct uuid id;
    json_t *imported;
    bool is_ok;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = json_get_str(call->body, "answer", JSON_REQUIRED,
                              LIMIT_CONTENT_BYTES, &answer, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(call->body, "user_id", JSON_OPTIONAL,
                              LIMIT_NAME_BYTES, &user_id, err);
    }
    if (status == CLEW_OK) {
        status = start_choose(call->engine, &call->scope, call->arena, &id,
                              user_id, answer, &choice, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->out = json_object();
    imported = json_array();
    is_ok = json_set(call->out, "imported", imported);
    for (size_t i = 0; is_ok && i < choice.n_imported; i++) {
        char text[UUID_TEXT_SIZE];

        uuid_format(&choice.imported[i], text);
        is_ok = json_array_append_new(imported, json_string(text)) == 0;
    }
    is_ok =
        is_ok &&
        json_set_cstr(call->out, "action", start_action_name(choice.action)) &&
        json_set_str(call->out, "text", choice.text) &&
        (uuid_is_nil(&choice.chat_id) ||
         json_set_uuid(call->out, "chat_id", &choice.chat_id));
    return is_ok ? CLEW_OK : clew_no_memory(err);
}
