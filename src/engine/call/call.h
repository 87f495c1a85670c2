/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - place a captured LLM call in the tree of conversations.
 *
 * Clients send the whole history with every call and say nothing about which
 * conversation it is. call_link() finds the call this one continues by the
 * digests of its messages (spec/linking.md), stores the messages that are new
 * as turns, and the call itself as a request. A branch is a chat that shares
 * its history with its parent by reference: a conversation that is sent again
 * with every call costs one copy of each message.
 *
 * The steps, each in its own file: call_plan (what the call brings, pure),
 * call_decide (which parent, which branch), link (chat, turns, rows).
 * Thread-safety: safe; calls of one tenant are linked one after another.
 */
#ifndef ENGINE_CALL_H
#define ENGINE_CALL_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/request.h"
#include "store/store.h"

#include <jansson.h>
#include <stdbool.h>

struct engine;

/* A call as it was captured. Strings and trees are borrowed. */
struct call_input {
    struct uuid id;         /* of the request; nil: a new one */
    bool is_first;          /* `id` was made for this and never tried before */
    int64_t created_at_ms;  /* CALL_NOW: the clock's, later than any before */
    int64_t sent_at_ms;     /* if it came later than that; 0: it did not */
    struct str user_id;     /* s == NULL: "default" */
    struct uuid chat_id;    /* where a call without parent goes; nil: new */
    bool is_chat_hint;      /* there need be no such chat: then a new one */
    const json_t *messages; /* as engine/call/canon.h has them */
    const json_t *system;   /* NULL if there is none */
    const json_t *reply;    /* role and content; NULL if there is none */
    struct request_call call;
};
#define CALL_NOW INT64_MIN

struct call_result {
    struct request request;
    bool is_repeat; /* its id was known; nothing was stored */
    bool is_retry;  /* the same messages again, to the same parent */
    size_t n_new_turns;
    int64_t link_ns;  /* finding its parent and writing its own rows */
    int64_t turns_ns; /* storing and observing its turns */
    const char *note; /* why it could not be linked, or NULL */
};

/*
 * CLEW_INVALID for an empty list or broken messages; CLEW_CONFLICT if the id is
 * known with other messages, or the call is older than the forget of its user
 * or of what it goes on with; CLEW_NOT_FOUND for an unknown `chat_id`.
 */
enum clew_status call_link(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct call_input *input,
                           struct call_result *out,
                           struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Link several calls in one transaction, in this order. What is wrong with one
 * (bad messages, a known id) is told in its `statuses` and stops no other; the
 * return value is that of the transaction.
 */
enum clew_status call_link_many(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct call_input *inputs, size_t count,
                                struct call_result *out,
                                enum clew_status *out_statuses,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
