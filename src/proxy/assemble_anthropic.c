/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assemble_anthropic.c - the events of POST /v1/messages. See reply.h.
 *
 * message_start brings the envelope, content_block_* the blocks, message_delta
 * the stop reason and the final usage, message_stop the end.
 */
#include "base/json.h"
#include "proxy/reply.h"

static struct str text_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_string(value) ? json_text(value) : (struct str){"", 0};
}

static void apply_delta(struct reply *reply, struct reply_part *part,
                        const json_t *delta)
{
    struct str type = text_of(delta, "type");

    if (str_eq(type, STR("text_delta"))) {
        reply_extend(reply, part, "text", text_of(delta, "text"), false);
    } else if (str_eq(type, STR("input_json_delta"))) {
        reply_extend(reply, part, "input", text_of(delta, "partial_json"),
                     true);
    } else if (str_eq(type, STR("thinking_delta"))) {
        reply_extend(reply, part, "thinking", text_of(delta, "thinking"),
                     false);
    } else if (str_eq(type, STR("signature_delta")) && part) {
        if (buf_append_str(&part->signature, text_of(delta, "signature")) !=
            CLEW_OK) {
            reply->is_cut = true;
        }
    } else if (str_eq(type, STR("citations_delta")) && part) {
        json_t *list = json_object_get(part->block, "citations");

        if (!json_is_array(list)) {
            (void)json_set(part->block, "citations", json_array());
            list = json_object_get(part->block, "citations");
        }
        (void)json_array_append_new(
            list, reply_keep(reply, json_object_get(delta, "citation")));
    }
}

/* Later values win; what only the first event said stays. */
static void merge(json_t *head, const char *name, const json_t *update)
{
    json_t *object = json_object_get(head, name);

    if (json_is_object(object)) {
        (void)json_object_update(object, (json_t *)(uintptr_t)update);
    } else {
        (void)json_object_set(head, name, (json_t *)(uintptr_t)update);
    }
}

void assemble_anthropic(struct reply *reply, struct str name,
                        const json_t *event)
{
    struct str type = text_of(event, "type");
    long index = (long)json_integer_value(json_object_get(event, "index"));
    const json_t *delta = json_object_get(event, "delta");

    (void)name; /* the same as `type` */
    if (str_eq(type, STR("message_start")) && !reply->head) {
        reply->head = reply_keep(reply, json_object_get(event, "message"));
    } else if (str_eq(type, STR("content_block_start"))) {
        (void)reply_part_at(
            reply, index,
            reply_keep(reply, json_object_get(event, "content_block")));
    } else if (str_eq(type, STR("content_block_delta"))) {
        apply_delta(reply, reply_find_part(reply, index), delta);
    } else if (str_eq(type, STR("message_delta")) && reply->head) {
        reply->n_kept += reply->event_bytes;
        if (json_is_object(delta)) {
            (void)json_object_update(reply->head, (json_t *)(uintptr_t)delta);
        }
        if (json_is_object(json_object_get(event, "usage"))) {
            merge(reply->head, "usage", json_object_get(event, "usage"));
        }
    } else if (str_eq(type, STR("message_stop"))) {
        reply->is_complete = true;
    }
}

json_t *assemble_anthropic_end(struct reply *reply)
{
    json_t *blocks;

    if (!json_is_object(reply->head)) {
        return NULL;
    }
    blocks = reply_blocks(reply);
    if (!json_set(reply->head, "content", blocks)) {
        return NULL;
    }
    return json_incref(reply->head);
}
