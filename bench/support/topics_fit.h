/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics_fit.h - weights for the chain rules from talks with known topics.
 *
 * Conditional logit over {stay, go back, new}, on the states of the true topics
 * and on those of the rules' own decisions, with a pull to zero; then the bases
 * by the figures themselves. A signal can be left out by name, and a fold of
 * the talks.
 * Thread-safety: none.
 */
#ifndef BENCH_SUPPORT_TOPICS_FIT_H
#define BENCH_SUPPORT_TOPICS_FIT_H

#include "support/topics.h"

#define TOPICS_N_WEIGHTS (CHAIN_N_CURRENT + CHAIN_N_OTHER + CHAIN_N_NEW)

struct topic_fit {
    double pull;
    size_t fold, n_folds; /* talks of this fold are left out; n_folds 1: none */
    bool is_left_out[TOPICS_N_WEIGHTS];
};

/* Leave out the signals named GROUP:NAME ("other:RANK"); false if unknown. */
bool topic_fit_leave_out(struct topic_fit *fit, const char *name);
/* The talks of the fold: [*first, *end). */
void topic_fit_fold(const struct topic_fit *fit, const struct topic_set *set,
                    size_t *first, size_t *end);
/* rules->use_embedding says whether vectors count; the weights are written. */
void topics_fit(const struct topic_fit *fit, const struct topic_sets *sets,
                struct topic_rules *rules);
/* Only the bases, by the figures, from the weights there are. */
void topics_tune(const struct topic_fit *fit, const struct topic_sets *sets,
                 struct topic_rules *rules);
/* How surprising the right choices of talks [first, end) are; adds their count.
 */
double topics_loss(const struct topic_talks *talks, size_t first, size_t end,
                   const struct topic_rules *rules, double *out_n);
/* F1 - Pk + ARI of the sets by their weights. */
double topics_sum(const struct topic_sets *sets,
                  const struct topic_figures *figures, bool with_checks);
void topics_print_weights(const struct chain_weights *weights);
/* To multiples of an eighth. */
void topics_round_weights(struct chain_weights *weights);

#endif
