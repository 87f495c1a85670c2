/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_decide.c - points for every open chain. See chain_decide.h.
 */
#include "engine/topic/chain_decide.h"

#include <string.h>

void chain_rank(struct chain_decision *out, size_t count)
{
    out->nearest = CHAIN_NONE;
    out->second = CHAIN_NONE;
    for (size_t i = 0; i < count; i++) {
        if (out->nearest == CHAIN_NONE ||
            out->points[i] > out->points[out->nearest]) {
            out->second = out->nearest;
            out->nearest = i;
        } else if (out->second == CHAIN_NONE ||
                   out->points[i] > out->points[out->second]) {
            out->second = i;
        }
    }
}

void chain_decide(const struct chain_input *input, struct chain_decision *out)
{
    struct chain_question question = {.turn = input->turn,
                                      .talk = input->talk,
                                      .chains = input->chains,
                                      .n_chains = input->n_chains,
                                      .vector = input->vector};

    memset(out, 0, sizeof(*out));
    chain_match(&question);
    out->points_new = chain_points_new(&question, input->weights);
    for (size_t i = 0; i < input->n_chains; i++) {
        out->points[i] = chain_points(&question, i, input->weights);
        out->distance[i] = chain_distance(out->points[i], out->points_new);
    }
    chain_rank(out, input->n_chains);
}
