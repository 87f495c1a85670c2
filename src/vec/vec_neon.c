/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec_neon.c - the kernels for 64-bit Arm: NEON everywhere, and the dot product
 * instruction where the processor has it.
 */
#include "vec/vec_internal.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <sys/auxv.h>

/* Bit of AT_HWCAP that says the processor has SDOT. */
#define HWCAP_BIT_DOTPROD (1ul << 20)

static int32_t tail_i8(const int8_t *a, const int8_t *b, size_t from,
                       size_t dim)
{
    int32_t sum = 0;

    for (size_t i = from; i < dim; i++) {
        sum += (int32_t)a[i] * b[i];
    }
    return sum;
}

static int32_t neon_dot_i8(const int8_t *a, const int8_t *b, size_t dim)
{
    int32x4_t sum = vdupq_n_s32(0);
    size_t i = 0;

    for (; i + 16 <= dim; i += 16) {
        int8x16_t x = vld1q_s8(a + i);
        int8x16_t y = vld1q_s8(b + i);

        sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(x), vget_low_s8(y)));
        sum = vpadalq_s16(sum, vmull_high_s8(x, y));
    }
    return vaddvq_s32(sum) + tail_i8(a, b, i, dim);
}

static void neon_scan_i8(const int8_t *query, const int8_t *rows, size_t n_rows,
                         size_t dim, int32_t *out)
{
    for (size_t i = 0; i < n_rows; i++) {
        out[i] = neon_dot_i8(query, rows + i * dim, dim);
    }
}

/* Weighted bit counts of 16 bytes: -64 to 56 each. */
static inline int8x16_t count16(const uint8_t *planes, size_t stride,
                                const uint8_t *row)
{
    uint8x16_t bits = vld1q_u8(row);
    uint8x16_t two = vdupq_n_u8(2);
    uint8x16_t top = vcntq_u8(vandq_u8(vld1q_u8(planes + 3 * stride), bits));
    uint8x16_t sum = vcntq_u8(vandq_u8(vld1q_u8(planes + 2 * stride), bits));

    sum =
        vmlaq_u8(vcntq_u8(vandq_u8(vld1q_u8(planes + stride), bits)), sum, two);
    sum = vmlaq_u8(vcntq_u8(vandq_u8(vld1q_u8(planes), bits)), sum, two);
    return vreinterpretq_s8_u8(vmlsq_u8(sum, top, vdupq_n_u8(8)));
}

static int32_t count_row(const uint8_t *planes, const uint8_t *row,
                         size_t bytes)
{
    int32_t sum = 0;
    size_t i = 0;

    for (; i + 32 <= bytes; i += 32) {
        int8x16_t low = count16(planes + i, bytes, row + i);

        sum += vaddlvq_s8(
            vaddq_s8(low, count16(planes + i + 16, bytes, row + i + 16)));
    }
    for (; i + 8 <= bytes; i += 8) {
        for (size_t p = 0; p < VEC_PLANES; p++) {
            uint8x8_t x =
                vand_u8(vld1_u8(planes + p * bytes + i), vld1_u8(row + i));
            int32_t count = (int32_t)vaddv_u8(vcnt_u8(x));

            sum += p == VEC_PLANES - 1 ? -count * 8 : count * (1 << p);
        }
    }
    return sum;
}

/* 256 dimensions, the shipped model's: the planes stay in registers. */
static void scan_bits_256(const uint8_t *planes, const uint8_t *row,
                          size_t n_rows, int32_t *out)
{
    const uint8x16_t two = vdupq_n_u8(2);
    const uint8x16_t eight = vdupq_n_u8(8);
    uint8x16_t low[VEC_PLANES];
    uint8x16_t high[VEC_PLANES];

    for (size_t p = 0; p < VEC_PLANES; p++) {
        low[p] = vld1q_u8(planes + 32 * p);
        high[p] = vld1q_u8(planes + 32 * p + 16);
    }
    for (size_t i = 0; i < n_rows; i++, row += 32) {
        uint8x16_t a = vld1q_u8(row);
        uint8x16_t b = vld1q_u8(row + 16);
        /* both halves at once: counts of up to 16 a byte, -128 to 112 */
        uint8x16_t c0 = vaddq_u8(vcntq_u8(vandq_u8(low[0], a)),
                                 vcntq_u8(vandq_u8(high[0], b)));
        uint8x16_t c1 = vaddq_u8(vcntq_u8(vandq_u8(low[1], a)),
                                 vcntq_u8(vandq_u8(high[1], b)));
        uint8x16_t c2 = vaddq_u8(vcntq_u8(vandq_u8(low[2], a)),
                                 vcntq_u8(vandq_u8(high[2], b)));
        uint8x16_t c3 = vaddq_u8(vcntq_u8(vandq_u8(low[3], a)),
                                 vcntq_u8(vandq_u8(high[3], b)));
        uint8x16_t sum = vmlaq_u8(c0, vmlaq_u8(c1, c2, two), two);

        out[i] = vaddlvq_s8(vreinterpretq_s8_u8(vmlsq_u8(sum, c3, eight)));
    }
}

static void neon_scan_bits(const uint64_t *planes, const uint64_t *rows,
                           size_t n_rows, size_t words, int32_t *out)
{
    const uint8_t *row = (const uint8_t *)rows;
    size_t bytes = words * 8;

    if (bytes == 32) {
        scan_bits_256((const uint8_t *)planes, row, n_rows, out);
        return;
    }
    for (size_t i = 0; i < n_rows; i++, row += bytes) {
        out[i] = count_row((const uint8_t *)planes, row, bytes);
    }
}

static uint32_t count_signs(const uint8_t *query, const uint8_t *row,
                            size_t bytes)
{
    uint32_t sum = 0;
    size_t i = 0;

    for (; i + 16 <= bytes; i += 16) {
        sum += vaddvq_u8(
            vcntq_u8(veorq_u8(vld1q_u8(query + i), vld1q_u8(row + i))));
    }
    if (i < bytes) {
        sum += vaddv_u8(vcnt_u8(veor_u8(vld1_u8(query + i), vld1_u8(row + i))));
    }
    return sum;
}

/* Differing bits of 32 bytes: up to 16 in each of 16 places. */
static inline uint8x16_t differ256(uint8x16_t low, uint8x16_t high,
                                   const uint8_t *row)
{
    return vaddq_u8(vcntq_u8(veorq_u8(low, vld1q_u8(row))),
                    vcntq_u8(veorq_u8(high, vld1q_u8(row + 16))));
}

/* Eight rows of 32 bytes: a bit for each within the bound. */
static inline uint64_t near_256(uint8x16_t low, uint8x16_t high,
                                const uint8_t *row, uint16x8_t bound)
{
    static const uint16_t places[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t a =
        vpaddq_u8(differ256(low, high, row), differ256(low, high, row + 32));
    uint8x16_t b = vpaddq_u8(differ256(low, high, row + 64),
                             differ256(low, high, row + 96));
    uint8x16_t c = vpaddq_u8(differ256(low, high, row + 128),
                             differ256(low, high, row + 160));
    uint8x16_t d = vpaddq_u8(differ256(low, high, row + 192),
                             differ256(low, high, row + 224));
    uint16x8_t sums = vpaddlq_u8(vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d)));

    return vaddvq_u16(vandq_u16(vcleq_u16(sums, bound), vld1q_u16(places)));
}

static void neon_scan_signs(const uint64_t *query, const uint64_t *rows,
                            size_t n_rows, size_t words, uint32_t bound,
                            uint64_t *out)
{
    const uint8_t *row = (const uint8_t *)rows;
    uint16x8_t most = vdupq_n_u16((uint16_t)(bound < 256 ? bound : 256));
    uint8x16_t low = vdupq_n_u8(0);
    uint8x16_t high = low;
    size_t bytes = words * 8;

    if (bytes == 32) {
        low = vld1q_u8((const uint8_t *)query);
        high = vld1q_u8((const uint8_t *)query + 16);
    }
    for (size_t i = 0; i < n_rows; i += 64, out++) {
        size_t n = n_rows - i < 64 ? n_rows - i : 64;
        size_t k = 0;

        *out = 0;
        for (; bytes == 32 && k + 8 <= n; k += 8) {
            *out |= near_256(low, high, row + (i + k) * bytes, most) << k;
        }
        for (; k < n; k++) {
            uint32_t count = count_signs((const uint8_t *)query,
                                         row + (i + k) * bytes, bytes);

            *out |= (uint64_t)(count <= bound) << k;
        }
    }
}

/* The two compilers name the same processor differently, and disagree on
 * whether the intrinsic exists for it: hence assembly. */
#if defined(__clang__)
#define WITH_SDOT __attribute__((target("dotprod")))
#else
#define WITH_SDOT __attribute__((target("arch=armv8.2-a+dotprod")))
#endif

WITH_SDOT static inline int32x4_t sdot(int32x4_t sum, int8x16_t a, int8x16_t b)
{
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
    return sum;
}

WITH_SDOT static int32_t sdot_dot_i8(const int8_t *a, const int8_t *b,
                                     size_t dim)
{
    int32x4_t s0 = vdupq_n_s32(0);
    int32x4_t s1 = s0;
    size_t i = 0;

    for (; i + 32 <= dim; i += 32) {
        s0 = sdot(s0, vld1q_s8(a + i), vld1q_s8(b + i));
        s1 = sdot(s1, vld1q_s8(a + i + 16), vld1q_s8(b + i + 16));
    }
    return vaddvq_s32(vaddq_s32(s0, s1)) + tail_i8(a, b, i, dim);
}

/* Two rows share the loads of the query. */
WITH_SDOT static void sdot_two_i8(const int8_t *query, const int8_t *rows,
                                  size_t dim, int32_t *out)
{
    const int8_t *b = rows + dim;
    int32x4_t a0 = vdupq_n_s32(0);
    int32x4_t a1 = a0;
    int32x4_t b0 = a0;
    int32x4_t b1 = a0;
    size_t i = 0;

    for (; i + 32 <= dim; i += 32) {
        int8x16_t q0 = vld1q_s8(query + i);
        int8x16_t q1 = vld1q_s8(query + i + 16);

        a0 = sdot(a0, q0, vld1q_s8(rows + i));
        a1 = sdot(a1, q1, vld1q_s8(rows + i + 16));
        b0 = sdot(b0, q0, vld1q_s8(b + i));
        b1 = sdot(b1, q1, vld1q_s8(b + i + 16));
    }
    out[0] = vaddvq_s32(vaddq_s32(a0, a1)) + tail_i8(query, rows, i, dim);
    out[1] = vaddvq_s32(vaddq_s32(b0, b1)) + tail_i8(query, b, i, dim);
}

/* Four rows at a time share the loads of the query. */
WITH_SDOT static void sdot_scan_i8(const int8_t *query, const int8_t *rows,
                                   size_t n_rows, size_t dim, int32_t *out)
{
    size_t whole = dim & ~(size_t)15;
    size_t i = 0;

    for (; i + 4 <= n_rows; i += 4) {
        const int8_t *r = rows + i * dim;
        int32x4_t s0 = vdupq_n_s32(0);
        int32x4_t s1 = s0;
        int32x4_t s2 = s0;
        int32x4_t s3 = s0;

        for (size_t k = 0; k < whole; k += 16) {
            int8x16_t q = vld1q_s8(query + k);

            s0 = sdot(s0, q, vld1q_s8(r + k));
            s1 = sdot(s1, q, vld1q_s8(r + dim + k));
            s2 = sdot(s2, q, vld1q_s8(r + 2 * dim + k));
            s3 = sdot(s3, q, vld1q_s8(r + 3 * dim + k));
        }
        out[i] = vaddvq_s32(s0) + tail_i8(query, r, whole, dim);
        out[i + 1] = vaddvq_s32(s1) + tail_i8(query, r + dim, whole, dim);
        out[i + 2] = vaddvq_s32(s2) + tail_i8(query, r + 2 * dim, whole, dim);
        out[i + 3] = vaddvq_s32(s3) + tail_i8(query, r + 3 * dim, whole, dim);
    }
    if (i + 2 <= n_rows) {
        sdot_two_i8(query, rows + i * dim, dim, out + i);
        i += 2;
    }
    if (i < n_rows) {
        out[i] = sdot_dot_i8(query, rows + i * dim, dim);
    }
}

static const struct vec_ops neon = {"neon", neon_dot_i8, neon_scan_i8,
                                    neon_scan_bits, neon_scan_signs};
static const struct vec_ops dotprod = {"dotprod", sdot_dot_i8, sdot_scan_i8,
                                       neon_scan_bits, neon_scan_signs};

const struct vec_ops *vec_ops_neon(void)
{
    return &neon;
}

const struct vec_ops *vec_ops_dotprod(void)
{
    return getauxval(AT_HWCAP) & HWCAP_BIT_DOTPROD ? &dotprod : NULL;
}

#else

const struct vec_ops *vec_ops_neon(void)
{
    return NULL;
}

const struct vec_ops *vec_ops_dotprod(void)
{
    return NULL;
}

#endif
