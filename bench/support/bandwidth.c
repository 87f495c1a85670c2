/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bandwidth.c - see bandwidth.h.
 */
#include "support/bandwidth.h"

#include "base/clock.h"
#include "model/embed.h"
#include "support/child.h"
#include "vec/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t wide __attribute__((vector_size(64)));

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void bandwidth(void)
{
    size_t bytes = (size_t)256 << 20;
    size_t dim = embed_static()->dim;
    size_t words = VEC_BIT_BYTES(dim) / 8;
    size_t n_signs = bytes / (words * 8);
    size_t n_i8 = bytes / dim;
    wide *rows = aligned_alloc(sizeof(wide), bytes);
    uint64_t *near = calloc(n_signs / 64 + 1, sizeof(*near));
    int32_t *out = calloc(n_i8, sizeof(*out));
    uint64_t *query = calloc(words, sizeof(*query));
    int64_t best[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
    double read;

    if (!rows || !near || !out || !query) {
        bench_die("out of memory");
    }
    memset(rows, 3, bytes);
    for (int i = 0; i < 7; i++) {
        int64_t start = clock_mono_ns();
        wide sum[4] = {{0}};

        for (size_t k = 0; k < bytes / sizeof(wide); k += 4) {
            sum[0] += rows[k];
            sum[1] += rows[k + 1];
            sum[2] += rows[k + 2];
            sum[3] += rows[k + 3];
        }
        sum[0] += sum[1] + sum[2] + sum[3];
        *(volatile uint64_t *)query = sum[0][0];
        best[0] = least(best[0], clock_mono_ns() - start);
        start = clock_mono_ns();
        vec_ops()->scan_i8((const int8_t *)rows, (const int8_t *)rows, n_i8,
                           dim, out);
        best[1] = least(best[1], clock_mono_ns() - start);
        start = clock_mono_ns();
        vec_ops()->scan_signs(query, (const uint64_t *)rows, n_signs, words, 10,
                              near);
        best[2] = least(best[2], clock_mono_ns() - start);
    }
    read = (double)bytes / (double)best[0];
    printf("memory, one thread reading: %.1f GB/s; kernels: %s\n", read,
           vec_ops()->name);
    for (int i = 1; i < 3; i++) {
        double share = (double)best[0] / (double)best[i];

        printf("  scan of %s: %.1f GB/s, %.0f %% of it, %.2f ms a million: "
               "%s\n",
               i == 1 ? "int8 vectors" : "sign bits",
               (double)bytes / (double)best[i], share * 100,
               (double)best[i] / 1e6 * 1e6 / (double)(i == 1 ? n_i8 : n_signs),
               share >= 0.6 ? "ok (aim >= 60 %)" : "MISSED (aim >= 60 %)");
    }
    free(rows);
    free(near);
    free(out);
    free(query);
}
