/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_ask.h - a question's vector, turned towards what answers it.
 *
 * A question and the turn that answers it say different things, so that their
 * vectors lie further apart than those of two questions. A small matrix,
 * learnt for one embedder, moves a question's vector; what is stored stays as
 * it is. docs/formats/ask.md describes the file, models/ask.md how it is made.
 * Sums of products are whole numbers, and no product is fused into a sum: every
 * processor gives the same bits.
 * Thread-safety: immutable once made.
 */
#ifndef MODEL_EMBED_ASK_H
#define MODEL_EMBED_ASK_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

/* Axes of a matrix: more, and a sum could leave 32 bits. */
#define EMBED_ASK_MAX_DIM 512

struct embedder;

/* Borrows the bytes of its file. */
struct embed_ask {
    size_t dim;
    const float *scales;   /* one a row */
    const int8_t *weights; /* dim rows of dim: what is added to the vector */
};

/*
 * Find the matrix in the bytes of a file, which are borrowed and must lie at a
 * multiple of 4. CLEW_CORRUPT for a file that is none, is broken, or was made
 * for another model than `embedder`.
 */
enum clew_status embed_ask_read(struct str file,
                                const struct embedder *embedder,
                                struct embed_ask *out,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* out = vector + weights * vector, of length 1; `vector` has at most length 1.
 * They may not overlap. A vector of zeros stays one. */
void embed_ask_turn(const struct embed_ask *ask, const float *vector,
                    float *out);
/*
 * The matrix in the binary for the shipped model: NULL if it is absent or
 * broken, and then `*out_trouble` (may be NULL) says why, for the one who logs.
 */
const struct embed_ask *embed_ask_shipped(const char **out_trouble);

#endif
