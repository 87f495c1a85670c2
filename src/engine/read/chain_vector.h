/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_vector.h - the embedder's vector of a turn as chains keep it.
 *
 * Always of the shipped model, whatever embedder recall uses: the weights in
 * chain_score.h are for its cosines, and the same turn gives the same bytes in
 * every replay. Less the model's centre, which makes any two texts look alike;
 * a byte an axis.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CHAIN_VECTOR_H
#define ENGINE_CHAIN_VECTOR_H

#include <stdint.h>

/* Axes, and so bytes. */
#define CHAIN_VECTOR 256

struct chain_vector {
    int8_t parts[CHAIN_VECTOR];
};

/* From CHAIN_VECTOR floats and the model's centre in 1/10000 (may be NULL). */
void chain_vector_pack(const float *vector, const int16_t *centre,
                       struct chain_vector *out);
/* `sum` stands for all turns of a chain but this; earlier ones fade. */
void chain_vector_fade(struct chain_vector *sum,
                       const struct chain_vector *turn);
/* 0 if either has no length. */
float chain_vector_cosine(const struct chain_vector *a,
                          const struct chain_vector *b);

#endif
