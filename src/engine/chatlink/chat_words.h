/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_words.h - how much two chats speak of the same, by their telling words.
 *
 * A matter is talked about in several chats, and its names go with it. What is
 * compared is the words that profiles remember (chat_profile.h).
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHAT_WORDS_H
#define ENGINE_CHAT_WORDS_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chatlink/chatlink_turn.h"
#include "store/store.h"

struct chat_words {
    struct uuid chat_id;
    const struct chatlink_term *terms; /* by hash */
    size_t count;
    double norm;
};

/* Of those of the chats that anything is remembered of, in no order. */
enum clew_status chat_words_load(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chat_ids, size_t n_chats,
                                 struct chat_words **out, size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* 0 to 1: the cosine of their words, each weighing as much as it is rare. */
double chat_words_alike(const struct chat_words *a, const struct chat_words *b);

#endif
