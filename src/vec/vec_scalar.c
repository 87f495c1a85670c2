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

static const struct vec_ops ops = {"scalar", dot_i8, scan_i8, scan_bits};

const struct vec_ops *vec_ops_scalar(void)
{
    return &ops;
}
