/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.c - choose the kernels once; quantise vectors and queries.
 */
#include "vec/vec.h"

#include "vec/vec_internal.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef const struct vec_ops *(*ops_fn)(void);

static const struct {
    const char *name;
    ops_fn get;
} kinds[] = {
    /* best first */
    {"avx512", vec_ops_avx512},   {"avx2", vec_ops_avx2},
    {"dotprod", vec_ops_dotprod}, {"neon", vec_ops_neon},
    {"scalar", vec_ops_scalar},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct vec_ops *chosen;

static void choose(void)
{
    const char *wish = getenv("CLEW_CPU");

    chosen = wish ? vec_ops_named(wish) : NULL;
    for (size_t i = 0; i < N_KINDS && !chosen; i++) {
        chosen = kinds[i].get();
    }
}

const struct vec_ops *vec_ops(void)
{
    (void)pthread_once(&once, choose); /* fails only for a bad control */
    return chosen;
}

const struct vec_ops *vec_ops_named(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return kinds[i].get();
        }
    }
    return NULL;
}

float vec_quantise(const float *vector, size_t dim, int8_t *out)
{
    float max = 0;
    bool is_finite = true;

    for (size_t i = 0; i < dim; i++) {
        float size = fabsf(vector[i]);

        is_finite = is_finite && isfinite(size);
        max = size > max ? size : max;
    }
    if (!is_finite || max < 1e-20f) {
        memset(out, 0, dim);
        return 0;
    }
    for (size_t i = 0; i < dim; i++) {
        out[i] = (int8_t)lrintf(vector[i] / max * 127.0f);
    }
    return max / 127.0f;
}

void vec_sign_bits(const int8_t *quantised, size_t dim, uint64_t *out)
{
    memset(out, 0, VEC_BIT_BYTES(dim));
    for (size_t i = 0; i < dim; i++) {
        out[i / 64] |= (uint64_t)(quantised[i] > 0) << (i % 64);
    }
}

void vec_query_planes(const int8_t *quantised, size_t dim, uint64_t *out)
{
    size_t words = VEC_BIT_BYTES(dim) / 8;
    int max = 1;

    memset(out, 0, VEC_PLANES * VEC_BIT_BYTES(dim));
    for (size_t i = 0; i < dim; i++) {
        int size = abs(quantised[i]);

        max = size > max ? size : max;
    }
    for (size_t i = 0; i < dim; i++) {
        int scaled = 14 * quantised[i];
        int value = (scaled + (scaled < 0 ? -max : max)) / (2 * max);

        for (size_t p = 0; p < VEC_PLANES; p++) {
            out[p * words + i / 64] |= ((uint64_t)value >> p & 1) << (i % 64);
        }
    }
}
