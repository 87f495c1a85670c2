/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_score.h - how near a turn is to each chain.
 *
 * Every choice (stay, go back to another open chain, start a new one) gets
 * points: a sum of signals times the weights of the tables below. The points
 * are mapped onto the seed's score: score = .45 + .1 (z_chain - z_new), and
 * distance = 1 - score, so that `continue` = .55 means "more points than a new
 * chain", and `branch` = .75 "at most two points less". docs/quality/chains.md
 * says where the weights come from.
 *
 * The seed's own formula is here too, for those who configure it.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CHAIN_SCORE_H
#define ENGINE_CHAIN_SCORE_H

#include "base/str.h"
#include "engine/topic/chain_state.h"
#include "talk/chain_features.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Signals and weights of the chain the talk is in: without vectors, with. */
#define CHAIN_CURRENT_SIGNALS(X)                                               \
    X(BASE, 0.125f, 0.25f)                                                     \
    X(WORDS, 1.625f, 1.0f)        /* rarity shared with any of its turns */    \
    X(WORDS_LAST, 2.125f, 1.125f) /* with its last two turns */                \
    X(NAMES, 0.5f, 0.5f)                                                       \
    X(FIGURES, 0.375f, 0.25f) /* numbers, dates, amounts */                    \
    X(NOUNS, 0.625f, 0.375f)                                                   \
    X(TOPS, 0.625f, 0.25f)     /* with its three heaviest words */             \
    X(ANSWERS, 0.25f, 0.25f)   /* supplies what its last turn asked for */     \
    X(ASKED, 0.625f, 0.5f)     /* its last turn is a question */               \
    X(REPLIES, 0.875f, 0.875f) /* ... and this turn is none */                 \
    X(EVADED, -0.5f,                                                           \
      -0.5f) /* its question asked for something this turn lacks */            \
    X(EVADED_SLOT, -1.125f, -1.0f) /* ... a time, day, number or place */      \
    X(REPLY_TURN, 0.125f, 0.125f)  /* the assistant speaks */                  \
    X(REPLY_SERVICE, 2.625f, 2.625f)                                           \
    X(REPLY_ASKED, 0.375f, 0.375f)                                             \
    X(PRONOUN, 0.375f, 0.25f)                                                  \
    X(PRONOUN_EARLY, 0.375f, 0.5f)                                             \
    X(WHAT_ABOUT, 1.0f, 0.875f)                                                \
    X(CONTINUES, 0.375f, 0.5f)                                                 \
    X(SHORT, 0.125f, 0.25f)                                                    \
    X(WORDLESS, 0.125f, 0.0f)                                                  \
    X(CLOSES, 0.875f, 1.0f)                                                    \
    X(AFTER_CLOSE, -0.75f, -0.75f)                                             \
    X(SINGLE, 0.875f, 1.0f) /* it has one turn */                              \
    X(LENGTH, -0.375f, -0.375f)                                                \
    X(REACTS, 0.25f, 0.125f) /* "great", "I see" */                            \
    X(REACTS_SERVICE, 0.375f, 0.5f)                                            \
    X(DEFINITE, 0.875f, 0.75f)   /* "the ..." is a noun of it */               \
    X(BRIDGES, 0.125f, 0.125f)   /* "the ..." of something not named */        \
    X(VECTOR_RICH, 0.0f, 0.875f) /* struct chain_near */                       \
    X(VECTOR_ROLE, 0.0f, 1.125f)                                               \
    X(VECTOR_LAST, 0.0f, 2.125f)                                               \
    X(VECTOR_SUM, 0.0f, 1.125f)

/* Of another open chain. */
#define CHAIN_OTHER_SIGNALS(X)                                                 \
    X(BASE, -0.375f, -0.5f)                                                    \
    X(WORDS, 1.375f, 0.75f)                                                    \
    X(WORDS_LAST, 1.625f, 0.875f)                                              \
    X(NAMES, 1.0f, 0.875f)                                                     \
    X(FIGURES, 0.375f, 0.375f)                                                 \
    X(TOPS, 0.75f, 0.125f)                                                     \
    X(ANSWERS, 0.375f, 0.375f)                                                 \
    X(SLOT, 0.75f, 0.625f)                                                     \
    X(SLOTS, 0.875f, 0.75f) /* how many kinds of answer fit */                 \
    X(ASKED, 0.25f, 0.25f)                                                     \
    X(REPLIES, 0.875f, 0.875f)                                                 \
    X(EVADED_SLOT, -0.5f, -0.5f)                                               \
    X(EVADED_CURRENT, 0.75f,                                                   \
      0.875f) /* the current chain's question is left open */                  \
    X(PRONOUN, 0.375f, 0.375f)                                                 \
    X(PRONOUN_EARLY, 0.25f, 0.375f)                                            \
    X(CONTINUES, 0.25f, 0.375f)                                                \
    X(SHORT, 0.375f, 0.375f)                                                   \
    X(REPLY_TURN, -3.0f, -2.75f)                                               \
    X(CLOSED, -0.625f, -0.75f) /* it ended in thanks or an offer */            \
    X(DEFINITE, 1.0f,                                                          \
      0.625f) /* "the ..." is a noun of it and not of the current */           \
    X(NEAREST, 0.0f, 0.625f) /* of all, by vector */                           \
    X(RETURNS, 0.5f, 0.5f)   /* "back to", "as for" */                         \
    X(RANK, -0.125f,                                                           \
      -0.25f) /* chains used more recently, current not counted */             \
    X(LENGTH, -1.5f, -1.625f)                                                  \
    X(BRIDGES, -0.25f, -0.25f)                                                 \
    X(VECTOR_RICH, 0.0f, 1.625f)                                               \
    X(VECTOR_LAST, 0.0f, 1.5f)                                                 \
    X(VECTOR_SUM, 0.0f, 0.625f)

/* Of a new chain. */
#define CHAIN_NEW_SIGNALS(X)                                                   \
    X(BASE, -0.5f, -0.5f)                                                      \
    X(PEER, 0.0f, 0.5f)                                                        \
    X(GREETS, 1.75f, 1.875f)                                                   \
    X(REQUESTS_SERVICE, 1.125f, 1.125f)                                        \
    X(OPENS, 0.75f, 0.875f)                                                    \
    X(ASKS, 0.5f, 0.5f)                                                        \
    X(ASKS_SERVICE, -1.125f, -1.0f)                                            \
    X(YOU_PEER, 0.75f, 1.0f) /* a question with "you" between people */        \
    X(PERSONAL_PEER, 0.875f, 1.0f)                                             \
    X(FRESH, 0.375f, 0.375f) /* a noun new to the current chain, after "a" */  \
    X(MASS, 0.75f, 0.75f)                                                      \
    X(KEYWORDS, 0.75f, 0.75f)                                                  \
    X(CHAINS, -1.25f, -1.375f)   /* chains there are already */                \
    X(ANSWERS, -0.375f, -0.375f) /* answers a question of some chain */        \
    X(AFTER_CLOSE, 0.25f, 0.25f)                                               \
    X(NEAREST, 0.0f, 0.25f) /* how near that is */                             \
    X(SWITCHES, 3.0f, 3.0f) /* says itself that the topic changes */

#define CHAIN_SIGNAL_(prefix, name) CHAIN_##prefix##_##name,
#define CHAIN_CURRENT_(name, weight, with) CHAIN_SIGNAL_(CURRENT, name)
#define CHAIN_OTHER_(name, weight, with) CHAIN_SIGNAL_(OTHER, name)
#define CHAIN_NEW_(name, weight, with) CHAIN_SIGNAL_(NEW, name)
enum { CHAIN_CURRENT_SIGNALS(CHAIN_CURRENT_) CHAIN_N_CURRENT };
enum { CHAIN_OTHER_SIGNALS(CHAIN_OTHER_) CHAIN_N_OTHER };
enum { CHAIN_NEW_SIGNALS(CHAIN_NEW_) CHAIN_N_NEW };

struct chain_weights {
    float current[CHAIN_N_CURRENT];
    float other[CHAIN_N_OTHER];
    float fresh[CHAIN_N_NEW];
};
/* The shipped weights, for turns with the embedder's vectors or without. */
const struct chain_weights *chain_weights(bool has_vectors);

/* Chains that can be open in one session. */
#define CHAIN_MAX_OPEN 10

/* What of a turn an open chain has, as bits over the turn's words and names. */
struct chain_match {
    uint16_t words; /* in any of its turns */
    uint16_t last;  /* in its last two */
    uint16_t tops;  /* among its heaviest */
    uint16_t names;
    uint8_t fresh; /* of the nouns brought in as new */
    uint8_t definite;
};

/* Cosines of a turn's vector with those of an open chain, about 0 for turns
 * that have nothing to do with each other; 0 without vectors. */
struct chain_near {
    float last; /* with its last turn */
    float role; /* with the last turn of the same speaker */
    float sum;  /* with all its turns, fading */
    float rich; /* the same, as far as the turn says something */
};

/* A turn and the chains it may belong to. */
struct chain_question {
    const struct chain_features *turn;
    const struct chain_talk *talk;
    /* open chains, the one used last (the current) first */
    const struct chain_state *const *chains;
    size_t n_chains;                   /* <= CHAIN_MAX_OPEN */
    const struct chain_vector *vector; /* NULL: without the embedder */
    struct chain_match
        matches[CHAIN_MAX_OPEN]; /* chain_match() fills the rest */
    struct chain_near near[CHAIN_MAX_OPEN];
    size_t nearest; /* of them, by all turns */
    bool is_answer; /* of what any open chain asked last */
    bool is_bridge; /* "the ...", and no open chain has it: part of something */
};

/* Hold the turn against the open chains, before any signals. */
void chain_match(struct chain_question *question);

/* The signals of the current chain (0), of another, of a new one. */
void chain_signals_current(const struct chain_question *question,
                           float out[CHAIN_N_CURRENT]);
void chain_signals_other(const struct chain_question *question, size_t at,
                         float out[CHAIN_N_OTHER]);
void chain_signals_new(const struct chain_question *question,
                       float out[CHAIN_N_NEW]);

/* The points of an open chain, and of a new one. */
float chain_points(const struct chain_question *question, size_t at,
                   const struct chain_weights *weights);
float chain_points_new(const struct chain_question *question,
                       const struct chain_weights *weights);

/* The seed's distance of points against those of a new chain. */
double chain_distance(float points, float points_new);

/* ... and back: the points a distance stands for, a new chain's being 0. */
float chain_points_of(double distance);

/*
 * Where there is a reader its word counts beside the points of words, as
 * log-odds up to CHAIN_READ_MOST: for the current chain that the talk goes on,
 * at CHAIN_READ_CURRENT; for a chain that rests that it is the turn's matter,
 * and CHAIN_READ_RESTING, for it is stricter than people are. Chosen on the
 * dev worlds, so that no other set falls (docs/quality/chains.md).
 */
#define CHAIN_READ_CURRENT 1.0
#define CHAIN_READ_YES 0.15
#define CHAIN_READ_RESTING 0.5
#define CHAIN_READ_MOST 4.0
/* So likely the talk goes on: nobody asks what else may be meant. */
#define CHAIN_READ_GOES_ON 0.7
/* Chains that rest the reader is asked about. */
#define CHAIN_READ_OTHERS 2
/* Points to add for the reader's word; `same` < 0: there is none. */
float chain_read_current(double same);
float chain_read_resting(double same);

/*
 * The distance to a chain that rests (dormant, or of an earlier session): what
 * they have in common alone counts, and a word that says "back to".
 */
double chain_resting_distance(const struct chain_features *turn,
                              const struct chain_state *state, int64_t age_ms);

/* The seed's formula as it is written there. */
struct chain_seed_input {
    size_t shared_names;
    struct str subject;
    struct str topic;
    double jaccard; /* of the keywords */
    int64_t age_ms;
};
double chain_seed_distance(const struct chain_seed_input *input);
/* What the formula needs to know of a turn and a chain. */
size_t chain_shared_names(const struct chain_features *turn,
                          const struct chain_state *state);
double chain_jaccard(const struct chain_features *turn,
                     const struct chain_state *state);
/* The same formula between two chains, for merging. */
double chain_pair_distance(const struct chain_state *a, struct str topic_a,
                           const struct chain_state *b, struct str topic_b,
                           int64_t age_ms);

#endif
