/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.c - what the assemblers share. See reply.h.
 */
#include "proxy/reply.h"

#include "base/alloc.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

struct format {
    void (*apply)(struct reply *reply, struct str name, const json_t *event);
    json_t *(*end)(struct reply *reply);
};

static const struct format formats[] = {
    [CANON_ANTHROPIC] = {assemble_anthropic, assemble_anthropic_end},
    [CANON_CHAT] = {assemble_chat, assemble_chat_end},
    [CANON_RESPONSES] = {assemble_responses, assemble_responses_end},
};

static void on_event(void *arg, struct str name, struct str data)
{
    struct reply *reply = arg;
    json_t *event = NULL;

    if (str_eq(data, STR("[DONE]"))) {
        reply->is_complete = true;
        return;
    }
    if (json_parse(data, &event, NULL) != CLEW_OK) {
        reply->is_cut = true;
        return;
    }
    if (json_is_object(json_object_get(event, "error")) && !reply->error) {
        reply->error = json_incref(json_object_get(event, "error"));
    }
    formats[reply->api].apply(reply, name, event);
    json_decref(event);
}

void reply_init(struct reply *reply, enum canon_api api, bool is_stream)
{
    memset(reply, 0, sizeof(*reply));
    reply->api = api;
    reply->is_stream = is_stream;
    sse_init(&reply->sse, REPLY_MAX_BYTES, on_event, reply);
    buf_init(&reply->body, REPLY_MAX_BYTES);
}

void reply_release(struct reply *reply)
{
    sse_release(&reply->sse);
    buf_release(&reply->body);
    json_decref(reply->head);
    json_decref(reply->error);
    json_decref(reply->whole);
    for (size_t i = 0; i < reply->n_parts; i++) {
        json_decref(reply->parts[i].block);
        buf_release(&reply->parts[i].text);
        buf_release(&reply->parts[i].signature);
    }
    alloc_free(reply->parts);
    memset(reply, 0, sizeof(*reply));
}

void reply_feed(struct reply *reply, const char *bytes, size_t len)
{
    reply->n_bytes += len;
    if (!reply->is_stream) {
        (void)buf_append(&reply->body, bytes, len); /* looked at in the end */
        return;
    }
    if (reply->n_bytes > REPLY_MAX_BYTES) {
        reply->is_cut = true;
        return;
    }
    sse_feed(&reply->sse, bytes, len);
}

json_t *reply_take(struct reply *reply)
{
    json_t *body = NULL;

    if (reply->is_stream) {
        reply->is_cut = reply->is_cut || reply->sse.n_lost > 0;
        body = reply->whole ? json_incref(reply->whole)
                            : formats[reply->api].end(reply);
        if (!body && reply->error) {
            body = json_pack("{s:O}", "error", reply->error);
        }
        return body;
    }
    reply->is_cut = buf_status(&reply->body) != CLEW_OK;
    if (!reply->is_cut &&
        json_parse(buf_str(&reply->body), &body, NULL) == CLEW_OK) {
        reply->is_complete = true;
    }
    return body;
}

struct reply_part *reply_find_part(struct reply *reply, long index)
{
    for (size_t i = reply->n_parts; i-- > 0;) {
        if (reply->parts[i].index == index) {
            return &reply->parts[i];
        }
    }
    return NULL;
}

static bool grow(struct reply *reply)
{
    size_t cap = reply->cap_parts ? reply->cap_parts * 2 : 8;
    struct reply_part *parts;

    if (reply->n_parts < reply->cap_parts) {
        return true;
    }
    if (reply->n_parts >= REPLY_MAX_PARTS) {
        return false;
    }
    parts = alloc_array(reply->parts, cap, sizeof(*parts));
    if (!parts) {
        return false;
    }
    reply->parts = parts;
    reply->cap_parts = cap;
    return true;
}

struct reply_part *reply_part_at(struct reply *reply, long index, json_t *block)
{
    struct reply_part *part = reply_find_part(reply, index);

    if (part || !block || !grow(reply)) {
        reply->is_cut = reply->is_cut || !part;
        json_decref(block);
        return part;
    }
    part = &reply->parts[reply->n_parts++];
    memset(part, 0, sizeof(*part));
    part->index = index;
    part->block = block;
    buf_init(&part->text, REPLY_MAX_BYTES);
    buf_init(&part->signature, REPLY_MAX_BYTES);
    return part;
}

void reply_extend(struct reply *reply, struct reply_part *part,
                  const char *field, struct str text, bool is_json)
{
    if (!part) {
        reply->is_cut = true;
        return;
    }
    part->field = field;
    part->is_json = is_json;
    if (buf_append_str(&part->text, text) != CLEW_OK) {
        reply->is_cut = true;
    }
}

/* Put what the deltas brought into the block. */
static void finish_part(struct reply *reply, struct reply_part *part)
{
    json_t *value = NULL;
    struct str text = buf_str(&part->text);
    struct str before;

    if (part->signature.len > 0) {
        (void)json_set_str(part->block, "signature", buf_str(&part->signature));
    }
    if (!part->field || text.len == 0) {
        return;
    }
    if (part->is_json && json_parse(text, &value, NULL) == CLEW_OK) {
        (void)json_set(part->block, part->field, value); /* OOM: left out */
        return;
    }
    if (part->is_json) { /* broken off in mid-call: keep what there is */
        reply->is_cut = true;
    }
    before =
        str_of(json_string_value(json_object_get(part->block, part->field)));
    if (before.len > 0) {
        struct buf joined;

        buf_init(&joined, 2 * REPLY_MAX_BYTES);
        (void)buf_append_str(&joined, before);
        (void)buf_append_str(&joined, text);
        (void)json_set_str(part->block, part->field, buf_str(&joined));
        buf_release(&joined);
        return;
    }
    (void)json_set_str(part->block, part->field, text);
}

static int compare_parts(const void *a, const void *b)
{
    const struct reply_part *x = a;
    const struct reply_part *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

json_t *reply_blocks(struct reply *reply)
{
    json_t *blocks = json_array();

    if (reply->n_parts > 0) {
        qsort(reply->parts, reply->n_parts, sizeof(*reply->parts),
              compare_parts);
    }
    for (size_t i = 0; i < reply->n_parts && blocks; i++) {
        finish_part(reply, &reply->parts[i]);
        if (json_array_append(blocks, reply->parts[i].block) != 0) {
            json_decref(blocks);
            blocks = NULL;
        }
    }
    return blocks;
}
