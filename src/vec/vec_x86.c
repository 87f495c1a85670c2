/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec_x86.c - the kernels for x86-64: AVX2, and AVX-512 with VNNI and VPOPCNT.
 */
#include "vec/vec_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

static int32_t tail_i8(const int8_t *a, const int8_t *b, size_t from,
                       size_t dim)
{
    int32_t sum = 0;

    for (size_t i = from; i < dim; i++) {
        sum += (int32_t)a[i] * b[i];
    }
    return sum;
}

static int32_t tail_bits(const uint64_t *planes, const uint64_t *row,
                         size_t from, size_t words)
{
    int32_t sum = 0;

    for (size_t p = 0; p < VEC_PLANES; p++) {
        int32_t count = 0;

        for (size_t w = from; w < words; w++) {
            count += __builtin_popcountll(planes[p * words + w] & row[w]);
        }
        sum += p == VEC_PLANES - 1 ? -count * 8 : count * (1 << p);
    }
    return sum;
}

__attribute__((target("avx2"))) static int32_t sum_epi32(__m256i v)
{
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v),
                              _mm256_extracti128_si256(v, 1));

    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
    return _mm_cvtsi128_si32(s);
}

__attribute__((target("avx2"))) static __m256i load_i16(const int8_t *p)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
}

__attribute__((target("avx2"))) static int32_t
avx2_dot_i8(const int8_t *a, const int8_t *b, size_t dim)
{
    __m256i s0 = _mm256_setzero_si256();
    __m256i s1 = s0;
    size_t i = 0;

    for (; i + 32 <= dim; i += 32) {
        s0 = _mm256_add_epi32(
            s0, _mm256_madd_epi16(load_i16(a + i), load_i16(b + i)));
        s1 = _mm256_add_epi32(
            s1, _mm256_madd_epi16(load_i16(a + i + 16), load_i16(b + i + 16)));
    }
    return sum_epi32(_mm256_add_epi32(s0, s1)) + tail_i8(a, b, i, dim);
}

__attribute__((target("avx2"))) static void
avx2_scan_i8(const int8_t *query, const int8_t *rows, size_t n_rows, size_t dim,
             int32_t *out)
{
    for (size_t i = 0; i < n_rows; i++) {
        out[i] = avx2_dot_i8(query, rows + i * dim, dim);
    }
}

/* Bits set in each byte, by halves looked up. */
__attribute__((target("avx2"))) static __m256i count_bytes(__m256i v)
{
    const __m256i table =
        _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1,
                         1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(0x0f);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);

    return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
                           _mm256_shuffle_epi8(table, high));
}

__attribute__((target("avx2"))) static __m256i
count_plane(const uint64_t *plane, __m256i bits)
{
    __m256i p = _mm256_loadu_si256((const __m256i *)plane);

    return count_bytes(_mm256_and_si256(p, bits));
}

__attribute__((target("avx2"))) static int32_t
avx2_count_row(const uint64_t *planes, const uint64_t *row, size_t words)
{
    __m256i total = _mm256_setzero_si256();
    int32_t bias = 0;
    size_t w = 0;

    for (; w + 4 <= words; w += 4) {
        __m256i bits = _mm256_loadu_si256((const __m256i *)(row + w));
        __m256i sum = count_plane(planes + 3 * words + w, bits);

        /* the sign plane counts down from 64, which keeps bytes positive */
        sum = _mm256_sub_epi8(_mm256_set1_epi8(8), sum);
        for (size_t p = VEC_PLANES - 1; p-- > 0;) {
            sum = _mm256_add_epi8(_mm256_add_epi8(sum, sum),
                                  count_plane(planes + p * words + w, bits));
        }
        total = _mm256_add_epi32(total,
                                 _mm256_sad_epu8(sum, _mm256_setzero_si256()));
        bias += 64 * 32;
    }
    return sum_epi32(total) - bias + tail_bits(planes, row, w, words);
}

__attribute__((target("avx2"))) static void
avx2_scan_bits(const uint64_t *planes, const uint64_t *rows, size_t n_rows,
               size_t words, int32_t *out)
{
    for (size_t i = 0; i < n_rows; i++) {
        out[i] = avx2_count_row(planes, rows + i * words, words);
    }
}

__attribute__((target("avx2,popcnt"))) static void
avx2_scan_signs(const uint64_t *query, const uint64_t *rows, size_t n_rows,
                size_t words, uint32_t bound, uint64_t *out)
{
    for (size_t i = 0; i < n_rows; i++) {
        const uint64_t *row = rows + i * words;
        uint64_t bit;
        uint64_t count = 0;

        for (size_t w = 0; w < words; w++) {
            count += (uint64_t)_mm_popcnt_u64(query[w] ^ row[w]);
        }
        bit = count <= bound;
        out[i / 64] = i % 64 ? out[i / 64] | bit << (i % 64) : bit;
    }
}

#define AVX512 "avx512f,avx512bw,avx512vl,avx512vnni,avx512vpopcntdq"

/* VPDPBUSD wants one side unsigned: a + 128, and 128 * sum(b) taken off. */
__attribute__((target(AVX512))) static int32_t
avx512_dot_i8(const int8_t *a, const int8_t *b, size_t dim)
{
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i sum = _mm512_setzero_si512();
    __m512i sum_b = sum;

    for (size_t i = 0; i < dim; i += 64) {
        size_t left = dim - i;
        __mmask64 mask = left >= 64 ? ~0ull : (1ull << left) - 1;
        __m512i x = _mm512_maskz_loadu_epi8(mask, a + i);
        __m512i y = _mm512_maskz_loadu_epi8(mask, b + i);

        sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(x, flip), y);
        sum_b = _mm512_dpbusd_epi32(sum_b, ones, y);
    }
    return _mm512_reduce_add_epi32(sum) - 128 * _mm512_reduce_add_epi32(sum_b);
}

__attribute__((target(AVX512))) static void
avx512_scan_i8(const int8_t *query, const int8_t *rows, size_t n_rows,
               size_t dim, int32_t *out)
{
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    int32_t sum_query = 0;

    for (size_t i = 0; i < dim; i++) {
        sum_query += query[i];
    }
    for (size_t r = 0; r < n_rows; r++) {
        const int8_t *row = rows + r * dim;
        __m512i sum = _mm512_setzero_si512();

        for (size_t i = 0; i < dim; i += 64) {
            size_t left = dim - i;
            __mmask64 mask = left >= 64 ? ~0ull : (1ull << left) - 1;
            __m512i x = _mm512_maskz_loadu_epi8(mask, row + i);
            __m512i y = _mm512_maskz_loadu_epi8(mask, query + i);

            sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(x, flip), y);
        }
        out[r] = _mm512_reduce_add_epi32(sum) - 128 * sum_query;
    }
}

__attribute__((target(AVX512))) static void
avx512_scan_bits(const uint64_t *planes, const uint64_t *rows, size_t n_rows,
                 size_t words, int32_t *out)
{
    for (size_t r = 0; r < n_rows; r++) {
        const uint64_t *row = rows + r * words;
        __m512i sum = _mm512_setzero_si512();

        for (size_t w = 0; w < words; w += 8) {
            size_t left = words - w;
            __mmask8 mask = left >= 8 ? 0xff : (__mmask8)((1u << left) - 1);
            __m512i bits = _mm512_maskz_loadu_epi64(mask, row + w);
            __m512i part = _mm512_setzero_si512();

            for (size_t p = VEC_PLANES; p-- > 0;) {
                __m512i plane =
                    _mm512_maskz_loadu_epi64(mask, planes + p * words + w);
                __m512i count =
                    _mm512_popcnt_epi64(_mm512_and_si512(plane, bits));

                part =
                    p == VEC_PLANES - 1
                        ? _mm512_sub_epi64(part, count)
                        : _mm512_add_epi64(_mm512_add_epi64(part, part), count);
            }
            sum = _mm512_add_epi64(sum, part);
        }
        out[r] = (int32_t)_mm512_reduce_add_epi64(sum);
    }
}

__attribute__((target(AVX512))) static uint64_t
avx512_differ(const uint64_t *query, const uint64_t *row, size_t words)
{
    __m512i sum = _mm512_setzero_si512();

    for (size_t w = 0; w < words; w += 8) {
        size_t left = words - w;
        __mmask8 mask = left >= 8 ? 0xff : (__mmask8)((1u << left) - 1);
        __m512i bits =
            _mm512_xor_si512(_mm512_maskz_loadu_epi64(mask, row + w),
                             _mm512_maskz_loadu_epi64(mask, query + w));

        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(bits));
    }
    return (uint64_t)_mm512_reduce_add_epi64(sum);
}

/* Eight rows of 256 dimensions: a bit for each within the bound. */
__attribute__((target(AVX512))) static uint64_t
avx512_near_256(__m512i query, const uint64_t *rows, __m512i bound)
{
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    __m512i sums[4];

    for (size_t i = 0; i < 4; i++) {
        __m512i bits = _mm512_loadu_si512(rows + 8 * i);

        sums[i] = _mm512_popcnt_epi64(_mm512_xor_si512(query, bits));
    }
    for (size_t n = 4; n > 1; n /= 2) { /* add neighbours, keep the order */
        for (size_t i = 0; i < n; i += 2) {
            sums[i / 2] = _mm512_add_epi64(
                _mm512_permutex2var_epi64(sums[i], even, sums[i + 1]),
                _mm512_permutex2var_epi64(sums[i], odd, sums[i + 1]));
        }
    }
    return _mm512_cmple_epu64_mask(sums[0], bound);
}

__attribute__((target(AVX512))) static void
avx512_scan_signs(const uint64_t *query, const uint64_t *rows, size_t n_rows,
                  size_t words, uint32_t bound, uint64_t *out)
{
    __m512i most = _mm512_set1_epi64((long long)bound);
    __m512i four = _mm512_setzero_si512();

    if (words == 4) {
        four =
            _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)query));
    }
    for (size_t i = 0; i < n_rows; i += 64, out++) {
        size_t n = n_rows - i < 64 ? n_rows - i : 64;
        size_t k = 0;

        *out = 0;
        for (; words == 4 && k + 8 <= n; k += 8) {
            *out |= avx512_near_256(four, rows + (i + k) * 4, most) << k;
        }
        for (; k < n; k++) {
            uint64_t count =
                avx512_differ(query, rows + (i + k) * words, words);

            *out |= (uint64_t)(count <= bound) << k;
        }
    }
}

static const struct vec_ops avx2 = {"avx2", avx2_dot_i8, avx2_scan_i8,
                                    avx2_scan_bits, avx2_scan_signs};
static const struct vec_ops avx512 = {"avx512", avx512_dot_i8, avx512_scan_i8,
                                      avx512_scan_bits, avx512_scan_signs};

const struct vec_ops *vec_ops_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")
               ? &avx2
               : NULL;
}

const struct vec_ops *vec_ops_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512vnni") &&
                   __builtin_cpu_supports("avx512vpopcntdq")
               ? &avx512
               : NULL;
}

#else

const struct vec_ops *vec_ops_avx2(void)
{
    return NULL;
}

const struct vec_ops *vec_ops_avx512(void)
{
    return NULL;
}

#endif
