/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec_x86.c - the kernels for x86-64: AVX2, AVX-512 with VNNI, and with VPOPCNT
 * too.
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

/* Bits set in each 64-bit word. */
__attribute__((target("avx2"))) static __m256i count_words(__m256i v)
{
    return _mm256_sad_epu8(count_bytes(v), _mm256_setzero_si256());
}

/* Four rows of 256 dimensions: a bit for each within the bound. */
__attribute__((target("avx2"))) static uint64_t
avx2_near_256(__m256i query, const uint64_t *rows, __m256i bound)
{
    __m256i n[4];
    __m256i low;
    __m256i high;
    __m256i sums;

    for (size_t i = 0; i < 4; i++) {
        __m256i row = _mm256_loadu_si256((const __m256i *)(rows + 4 * i));

        n[i] = count_words(_mm256_xor_si256(query, row));
    }
    low = _mm256_add_epi64(_mm256_unpacklo_epi64(n[0], n[1]),
                           _mm256_unpackhi_epi64(n[0], n[1]));
    high = _mm256_add_epi64(_mm256_unpacklo_epi64(n[2], n[3]),
                            _mm256_unpackhi_epi64(n[2], n[3]));
    sums = _mm256_add_epi64(_mm256_permute2x128_si256(low, high, 0x20),
                            _mm256_permute2x128_si256(low, high, 0x31));
    return 0xf & ~(unsigned)_mm256_movemask_pd(
                     _mm256_castsi256_pd(_mm256_cmpgt_epi64(sums, bound)));
}

/* Fewer than 64 rows of any width. */
__attribute__((target("popcnt"))) static uint64_t
near_of(const uint64_t *query, const uint64_t *rows, size_t n_rows,
        size_t words, uint32_t bound)
{
    uint64_t near = 0;

    for (size_t i = 0; i < n_rows; i++, rows += words) {
        uint64_t count = 0;

        for (size_t w = 0; w < words; w++) {
            count += (uint64_t)_mm_popcnt_u64(query[w] ^ rows[w]);
        }
        near |= (uint64_t)(count <= bound) << i;
    }
    return near;
}

__attribute__((target("avx2,popcnt"))) static void
avx2_scan_signs(const uint64_t *query, const uint64_t *rows, size_t n_rows,
                size_t words, uint32_t bound, uint64_t *out)
{
    __m256i most = _mm256_set1_epi64x((long long)bound);
    __m256i four = _mm256_setzero_si256();

    if (words == 4) {
        four = _mm256_loadu_si256((const __m256i *)query);
    }
    for (size_t i = 0; i < n_rows; i += 64, out++) {
        size_t n = n_rows - i < 64 ? n_rows - i : 64;
        size_t k = 0;

        *out = 0;
        for (; words == 4 && k + 4 <= n; k += 4) {
            *out |= avx2_near_256(four, rows + (i + k) * 4, most) << k;
        }
        if (k < n) {
            *out |= near_of(query, rows + (i + k) * words, n - k, words, bound)
                    << k;
        }
    }
}

#define VNNI "avx512f,avx512bw,avx512vl,avx512vnni"
#define AVX512 VNNI ",avx512vpopcntdq"

/* dot(x + 128, y), x of a row and y of the query. Half registers: whole ones
 * are no faster here, and slow the processor down. */
__attribute__((target(VNNI))) static int32_t
vnni_dot_raised(const int8_t *x, const int8_t *y, size_t dim)
{
    const __m256i flip = _mm256_set1_epi8((char)0x80);
    __m256i s0 = _mm256_setzero_si256();
    __m256i s1 = s0;
    size_t i = 0;
    int32_t sum;

    for (; i + 64 <= dim; i += 64) {
        const __m256i *a = (const __m256i *)(x + i);
        const __m256i *b = (const __m256i *)(y + i);

        s0 = _mm256_dpbusd_epi32(s0,
                                 _mm256_xor_si256(_mm256_loadu_si256(a), flip),
                                 _mm256_loadu_si256(b));
        s1 = _mm256_dpbusd_epi32(
            s1, _mm256_xor_si256(_mm256_loadu_si256(a + 1), flip),
            _mm256_loadu_si256(b + 1));
    }
    sum = sum_epi32(_mm256_add_epi32(s0, s1));
    for (; i < dim; i++) {
        sum += ((int32_t)x[i] + 128) * y[i];
    }
    return sum;
}

__attribute__((target(VNNI))) static int32_t vnni_sum(const int8_t *a,
                                                      size_t dim)
{
    const __m256i ones = _mm256_set1_epi8(1);
    __m256i total = _mm256_setzero_si256();
    size_t i = 0;
    int32_t sum;

    for (; i + 32 <= dim; i += 32) {
        total = _mm256_dpbusd_epi32(
            total, ones, _mm256_loadu_si256((const __m256i *)(a + i)));
    }
    sum = sum_epi32(total);
    for (; i < dim; i++) {
        sum += a[i];
    }
    return sum;
}

/* VPDPBUSD wants one side unsigned: row + 128, and 128 * sum(query) off. That
 * sum must be quick too: mostly there are two rows, not thousands. */
__attribute__((target(VNNI))) static void vnni_scan_i8(const int8_t *query,
                                                       const int8_t *rows,
                                                       size_t n_rows,
                                                       size_t dim, int32_t *out)
{
    int32_t over = 128 * vnni_sum(query, dim);

    for (size_t i = 0; i < n_rows; i++) {
        out[i] = vnni_dot_raised(rows + i * dim, query, dim) - over;
    }
}

static int32_t vnni_dot_i8(const int8_t *a, const int8_t *b, size_t dim)
{
    int32_t dot;

    vnni_scan_i8(a, b, 1, dim, &dot);
    return dot;
}

/* Add neighbours of eight rows of four words each, and keep the order: a bit
 * for each row whose sum is within the bound. */
__attribute__((target(VNNI))) static uint64_t near_of_eight(__m512i sums[4],
                                                            __m512i bound)
{
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);

    for (size_t n = 4; n > 1; n /= 2) {
        for (size_t i = 0; i < n; i += 2) {
            sums[i / 2] = _mm512_add_epi64(
                _mm512_permutex2var_epi64(sums[i], even, sums[i + 1]),
                _mm512_permutex2var_epi64(sums[i], odd, sums[i + 1]));
        }
    }
    return _mm512_cmple_epu64_mask(sums[0], bound);
}

/* count_bytes() of a whole register. */
__attribute__((target(VNNI))) static __m512i vnni_count_bytes(__m512i v)
{
    const __m512i table = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i low = _mm512_set1_epi8(0x0f);
    __m512i high = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);

    return _mm512_add_epi8(_mm512_shuffle_epi8(table, _mm512_and_si512(v, low)),
                           _mm512_shuffle_epi8(table, high));
}

/* scan_bits() of two rows of 256 dimensions, as avx2_count_row(). */
__attribute__((target(VNNI))) static void
vnni_count_two(const __m512i planes[VEC_PLANES], const uint64_t *rows,
               int32_t out[2])
{
    const __m512i bits = _mm512_loadu_si512(rows);
    __m512i sum = _mm512_sub_epi8(
        _mm512_set1_epi8(8),
        vnni_count_bytes(_mm512_and_si512(planes[VEC_PLANES - 1], bits)));

    for (size_t p = VEC_PLANES - 1; p-- > 0;) {
        sum = _mm512_add_epi8(
            _mm512_add_epi8(sum, sum),
            vnni_count_bytes(_mm512_and_si512(planes[p], bits)));
    }
    sum = _mm512_sad_epu8(sum, _mm512_setzero_si512());
    out[0] = sum_epi32(_mm512_castsi512_si256(sum)) - 64 * 32;
    out[1] = sum_epi32(_mm512_extracti64x4_epi64(sum, 1)) - 64 * 32;
}

__attribute__((target(VNNI))) static void
vnni_scan_bits(const uint64_t *planes, const uint64_t *rows, size_t n_rows,
               size_t words, int32_t *out)
{
    __m512i twice[VEC_PLANES];
    size_t i = 0;

    for (size_t p = 0; words == 4 && p < VEC_PLANES; p++) {
        twice[p] = _mm512_broadcast_i64x4(
            _mm256_loadu_si256((const __m256i *)(planes + p * words)));
    }
    for (; words == 4 && i + 2 <= n_rows; i += 2) {
        vnni_count_two(twice, rows + i * words, out + i);
    }
    avx2_scan_bits(planes, rows + i * words, n_rows - i, words, out + i);
}

__attribute__((target(VNNI))) static uint64_t
vnni_near_256(__m512i query, const uint64_t *rows, __m512i bound)
{
    __m512i sums[4];

    for (size_t i = 0; i < 4; i++) {
        __m512i bits = _mm512_loadu_si512(rows + 8 * i);

        sums[i] =
            _mm512_sad_epu8(vnni_count_bytes(_mm512_xor_si512(query, bits)),
                            _mm512_setzero_si512());
    }
    return near_of_eight(sums, bound);
}

__attribute__((target(VNNI))) static void
vnni_scan_signs(const uint64_t *query, const uint64_t *rows, size_t n_rows,
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
            *out |= vnni_near_256(four, rows + (i + k) * 4, most) << k;
        }
        if (k < n) {
            *out |= near_of(query, rows + (i + k) * words, n - k, words, bound)
                    << k;
        }
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
    __m512i sums[4];

    for (size_t i = 0; i < 4; i++) {
        __m512i bits = _mm512_loadu_si512(rows + 8 * i);

        sums[i] = _mm512_popcnt_epi64(_mm512_xor_si512(query, bits));
    }
    return near_of_eight(sums, bound);
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
static const struct vec_ops vnni = {"vnni", vnni_dot_i8, vnni_scan_i8,
                                    vnni_scan_bits, vnni_scan_signs};
static const struct vec_ops avx512 = {"avx512", vnni_dot_i8, vnni_scan_i8,
                                      avx512_scan_bits, avx512_scan_signs};

const struct vec_ops *vec_ops_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")
               ? &avx2
               : NULL;
}

const struct vec_ops *vec_ops_vnni(void)
{
    return vec_ops_avx2() && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512vnni")
               ? &vnni
               : NULL;
}

const struct vec_ops *vec_ops_avx512(void)
{
    return vec_ops_vnni() && __builtin_cpu_supports("avx512vpopcntdq") ? &avx512
                                                                       : NULL;
}

#else

const struct vec_ops *vec_ops_avx2(void)
{
    return NULL;
}

const struct vec_ops *vec_ops_vnni(void)
{
    return NULL;
}

const struct vec_ops *vec_ops_avx512(void)
{
    return NULL;
}

#endif
