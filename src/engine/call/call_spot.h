/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_spot.h - the chat a captured call's turns go to, and from where on.
 *
 * The line of a request's chat holds its messages exactly: turns first_seq to
 * last_seq, then the reply. A child goes on where its parent's line fits its
 * own messages: after the parent's reply if it sends that reply back, else
 * after the parent's last message. If the chat has gone on from there already,
 * a fork of it takes the new turns.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_CALL_SPOT_H
#define ENGINE_CALL_SPOT_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/call_decide.h"
#include "engine/call/call_plan.h"
#include "engine/chat/chat.h"

#include <stdbool.h>
#include <stdint.h>

struct store_tx;

struct call_spot {
    struct chat chat;
    int64_t first_seq; /* of the request's first message */
    size_t n_known;    /* messages that are stored already */
    int64_t known_seq; /* seq of the last of these */
    const char *note;  /* why it is not where it should be; NULL: it is */
};

/*
 * Find or make the chat. A call without parent goes to the chat that the plan
 * names, or to a new one; CLEW_NOT_FOUND if there is no such chat, unless it
 * was a hint. If the tree is too deep the decision is taken back and the call
 * stands on its own.
 */
enum clew_status call_spot_find(struct store_tx *tx, struct arena *arena,
                                const struct call_plan *plan,
                                struct call_decision *decision,
                                struct call_spot *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
