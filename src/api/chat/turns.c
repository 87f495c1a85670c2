/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.c - /api/v1/turns: store one turn, or a batch that is all or nothing;
 * find one by its caller's id. Of a batch may be left out what was forgotten.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "api/answer/turn_out.h"
#include "base/config.h"
#include "base/limits.h"
#include "engine/capture/capture.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/forgotten.h"

#include <stdio.h>
#include <string.h>

/* Those of the route's fields that are a batch's own: "turns",
 * "unless_forgotten", "begun_at" and where a fork begins. The others are each
 * turn's. */
#define BATCH_FIELDS 6

/* Put "turns[i]." before the field an error names. */
static enum clew_status at_turn(size_t i, enum clew_status status,
                                struct clew_error *err)
{
    char field[sizeof(err->field)];

    (void)snprintf(field, sizeof(field), "turns[%zu]%s%.60s", i,
                   err->field[0] ? "." : "", err->field);
    memcpy(err->field, field, sizeof(field));
    return status;
}

static size_t content_limit(const struct api_call *call)
{
    return (size_t)config_int(call->engine->config, "limits.content_bytes");
}

static enum clew_status read_role(const json_t *body, enum turn_role *out,
                                  struct clew_error *err)
{
    struct str role = {0};
    enum clew_status status =
        json_get_str(body, "role", JSON_REQUIRED, LIMIT_NAME_BYTES, &role, err);

    if (status == CLEW_OK && !turn_role_parse(role, out)) {
        return clew_fail_field(err, "role",
                               "\"role\" must be user, assistant, system or "
                               "tool");
    }
    return status;
}

/* A name given by the caller: not empty where it is given. */
static enum clew_status read_name(const json_t *body, const char *field,
                                  enum json_need need, struct str *out,
                                  struct clew_error *err)
{
    enum clew_status status =
        json_get_str(body, field, need, LIMIT_NAME_BYTES, out, err);

    if (status == CLEW_OK && out->s && out->len == 0) {
        return clew_fail_field(err, field, "\"%s\" must not be empty", field);
    }
    return status;
}

static enum clew_status read_names(const json_t *body,
                                   struct capture_input *out,
                                   struct clew_error *err)
{
    enum clew_status status =
        read_name(body, "user_id", JSON_REQUIRED, &out->user_id, err);

    if (status == CLEW_OK) {
        status = read_name(body, "name", JSON_OPTIONAL, &out->name, err);
    }
    if (status == CLEW_OK) {
        status = read_name(body, "channel", JSON_OPTIONAL, &out->channel, err);
    }
    if (status == CLEW_OK) {
        status =
            read_name(body, "timezone", JSON_OPTIONAL, &out->timezone, err);
    }
    if (status == CLEW_OK) {
        status = api_body_zone(body, &out->timezone, err);
    }
    if (status == CLEW_OK) {
        status = read_name(body, "external_id", JSON_OPTIONAL,
                           &out->external_id, err);
    }
    return status;
}

static enum clew_status read_turn(struct api_call *call, const json_t *body,
                                  struct capture_input *out,
                                  struct clew_error *err)
{
    const json_t *content = json_object_get(body, "content");
    enum clew_status status = read_names(body, out, err);

    out->created_at_ms = CAPTURE_NOW;
    if (status == CLEW_OK) {
        status = read_role(body, &out->role, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_uuid(body, "chat_id", JSON_OPTIONAL, &out->chat_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_time(body, "created_at", JSON_OPTIONAL,
                               &out->created_at_ms, err);
    }
    if (status == CLEW_OK && !content) {
        status = clew_fail_field(err, "content", "\"content\" is required");
    }
    if (status == CLEW_OK) {
        status = content_parse(call->arena, content, content_limit(call),
                               &out->content, err);
    }
    return status;
}

/* A chat as JSON in `out`, which is emptied first. */
static enum clew_status write_chat(const struct engine *engine,
                                   const struct chat *chat, struct buf *out)
{
    json_t *tree = form_chat(engine, chat);
    enum clew_status status = CLEW_NO_MEMORY;

    buf_clear(out);
    if (tree) {
        status = json_write(out, tree);
    }
    json_decref(tree);
    return status;
}

/* Your ids of those that were left out. */
static void write_forgotten(struct json_out *out,
                            const struct capture_result *results, size_t count)
{
    json_out_array(out, "forgotten");
    for (size_t i = 0; i < count; i++) {
        if (results[i].is_forgotten) {
            json_out_str(out, NULL, results[i].turn.external_id);
        }
    }
    json_out_end_array(out);
}

/* {"items":[…],"forgotten":[…]} for a batch, else the one result itself. */
static enum clew_status write_captures(struct api_call *call,
                                       struct capture_result *results,
                                       size_t count, bool is_batch,
                                       struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    struct json_out out;
    struct buf chat; /* of the turn before: mostly the same */

    buf_init(&chat, LIMIT_REQUEST_ARENA_BYTES);
    json_out_init(&out, &call->response->body);
    if (is_batch) {
        json_out_object(&out, NULL);
        json_out_array(&out, "items");
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        if (results[i].is_forgotten) {
            continue;
        }
        if (i == 0 || !uuid_eq(&results[i].chat.id, &results[i - 1].chat.id)) {
            status = write_chat(call->engine, &results[i].chat, &chat);
        }
        if (status == CLEW_OK) {
            status = api_show_turns(call, &results[i].turn, 1, err);
        }
        capture_out(&out, &results[i], buf_str(&chat));
    }
    if (is_batch) {
        json_out_end_array(&out);
        write_forgotten(&out, results, count);
        json_out_end_object(&out);
    }
    buf_release(&chat);
    return status == CLEW_OK ? CLEW_OK : clew_no_memory(err);
}

/* `chat_id` NULL: where the body says. */
static enum clew_status post_one(struct api_call *call,
                                 const struct uuid *chat_id,
                                 struct clew_error *err)
{
    struct capture_input input = {.sent_at_ms = api_sent_ms(call)};
    struct capture_result result = {0};
    enum clew_status status = read_turn(call, call->body, &input, err);

    if (chat_id) {
        input.chat_id = *chat_id;
    }
    if (status == CLEW_OK) {
        status = capture_turns(call->engine, &call->scope, call->arena, &input,
                               1, &result, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->http_status = result.is_repeat ? 200 : 201;
    return write_captures(call, &result, 1, false, err);
}

/* 200 only if every turn was known already. */
static enum clew_status answer_batch(struct api_call *call,
                                     struct capture_result *results,
                                     size_t count, struct clew_error *err)
{
    call->http_status = 200;
    for (size_t i = 0; i < count; i++) {
        if (!results[i].is_repeat) {
            call->http_status = 201;
        }
    }
    return write_captures(call, results, count, true, err);
}

/* `all` says what holds for each of them. */
static enum clew_status read_batch(struct api_call *call, const json_t *turns,
                                   const struct capture_input *all,
                                   struct capture_input *inputs,
                                   struct clew_error *err)
{
    size_t i;
    json_t *turn;

    json_array_foreach (turns, i, turn) {
        /* batches do not nest */
        enum clew_status status = json_check_fields(
            turn, call->route->body_fields + BATCH_FIELDS, err);

        inputs[i] = *all;
        if (status == CLEW_OK) {
            status = read_turn(call, turn, &inputs[i], err);
        }
        if (status != CLEW_OK) {
            return at_turn(i, status, err);
        }
    }
    return CLEW_OK;
}

/* Is the batch to begin a fork? Then no turn names a chat. */
static enum clew_status read_origin(struct api_call *call, const json_t *turns,
                                    struct capture_input *all,
                                    struct clew_error *err)
{
    struct chat_origin *origin = arena_zero(call->arena, 1, sizeof(*origin));
    size_t i;
    json_t *turn;
    enum clew_status status;

    if (!origin) {
        return clew_no_memory(err);
    }
    origin->at_seq = -1;
    status = json_get_uuid(call->body, "fork_of", JSON_OPTIONAL,
                           &origin->chat_id, err);
    if (status == CLEW_OK) {
        status = api_body_fork(call, origin, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (uuid_is_nil(&origin->chat_id)) {
        return origin->at_seq < 0 && !origin->subtask.s
                   ? CLEW_OK
                   : clew_fail_field(err, "fork_of", "there is no \"fork_of\"");
    }
    json_array_foreach (turns, i, turn) {
        if (json_object_get(turn, "chat_id")) {
            return at_turn(i,
                           clew_fail_field(err, "chat_id",
                                           "\"chat_id\" does not go with "
                                           "\"fork_of\""),
                           err);
        }
    }
    all->origin = origin;
    return CLEW_OK;
}

static enum clew_status post_batch(struct api_call *call,
                                   struct clew_error *err)
{
    static const char *const own[] = {"turns",   "unless_forgotten", "begun_at",
                                      "fork_of", "at_seq",           "subtask",
                                      NULL};
    const json_t *turns = NULL;
    struct capture_input all = {0};
    struct capture_input *inputs;
    struct capture_result *results;
    size_t count;
    enum clew_status status = json_check_fields(call->body, own, err);

    if (status == CLEW_OK) {
        status = json_get_bool(call->body, "unless_forgotten", JSON_OPTIONAL,
                               &all.unless_forgotten, err);
    }
    if (status == CLEW_OK) {
        status = api_body_begun(call, &all.may_leave_out, &all.sent_at_ms, err);
        all.may_leave_out = all.may_leave_out || all.unless_forgotten;
    }
    if (status == CLEW_OK) {
        status = json_get_array(call->body, "turns", JSON_REQUIRED,
                                LIMIT_BATCH_TURNS, &turns, err);
    }
    if (status == CLEW_OK) {
        status = read_origin(call, turns, &all, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    count = json_array_size(turns);
    if (count == 0) {
        return clew_fail_field(err, "turns", "\"turns\" must not be empty");
    }
    inputs = arena_zero(call->arena, count, sizeof(*inputs));
    results = arena_zero(call->arena, count, sizeof(*results));
    if (!inputs || !results) {
        return clew_no_memory(err);
    }
    status = read_batch(call, turns, &all, inputs, err);
    if (status == CLEW_OK) {
        status = capture_turns(call->engine, &call->scope, call->arena, inputs,
                               count, results, err);
    }
    return status == CLEW_OK ? answer_batch(call, results, count, err) : status;
}

enum clew_status turns_post(struct api_call *call, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (json_object_get(call->body, "turns")) {
        return post_batch(call, err);
    }
    status = json_check_fields(call->body,
                               call->route->body_fields + BATCH_FIELDS, err);
    return status == CLEW_OK ? post_one(call, NULL, err) : status;
}

enum clew_status turns_post_to(struct api_call *call,
                               const struct uuid *chat_id,
                               struct clew_error *err)
{
    return post_one(call, chat_id, err);
}

/* --- GET /api/v1/turns?external_id= --- */

static enum clew_status write_found(struct api_call *call, struct turn *turns,
                                    size_t count, bool is_forgotten,
                                    struct clew_error *err)
{
    enum clew_status status = api_show_turns(call, turns, count, err);
    struct json_out out;

    json_out_init(&out, &call->response->body);
    json_out_object(&out, NULL);
    json_out_array(&out, "items");
    for (size_t i = 0; i < count; i++) {
        turn_out(&out, &turns[i]);
    }
    json_out_end_array(&out);
    json_out_str(&out, "next_cursor", (struct str){0});
    json_out_bool(&out, "forgotten", is_forgotten);
    json_out_end_object(&out);
    return status;
}

/* How many of them are the user's; these come first. */
static size_t keep_users(struct turn *turns, size_t count, struct str user_id)
{
    size_t n_kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (str_eq(turns[i].user_id, user_id)) {
            turns[n_kept++] = turns[i];
        }
    }
    return n_kept;
}

enum clew_status turns_find(struct api_call *call, struct clew_error *err)
{
    struct turn *turns = NULL;
    struct str external_id = {0};
    struct str user_id = {0};
    size_t count = 0;
    bool is_forgotten = false;
    enum clew_status status =
        api_query_str(call, "external_id", LIMIT_NAME_BYTES, &external_id, err);

    if (status == CLEW_OK && !external_id.s) {
        status =
            clew_fail_field(err, "external_id", "\"external_id\" is required");
    }
    if (status == CLEW_OK) {
        status =
            api_query_str(call, "user_id", LIMIT_NAME_BYTES, &user_id, err);
    }
    if (status == CLEW_OK) {
        status = turn_by_external_id(call->engine, &call->scope, call->arena,
                                     external_id, &turns, &count, err);
    }
    if (status == CLEW_OK && user_id.s) {
        count = keep_users(turns, count, user_id);
    }
    if (status == CLEW_OK && count == 0 && user_id.s) {
        struct forgotten_name name = {user_id, external_id, 0};

        status =
            forgotten_ask(call->engine, &call->scope, call->arena, &name, err);
        is_forgotten = name.at_ms > 0;
    }
    return status == CLEW_OK
               ? write_found(call, turns, count, is_forgotten, err)
               : status;
}
