/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assemble_chat.c - the chunks of POST /v1/chat/completions. See reply.h.
 *
 * Only the first choice is kept: the others are alternatives that no
 * conversation goes on from. Part 0 is the text, part 1 a refusal, part 2 the
 * reasoning some servers add, parts from 10 the tool calls.
 */
#include "base/json.h"
#include "proxy/reply.h"

enum { PART_TEXT, PART_REFUSAL, PART_REASONING, PART_CALLS = 10 };

static void add_text(struct reply *reply, long index, struct str text)
{
    struct reply_part *part = reply_find_part(reply, index);

    if (!text.s) {
        return;
    }
    if (!part) {
        part = reply_part_at(reply, index, json_object());
    }
    reply_extend(reply, part, "text", text, false);
}

static void add_call(struct reply *reply, const json_t *call)
{
    const json_t *function = json_object_get(call, "function");
    json_int_t nth = json_integer_value(json_object_get(call, "index"));
    struct str id = json_text_at(call, "id");
    struct str name = json_text_at(function, "name");
    struct reply_part *part;

    if (nth < 0 || nth >= REPLY_MAX_PARTS) { /* a server that cannot count */
        reply->is_cut = true;
        return;
    }
    part = reply_find_part(reply, PART_CALLS + (long)nth);
    if (!part) {
        part = reply_part_at(reply, PART_CALLS + (long)nth, json_object());
    }
    if (!part) {
        return;
    }
    if (id.len > 0) {
        (void)json_set_str(part->block, "id", id); /* OOM: left out */
    }
    if (name.len > 0) {
        (void)json_set_str(part->block, "name", name);
    }
    if (json_text_at(function, "arguments").s) {
        reply_extend(reply, part, "arguments",
                     json_text_at(function, "arguments"), false);
    }
}

static void apply_choice(struct reply *reply, const json_t *choice)
{
    const json_t *delta = json_object_get(choice, "delta");
    const json_t *calls = json_object_get(delta, "tool_calls");
    const json_t *call;
    size_t i;

    if (json_integer_value(json_object_get(choice, "index")) != 0) {
        return;
    }
    add_text(reply, PART_TEXT, json_text_at(delta, "content"));
    add_text(reply, PART_REFUSAL, json_text_at(delta, "refusal"));
    add_text(reply, PART_REASONING, json_text_at(delta, "reasoning_content"));
    json_array_foreach (calls, i, call) {
        add_call(reply, call);
    }
    if (json_text_at(choice, "finish_reason").s) {
        (void)json_set_str(reply->head, "finish_reason",
                           json_text_at(choice, "finish_reason"));
        reply->is_complete = true;
    }
}

void assemble_chat(struct reply *reply, struct str name, const json_t *event)
{
    const json_t *choice;
    size_t i;

    (void)name; /* chunks have none */
    if (!reply->head) {
        reply->head = json_object();
    }
    if (json_text_at(event, "id").len > 0) {
        (void)json_set_str(reply->head, "id", json_text_at(event, "id"));
    }
    if (json_text_at(event, "model").len > 0) {
        (void)json_set_str(reply->head, "model", json_text_at(event, "model"));
    }
    if (json_is_object(json_object_get(event, "usage"))) {
        (void)json_object_set(reply->head, "usage",
                              json_object_get(event, "usage"));
    }
    json_array_foreach (json_object_get(event, "choices"), i, choice) {
        apply_choice(reply, choice);
    }
}

static struct str part_text(struct reply *reply, long index)
{
    struct reply_part *part = reply_find_part(reply, index);

    return part ? buf_str(&part->text) : (struct str){NULL, 0};
}

static json_t *calls_of(struct reply *reply)
{
    json_t *calls = json_array();
    json_t *blocks = reply_blocks(reply); /* sorts and finishes the parts */

    for (size_t i = 0; i < reply->n_parts && calls; i++) {
        const json_t *block = reply->parts[i].block;
        struct str arguments = json_text_at(block, "arguments");

        if (reply->parts[i].index < PART_CALLS) {
            continue;
        }
        (void)json_array_append_new(
            calls, json_pack("{s:O*,s:s,s:{s:O*,s:s%}}", "id",
                             json_object_get(block, "id"), "type", "function",
                             "function", "name", json_object_get(block, "name"),
                             "arguments", arguments.s ? arguments.s : "",
                             arguments.len));
    }
    json_decref(blocks);
    return calls;
}

json_t *assemble_chat_end(struct reply *reply)
{
    json_t *message = json_object();
    json_t *calls;

    if (!reply->head || !message) {
        json_decref(message);
        return NULL;
    }
    (void)json_set_cstr(message, "role", "assistant");
    (void)json_set_str(message, "content", part_text(reply, PART_TEXT));
    if (part_text(reply, PART_REFUSAL).len > 0) {
        (void)json_set_str(message, "refusal", part_text(reply, PART_REFUSAL));
    }
    calls = calls_of(reply);
    if (json_array_size(calls) > 0) {
        (void)json_object_set(message, "tool_calls", calls);
    }
    json_decref(calls);
    (void)json_set(reply->head, "choices",
                   json_pack("[{s:i,s:o,s:O*}]", "index", 0, "message", message,
                             "finish_reason",
                             json_object_get(reply->head, "finish_reason")));
    (void)json_object_del(reply->head, "finish_reason");
    return json_incref(reply->head);
}
