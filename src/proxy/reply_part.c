/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply_part.c - the parts of a reply, which the assemblers extend. See
 * reply.h.
 */
#include "proxy/reply.h"

#include "base/alloc.h"
#include "base/json.h"

#include <string.h>

json_t *reply_keep(struct reply *reply, const json_t *told)
{
    reply->n_kept += told ? reply->event_bytes : 0;
    return json_copy_tree(told);
}

/* Where the part with this number is, or belongs. */
static size_t place_of(const struct reply *reply, long index)
{
    size_t low = 0;
    size_t high = reply->n_parts;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (reply->parts[mid].index < index) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

struct reply_part *reply_find_part(struct reply *reply, long index)
{
    size_t at = place_of(reply, index);

    return at < reply->n_parts && reply->parts[at].index == index
               ? &reply->parts[at]
               : NULL;
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
    part = &reply->parts[place_of(reply, index)];
    memmove(part + 1, part,
            (size_t)(&reply->parts[reply->n_parts++] - part) * sizeof(*part));
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
    reply->n_kept += text.len;
    if (buf_append_str(&part->text, text) != CLEW_OK) {
        reply->is_cut = true;
    }
}

/* Is there room for the tree that `text` will be? It counts as kept then. */
static bool may_parse(struct reply *reply, struct str text)
{
    size_t bytes = json_tree_bytes(text);

    if (reply->n_kept + bytes > REPLY_MAX_TREE_BYTES) {
        reply->is_cut = true;
        return false;
    }
    reply->n_kept += bytes;
    return true;
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
    /* arguments are parsed by whoever reads them (engine/call/canon.h) */
    if ((part->is_json || strcmp(part->field, "arguments") == 0) &&
        !may_parse(reply, text)) {
        return;
    }
    if (part->is_json && json_parse_inner(text, &value, NULL) == CLEW_OK) {
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

json_t *reply_blocks(struct reply *reply)
{
    json_t *blocks = json_array();

    for (size_t i = 0; i < reply->n_parts && blocks; i++) {
        finish_part(reply, &reply->parts[i]);
        if (json_array_append(blocks, reply->parts[i].block) != 0) {
            json_decref(blocks);
            blocks = NULL;
        }
    }
    return blocks;
}
