/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_fork.h - efforts that a fork shares with the chats it left.
 *
 * An effort that was there at the fork point is one effort for both sides: each
 * goes on with it in turns of its own, whichever resolves it resolves it, and
 * its turns on either side stay its own. Its row belongs to the chat it was
 * opened in. What a fork sees of it follows from the turns it owns in the
 * fork's line: where it was last touched, and whether it is at work here.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_EFFORT_FORK_H
#define ENGINE_EFFORT_FORK_H

#include "engine/effort/effort.h"

struct chat;

/*
 * As effort_list(), for a chat that may be a fork: those it shares are marked
 * `is_shared`, with `state`, `first_seq` and `last_seq` as its line has them.
 * `now_seq` is the newest turn there is.
 */
enum clew_status effort_list_line(struct store_tx *tx, struct arena *arena,
                                  const struct chat *chat, int64_t now_seq,
                                  bool with_closed, struct effort **out_efforts,
                                  size_t *out_count,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* As effort_own(), for a shared effort and a turn of chat `chat_id`. */
enum clew_status effort_own_shared(struct store_tx *tx, struct effort *effort,
                                   const struct uuid *chat_id, int64_t seq,
                                   int64_t tokens,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
