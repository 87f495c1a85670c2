/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_spot.h - the chat a captured call's turns go to, and from where on.
 *
 * The line of a request's chat holds its messages exactly: turns first_seq to
 * last_seq, then the reply. A child goes on where its parent's line fits its
 * own messages: after the parent's reply if it sends that reply back, else
 * after the parent's last message. If the chat has gone on from there already,
 * a fork of it takes the new turns.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_LINK_SPOT_H
#define ENGINE_LINK_SPOT_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat.h"
#include "engine/link_decide.h"
#include "engine/link_plan.h"

#include <stdbool.h>
#include <stdint.h>

struct store_tx;

struct link_spot {
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
enum clew_status link_spot_find(struct store_tx *tx, struct arena *arena,
                                const struct link_plan *plan,
                                struct link_decision *decision,
                                struct link_spot *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
