/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_decide.h - which of the open chains a turn belongs to, or none.
 *
 * The rule of chain_score.h applied to all of them; no store, no ids.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CHAIN_DECIDE_H
#define ENGINE_CHAIN_DECIDE_H

#include "engine/topic/chain_score.h"

/* Index of a chain that is not there. */
#define CHAIN_NONE SIZE_MAX

struct chain_input {
    const struct chain_features *turn;
    const struct chain_talk *talk;
    /* open chains, the one used last (the current) first */
    const struct chain_state *const *chains;
    size_t n_chains;                   /* <= CHAIN_MAX_OPEN */
    const struct chain_vector *vector; /* NULL: without the embedder */
    const struct chain_weights *weights;
};

struct chain_decision {
    size_t nearest; /* CHAIN_NONE if no chain is open */
    size_t second;  /* the next nearest, or CHAIN_NONE */
    double distance[CHAIN_MAX_OPEN];
    float points[CHAIN_MAX_OPEN];
    float points_new;
};

void chain_decide(const struct chain_input *input, struct chain_decision *out);
/* Find the nearest two of `count` chains by their points. */
void chain_rank(struct chain_decision *decision, size_t count);

#endif
