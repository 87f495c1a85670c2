/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_fork.h - chains of the chats above, as a fork has them.
 *
 * At its fork point a fork has the chains of its line as they were there. What
 * it goes on with becomes its own: a twin with another id, which knows what it
 * parted from; the claims up to the fork point stay where they are and are read
 * through. So each side extends and concludes its own.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHAIN_FORK_H
#define ENGINE_CHAIN_FORK_H

#include "engine/chat/sight.h"
#include "engine/topic/chain.h"

struct chain_group;

/* Chains that a fork begins with; older ones are found by their words. */
#define CHAIN_FORK_OPEN 3

/*
 * Change a chain of the line into what it was where the sight leaves it, as the
 * twin that chat `chat` has of it: phase, topic, counts, times, what it
 * remembers. `*out_seen` is false if it has no claim there, or a twin that the
 * line has tells it.
 */
enum clew_status chain_as_of(struct engine *engine, struct store_tx *tx,
                             struct arena *arena, const struct chat *chat,
                             const struct sight *sight, struct chain *chain,
                             bool *out_seen,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* The last ones of the chats above, as twins, the last extended first. */
enum clew_status chain_list_above(struct engine *engine, struct store_tx *tx,
                                  struct arena *arena, const struct chat *chat,
                                  size_t limit, struct chain **out_chains,
                                  size_t *out_count,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The first turn of a fork: the chains it begins with become its own. */
enum clew_status chain_fork_enter(const struct chain_group *group,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Claims of what a twin parted from, as far as its line has them, before its
 * own. */
enum clew_status chain_claims_line(const struct engine *engine,
                                   struct store_tx *tx, struct arena *arena,
                                   const struct chain *chain,
                                   struct claim **claims, size_t *count,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
