/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_score.h - does a new chat continue an earlier one? The algorithm.
 *
 * Score = keyword x K + entity x E + topic x T + recency x R, as the four
 * signals of the specification, each in [0, 1]. A continuation says less than
 * what it continues, so plain overlap cannot tell: instead each earlier chat
 * and "none of them" get points, a softmax makes beliefs of them, and what is
 * believed to be continued lends its keywords, entities and topic to that
 * degree: more where its own words, names or topic speak for it, less where
 * they do not, so that by the default weights the three sum up to the belief.
 * Recency decays to one half and never excludes. Chats that are joined already
 * count as one matter: what recurs does not become common by recurring.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CHATLINK_SCORE_H
#define ENGINE_CHATLINK_SCORE_H

#include "engine/chatlink/chat_profile.h"

#include <stdbool.h>
#include <stddef.h>

struct chatlink_weights {
    double keyword;
    double entity;
    double topic;
    double recency;
};
extern const struct chatlink_weights chatlink_default_weights;

/* What speaks for a candidate, before weighing; shown in traces. */
enum chatlink_feature {
    CHATLINK_F_KEYWORDS,
    CHATLINK_F_NOUNS,
    CHATLINK_F_TOPIC, /* the candidate's three main words */
    CHATLINK_F_NEAR,  /* the first turn with its last two */
    CHATLINK_F_FIGURES,
    CHATLINK_F_DEFINITE,
    CHATLINK_F_ANSWERS, /* the first turn answers its last */
    CHATLINK_F_TWO_QUESTIONS,
    CHATLINK_F_DEPENDENT,
    CHATLINK_F_REFERRED, /* an earlier talk is named, as near as this is */
    CHATLINK_F_VECTOR,   /* of all turns, less the embedder's centre */
    CHATLINK_F_LAST_VECTOR,
    CHATLINK_FEATURES
};

/* … and what speaks for none of them. */
enum chatlink_none_feature {
    CHATLINK_N_FRESH,
    CHATLINK_N_GREETS,
    CHATLINK_N_OPENS,
    CHATLINK_N_INDEFINITE,
    CHATLINK_N_MASS,
    CHATLINK_N_TURNS,
    CHATLINK_NONE_FEATURES
};

struct chatlink_candidate {
    const struct chat_profile *profile;
    double features[CHATLINK_FEATURES];
    double points;
    double belief;
    double believed;    /* … of all chats it is joined with; 0: of none */
    double evidence[3]; /* words, names, topic shared, by themselves */
    double signals[4];  /* keyword, entity, topic, recency */
    double score;
};

struct chatlink_scores {
    struct chatlink_candidate *items; /* best first */
    size_t count;
    double none[CHATLINK_NONE_FEATURES];
    double none_points;
    double none_belief;
    size_t n_group; /* how many of the first belong together, at least 1 */
};

/*
 * Score `chat` against earlier chats of its user, as of its last turn.
 * CLEW_NO_MEMORY is the only failure.
 */
enum clew_status chatlink_score(struct arena *arena,
                                const struct chat_profile *chat,
                                const struct chat_profile *earlier,
                                size_t n_earlier,
                                const struct chatlink_weights *weights,
                                struct chatlink_scores *out) CLEW_MUST_CHECK;

/* --- the decision of both paths --- */

enum chatlink_confidence { CHATLINK_HIGH, CHATLINK_UNCERTAIN };

struct chatlink_verdict {
    bool is_link;
    bool is_agreed; /* meaningless without an LLM */
    enum chatlink_confidence confidence;
};

/* An LLM's word; `is_there` false if it is absent, late or broken. */
struct chatlink_opinion {
    bool is_there;
    bool is_related;
    double confidence;
};

/*
 * Both yes or both no: that, HIGH. They differ: UNCERTAIN, the larger of
 * score and confidence wins (`llm_weight` times the latter; 1 by default).
 * Without an opinion the score decides alone; it is sure of itself away from
 * the threshold.
 */
struct chatlink_verdict chatlink_decide(double score, double threshold,
                                        const struct chatlink_opinion *opinion,
                                        double llm_weight);
/* The opinion as a probability of relatedness: no at 0.65 is 0.35. */
double chatlink_probability(const struct chatlink_opinion *opinion);

#endif
