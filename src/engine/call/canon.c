/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canon.c - one shape for the wire formats. See canon.h.
 */
#include "engine/call/canon.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"

#include <string.h>

/* Counts and costs beyond these are nobody's; what sums them stays exact. */
#define MAX_TOKENS 1000000000000
#define MAX_COST 1e9

static bool is_type(const json_t *object, const char *type)
{
    return str_eq(json_text_at(object, "type"), str_of(type));
}

/* None has a NUL in it, which no column takes: a call is not lost for that. */
static bool is_name(struct str text)
{
    return text.s && memchr(text.s, '\0', text.len) == NULL;
}

struct str canon_name_at(const json_t *object, const char *field)
{
    struct str name = json_text_at(object, field);

    return is_name(name) ? utf8_head(name, LIMIT_NAME_BYTES)
                         : (struct str){NULL, 0};
}

/* An id; none where it is too long to be one. */
static struct str id_at(const json_t *object, const char *field)
{
    struct str id = json_text_at(object, field);

    return is_name(id) && id.len <= LIMIT_NAME_BYTES ? id
                                                     : (struct str){NULL, 0};
}

/* A new reference to a value of a tree that is only read. */
static json_t *share(const json_t *value)
{
    return json_incref((json_t *)(uintptr_t)value);
}

/* Append; takes `value`. False on OOM or a NULL value. */
static bool push(json_t *array, json_t *value)
{
    return value && json_array_append_new(array, value) == 0;
}

static json_t *text_block(struct str text)
{
    return json_pack("{s:s,s:s%}", "type", "text", "text", text.s ? text.s : "",
                     text.len);
}

/* The arguments of a call: JSON in a string, kept as text if it is none. */
static json_t *arguments_of(const json_t *arguments)
{
    json_t *parsed = NULL;

    if (!arguments) {
        return json_object();
    }
    if (json_is_string(arguments) &&
        json_parse_inner(json_text(arguments), &parsed, NULL) == CLEW_OK) {
        return parsed;
    }
    return share(arguments);
}

static json_t *tool_use(struct str id, struct str name, const json_t *arguments)
{
    json_t *input = arguments_of(arguments);
    json_t *block =
        json_pack("{s:s,s:s%,s:s%}", "type", "tool_use", "id", id.s ? id.s : "",
                  id.len, "name", name.s ? name.s : "", name.len);

    if (!block || !input || json_object_set(block, "input", input) != 0) {
        json_decref(block);
        block = NULL;
    }
    json_decref(input);
    return block;
}

static bool is_text_part(const json_t *part)
{
    return is_type(part, "text") || is_type(part, "input_text") ||
           is_type(part, "output_text");
}

/* A content part of OpenAI's forms as a block. */
static json_t *block_of(const json_t *part)
{
    if (is_text_part(part)) {
        return text_block(json_text_at(part, "text"));
    }
    if (is_type(part, "refusal")) {
        return text_block(json_text_at(part, "refusal"));
    }
    if (is_type(part, "image_url") || is_type(part, "input_image")) {
        const json_t *image = json_object_get(part, "image_url");
        struct str url = json_is_string(image) ? json_text(image)
                                               : json_text_at(image, "url");

        return json_pack("{s:s,s:{s:s,s:s%}}", "type", "image", "source",
                         "type", "url", "url", url.s ? url.s : "", url.len);
    }
    return share(part);
}

/* Content in blocks; a plain string stays one. */
static json_t *content_of(const json_t *content)
{
    const json_t *part;
    json_t *blocks;
    size_t i;

    if (!json_is_array(content)) {
        return content ? share(content) : json_null();
    }
    blocks = json_array();
    json_array_foreach (content, i, part) {
        if (!push(blocks, block_of(part))) {
            json_decref(blocks);
            return NULL;
        }
    }
    return blocks;
}

/* --- chat completions ------------------------------------------------------
 */

/* Text and calls of an assistant message as one list of blocks. */
static json_t *blocks_with_calls(const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    const json_t *calls = json_object_get(message, "tool_calls");
    const json_t *call;
    json_t *blocks;
    size_t i;
    bool is_ok = true;

    blocks = json_is_array(content) ? content_of(content) : json_array();
    if (json_is_string(content) && json_string_length(content) > 0) {
        is_ok = push(blocks, text_block(json_text(content)));
    }
    if (json_text_at(message, "refusal").len > 0) {
        is_ok =
            is_ok && push(blocks, text_block(json_text_at(message, "refusal")));
    }
    json_array_foreach (calls, i, call) {
        const json_t *function = json_object_get(call, "function");

        is_ok = is_ok &&
                push(blocks, tool_use(json_text_at(call, "id"),
                                      json_text_at(function, "name"),
                                      json_object_get(function, "arguments")));
    }
    if (!is_ok) {
        json_decref(blocks);
        return NULL;
    }
    return blocks;
}

static json_t *message_of(const char *role, json_t *content)
{
    json_t *message = content ? json_pack("{s:s}", "role", role) : NULL;

    if (!message || json_object_set(message, "content", content) != 0) {
        json_decref(message);
        message = NULL;
    }
    json_decref(content);
    return message;
}

/* A result as the user's message, which is what the Anthropic form has. */
static json_t *result_message(struct str id, const json_t *output)
{
    json_t *content = content_of(output);
    json_t *block = json_pack("{s:s,s:s%}", "type", "tool_result",
                              "tool_use_id", id.s ? id.s : "", id.len);

    if (!block || !content || json_object_set(block, "content", content) != 0) {
        json_decref(block);
        block = NULL;
    }
    json_decref(content);
    return block ? message_of("user", json_pack("[o]", block)) : NULL;
}

static json_t *chat_message(const json_t *message)
{
    struct str role = json_text_at(message, "role");

    if (str_eq(role, STR("tool"))) {
        return result_message(json_text_at(message, "tool_call_id"),
                              json_object_get(message, "content"));
    }
    if (str_eq(role, STR("assistant")) &&
        json_object_get(message, "tool_calls")) {
        return message_of("assistant", blocks_with_calls(message));
    }
    if (json_is_array(json_object_get(message, "content")) && role.s) {
        return message_of(role.s,
                          content_of(json_object_get(message, "content")));
    }
    return share(message);
}

static bool is_instruction(const json_t *message)
{
    struct str role = json_text_at(message, "role");

    return str_eq(role, STR("system")) || str_eq(role, STR("developer"));
}

/* Append the texts of an instruction to the list of system blocks. */
static bool add_system(json_t **system, const json_t *content)
{
    const json_t *part;
    size_t i;

    if (!*system) {
        *system = json_array();
    }
    if (json_is_string(content)) {
        return push(*system, text_block(json_text(content)));
    }
    json_array_foreach (content, i, part) {
        if (!push(*system, block_of(part))) {
            return false;
        }
    }
    return *system != NULL;
}

static bool read_chat(const json_t *body, struct canon_request *out)
{
    const json_t *message;
    bool is_head = true;
    size_t i;

    json_array_foreach (json_object_get(body, "messages"), i, message) {
        is_head = is_head && is_instruction(message);
        if (is_head) {
            if (!add_system(&out->system,
                            json_object_get(message, "content"))) {
                return false;
            }
            continue;
        }
        if (!push(out->messages, chat_message(message))) {
            return false;
        }
    }
    return true;
}

/* --- responses -------------------------------------------------------------
 */

/* The summary of a reasoning item, as a thinking block. */
static json_t *thinking_of(const json_t *item)
{
    const json_t *part;
    json_t *block = json_pack("{s:s}", "type", "thinking");
    struct buf text;
    size_t i;
    bool is_ok;

    buf_init(&text, 64u << 20);
    json_array_foreach (json_object_get(item, "summary"), i, part) {
        struct str words = json_text_at(part, "text");

        if (i > 0) {
            (void)buf_append_char(&text, '\n'); /* kept in the buffer */
        }
        (void)buf_append_str(&text, words.s ? words : STR(""));
    }
    is_ok = block && buf_status(&text) == CLEW_OK &&
            json_set_str(block, "thinking", buf_str(&text));
    buf_release(&text);
    if (!is_ok) {
        json_decref(block);
        return NULL;
    }
    return block;
}

/* One item of `input` as a message. */
static json_t *item_message(const json_t *item)
{
    struct str role = json_text_at(item, "role");

    if (is_type(item, "function_call") || is_type(item, "custom_tool_call")) {
        json_t *call =
            tool_use(json_text_at(item, "call_id"), json_text_at(item, "name"),
                     json_object_get(item, "arguments")
                         ? json_object_get(item, "arguments")
                         : json_object_get(item, "input"));

        return call ? message_of("assistant", json_pack("[o]", call)) : NULL;
    }
    if (is_type(item, "function_call_output") ||
        is_type(item, "custom_tool_call_output")) {
        return result_message(json_text_at(item, "call_id"),
                              json_object_get(item, "output"));
    }
    if (is_type(item, "reasoning")) {
        json_t *thinking = thinking_of(item);

        return thinking ? message_of("assistant", json_pack("[o]", thinking))
                        : NULL;
    }
    if (role.len > 0) {
        return message_of(role.s, content_of(json_object_get(item, "content")));
    }
    return message_of("assistant", json_pack("[O]", item));
}

/* Consecutive items of one assistant turn are one message: what the reply was,
 * and what a reply is compared with. */
static bool add_item(json_t *messages, const json_t *item)
{
    json_t *message = item_message(item);
    json_t *last = json_array_get(messages, json_array_size(messages)
                                                ? json_array_size(messages) - 1
                                                : 0);
    json_t *content = json_object_get(message, "content");
    bool is_ok;

    if (!message) {
        return false;
    }
    if (!last || !str_eq(json_text_at(message, "role"), STR("assistant")) ||
        !str_eq(json_text_at(last, "role"), STR("assistant")) ||
        !json_is_array(content) ||
        !json_is_array(json_object_get(last, "content"))) {
        return push(messages, message);
    }
    is_ok = json_array_extend(json_object_get(last, "content"), content) == 0;
    json_decref(message);
    return is_ok;
}

static bool read_responses(const json_t *body, struct canon_request *out)
{
    const json_t *input = json_object_get(body, "input");
    const json_t *instructions = json_object_get(body, "instructions");
    const json_t *item;
    bool is_head = true;
    size_t i;

    out->previous_id = id_at(body, "previous_response_id");
    if (json_is_string(instructions)) {
        out->system = share(instructions);
    }
    if (json_is_string(input)) {
        return push(out->messages, message_of("user", share(input)));
    }
    json_array_foreach (input, i, item) {
        is_head = is_head && is_instruction(item);
        if (is_head && !json_is_string(out->system)) {
            if (!add_system(&out->system, json_object_get(item, "content"))) {
                return false;
            }
        } else if (!is_head && !add_item(out->messages, item)) {
            return false;
        }
    }
    return true;
}

/* --- requests --------------------------------------------------------------
 */

enum clew_status canon_request_of(enum canon_api api, const json_t *body,
                                  struct canon_request *out,
                                  struct clew_error *err)
{
    const json_t *system = json_object_get(body, "system");
    const json_t *messages = json_object_get(body, "messages");
    struct canon_request request;
    bool is_ok = true;

    memset(&request, 0, sizeof(request));
    request.model = canon_name_at(body, "model");
    switch (api) {
    case CANON_ANTHROPIC:
        request.messages =
            json_is_array(messages) ? share(messages) : json_array();
        request.system = system && !json_is_null(system) ? share(system) : NULL;
        break;
    case CANON_CHAT:
        request.messages = json_array();
        is_ok = read_chat(body, &request);
        break;
    case CANON_RESPONSES:
        request.messages = json_array();
        is_ok = read_responses(body, &request);
        break;
    }
    if (!is_ok || !request.messages) {
        canon_request_release(&request);
        return clew_no_memory(err);
    }
    *out = request;
    return CLEW_OK;
}

void canon_request_release(struct canon_request *request)
{
    json_decref(request->messages);
    json_decref(request->system);
    memset(request, 0, sizeof(*request));
}

/* --- replies ---------------------------------------------------------------
 */

static int64_t count_of(const json_t *usage, const char *name,
                        const char *other)
{
    const json_t *value = json_object_get(usage, name);

    if (!value) {
        value = json_object_get(usage, other);
    }
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
                   json_integer_value(value) <= MAX_TOKENS
               ? json_integer_value(value)
               : -1;
}

/* Tokens that went through the provider's cache, in either way of counting. */
static void read_cache(const json_t *usage, struct canon_reply *out)
{
    const json_t *details = json_object_get(usage, "prompt_tokens_details");

    out->cache_read_tokens = count_of(usage, "cache_read_input_tokens", "");
    out->cache_write_tokens =
        count_of(usage, "cache_creation_input_tokens", "");
    if (out->cache_read_tokens >= 0 || out->cache_write_tokens >= 0) {
        out->cache_read_tokens =
            out->cache_read_tokens < 0 ? 0 : out->cache_read_tokens;
        out->cache_write_tokens =
            out->cache_write_tokens < 0 ? 0 : out->cache_write_tokens;
        return;
    }
    if (!details) {
        details = json_object_get(usage, "input_tokens_details");
    }
    out->cache_read_tokens = count_of(details, "cached_tokens", "");
}

/* What some routers add: the price of this very call. */
static int64_t cost_of(const json_t *usage)
{
    const json_t *cost = json_object_get(usage, "cost");
    double value = json_number_value(cost);

    return json_is_number(cost) && value >= 0 && value < MAX_COST
               ? (int64_t)(value * 1e6 + 0.5)
               : -1;
}

static void read_usage(const json_t *usage, struct canon_reply *out)
{
    out->input_tokens = count_of(usage, "input_tokens", "prompt_tokens");
    out->output_tokens = count_of(usage, "output_tokens", "completion_tokens");
    out->cost_micros = cost_of(usage);
    read_cache(usage, out);
}

static json_t *reply_of_choice(const json_t *response, struct canon_reply *out)
{
    const json_t *choice =
        json_array_get(json_object_get(response, "choices"), 0);
    const json_t *message = json_object_get(choice, "message");

    out->stop_reason = canon_name_at(choice, "finish_reason");
    if (!json_is_object(message)) {
        return NULL;
    }
    return message_of("assistant", blocks_with_calls(message));
}

static json_t *reply_of_output(const json_t *response, struct canon_reply *out)
{
    const json_t *item;
    json_t *messages = json_array();
    json_t *message = NULL;
    size_t i;

    out->stop_reason = canon_name_at(response, "status");
    json_array_foreach (json_object_get(response, "output"), i, item) {
        if (!add_item(messages, item)) {
            break;
        }
    }
    message = json_incref(json_array_get(messages, 0));
    json_decref(messages);
    return message;
}

enum clew_status canon_reply_of(const json_t *response, struct canon_reply *out)
{
    const json_t *usage = json_object_get(response, "usage");
    struct canon_reply reply;
    bool is_expected = true;

    memset(&reply, 0, sizeof(reply));
    reply.model = canon_name_at(response, "model");
    reply.id = id_at(response, "id");
    read_usage(usage, &reply);
    if (json_is_string(response)) {
        reply.message = message_of("assistant", share(response));
    } else if (json_array_size(json_object_get(response, "choices")) > 0) {
        reply.message = reply_of_choice(response, &reply);
    } else if (json_array_size(json_object_get(response, "output")) > 0) {
        reply.message = reply_of_output(response, &reply);
    } else if (json_object_get(response, "content")) {
        reply.stop_reason = canon_name_at(response, "stop_reason");
        reply.message = message_of(
            "assistant", content_of(json_object_get(response, "content")));
    } else {
        is_expected = false;
    }
    if (is_expected && !reply.message &&
        !json_object_get(response, "choices")) {
        return CLEW_NO_MEMORY;
    }
    *out = reply;
    return CLEW_OK;
}

void canon_reply_release(struct canon_reply *reply)
{
    json_decref(reply->message);
    reply->message = NULL;
}
