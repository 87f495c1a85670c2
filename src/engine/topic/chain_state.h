/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_state.h - what a chain remembers of its turns, in bounded space.
 *
 * Enough to tell whether a turn belongs to it without reading the turns again:
 * its telling words with counts, the words of its last two turns, its names,
 * and what its last turn asked. A talk remembers how people speak in it.
 * Both are packed into some hundred bytes for the store.
 * Thread-safety: none; plain structs.
 */
#ifndef ENGINE_CHAIN_STATE_H
#define ENGINE_CHAIN_STATE_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/read/chain_vector.h"
#include "talk/chain_features.h"

#include <stdbool.h>
#include <stdint.h>

#define CHAIN_WORDS 64
#define CHAIN_NAMES 32
#define CHAIN_TOPS 3

struct chain_count {
    uint32_t hash;
    float weight; /* idf of a word, weight of a name */
    uint16_t count;
    bool is_noun;
};

/* Steps of `topic_weight`; kept in half a byte. */
#define CHAIN_NAME_STEPS 16

struct chain_state {
    uint32_t n_turns;
    uint32_t last_cues; /* of its last turn, enum chain_cue */
    uint8_t last_asks;  /* enum chain_slot */
    bool is_last_user;
    uint32_t last[2][CHAIN_TURN_WORDS]; /* words of the last two turns */
    uint8_t n_last[2];
    struct chain_count words[CHAIN_WORDS];
    uint8_t n_words;
    struct chain_count names[CHAIN_NAMES];
    uint8_t n_names;
    uint32_t tops[CHAIN_TOPS]; /* its heaviest words */
    uint8_t n_tops;
    uint32_t topic[CHAIN_TOPIC_WORDS]; /* words of the topic shown */
    uint8_t n_topic;
    uint8_t topic_weight; /* how sure it names the matter, see chain_name.h */
    bool has_vectors;
    bool is_vector_user;         /* the last turn with a vector is the user's */
    struct chain_vector said[2]; /* last of the assistant, last of the user */
    struct chain_vector sum;     /* of all turns, fading */
};

/* How people talk in a session: to a service, or to each other. */
struct chain_talk {
    float peer_sum;
    float peer_n;
    uint32_t last_cues; /* of the turn before, in any chain */
    bool is_last_user;
};

void chain_state_init(struct chain_state *state);
/* The chain got this turn. `vector` may be NULL. */
void chain_state_add(struct chain_state *state,
                     const struct chain_features *turn,
                     const struct chain_vector *vector);
/* `from` flows into `to`, which keeps its own last turns. */
void chain_state_merge(struct chain_state *to, const struct chain_state *from);
/* Find its heaviest words by count and rarity. */
void chain_state_rank(struct chain_state *state);
/* How much of the chain a phrase of these words stands for. */
float chain_state_central(const struct chain_state *state,
                          const uint32_t *words, size_t count);
/* Weight of a word of the chain, 0 if it has none such. */
const struct chain_count *chain_state_word(const struct chain_state *state,
                                           uint32_t hash);
const struct chain_count *chain_state_name(const struct chain_state *state,
                                           uint32_t hash);

void chain_talk_init(struct chain_talk *talk);
/* The talk got this turn. */
void chain_talk_add(struct chain_talk *talk, const struct chain_features *turn);
/* 0: somebody uses a service; 1: two people talk. */
float chain_talk_peer(const struct chain_talk *talk);

/* To bytes and back; false if the bytes are not such a state. */
enum clew_status chain_state_write(const struct chain_state *state,
                                   struct buf *out) CLEW_MUST_CHECK;
bool chain_state_read(struct str bytes, struct chain_state *out);
enum clew_status chain_talk_write(const struct chain_talk *talk,
                                  struct buf *out) CLEW_MUST_CHECK;
bool chain_talk_read(struct str bytes, struct chain_talk *out);

#endif
