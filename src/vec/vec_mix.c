/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec_mix.c - a turn that spreads each axis over all others.
 *
 * Trained vectors have a few axes with most of the variance; a sign bit spent
 * on one of the others says little. A Walsh-Hadamard transform after changing
 * the sign of about half the axes makes all axes alike, with additions only.
 * Where the dimension is no power of two it is done for the first and then for
 * the last of the largest power of two that fits: together they reach all.
 */
#include "vec/vec.h"

#include <math.h>

/* An even coin for each axis, always the same. */
static float side_of(size_t axis)
{
    uint64_t x = (axis + 1) * 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x >> 63 ? 1.0f : -1.0f;
}

static void transform(float *x, size_t n)
{
    float size = 1 / sqrtf((float)n); /* correctly rounded everywhere */

    for (size_t i = 0; i < n; i++) {
        x[i] *= side_of(i) * size;
    }
    for (size_t half = 1; half < n; half *= 2) {
        for (size_t i = 0; i < n; i += 2 * half) {
            for (size_t k = i; k < i + half; k++) {
                float a = x[k];
                float b = x[k + half];

                x[k] = a + b;
                x[k + half] = a - b;
            }
        }
    }
}

void vec_mix(float *vector, size_t dim)
{
    size_t n = 1;

    while (n * 2 <= dim) {
        n *= 2;
    }
    if (dim > 0) {
        transform(vector, n);
    }
    if (n < dim) {
        transform(vector + dim - n, n);
    }
}
