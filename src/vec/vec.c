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
    {"avx512", vec_ops_avx512}, {"vnni", vec_ops_vnni},
    {"avx2", vec_ops_avx2},     {"dotprod", vec_ops_dotprod},
    {"neon", vec_ops_neon},     {"scalar", vec_ops_scalar},
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

/* int8 values of `rest` and what they and its signs are worth. */
static void quantise(const float *rest, size_t dim, int8_t *out,
                     struct vec_form *out_form)
{
    float max = 1e-20f;
    /* products of floats are exact in doubles: sums are equal everywhere */
    double square = 0;
    double sizes = 0;
    double dot = 0;

    for (size_t i = 0; i < dim; i++) {
        float size = fabsf(rest[i]);

        max = size > max ? size : max;
        square += (double)rest[i] * (double)rest[i];
        sizes += (double)size;
    }
    for (size_t i = 0; i < dim; i++) {
        out[i] = (int8_t)lrintf(rest[i] / max * 127.0f);
        dot += (double)rest[i] * (double)out[i];
    }
    out_form->scale = dot > 0 ? (float)(square / dot) : max / 127.0f;
    out_form->sign = sizes > 0 ? (float)(square / sizes) : 0;
}

static bool is_vector(const float *vector, size_t dim)
{
    float largest = 0;

    for (size_t i = 0; i < dim; i++) {
        if (!isfinite(vector[i])) {
            return false;
        }
        largest = fabsf(vector[i]) > largest ? fabsf(vector[i]) : largest;
    }
    return largest >= 1e-20f;
}

/* What is left of a vector without the centre, its axes mixed; false if there
 * is no vector. */
static bool rest_of(const float *vector, const float *centre, size_t dim,
                    float *out, float *out_bias)
{
    double bias = 0;

    if (!is_vector(vector, dim)) {
        return false;
    }
    for (size_t i = 0; i < dim; i++) {
        out[i] = centre ? vector[i] - centre[i] : vector[i];
        bias += centre ? (double)out[i] * (double)centre[i] : 0;
    }
    vec_mix(out, dim);
    *out_bias = (float)bias;
    return true;
}

void vec_quantise_about(const float *vector, const float *centre, size_t dim,
                        int8_t *out, struct vec_form *out_form)
{
    float rest[VEC_MAX_DIM];

    memset(out, 0, dim);
    memset(out_form, 0, sizeof(*out_form));
    if (rest_of(vector, centre, dim, rest, &out_form->bias)) {
        quantise(rest, dim, out, out_form);
    }
}

void vec_quantise_query(const float *vector, const float *centre, size_t dim,
                        int8_t *out, struct vec_form *out_form, float *out_fine)
{
    float rest[VEC_MAX_DIM];
    struct vec_form fine = {.scale = 0};

    memset(out, 0, 2 * dim);
    memset(out_form, 0, sizeof(*out_form));
    if (rest_of(vector, centre, dim, rest, &out_form->bias)) {
        quantise(rest, dim, out, out_form);
        for (size_t i = 0; i < dim; i++) {
            rest[i] -= out_form->scale * (float)out[i];
        }
        quantise(rest, dim, out + dim, &fine);
    }
    *out_fine = fine.scale;
}

float vec_quantise(const float *vector, size_t dim, int8_t *out)
{
    struct vec_form form = {.scale = 0};

    memset(out, 0, dim);
    if (is_vector(vector, dim)) {
        quantise(vector, dim, out, &form);
    }
    return form.scale;
}

void vec_sign_bits(const int8_t *quantised, size_t dim, uint64_t *out)
{
    memset(out, 0, VEC_BIT_BYTES(dim));
    for (size_t i = 0; i < dim; i++) {
        out[i / 64] |= (uint64_t)(quantised[i] > 0) << (i % 64);
    }
}

float vec_query_planes(const int8_t *quantised, size_t dim, uint64_t *out,
                       int32_t *out_sum)
{
    size_t words = VEC_BIT_BYTES(dim) / 8;
    int max = 1;

    *out_sum = 0;
    memset(out, 0, VEC_PLANES * VEC_BIT_BYTES(dim));
    for (size_t i = 0; i < dim; i++) {
        int size = abs(quantised[i]);

        max = size > max ? size : max;
    }
    for (size_t i = 0; i < dim; i++) {
        int scaled = 14 * quantised[i];
        int value = (scaled + (scaled < 0 ? -max : max)) / (2 * max);

        *out_sum += value;
        for (size_t p = 0; p < VEC_PLANES; p++) {
            out[p * words + i / 64] |= ((uint64_t)value >> p & 1) << (i % 64);
        }
    }
    return (float)max / 7;
}
