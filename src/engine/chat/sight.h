/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sight.h - what can be seen from a chat that has forks or is one.
 *
 * Of its own conversation a chat sees its line: the turns of each chat above up
 * to where the line left it, and its own. What another branch says, and what a
 * chat above says after the fork, is none of its business. Other conversations
 * are seen whole.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_SIGHT_H
#define ENGINE_SIGHT_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/chat.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sight {
    struct uuid conversation_id;
    struct chat_part *parts; /* root first; the last one has no end */
    size_t n_parts;
    int64_t since_ms; /* when the chat began: what was done elsewhere later is
                         not seen by a fork */
};

enum clew_status sight_open(struct store_tx *tx, struct arena *arena,
                            const struct chat *chat, struct sight *out,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Is turn `seq` of the chat part of the line? */
bool sight_has(const struct sight *sight, const struct uuid *chat_id,
               int64_t seq);
/* A chat without forks that is none sees everything. */
enum clew_status sight_is_parted(struct store_tx *tx, const struct chat *chat,
                                 bool *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/* A turn, or where something made from turns begins. */
struct sight_place {
    struct uuid chat_id; /* nil: nowhere, which is always seen */
    int64_t seq;
    bool is_hidden; /* set by sight_hide() */
};
/* Which places are of the conversation and not of the line. */
enum clew_status sight_hide(struct store_tx *tx, struct arena *arena,
                            const struct sight *sight,
                            struct sight_place *places, size_t count,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
