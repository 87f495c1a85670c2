/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_kernels.c - the scalar form, which is the truth; the choice.
 *
 * Its floats go in groups of 4, which the compiler lowers where the processor
 * has no such registers; x86-64 has fused products in later models only, and
 * every file but this one may count on those.
 */
#include "model/reader_kernels.h"

#include "model/reader_fma.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <emmintrin.h>
#endif

#if defined(__aarch64__)
#define FMA(a, b, c) vfmaq_f32(c, a, b)
#define MAX(a, b) vmaxnmq_f32(a, b)
#elif defined(__x86_64__)
#define FMA(a, b, c) reader_fma(a, b, c)
#define MAX(a, b) _mm_max_ps(a, b)
#else
#define FMA(a, b, c) reader_fma(a, b, c)
#define MAX(a, b) base_pick((a) > (b), a, b)
#endif
#define K(name) base_##name
#define TARGET
#define LANES 4
#define PLAIN_ROWS
#include "model/reader_kernels.inc"

static void base_product(const struct reader_dense *dense, const int8_t *q,
                         const float *scales, size_t n_rows, float *out)
{
    for (size_t o = 0; o < dense->n_out; o++) {
        const int8_t *weights = dense->weights + o * dense->n_in;

        for (size_t r = 0; r < n_rows; r++) {
            const int8_t *row = q + r * dense->n_in;
            int32_t sum = 0;

            for (size_t i = 0; i < dense->n_in; i++) {
                sum += (int32_t)row[i] * weights[i];
            }
            out[r * dense->n_out + o] =
                (float)sum * (scales[r] * dense->scales[o]) + dense->bias[o];
        }
    }
}

static const struct reader_kernels scalar = {
    "scalar",      base_round,  base_bend, base_product,
    base_add_norm, base_attend, base_dot};

const struct reader_kernels *reader_kernels_scalar(void)
{
    return &scalar;
}

typedef const struct reader_kernels *(*kernels_fn)(void);

static const struct {
    const char *name;
    kernels_fn get;
} kinds[] = {
    /* best first */
    {"amx", reader_kernels_amx},         {"vnni", reader_kernels_vnni},
    {"avx2", reader_kernels_avx2},       {"i8mm", reader_kernels_i8mm},
    {"dotprod", reader_kernels_dotprod}, {"scalar", reader_kernels_scalar},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct reader_kernels *reader_kernels_named(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return kinds[i].get();
        }
    }
    return NULL;
}

const struct reader_kernels *reader_kernels(void)
{
    const char *wanted = getenv("CLEW_CPU");
    const struct reader_kernels *found =
        wanted ? reader_kernels_named(wanted) : NULL;

    for (size_t i = 0; i < N_KINDS && !found; i++) {
        found = kinds[i].get();
    }
    return found;
}

size_t reader_rounded_bytes(size_t n_rows, size_t n_in)
{
    size_t eights = (n_rows + READER_ROWS - 1) / READER_ROWS;
    size_t steps = (n_in + READER_STEP - 1) / READER_STEP;
    /* one variant keeps two bytes a value, another whole tiles of sixteen
     * rows, from a whole line on */
    size_t wide = eights * READER_ROWS * n_in * 2;
    size_t tiles = (eights + 1) / 2 * 2 * READER_ROWS * steps * READER_STEP;

    return (wide > tiles ? wide : tiles) + READER_STEP;
}

size_t reader_scratch_floats(size_t n_rows, size_t width)
{
    size_t padded = (n_rows + READER_LANES - 1) / READER_LANES * READER_LANES;

    return (2 * width + READER_QUERIES) * padded;
}

float reader_exp(float x)
{
    struct base_group group = base_zero();

    group.v[0][0] = x;
    return base_exp(group).v[0][0];
}
