/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_spot.c - which chat takes a call's turns. See call_spot.h.
 */
#include "engine/call/call_spot.h"

#include <string.h>

/* What the steps below share. */
struct search {
    struct store_tx *tx;
    struct arena *arena;
    const struct call_plan *plan;
    struct call_spot *out;
    struct clew_error *err;
};

static enum clew_status new_chat(struct search *s)
{
    const struct request *request = &s->plan->request;
    struct chat_birth birth = {
        uuid_derive(request->created_at_ms, &request->id, "chat", 0),
        request->created_at_ms};

    s->out->first_seq = 1;
    return chat_insert_linked(s->tx, &birth, request->user_id, &s->out->chat,
                              s->err);
}

/* A call without parent: the chat the caller named, or a new one. */
static enum clew_status root_spot(struct search *s)
{
    struct call_spot *out = s->out;
    enum clew_status status;

    if (uuid_is_nil(&s->plan->chat_id)) {
        return new_chat(s);
    }
    status = chat_find(s->tx, s->arena, &s->plan->chat_id, &out->chat, s->err);
    if (status == CLEW_NOT_FOUND && s->plan->is_chat_hint) {
        out->note = "the chat that was named is not there; a new one was made";
        return new_chat(s);
    }
    out->known_seq = out->chat.last_seq;
    out->first_seq = out->chat.last_seq + 1;
    return status;
}

/* True if the message after the parent's own is the parent's reply. */
static enum clew_status
sends_reply_back(struct search *s, const struct request *parent, bool *out_does)
{
    size_t count = (size_t)parent->message_count;
    struct call_digest alone;
    struct uuid key;
    enum clew_status status;

    *out_does = false;
    if (parent->reply_seq == 0 || count >= s->plan->messages.count) {
        return CLEW_OK;
    }
    status = call_hash_alone(s->plan->messages.items[count], &alone);
    if (status == CLEW_OK) {
        key = request_reply_key(&parent->current, &alone);
        *out_does = uuid_eq(&key, &parent->reply_key);
    }
    return status == CLEW_OK ? CLEW_OK : clew_no_memory(s->err);
}

/* Go on in the parent's chat if its line ends at `at_seq`, else fork there. */
static enum clew_status enter(struct search *s, const struct request *parent,
                              int64_t at_seq, struct str branch)
{
    int64_t at_ms = s->plan->request.created_at_ms;
    struct chat_birth birth = {uuid_new(at_ms), at_ms};
    struct chat chat;
    enum clew_status status =
        chat_find(s->tx, s->arena, &parent->chat_id, &chat, s->err);

    if (status != CLEW_OK) {
        return status;
    }
    s->out->known_seq = at_seq;
    if (chat.last_seq == at_seq && str_eq(parent->branch, branch)) {
        s->out->chat = chat;
        return CLEW_OK;
    }
    return chat_fork(s->tx, s->arena, &chat, at_seq, (struct str){NULL, 0},
                     branch, &birth, &s->out->chat, s->err);
}

/* The end of what a child shares with its parent. */
static int64_t end_of(const struct request *request)
{
    return request->reply_seq ? request->reply_seq : request->last_seq;
}

static enum clew_status child_spot(struct search *s,
                                   const struct call_decision *decision)
{
    const struct request *parent = &decision->parent;
    struct str previous = s->plan->request.call.previous_id;
    bool is_delta =
        previous.len > 0 && str_eq(previous, parent->call.response_id);
    struct call_spot *out = s->out;
    bool has_reply = false;
    enum clew_status status = CLEW_OK;

    if (decision->strategy == CALL_SUBTASK) {
        out->first_seq = 1; /* a task sees nothing of who gave it */
        return enter(s, parent, 0, decision->branch);
    }
    if (decision->strategy == CALL_COMPACT || is_delta) {
        out->first_seq = end_of(parent) + 1;
        return enter(s, parent, end_of(parent), decision->branch);
    }
    status = sends_reply_back(s, parent, &has_reply);
    if (status != CLEW_OK) {
        return status;
    }
    out->first_seq = parent->first_seq;
    out->n_known = (size_t)parent->message_count + has_reply;
    return enter(s, parent, has_reply ? parent->reply_seq : parent->last_seq,
                 decision->branch);
}

/* The same messages again: nothing is new but perhaps the reply. */
static enum clew_status twin_spot(struct search *s, const struct request *twin)
{
    const struct call_plan *plan = s->plan;
    struct call_spot *out = s->out;
    enum clew_status status = CLEW_OK;

    if (!plan->has_reply ||
        uuid_eq(&plan->request.reply_key, &twin->reply_key)) {
        status = chat_find(s->tx, s->arena, &twin->chat_id, &out->chat, s->err);
    } else {
        status = enter(s, twin, twin->last_seq, twin->branch);
    }
    out->first_seq = twin->first_seq;
    out->n_known = plan->messages.count;
    out->known_seq = twin->last_seq;
    return status;
}

enum clew_status call_spot_find(struct store_tx *tx, struct arena *arena,
                                const struct call_plan *plan,
                                struct call_decision *decision,
                                struct call_spot *out, struct clew_error *err)
{
    struct search search = {tx, arena, plan, out, err};
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    if (decision->has_twin) {
        return twin_spot(&search, &decision->twin);
    }
    if (!decision->has_parent) {
        return root_spot(&search);
    }
    status = child_spot(&search, decision);
    if (status == CLEW_TOO_LARGE) {
        /* forks of forks without end: still stored, on its own */
        memset(decision, 0, sizeof(*decision));
        decision->branch = STR("main");
        memset(out, 0, sizeof(*out));
        out->note = "the tree is too deep; a new conversation was made";
        return root_spot(&search);
    }
    return status;
}
