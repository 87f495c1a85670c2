/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bert_kernels.h - the arithmetic of a transformer encoder, per processor.
 *
 * Matrices are row major floats. A weight matrix is packed once into panels of
 * BERT_PANEL outputs, so that one product reads it straight through; the
 * inputs of a product need rows up to a multiple of BERT_ROWS, whatever they
 * hold. Variants differ in the last bits only.
 * Thread-safety: pure functions.
 */
#ifndef MODEL_BERT_KERNELS_H
#define MODEL_BERT_KERNELS_H

#include <stddef.h>

#define BERT_PANEL 16
#define BERT_ROWS 5

struct bert_kernels {
    const char *name;
    /* out[rows][n_out] = in[rows][n_in] * weights + bias; n_out is a multiple
     * of BERT_PANEL. */
    void (*product)(const float *in, size_t rows, size_t n_in,
                    const float *panels, const float *bias, size_t n_out,
                    float *out);
    /* x = normalise(x + add) * weight + bias, row by row; add may be NULL. */
    void (*add_norm)(float *x, const float *add, size_t rows, size_t dim,
                     const float *weight, const float *bias, float epsilon);
    /* x[i] = x[i] * Phi(x[i]) */
    void (*gelu)(float *x, size_t count);
    /*
     * One head over one text: softmax(q k' * scale) v. `qkv` has rows of
     * 3 * dim floats, this head's `width` of each at `at`; `out` has rows of
     * dim. `scratch` holds (width + 1) * (rows rounded up to 16) floats.
     */
    void (*attend)(const float *qkv, size_t rows, size_t dim, size_t at,
                   size_t width, float scale, float *out, float *scratch);
};

/* The kernels of this processor; CLEW_CPU=scalar overrides. */
const struct bert_kernels *bert_kernels(void);

/* Lay out rows [from, from + n_out) of weights [n_out][n_in] in panels. */
void bert_pack(const float *weights, size_t n_out, size_t n_in, float *panels);

#endif
