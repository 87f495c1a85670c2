/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assemble_responses.c - the events of POST /v1/responses. See reply.h.
 *
 * response.completed holds the whole answer; the deltas before it matter only
 * if the stream breaks off.
 */
#include "base/json.h"
#include "proxy/reply.h"

static struct str text_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_string(value) ? json_text(value) : (struct str){"", 0};
}

static bool is_final(struct str type)
{
    return str_eq(type, STR("response.completed")) ||
           str_eq(type, STR("response.incomplete")) ||
           str_eq(type, STR("response.failed"));
}

/* A finished item replaces what its deltas had built. */
static void finish_item(struct reply *reply, long index, const json_t *item)
{
    struct reply_part *part = reply_find_part(reply, index);
    json_t *copy = reply_keep(reply, item);

    if (!part) {
        (void)reply_part_at(reply, index, copy);
        return;
    }
    if (copy) {
        json_decref(part->block);
        part->block = copy;
        part->field = NULL;
        buf_clear(&part->text);
    }
}

static void apply_delta(struct reply *reply, struct str type, long index,
                        struct str delta)
{
    struct reply_part *part = reply_find_part(reply, index);

    if (str_eq(type, STR("response.output_text.delta")) ||
        str_eq(type, STR("response.refusal.delta"))) {
        reply_extend(reply, part, "text", delta, false);
    } else if (str_eq(type, STR("response.function_call_arguments.delta"))) {
        reply_extend(reply, part, "arguments", delta, false);
    } else if (str_eq(type, STR("response.custom_tool_call_input.delta"))) {
        reply_extend(reply, part, "input", delta, false);
    }
}

void assemble_responses(struct reply *reply, struct str name,
                        const json_t *event)
{
    struct str type = text_of(event, "type");
    const json_t *response = json_object_get(event, "response");
    const json_t *item = json_object_get(event, "item");
    long index =
        (long)json_integer_value(json_object_get(event, "output_index"));

    (void)name; /* the same as `type` */
    if (is_final(type) && json_is_object(response)) {
        const json_t *error = json_object_get(response, "error");

        json_decref(reply->whole);
        reply->whole = reply_keep(reply, response);
        reply->is_complete = true;
        if (json_is_object(error) && !reply->error) {
            reply->error = reply_keep(reply, error);
        }
    } else if (str_eq(type, STR("response.created")) && !reply->head) {
        reply->head = reply_keep(reply, response);
    } else if (str_eq(type, STR("response.output_item.added"))) {
        (void)reply_part_at(reply, index, reply_keep(reply, item));
    } else if (str_eq(type, STR("response.output_item.done"))) {
        finish_item(reply, index, item);
    } else if (str_eq(type, STR("error")) && !reply->error) {
        reply->error = reply_keep(reply, event);
    } else {
        apply_delta(reply, type, index, text_of(event, "delta"));
    }
}

/* Text deltas stand beside the item's content; put them where they belong. */
static void settle_text(json_t *item)
{
    json_t *text = json_object_get(item, "text");

    if (!json_is_string(text) ||
        !str_eq(text_of(item, "type"), STR("message"))) {
        return;
    }
    (void)json_set(
        item, "content",
        json_pack("[{s:s,s:O}]", "type", "output_text", "text", text));
    (void)json_object_del(item, "text");
}

json_t *assemble_responses_end(struct reply *reply)
{
    json_t *items;
    json_t *item;
    size_t i;

    if (!json_is_object(reply->head)) {
        return NULL;
    }
    items = reply_blocks(reply);
    json_array_foreach (items, i, item) {
        settle_text(item);
    }
    if (!json_set(reply->head, "output", items)) {
        return NULL;
    }
    return json_incref(reply->head);
}
