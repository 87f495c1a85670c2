/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_kernels_arm.c - the reader's products on 64-bit Arm: by SDOT, and by
 * SMMLA where the processor has it. See reader_kernels.h.
 *
 * A tile of rows and outputs is summed in registers over the whole input.
 * Outputs go in panels, whose weights stay in the nearest cache while all rows
 * pass.
 */
#include "model/reader_kernels.h"

#include "model/reader_fma.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

/* The switch is gone once its loop is unrolled. */
static inline float32x4_t fma_lane(float32x4_t a, float32x4_t b, size_t lane,
                                   float32x4_t c)
{
    switch (lane) {
    case 0:
        return vfmaq_laneq_f32(c, a, b, 0);
    case 1:
        return vfmaq_laneq_f32(c, a, b, 1);
    case 2:
        return vfmaq_laneq_f32(c, a, b, 2);
    default:
        return vfmaq_laneq_f32(c, a, b, 3);
    }
}

#define FMA(a, b, c) vfmaq_f32(c, a, b)
#define FMA_LANE(a, b, lane, c) fma_lane(a, b, lane, c)
#define MAX(a, b) vmaxnmq_f32(a, b)
#define K(name) neon_##name
#define TARGET
#define LANES 4
#define PLAIN_ROWS
#include "model/reader_kernels.inc"

/* Bits of AT_HWCAP and AT_HWCAP2 that say the processor has them. */
#define HWCAP_BIT_DOTPROD (1ul << 20)
#define HWCAP2_BIT_I8MM (1ul << 13)

/* The two compilers name the same processor differently, and disagree on
 * whether the intrinsics exist for it: hence assembly. */
#if defined(__clang__)
#define WITH_SDOT __attribute__((target("dotprod")))
#define WITH_SMMLA __attribute__((target("i8mm")))
#else
#define WITH_SDOT __attribute__((target("arch=armv8.2-a+dotprod")))
#define WITH_SMMLA __attribute__((target("arch=armv8.2-a+i8mm")))
#endif

/* Four sums of four outputs that belong to one row, scaled, at out[0..4). */
static inline void put_four(float32x4_t by, float32x4_t bias, int32x4_t sums,
                            float *out)
{
    vst1q_f32(out, vaddq_f32(vmulq_f32(vcvtq_f32_s32(sums), by), bias));
}

/* --- SDOT: rows as they are, tiles of 6 rows by 4 outputs ---------------- */

/* 24 sums, 4 weights and a row's values are 29 of the 32 registers. */
#define SDOT_ROWS 6
/* Outputs whose weights stay in the nearest cache while all rows pass, and a
 * row's values for that long. */
#define SDOT_PANEL 16

WITH_SDOT static inline int32x4_t sdot(int32x4_t sum, int8x16_t a, int8x16_t b)
{
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
    return sum;
}

/* Written out, so that every sum is a register whatever the compiler. */
#define SUMS(i)                                                                \
    int32x4_t s##i##0 = vdupq_n_s32(0);                                        \
    int32x4_t s##i##1 = vdupq_n_s32(0);                                        \
    int32x4_t s##i##2 = vdupq_n_s32(0);                                        \
    int32x4_t s##i##3 = vdupq_n_s32(0)
#define ADD_ROW(i)                                                             \
    do {                                                                       \
        int8x16_t a = vld1q_s8(rows[i] + k);                                   \
        s##i##0 = sdot(s##i##0, a, w0);                                        \
        s##i##1 = sdot(s##i##1, a, w1);                                        \
        s##i##2 = sdot(s##i##2, a, w2);                                        \
        s##i##3 = sdot(s##i##3, a, w3);                                        \
    } while (0)
#define FOLD_ROW(i)                                                            \
    out[i] =                                                                   \
        vpaddq_s32(vpaddq_s32(s##i##0, s##i##1), vpaddq_s32(s##i##2, s##i##3))

/* Of each row the sums of the four outputs from `o` on. */
WITH_SDOT static inline void sdot_tile(const struct reader_dense *dense,
                                       size_t o,
                                       const int8_t *const rows[SDOT_ROWS],
                                       int32x4_t out[SDOT_ROWS])
{
    const int8_t *weights = dense->weights + o * dense->n_in;
    size_t n_in = dense->n_in;

    SUMS(0);
    SUMS(1);
    SUMS(2);
    SUMS(3);
    SUMS(4);
    SUMS(5);
    for (size_t k = 0; k < n_in; k += 16) {
        int8x16_t w0 = vld1q_s8(weights + k);
        int8x16_t w1 = vld1q_s8(weights + n_in + k);
        int8x16_t w2 = vld1q_s8(weights + 2 * n_in + k);
        int8x16_t w3 = vld1q_s8(weights + 3 * n_in + k);

        ADD_ROW(0);
        ADD_ROW(1);
        ADD_ROW(2);
        ADD_ROW(3);
        ADD_ROW(4);
        ADD_ROW(5);
    }
    FOLD_ROW(0);
    FOLD_ROW(1);
    FOLD_ROW(2);
    FOLD_ROW(3);
    FOLD_ROW(4);
    FOLD_ROW(5);
}

#undef SUMS
#undef ADD_ROW
#undef FOLD_ROW

WITH_SDOT static void sdot_product(const struct reader_dense *dense,
                                   const int8_t *q, const float *scales,
                                   size_t n_rows, float *out)
{
    for (size_t o = 0; o < dense->n_out; o += SDOT_PANEL) {
        for (size_t r = 0; r < n_rows; r += SDOT_ROWS) {
            const int8_t *rows[SDOT_ROWS];
            int32x4_t sums[SDOT_ROWS];

            for (size_t i = 0; i < SDOT_ROWS; i++) {
                /* past the end the last row is done again */
                size_t row = r + i < n_rows ? r + i : n_rows - 1;

                rows[i] = q + row * dense->n_in;
            }
            for (size_t h = o; h < o + SDOT_PANEL; h += 4) {
                float32x4_t by = vld1q_f32(dense->scales + h);
                float32x4_t bias = vld1q_f32(dense->bias + h);

                sdot_tile(dense, h, rows, sums);
                for (size_t i = 0; i < SDOT_ROWS && r + i < n_rows; i++) {
                    put_four(vmulq_n_f32(by, scales[r + i]), bias, sums[i],
                             out + (r + i) * dense->n_out + h);
                }
            }
        }
    }
}

/* --- SMMLA: two rows by two outputs in one instruction ------------------- */

/* A tile: 8 rows by 8 outputs, in pairs of either. */
#define PAIRS (READER_ROWS / 2)
#define TILE_OUTS 8
/* Outputs of a panel of weights: what 8 rows get of it are whole cache lines.
 */
#define PANEL_OUTS 16
#define CACHE_LINE 64

/* Rows lie in eights: 8 values of each, the next 8 of each, and so on. */
#define ROWS_APART (8 * READER_ROWS)

static int8_t *laid_row(int8_t *q, size_t r, size_t n_in)
{
    return q + r / READER_ROWS * READER_ROWS * n_in + r % READER_ROWS * 8;
}

/* Those that make up the last eight are never asked for, but read. */
static void fill_rows(size_t n_rows, size_t n_in, int8_t *q)
{
    for (size_t r = n_rows; r % READER_ROWS != 0; r++) {
        int8_t *row = laid_row(q, r, n_in);

        for (size_t k = 0; k < n_in; k += 8) {
            memset(row + k * READER_ROWS, 0, 8);
        }
    }
}

static void laid_round(const float *x, size_t n_rows, size_t n_in, int8_t *q,
                       float *scales)
{
    for (size_t r = 0; r < n_rows; r++) {
        scales[r] = neon_round_row(x + r * n_in, n_in, laid_row(q, r, n_in),
                                   ROWS_APART);
    }
    fill_rows(n_rows, n_in, q);
}

static void laid_bend(float *x, size_t n_rows, size_t n_in, int8_t *q,
                      float *scales)
{
    for (size_t r = 0; r < n_rows; r++) {
        scales[r] =
            neon_bend_row(x + r * n_in, n_in, laid_row(q, r, n_in), ROWS_APART);
    }
    fill_rows(n_rows, n_in, q);
}

WITH_SMMLA static inline int32x4_t smmla(int32x4_t sum, int8x16_t a,
                                         int8x16_t b)
{
    __asm__("smmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
    return sum;
}

static inline int8x16_t low_halves(int8x16_t a, int8x16_t b)
{
    return vreinterpretq_s8_s64(
        vzip1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

static inline int8x16_t high_halves(int8x16_t a, int8x16_t b)
{
    return vreinterpretq_s8_s64(
        vzip2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

/* The sums of a pair of rows and 8 outputs: of each two outputs the first
 * row's, then the second's. */
static inline void put_pair(const float32x4_t by[2], const float32x4_t bias[2],
                            const float *scales, const int32x4_t sum[4],
                            float *out, size_t pitch)
{
    for (size_t j = 0; j < 2; j++) {
        int64x2_t a = vreinterpretq_s64_s32(sum[2 * j]);
        int64x2_t b = vreinterpretq_s64_s32(sum[2 * j + 1]);
        int32x4_t first = vreinterpretq_s32_s64(vzip1q_s64(a, b));
        int32x4_t second = vreinterpretq_s32_s64(vzip2q_s64(a, b));

        put_four(vmulq_n_f32(by[j], scales[0]), bias[j], first, out + 4 * j);
        put_four(vmulq_n_f32(by[j], scales[1]), bias[j], second,
                 out + pitch + 4 * j);
    }
}

/* Lay out a tile's weights in the order it reads them: of 8 inputs each pair
 * of outputs, then of the next 8. */
static void pack_tile(const int8_t *weights, size_t n_in, int8_t *packed)
{
    for (size_t k = 0; k < n_in; k += 16) {
        int8_t *to = packed + k * TILE_OUTS;

        for (size_t j = 0; j < TILE_OUTS / 2; j++) {
            int8x16_t a = vld1q_s8(weights + (2 * j) * n_in + k);
            int8x16_t b = vld1q_s8(weights + (2 * j + 1) * n_in + k);

            vst1q_s8(to + j * 16, low_halves(a, b));
            vst1q_s8(to + TILE_OUTS * 8 + j * 16, high_halves(a, b));
        }
    }
}

/* 8 rows by 8 outputs from output `o` on, at `out`, whose rows are `pitch`
 * apart. All is loaded before it is used, and no sum is waited for. */
WITH_SMMLA static inline void
smmla_tile(const struct reader_dense *dense, size_t o, const int8_t *packed,
           const int8_t *rows, const float *scales, float *out, size_t pitch)
{
    int32x4_t s[PAIRS][4];
    float32x4_t by[2];
    float32x4_t bias[2];

    memset(s, 0, sizeof(s));
    for (size_t k = 0; k < dense->n_in; k += 8) {
        int8x16_t w[4];
        int8x16_t a[PAIRS];

        for (size_t j = 0; j < 4; j++) {
            w[j] = vld1q_s8(packed + k * TILE_OUTS + j * 16);
        }
        for (size_t i = 0; i < PAIRS; i++) {
            a[i] = vld1q_s8(rows + k * READER_ROWS + i * 16);
        }
        for (size_t i = 0; i < PAIRS; i++) {
            for (size_t j = 0; j < 4; j++) {
                s[i][j] = smmla(s[i][j], a[i], w[j]);
            }
        }
    }
    for (size_t j = 0; j < 2; j++) {
        by[j] = vld1q_f32(dense->scales + o + 4 * j);
        bias[j] = vld1q_f32(dense->bias + o + 4 * j);
    }
    for (size_t i = 0; i < PAIRS; i++) {
        put_pair(by, bias, scales + 2 * i, s[i], out + 2 * i * pitch, pitch);
    }
}

/* 8 rows by a panel, of which only the first few are asked for. */
WITH_SMMLA static void smmla_last(const struct reader_dense *dense, size_t o,
                                  const int8_t *packed, const int8_t *rows,
                                  const float *scales, size_t n, float *out)
{
    float all[READER_ROWS][PANEL_OUTS];
    float by[READER_ROWS] = {0};

    memcpy(by, scales, n * sizeof(float));
    for (size_t h = 0; h < PANEL_OUTS; h += TILE_OUTS) {
        smmla_tile(dense, o + h, packed + h * dense->n_in, rows, by, &all[0][h],
                   PANEL_OUTS);
    }
    for (size_t r = 0; r < n; r++) {
        memcpy(out + r * dense->n_out, all[r], sizeof(all[r]));
    }
}

/* While the eight rows from `r` on are multiplied, their share of the weights
 * that come next is fetched. */
static inline void fetch(const int8_t *next, size_t size, size_t r,
                         size_t n_rows)
{
    size_t end = r + READER_ROWS < n_rows ? r + READER_ROWS : n_rows;

    for (size_t k = r * size / n_rows; k < end * size / n_rows;
         k += CACHE_LINE) {
        __builtin_prefetch(next + k, 0, 3);
    }
}

/* All rows by one panel of outputs, which is packed on the stack first: rows
 * are many, and the tile then has nothing to do but load and multiply. */
WITH_SMMLA static void smmla_panel(const struct reader_dense *dense, size_t o,
                                   const int8_t *q, const float *scales,
                                   size_t n_rows, float *out)
{
    int8_t packed[PANEL_OUTS * READER_MAX_IN];
    size_t n_in = dense->n_in;
    const int8_t *weights = dense->weights + o * n_in;
    const int8_t *next = weights + PANEL_OUTS * n_in;
    size_t left = o + PANEL_OUTS < dense->n_out ? PANEL_OUTS * n_in : 0;

    for (size_t h = 0; h < PANEL_OUTS; h += TILE_OUTS) {
        pack_tile(weights + h * n_in, n_in, packed + h * n_in);
    }
    for (size_t r = 0; r < n_rows; r += READER_ROWS) {
        const int8_t *rows = q + r * n_in;
        float *to = out + r * dense->n_out + o;

        fetch(next, left, r, n_rows);
        if (n_rows - r < READER_ROWS) {
            smmla_last(dense, o, packed, rows, scales + r, n_rows - r, to);
            break;
        }
        for (size_t h = 0; h < PANEL_OUTS; h += TILE_OUTS) {
            smmla_tile(dense, o + h, packed + h * n_in, rows, scales + r,
                       to + h, dense->n_out);
        }
    }
}

static void smmla_product(const struct reader_dense *dense, const int8_t *q,
                          const float *scales, size_t n_rows, float *out)
{
    for (size_t o = 0; o < dense->n_out; o += PANEL_OUTS) {
        smmla_panel(dense, o, q, scales, n_rows, out);
    }
}

static const struct reader_kernels with_sdot = {
    "dotprod",     neon_round,  neon_bend, sdot_product,
    neon_add_norm, neon_attend, neon_dot};
static const struct reader_kernels with_smmla = {
    "i8mm",        laid_round,  laid_bend, smmla_product,
    neon_add_norm, neon_attend, neon_dot};

const struct reader_kernels *reader_kernels_dotprod(void)
{
    return getauxval(AT_HWCAP) & HWCAP_BIT_DOTPROD ? &with_sdot : NULL;
}

const struct reader_kernels *reader_kernels_i8mm(void)
{
    return getauxval(AT_HWCAP2) & HWCAP2_BIT_I8MM ? &with_smmla : NULL;
}

#else

const struct reader_kernels *reader_kernels_dotprod(void)
{
    return NULL;
}

const struct reader_kernels *reader_kernels_i8mm(void)
{
    return NULL;
}

#endif
