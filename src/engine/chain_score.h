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

/* Signals and weights of the chain the talk is in. */
#define CHAIN_CURRENT_SIGNALS(X)                                               \
    X(BASE, 0.0f)                                                              \
    X(WORDS, 3.75f)      /* rarity shared with any of its turns */             \
    X(WORDS_LAST, 5.25f) /* with its last two turns */                         \
    X(NAMES, 1.75f)                                                            \
    X(NOUNS, 1.0f)                                                             \
    X(TOPS, 2.5f)    /* with its three heaviest words */                       \
    X(ANSWERS, 1.5f) /* supplies what its last turn asked for */               \
    X(ASKED, 0.75f)  /* its last turn is a question */                         \
    X(ASKED_SERVICE, 0.0f)                                                     \
    X(REPLIES, 1.0f)     /* ... and this turn is none */                       \
    X(REPLY_TURN, 0.25f) /* the assistant speaks */                            \
    X(REPLY_SERVICE, 3.5f)                                                     \
    X(REPLY_ASKED, 0.5f)                                                       \
    X(PRONOUN, -0.25f)                                                         \
    X(PRONOUN_EARLY, 1.5f)                                                     \
    X(WHAT_ABOUT, 0.75f)                                                       \
    X(CONTINUES, 0.5f)                                                         \
    X(WORDLESS, 0.25f)                                                         \
    X(CLOSES, 4.25f)                                                           \
    X(AFTER_CLOSE, -0.5f)                                                      \
    X(SINGLE, 2.5f) /* it has one turn */                                      \
    X(LENGTH, -0.75f)                                                          \
    X(EVADED, -0.75f) /* its question asked for something this turn lacks */

/* Of another open chain. */
#define CHAIN_OTHER_SIGNALS(X)                                                 \
    X(BASE, -0.75f)                                                            \
    X(WORDS_LAST, 3.25f)                                                       \
    X(NAMES, 1.75f)                                                            \
    X(TOPS, 2.0f)                                                              \
    X(ANSWERS, 0.0f)                                                           \
    X(REPLIES, 1.5f)                                                           \
    X(PRONOUN, 0.5f)                                                           \
    X(PRONOUN_EARLY, -0.25f)                                                   \
    X(CONTINUES, 1.25f)                                                        \
    X(REPLY_TURN, -1.25f)                                                      \
    X(RANK, -0.5f) /* chains used more recently, current not counted */        \
    X(WORDS, 0.0f)                                                             \
    X(DEFINITE, 2.0f)  /* "the ..." is a noun of it and not of the current */  \
    X(EXCLUSIVE, 0.0f) /* rarity shared with it and not with the current */    \
    X(ANSWERS_ONLY, 0.25f) /* answers it, and not the current */               \
    X(ASKED, 0.5f)                                                             \
    X(CLOSED, -1.25f) /* it ended in thanks or an offer */                     \
    X(RETURNS, 0.5f)  /* "back to", "as for" */

/* Of a new chain. */
#define CHAIN_NEW_SIGNALS(X)                                                   \
    X(BASE, -0.25f)                                                            \
    X(GREETS, 2.75f)                                                           \
    X(REQUESTS, 0.75f)                                                         \
    X(REQUESTS_SERVICE, 1.0f)                                                  \
    X(OPENS, 1.0f)                                                             \
    X(ASKS, 0.75f)                                                             \
    X(ASKS_SERVICE, -1.5f)                                                     \
    X(YOU_PEER, 1.25f) /* a question with "you" between people */              \
    X(PERSONAL_PEER, 0.25f)                                                    \
    X(FRESH, 0.5f) /* a noun new to the current chain, after "a" */            \
    X(MASS, 1.0f)                                                              \
    X(KEYWORDS, 0.25f)                                                         \
    X(CHAINS, -1.25f)  /* chains there are already */                          \
    X(DEPENDENT, 0.0f) /* points back, brings in nothing new */                \
    X(ANSWERS, 0.0f)   /* answers a question of some chain */                  \
    X(AFTER_CLOSE, 0.25f)                                                      \
    X(SWITCHES, 3.0f) /* says itself that the topic changes */

#define CHAIN_SIGNAL_(prefix, name) CHAIN_##prefix##_##name,
#define CHAIN_CURRENT_(name, weight) CHAIN_SIGNAL_(CURRENT, name)
#define CHAIN_OTHER_(name, weight) CHAIN_SIGNAL_(OTHER, name)
#define CHAIN_NEW_(name, weight) CHAIN_SIGNAL_(NEW, name)
enum { CHAIN_CURRENT_SIGNALS(CHAIN_CURRENT_) CHAIN_N_CURRENT };
enum { CHAIN_OTHER_SIGNALS(CHAIN_OTHER_) CHAIN_N_OTHER };
enum { CHAIN_NEW_SIGNALS(CHAIN_NEW_) CHAIN_N_NEW };

struct chain_weights {
    float current[CHAIN_N_CURRENT];
    float other[CHAIN_N_OTHER];
    float fresh[CHAIN_N_NEW];
    float vector_current[2]; /* cosine with the last turn, with the sum */
    float vector_other[2];
};
extern const struct chain_weights chain_weights;

/* One choice. */
struct chain_view {
    const struct chain_state *state;
    size_t rank; /* chains used more recently, current not counted */
};

struct chain_question {
    const struct chain_features *turn;
    const struct chain_talk *talk;
    const struct chain_view *current; /* NULL if there is none */
    bool is_answer;                   /* of what any open chain asked last */
    size_t n_chains;                  /* open ones */
    const float *vector;              /* NULL: without the embedder */
    size_t dim;
};

/* Does the turn supply what the chain's last turn asked for? */
bool chain_is_answer(const struct chain_features *turn,
                     const struct chain_state *state);

/* The signals, for points and for explanations. */
void chain_signals_current(const struct chain_question *question,
                           float out[CHAIN_N_CURRENT]);
void chain_signals_other(const struct chain_question *question,
                         const struct chain_view *view,
                         float out[CHAIN_N_OTHER]);
void chain_signals_new(const struct chain_question *question,
                       float out[CHAIN_N_NEW]);

/* The points of each choice. */
float chain_points_current(const struct chain_question *question,
                           const struct chain_weights *weights);
float chain_points_other(const struct chain_question *question,
                         const struct chain_view *view,
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
