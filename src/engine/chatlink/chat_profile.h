/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_profile.h - what a chat was about, in a few kilobytes of hashes.
 *
 * Grown turn by turn, so that scoring an old chat against a new one reads no
 * turns. Holds hashes of words with their weight, what the first and the last
 * turns looked like, and the sum of their vectors, rounded; never text.
 * chat_terms tells which chats of a user hold a word. Thread-safety: as
 * store.h.
 */
#ifndef ENGINE_CHAT_PROFILE_H
#define ENGINE_CHAT_PROFILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chatlink/chatlink_turn.h"
#include "store/store.h"

#include <stdbool.h>

/* Words remembered of one chat; the first come stay. */
#define CHAT_PROFILE_TERMS 200
/* … of them findable among all chats of the user. */
#define CHAT_PROFILE_KEYS 32

enum chat_profile_state {
    CHAT_PROFILE_OPEN,    /* no link yet */
    CHAT_PROFILE_LINKED,  /* joined to an earlier chat */
    CHAT_PROFILE_SETTLED, /* and how that went is known */
    CHAT_PROFILE_TOLD     /* a language model said what it goes on with */
};

struct chat_profile {
    struct uuid chat_id;
    struct str user_id;
    int64_t created_at_ms;
    int64_t last_at_ms;
    uint32_t n_turns;
    uint32_t state;         /* enum chat_profile_state */
    uint32_t decided_turns; /* turns when it was linked */
    uint32_t n_keys;        /* words written to chat_terms */
    uint32_t first_cues;    /* of the first turn */
    uint32_t first_answers;
    uint32_t first_words;
    uint32_t last_cues; /* of the last turn */
    uint32_t last_asks;
    float mass; /* sum of idf over all turns */
    struct chatlink_term *terms;
    size_t n_terms;
    float *sum; /* of the turns' vectors; NULL if there are none */
    float *last;
    size_t dim;
    const int16_t *centre; /* of the embedder (embed.h); not stored */
    size_t group; /* those joined have one number; 0: none; not stored */
};

/* An empty profile in the arena. */
enum clew_status chat_profile_init(struct chat_profile *profile,
                                   struct arena *arena,
                                   const struct uuid *chat_id,
                                   struct str user_id, int64_t created_at_ms,
                                   size_t dim) CLEW_MUST_CHECK;
/* Add a turn. `vector` may be NULL, else has `dim` floats. */
void chat_profile_add(struct chat_profile *profile,
                      const struct chatlink_turn *turn, const float *vector,
                      int64_t time_ms);
/* Parts of vectors and weights of words are whole steps, from the moment they
 * come in: so many of a vector's make 1. */
float chat_profile_steps(size_t dim);
float chat_profile_round_idf(float idf);
/* To bytes and back. What does not read becomes an empty profile; false on
 * OOM. `out` has its ids, user and times already. */
enum clew_status chat_profile_write(const struct chat_profile *profile,
                                    struct buf *out) CLEW_MUST_CHECK;
bool chat_profile_read(struct arena *arena, struct str data,
                       struct chat_profile *out);
/* The word in the profile, or NULL. */
const struct chatlink_term *
chat_profile_find(const struct chat_profile *profile, uint64_t hash);

/* --- inside a transaction --- */

/* Ask ahead (db_ahead()) what chat_profile_load() will ask. */
enum clew_status chat_profile_ahead(struct store_tx *tx,
                                    const struct uuid *chat_id,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_NOT_FOUND if there is none. */
enum clew_status chat_profile_load(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_id,
                                   struct chat_profile *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Those of the chats that there are, in the order of their ids. */
enum clew_status
chat_profile_load_many(struct store_tx *tx, struct arena *arena,
                       const struct uuid *chat_ids, size_t n_chats,
                       struct chat_profile **out, size_t *out_count,
                       struct clew_error *err) CLEW_MUST_CHECK;
/* Write it, with words not yet findable. */
enum clew_status chat_profile_save(struct store_tx *tx, struct arena *arena,
                                   struct chat_profile *profile,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Its state follows a decision made elsewhere; it is not guessed at again.
 * Nothing happens where there is no profile. */
enum clew_status chat_profile_settle(struct store_tx *tx, struct arena *arena,
                                     const struct uuid *chat_id, bool is_link,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* A language model that read the chat's beginning said what it goes on with:
 * nobody guesses any more. */
enum clew_status chat_profile_told(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_id,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Earlier chats of the user that `profile` may continue: the most recent and
 * those that share its rarest words; at most CHAT_PROFILE_CANDIDATES.
 */
#define CHAT_PROFILE_CANDIDATES 24
enum clew_status
chat_profile_candidates(struct store_tx *tx, struct arena *arena,
                        const struct chat_profile *profile,
                        struct chat_profile **out, size_t *out_count,
                        struct clew_error *err) CLEW_MUST_CHECK;

#endif
