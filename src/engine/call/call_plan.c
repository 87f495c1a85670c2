/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_plan.c - what a call brings. See call_plan.h.
 */
#include "engine/call/call_plan.h"

#include "base/json.h"
#include "base/limits.h"
#include "engine/call/call_compact.h"
#include "engine/call/call_markers.h"
#include "engine/call/call_text.h"

#include <string.h>

static struct uuid key_of_text(struct str text)
{
    struct call_digest digest;

    sha256_of(call_trim(text), digest.b);
    return request_key(&digest);
}

/* The key of "the messages up to `last`, answered by the next one". */
static enum clew_status reply_key_after(const struct call_messages *messages,
                                        size_t last, struct uuid *out)
{
    struct call_digest alone;
    enum clew_status status =
        call_hash_alone(messages->items[last + 1], &alone);

    if (status == CLEW_OK) {
        *out = request_reply_key(&messages->prefix[last], &alone);
    }
    return status;
}

static enum clew_status plan_hashes(struct call_plan *plan)
{
    const struct call_messages *messages = &plan->messages;
    struct request *request = &plan->request;
    size_t n = messages->count;
    enum clew_status status = CLEW_OK;

    request->message_count = (int64_t)n;
    request->current = messages->prefix[n - 1];
    request->hash_key = request_key(&request->current);
    if (n >= 3) {
        request->has_parent_hash = true;
        request->parent = messages->prefix[n - 3];
        status = reply_key_after(messages, n - 3, &request->parent_reply_key);
    }
    if (n >= 5 && status == CLEW_OK) {
        request->grandparent_key = request_key(&messages->prefix[n - 5]);
        status =
            reply_key_after(messages, n - 5, &request->grandparent_reply_key);
    }
    return status;
}

/* Normalise in a buffer and keep the result in the arena. */
static enum clew_status normal_form(struct arena *arena, struct str text,
                                    struct str *out)
{
    struct buf normal;
    enum clew_status status;

    buf_init(&normal, LIMIT_BODY_BYTES);
    status = call_compact_normalise(&normal, text);
    if (status == CLEW_OK) {
        *out = arena_str(arena, buf_str(&normal));
        status = out->s ? CLEW_OK : CLEW_NO_MEMORY;
    }
    buf_release(&normal);
    return status;
}

enum clew_status call_plan_needle(struct arena *arena, const json_t *message,
                                  bool *out_is_compact, struct str *out_needle)
{
    struct str summary;
    struct str normal;
    enum clew_status status;

    *out_is_compact = false;
    *out_needle = (struct str){NULL, 0};
    if (!call_compact_summary(message, &summary)) {
        return CLEW_OK;
    }
    status = normal_form(arena, summary, &normal);
    if (status == CLEW_OK) {
        *out_is_compact = true;
        *out_needle = call_compact_needle(normal);
    }
    return status;
}

/* The JSON of content whose text was changed, or that has no plain text. */
static enum clew_status keep_json(struct arena *arena, const json_t *content,
                                  struct str *out)
{
    struct buf json;
    enum clew_status status;

    buf_init(&json, LIMIT_BODY_BYTES);
    status = json_write(&json, content);
    if (status == CLEW_OK) {
        *out = arena_str(arena, buf_str(&json));
        status = out->s ? CLEW_OK : CLEW_NO_MEMORY;
    }
    buf_release(&json);
    return status;
}

enum clew_status call_plan_content(struct arena *arena, const json_t *content,
                                   struct content *out, struct clew_error *err)
{
    struct content parsed = {STR(""), {NULL, 0}};
    struct buf own;
    enum clew_status status = CLEW_OK;

    if (json_is_string(content) || json_is_array(content)) {
        status = content_parse(arena, content, LIMIT_BODY_BYTES, &parsed, err);
    }
    if (status == CLEW_INVALID) { /* a shape nobody knows: keep it as it is */
        status = keep_json(arena, content, &parsed.json);
        parsed.text = STR("");
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (call_has_blocks(parsed.text)) {
        if (!parsed.json.s) {
            status = keep_json(arena, content, &parsed.json);
        }
        buf_init(&own, LIMIT_BODY_BYTES);
        if (status == CLEW_OK) {
            status = call_strip(&own, parsed.text);
        }
        if (status == CLEW_OK) {
            parsed.text = arena_str(arena, call_trim(buf_str(&own)));
        }
        buf_release(&own);
        if (status != CLEW_OK || !parsed.text.s) {
            return clew_no_memory(err);
        }
    }
    *out = parsed;
    return CLEW_OK;
}

/* The prompts of the sub-agents that a reply starts. */
static void plan_tasks(struct call_plan *plan, const json_t *reply)
{
    const json_t *item;
    size_t i;

    json_array_foreach (json_object_get(reply, "content"), i, item) {
        const char *type = json_string_value(json_object_get(item, "type"));
        const char *name = json_string_value(json_object_get(item, "name"));
        const json_t *prompt =
            json_object_get(json_object_get(item, "input"), "prompt");
        struct str text = json_text(prompt);

        if (type && strcmp(type, "tool_use") == 0 && text.len > 0 &&
            call_marker_is(CALL_TASK_TOOL, str_of(name)) &&
            plan->n_tasks < CALL_MAX_TASKS) {
            plan->tasks[plan->n_tasks++] = key_of_text(text);
        }
    }
}

static enum clew_status plan_reply(struct arena *arena, struct call_plan *plan,
                                   const json_t *reply, struct clew_error *err)
{
    struct str normal;
    enum clew_status status;

    if (!reply) {
        return CLEW_OK;
    }
    plan->has_reply = true;
    plan_tasks(plan, reply);
    status = call_hash_alone(reply, &plan->reply_alone);
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not hash the reply");
    }
    plan->request.reply_key =
        request_reply_key(&plan->request.current, &plan->reply_alone);
    status = call_plan_content(arena, json_object_get(reply, "content"),
                               &plan->reply, err);
    if (status != CLEW_OK) {
        return status;
    }
    status = normal_form(arena, plan->reply.text, &normal);
    if (status == CLEW_OK) {
        status = call_compact_anchors(arena, normal, &plan->anchors,
                                      &plan->n_anchors);
    }
    return status == CLEW_OK ? CLEW_OK : clew_no_memory(err);
}

static enum clew_status plan_first(struct arena *arena, struct call_plan *plan)
{
    const json_t *first = plan->messages.items[0];
    struct str text;
    enum clew_status status = call_plan_needle(
        arena, first, &plan->request.is_compact, &plan->needle);

    if (status != CLEW_OK || plan->messages.count > 1) {
        return status;
    }
    status = call_message_text(arena, first, &text);
    if (status == CLEW_OK && text.len > 0) {
        plan->request.prompt_key = key_of_text(text);
    }
    return status;
}

enum clew_status call_plan_make(struct arena *arena,
                                const struct call_input *input,
                                struct call_plan *plan, struct clew_error *err)
{
    struct request *request = &plan->request;
    enum clew_status status;

    memset(plan, 0, sizeof(*plan));
    plan->arena = arena;
    plan->chat_id = input->chat_id;
    plan->is_chat_hint = input->is_chat_hint;
    request->call = input->call;
    request->user_id = input->user_id.len > 0 ? input->user_id : STR("default");
    if (request->user_id.len > LIMIT_NAME_BYTES) {
        return clew_fail_field(err, "user_id",
                               "\"user_id\" is longer than %d bytes",
                               LIMIT_NAME_BYTES);
    }
    status = call_hash_messages(arena, input->messages, &plan->messages, err);
    if (status != CLEW_OK) {
        return status;
    }
    status = plan_hashes(plan);
    if (status == CLEW_OK) {
        status = call_hash_system(input->system, &request->has_system,
                                  &request->system);
    }
    if (status == CLEW_OK) {
        status = plan_first(arena, plan);
    }
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not read the messages");
    }
    request->is_summarising = call_is_summarising(input->system);
    return plan_reply(arena, plan, input->reply, err);
}

/* --- what the decision may ask for -----------------------------------------
 */

static enum clew_status plan_prefixes(void *arg, struct store_tx *tx,
                                      struct uuid **out_keys, size_t *out_count,
                                      struct clew_error *err)
{
    const struct call_plan *plan = arg;
    const struct call_messages *messages = &plan->messages;
    struct uuid *keys = arena_zero(plan->arena, messages->count, sizeof(*keys));

    (void)tx;
    if (!keys) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < messages->count; i++) {
        keys[i] = request_key(&messages->prefix[i]);
    }
    *out_keys = keys;
    *out_count = messages->count;
    return CLEW_OK;
}

static enum clew_status plan_alone(void *arg, struct store_tx *tx, size_t i,
                                   struct call_digest *out,
                                   struct clew_error *err)
{
    const struct call_plan *plan = arg;

    (void)tx;
    return call_hash_alone(plan->messages.items[i], out) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

static enum clew_status plan_needle(void *arg, struct store_tx *tx,
                                    struct str *out_needle,
                                    struct clew_error *err)
{
    const struct call_plan *plan = arg;

    (void)tx;
    (void)err;
    *out_needle = plan->needle;
    return CLEW_OK;
}

void call_plan_sources(struct call_plan *plan, struct call_sources *out)
{
    *out = (struct call_sources){plan, plan_prefixes, plan_alone, plan_needle};
}
