/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.c - a reply from its first byte to its body. See reply.h.
 */
#include "proxy/reply.h"

#include "base/alloc.h"
#include "base/json.h"

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
    const json_t *error;

    if (str_eq(data, STR("[DONE]"))) {
        reply->is_complete = true;
        return;
    }
    reply->event_bytes = json_tree_bytes(data);
    if (reply->n_kept + reply->event_bytes > REPLY_MAX_TREE_BYTES ||
        json_parse_inner(data, &event, NULL) != CLEW_OK) {
        reply->is_cut = true;
        return;
    }
    error = json_object_get(event, "error");
    if (!reply->error && (json_is_object(error) || json_is_string(error))) {
        reply->error = reply_keep(reply, error);
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
    reply->n_kept = json_tree_bytes(buf_str(&reply->body));
    reply->is_cut = buf_status(&reply->body) != CLEW_OK ||
                    reply->n_kept > REPLY_MAX_TREE_BYTES;
    if (!reply->is_cut &&
        json_parse_inner(buf_str(&reply->body), &body, NULL) == CLEW_OK) {
        reply->is_complete = true;
    }
    return body;
}
