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
#include "engine/chain_features.h"
#include "engine/chain_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Signals and weights of the chain the talk is in: without vectors, with. */
#define CHAIN_CURRENT_SIGNALS(X)                                               \
    X(BASE, 0.0f, 0.5f)                                                        \
    X(WORDS, 2.875f, 1.5f)       /* rarity shared with any of its turns */     \
    X(WORDS_LAST, 3.625f, 1.25f) /* with its last two turns */                 \
    X(NAMES, 1.25f, 0.875f)                                                    \
    X(FIGURES, 0.25f, 0.375f) /* numbers, dates, amounts */                    \
    X(NOUNS, 0.875f, 0.5f)                                                     \
    X(TOPS, 1.5f, 0.25f)     /* with its three heaviest words */               \
    X(ANSWERS, 1.0f, 0.5f)   /* supplies what its last turn asked for */       \
    X(ASKED, 0.5f, 0.125f)   /* its last turn is a question */                 \
    X(REPLIES, 1.0f, 1.125f) /* ... and this turn is none */                   \
    X(EVADED, -0.5f,                                                           \
      -0.25f) /* its question asked for something this turn lacks */           \
    X(EVADED_SLOT, -0.25f, -0.375f) /* ... a time, day, number or place */     \
    X(REPLY_TURN, 0.125f, 0.0f)     /* the assistant speaks */                 \
    X(REPLY_SERVICE, 3.25f, 3.125f)                                            \
    X(REPLY_ASKED, 0.625f, 0.75f)                                              \
    X(PRONOUN, 0.25f, 0.375f)                                                  \
    X(PRONOUN_EARLY, 0.75f, 0.25f)                                             \
    X(WHAT_ABOUT, 1.125f, 1.375f)                                              \
    X(CONTINUES, 0.5f, 0.625f)                                                 \
    X(SHORT, 0.125f, 0.625f)                                                   \
    X(WORDLESS, 0.25f, 0.25f)                                                  \
    X(CLOSES, 2.75f, 1.25f)                                                    \
    X(AFTER_CLOSE, -0.5f, -0.75f)                                              \
    X(SINGLE, 1.25f, 0.0f) /* it has one turn */                               \
    X(LENGTH, -0.25f, -0.125f)                                                 \
    X(RUN, -0.5f, -0.875f)      /* turns since the talk came to it */          \
    X(RUN_SHORT, 0.125f, 0.25f) /* ... at most one */                          \
    X(VECTOR_LAST, 0.0f, 1.625f)                                               \
    X(VECTOR_SUM, 0.0f, 3.5f)

/* Of another open chain. */
#define CHAIN_OTHER_SIGNALS(X)                                                 \
    X(BASE, -0.75f, -0.5f)                                                     \
    X(WORDS, 1.0f, 1.375f)                                                     \
    X(WORDS_LAST, 2.0f, 0.125f)                                                \
    X(NAMES, 1.5f, 1.125f)                                                     \
    X(FIGURES, 0.375f, 0.625f)                                                 \
    X(TOPS, 1.5f, 0.5f)                                                        \
    X(ANSWERS, 0.125f, 0.25f)                                                  \
    X(SLOT, 0.5f, 0.875f)                                                      \
    X(SLOTS, 0.75f, 1.375f) /* how many kinds of answer fit */                 \
    X(ASKED, 0.25f, 0.0f)                                                      \
    X(REPLIES, 1.5f, 1.375f)                                                   \
    X(EVADED_SLOT, -0.25f, -0.5f)                                              \
    X(EVADED_CURRENT, 0.5f,                                                    \
      1.0f) /* the current chain's question is left open */                    \
    X(PRONOUN, 0.75f, 0.625f)                                                  \
    X(PRONOUN_EARLY, -0.25f, 0.0f)                                             \
    X(CONTINUES, 1.0f, 0.625f)                                                 \
    X(SHORT, 0.25f, 0.75f)                                                     \
    X(REPLY_TURN, -2.5f, -3.75f)                                               \
    X(CLOSED, -1.125f, -1.0f) /* it ended in thanks or an offer */             \
    X(DEFINITE, 1.5f,                                                          \
      0.75f) /* "the ..." is a noun of it and not of the current */            \
    X(RETURNS, 0.5f, 0.5f) /* "back to", "as for" */                           \
    X(RANK, -0.5f,                                                             \
      -0.375f) /* chains used more recently, current not counted */            \
    X(LENGTH, -0.25f, -0.75f)                                                  \
    X(RUN_SHORT, -0.75f, -1.625f) /* the talk has only just changed */         \
    X(VECTOR_LAST, 0.0f, 1.875f)                                               \
    X(VECTOR_SUM, 0.0f, 3.625f)

/* Of a new chain. */
#define CHAIN_NEW_SIGNALS(X)                                                   \
    X(BASE, -0.375f, 0.375f)                                                   \
    X(PEER, 0.125f, 0.25f)                                                     \
    X(GREETS, 2.25f, 2.0f)                                                     \
    X(REQUESTS, 0.125f, -0.5f)                                                 \
    X(REQUESTS_SERVICE, 1.25f, 1.5f)                                           \
    X(OPENS, 0.875f, 0.75f)                                                    \
    X(ASKS, 0.5f, 0.125f)                                                      \
    X(ASKS_SERVICE, -1.25f, -1.0f)                                             \
    X(YOU_PEER, 1.0f, 1.0f) /* a question with "you" between people */         \
    X(PERSONAL_PEER, 0.625f, 1.125f)                                           \
    X(FRESH, 0.375f, 0.25f) /* a noun new to the current chain, after "a" */   \
    X(MASS, 0.625f, 0.5f)                                                      \
    X(KEYWORDS, 0.625f, 1.0f)                                                  \
    X(CHAINS, -1.5f, -1.625f)   /* chains there are already */                 \
    X(ANSWERS, -0.25f, -0.375f) /* answers a question of some chain */         \
    X(AFTER_CLOSE, 0.25f, 0.25f)                                               \
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

/* A turn and the chains it may belong to. */
struct chain_question {
    const struct chain_features *turn;
    const struct chain_talk *talk;
    /* open chains, the one used last (the current) first */
    const struct chain_state *const *chains;
    size_t n_chains;     /* <= CHAIN_MAX_OPEN */
    const float *vector; /* NULL: without the embedder */
    size_t dim;
    struct chain_match
        matches[CHAIN_MAX_OPEN]; /* chain_match() fills the rest */
    bool is_answer;              /* of what any open chain asked last */
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
