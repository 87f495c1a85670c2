/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_near.h - the earlier chats that a chat may go on with, scored by
 * words, for those who decide later: the reader and a language model.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHATLINK_NEAR_H
#define ENGINE_CHATLINK_NEAR_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chatlink/chat_profile.h"
#include "engine/chatlink/chatlink_odds.h"
#include "engine/chatlink/chatlink_score.h"
#include "engine/chatlink/chatlink_tuning.h"
#include "store/store.h"

struct engine;

struct chatlink_near {
    struct chat_profile profile; /* the chat's own */
    struct chatlink_tuning tuning;
    struct chatlink_scores scores; /* best first; count 0: no earlier chat */
    /* the user's last chats before it, forks left out, newest first */
    struct uuid before[CHATLINK_MOST_BEFORE];
    size_t n_before;
};

/* The chat as it was with its turn `to_seq`, a later one than the chat has for
 * all of it; CLEW_NOT_FOUND where nothing is remembered of it. Earlier chats
 * are taken as they stand. */
enum clew_status chatlink_near_load(struct engine *engine, struct store_tx *tx,
                                    struct arena *arena,
                                    const struct uuid *chat_id, int64_t to_seq,
                                    struct chatlink_near *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Where the chat of scores.items[i] stands among those that its user began
 * before this one: 1 is the last; CHATLINK_MOST_BEFORE at most. */
size_t chatlink_near_place(const struct chatlink_near *near, size_t i);

#endif
