/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill_keep.h - skills found by compaction become memories.
 *
 * Reads the turns to look at (an episode's and those of linked chats), finds
 * what recurs (skill.h) and stores what is sure enough as memories of type
 * "skill", each under an id that follows from its first sighting, so that
 * finding it again only brings it up to date.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_SKILL_KEEP_H
#define ENGINE_SKILL_KEEP_H

#include "engine/chat/turn.h"
#include "talk/skill.h"

struct batch_work;
struct chat;
struct store_tx;

struct skill_list {
    struct skill *skills;
    size_t count;
    const struct turn **turns; /* what the examples count in */
};

/* Turns of the chats that share a cross_chat episode with `chat`; bounded. */
enum clew_status skill_read_linked(struct store_tx *tx, struct arena *arena,
                                   const struct chat *chat,
                                   struct turn **out_turns, size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* What recurs in both lists of turns together, sure enough to keep. */
enum clew_status skill_collect(struct arena *arena, const struct turn *linked,
                               size_t n_linked, const struct turn *own,
                               size_t n_own, struct skill_list *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Store them. */
enum clew_status skill_keep(struct batch_work *batch,
                            const struct skill_list *list, int64_t now_ms,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
