/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_kernels.h - the arithmetic of the static embedder, per processor.
 *
 * Every variant gives the same bits as "scalar": products of a small integer
 * and a float are rounded once, additions run in the order written here, no
 * variant fuses a product into a sum. Sixteen sums stand for the widest
 * register any variant has.
 * `dim` is a multiple of 16. Thread-safety: pure functions.
 */
#ifndef MODEL_STATIC_KERNELS_H
#define MODEL_STATIC_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define STATIC_LANES 16

struct static_kernels {
    const char *name;
    /* sum[i] += weight * row[i] */
    void (*add_row)(float *sum, const int8_t *row, float weight, size_t dim);
    /* Sixteen partial sums of a[i] * a[i], then halves onto halves. */
    float (*sum_squares)(const float *a, size_t dim);
};

/* The kernels of this processor; CLEW_CPU=scalar|neon|avx2 overrides. */
const struct static_kernels *static_kernels(void);
/* By name, or NULL if this processor or this build lacks them. */
const struct static_kernels *static_kernels_named(const char *name);

#endif
