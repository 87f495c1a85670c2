/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec_scalar.c - the kernels in plain C: slow, portable, the truth.
 */
#include "vec/vec_internal.h"

static int32_t dot_i8(const int8_t *a, const int8_t *b, size_t dim)
{
    int32_t sum = 0;

    for (size_t i = 0; i < dim; i++) {
        sum += (int32_t)a[i] * b[i];
    }
    return sum;
}

static void scan_i8(const int8_t *query, const int8_t *rows, size_t n_rows,
                    size_t dim, int32_t *out)
{
    for (size_t i = 0; i < n_rows; i++) {
        out[i] = dot_i8(query, rows + i * dim, dim);
    }
}

static void scan_bits(const uint64_t *planes, const uint64_t *rows,
                      size_t n_rows, size_t words, int32_t *out)
{
    for (size_t i = 0; i < n_rows; i++) {
        const uint64_t *row = rows + i * words;
        int32_t sum = 0;

        for (size_t p = 0; p < VEC_PLANES; p++) {
            int32_t count = 0;

            for (size_t w = 0; w < words; w++) {
                count += __builtin_popcountll(planes[p * words + w] & row[w]);
            }
            sum += p == VEC_PLANES - 1 ? -count * 8 : count * (1 << p);
        }
        out[i] = sum;
    }
}

static void scan_signs(const uint64_t *query, const uint64_t *rows,
                       size_t n_rows, size_t words, uint32_t bound,
                       uint64_t *out)
{
    for (size_t i = 0; i < n_rows; i++) {
        uint64_t bit = vec_differ(query, rows + i * words, words) <= bound;

        out[i / 64] = i % 64 ? out[i / 64] | bit << (i % 64) : bit;
    }
}

static const struct vec_ops ops = {"scalar", dot_i8, scan_i8, scan_bits,
                                   scan_signs};

const struct vec_ops *vec_ops_scalar(void)
{
    return &ops;
}
