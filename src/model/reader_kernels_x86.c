/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_kernels_x86.c - the reader's kernels on x86-64: AVX2, and AVX-512
 * with VNNI. See reader_kernels.h.
 *
 * A tile of rows and outputs is summed in registers over the whole input;
 * weights stay in the nearest cache while all rows pass.
 */
#include "model/reader_kernels.h"

#include "model/reader_fma.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

/* --- AVX2: rows kept as int16, products of pairs ------------------------- */

#define AVX2 __attribute__((target("avx2,fma")))
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define MAX(a, b) _mm256_max_ps(a, b)
#define K(name) avx2_##name
#define TARGET AVX2
#define LANES 8
#include "model/reader_kernels.inc"
#undef FMA
#undef MAX
#undef K
#undef TARGET
#undef LANES

/* A tile: rows by outputs. */
#define AVX2_ROWS 4
#define AVX2_OUTS 2

AVX2 static void put_wide(const int8_t *row, size_t n_in, int8_t *q)
{
    for (size_t k = 0; k < n_in; k += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)&row[k]);

        _mm256_storeu_si256((__m256i *)(void *)(q + 2 * k),
                            _mm256_cvtepi8_epi16(bytes));
    }
}

AVX2 static void wide_round(const float *x, size_t n_rows, size_t n_in,
                            int8_t *q, float *scales)
{
    int8_t row[READER_MAX_IN];

    for (size_t r = 0; r < n_rows; r++) {
        scales[r] = avx2_round_row(x + r * n_in, n_in, row, 8);
        put_wide(row, n_in, q + r * n_in * 2);
    }
}

AVX2 static void wide_bend(float *x, size_t n_rows, size_t n_in, int8_t *q,
                           float *scales)
{
    int8_t row[READER_MAX_IN];

    for (size_t r = 0; r < n_rows; r++) {
        scales[r] = avx2_bend_row(x + r * n_in, n_in, row, 8);
        put_wide(row, n_in, q + r * n_in * 2);
    }
}

AVX2 static inline int32_t sum_eight(__m256i v)
{
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v),
                              _mm256_extracti128_si256(v, 1));

    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
    return _mm_cvtsi128_si32(s);
}

AVX2 static void avx2_tile(const int8_t *weights, size_t n_in,
                           const int8_t *const rows[AVX2_ROWS],
                           int32_t out[AVX2_ROWS][AVX2_OUTS])
{
    __m256i sum[AVX2_ROWS][AVX2_OUTS];

    memset(sum, 0, sizeof(sum));
    for (size_t k = 0; k < n_in; k += 16) {
        __m256i w[AVX2_OUTS];

        for (size_t j = 0; j < AVX2_OUTS; j++) {
            const void *at = weights + j * n_in + k;

            w[j] = _mm256_cvtepi8_epi16(_mm_loadu_si128(at));
        }
        for (size_t i = 0; i < AVX2_ROWS; i++) {
            const void *at = rows[i] + 2 * k;
            __m256i a = _mm256_loadu_si256(at);

            for (size_t j = 0; j < AVX2_OUTS; j++) {
                sum[i][j] =
                    _mm256_add_epi32(sum[i][j], _mm256_madd_epi16(a, w[j]));
            }
        }
    }
    for (size_t i = 0; i < AVX2_ROWS; i++) {
        for (size_t j = 0; j < AVX2_OUTS; j++) {
            out[i][j] = sum_eight(sum[i][j]);
        }
    }
}

/* One sum, scaled: in the order every variant has. */
static inline float scaled(const struct reader_dense *dense, size_t o,
                           float scale, int32_t sum)
{
    return (float)sum * (scale * dense->scales[o]) + dense->bias[o];
}

AVX2 static void avx2_product(const struct reader_dense *dense, const int8_t *q,
                              const float *scales, size_t n_rows, float *out)
{
    size_t n_in = dense->n_in;

    for (size_t o = 0; o < dense->n_out; o += AVX2_OUTS) {
        for (size_t r = 0; r < n_rows; r += AVX2_ROWS) {
            const int8_t *rows[AVX2_ROWS];
            int32_t sums[AVX2_ROWS][AVX2_OUTS];

            for (size_t i = 0; i < AVX2_ROWS; i++) {
                /* past the end the last row is done again */
                size_t row = r + i < n_rows ? r + i : n_rows - 1;

                rows[i] = q + row * n_in * 2;
            }
            avx2_tile(dense->weights + o * n_in, n_in, rows, sums);
            for (size_t i = 0; i < AVX2_ROWS && r + i < n_rows; i++) {
                for (size_t j = 0; j < AVX2_OUTS; j++) {
                    out[(r + i) * dense->n_out + o + j] =
                        scaled(dense, o + j, scales[r + i], sums[i][j]);
                }
            }
        }
    }
}

static const struct reader_kernels with_avx2 = {
    "avx2",        wide_round,  wide_bend, avx2_product,
    avx2_add_norm, avx2_attend, avx2_dot};

/* --- AVX-512 VNNI: rows kept as bytes above 0 ---------------------------- */

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define MAX(a, b) _mm512_max_ps(a, b)
#define K(name) vnni_##name
#define TARGET VNNI
#define LANES 16
#include "model/reader_kernels.inc"
#undef FMA
#undef MAX
#undef K
#undef TARGET
#undef LANES

#define VNNI_ROWS 4
#define VNNI_OUTS 4

/*
 * The instruction multiplies unsigned by signed bytes: rows get 128 added
 * here, and a product takes 128 times the sum of the weights off again.
 */
static void lift(int8_t *q, size_t n_in)
{
    for (size_t k = 0; k < n_in; k++) {
        q[k] = (int8_t)(q[k] ^ -128);
    }
}

VNNI static void lifted_round(const float *x, size_t n_rows, size_t n_in,
                              int8_t *q, float *scales)
{
    for (size_t r = 0; r < n_rows; r++) {
        scales[r] = vnni_round_row(x + r * n_in, n_in, q + r * n_in, 8);
        lift(q + r * n_in, n_in);
    }
}

VNNI static void lifted_bend(float *x, size_t n_rows, size_t n_in, int8_t *q,
                             float *scales)
{
    for (size_t r = 0; r < n_rows; r++) {
        scales[r] = vnni_bend_row(x + r * n_in, n_in, q + r * n_in, 8);
        lift(q + r * n_in, n_in);
    }
}

/* The bytes from `k` on, zeros past the end. */
VNNI static inline __m512i load_bytes(const int8_t *p, size_t k, size_t n)
{
    size_t left = n - k;
    __mmask64 mask = left >= 64 ? ~0ULL : (1ULL << left) - 1;

    return _mm512_maskz_loadu_epi8(mask, p + k);
}

/* 128 times the sum of each of the panel's rows of weights. */
VNNI static void sum_weights(const int8_t *weights, size_t n_in,
                             int32_t out[VNNI_OUTS])
{
    __m512i lifted = _mm512_set1_epi8(-128); /* 128 without a sign */

    for (size_t j = 0; j < VNNI_OUTS; j++) {
        __m512i sum = _mm512_setzero_si512();

        for (size_t k = 0; k < n_in; k += 64) {
            sum = _mm512_dpbusd_epi32(sum, lifted,
                                      load_bytes(weights + j * n_in, k, n_in));
        }
        out[j] = _mm512_reduce_add_epi32(sum);
    }
}

VNNI static void vnni_tile(const int8_t *weights, size_t n_in,
                           const int8_t *const rows[VNNI_ROWS],
                           int32_t out[VNNI_ROWS][VNNI_OUTS])
{
    __m512i sum[VNNI_ROWS][VNNI_OUTS];

    memset(sum, 0, sizeof(sum));
    for (size_t k = 0; k < n_in; k += 64) {
        __m512i w[VNNI_OUTS];

        for (size_t j = 0; j < VNNI_OUTS; j++) {
            w[j] = load_bytes(weights + j * n_in, k, n_in);
        }
        for (size_t i = 0; i < VNNI_ROWS; i++) {
            __m512i a = load_bytes(rows[i], k, n_in);

            for (size_t j = 0; j < VNNI_OUTS; j++) {
                sum[i][j] = _mm512_dpbusd_epi32(sum[i][j], a, w[j]);
            }
        }
    }
    for (size_t i = 0; i < VNNI_ROWS; i++) {
        for (size_t j = 0; j < VNNI_OUTS; j++) {
            out[i][j] = _mm512_reduce_add_epi32(sum[i][j]);
        }
    }
}

VNNI static void vnni_product(const struct reader_dense *dense, const int8_t *q,
                              const float *scales, size_t n_rows, float *out)
{
    size_t n_in = dense->n_in;

    for (size_t o = 0; o < dense->n_out; o += VNNI_OUTS) {
        const int8_t *weights = dense->weights + o * n_in;
        int32_t off[VNNI_OUTS];

        sum_weights(weights, n_in, off);
        for (size_t r = 0; r < n_rows; r += VNNI_ROWS) {
            const int8_t *rows[VNNI_ROWS];
            int32_t sums[VNNI_ROWS][VNNI_OUTS];

            for (size_t i = 0; i < VNNI_ROWS; i++) {
                size_t row = r + i < n_rows ? r + i : n_rows - 1;

                rows[i] = q + row * n_in;
            }
            vnni_tile(weights, n_in, rows, sums);
            for (size_t i = 0; i < VNNI_ROWS && r + i < n_rows; i++) {
                for (size_t j = 0; j < VNNI_OUTS; j++) {
                    out[(r + i) * dense->n_out + o + j] = scaled(
                        dense, o + j, scales[r + i], sums[i][j] - off[j]);
                }
            }
        }
    }
}

static const struct reader_kernels with_vnni = {
    "vnni",        lifted_round, lifted_bend, vnni_product,
    vnni_add_norm, vnni_attend,  vnni_dot};

const struct reader_kernels *reader_kernels_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               ? &with_avx2
               : NULL;
}

const struct reader_kernels *reader_kernels_vnni(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512vnni")
               ? &with_vnni
               : NULL;
}

#else

const struct reader_kernels *reader_kernels_avx2(void)
{
    return NULL;
}

const struct reader_kernels *reader_kernels_vnni(void)
{
    return NULL;
}

#endif
