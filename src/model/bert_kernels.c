/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bert_kernels.c - the same kernels for each kind of register; the choice.
 *
 * "scalar" uses registers of 4 floats too: the compiler lowers them where the
 * processor has none.
 */
#include "model/bert_kernels.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define K(name) base_##name
#define NAME "scalar"
#define TARGET
#define LANES 4
#include "model/bert_kernels.inc"
#undef K
#undef NAME
#undef TARGET
#undef LANES

#if defined(__x86_64__)
#define K(name) avx2_##name
#define NAME "avx2"
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#include "model/bert_kernels.inc"
#undef K
#undef NAME
#undef TARGET
#undef LANES

#define K(name) avx512_##name
#define NAME "avx512"
#define TARGET __attribute__((target("avx512f,avx2,fma")))
#define LANES 16
#include "model/bert_kernels.inc"
#undef K
#undef NAME
#undef TARGET
#undef LANES
#endif

const struct bert_kernels *bert_kernels(void)
{
    const char *wanted = getenv("CLEW_CPU");

    if (wanted && strcmp(wanted, "scalar") == 0) {
        return &base_table;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") &&
        !(wanted && strcmp(wanted, "avx2") == 0)) {
        return &avx512_table;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return &avx2_table;
    }
#endif
    return &base_table;
}

void bert_pack(const float *weights, size_t n_out, size_t n_in, float *panels)
{
    for (size_t o = 0; o < n_out; o++) {
        float *panel = panels + o / BERT_PANEL * BERT_PANEL * n_in;

        for (size_t i = 0; i < n_in; i++) {
            panel[i * BERT_PANEL + o % BERT_PANEL] = weights[o * n_in + i];
        }
    }
}
