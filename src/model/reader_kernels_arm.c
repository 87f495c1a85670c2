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

#if defined(__aarch64__)

#include <arm_neon.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

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
static inline void put_four(const struct reader_dense *dense, size_t o,
                            float scale, int32x4_t sums, float *out)
{
    float32x4_t by = vmulq_n_f32(vld1q_f32(dense->scales + o), scale);
    float32x4_t y = vmulq_f32(vcvtq_f32_s32(sums), by);

    vst1q_f32(out, vaddq_f32(y, vld1q_f32(dense->bias + o)));
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
                sdot_tile(dense, h, rows, sums);
                for (size_t i = 0; i < SDOT_ROWS && r + i < n_rows; i++) {
                    put_four(dense, h, scales[r + i], sums[i],
                             out + (r + i) * dense->n_out + h);
                }
            }
        }
    }
}

/* --- SMMLA: two rows by two outputs in one instruction ------------------- */

#define PAIRS (READER_ROWS / 2)

/* Rows lie in pairs: 8 values of the one, 8 of the other, and so on. */
static void put_row(const int8_t *row, size_t r, size_t n_in, int8_t *q)
{
    int8_t *pair = q + r / 2 * 2 * n_in + r % 2 * 8;

    for (size_t k = 0; k < n_in; k += 8) {
        memcpy(pair + 2 * k, row + k, 8);
    }
}

/* An odd row's other half is never asked for, but read. */
static void fill_pair(size_t n_rows, size_t n_in, int8_t *q)
{
    if (n_rows % 2 == 1) {
        int8_t row[READER_MAX_IN] = {0};

        put_row(row, n_rows, n_in, q);
    }
}

static void paired_round(const float *x, size_t n_rows, size_t n_in, int8_t *q,
                         float *scales)
{
    int8_t row[READER_MAX_IN];

    for (size_t r = 0; r < n_rows; r++) {
        scales[r] = neon_round_row(x + r * n_in, n_in, row);
        put_row(row, r, n_in, q);
    }
    fill_pair(n_rows, n_in, q);
}

static void paired_bend(float *x, size_t n_rows, size_t n_in, int8_t *q,
                        float *scales)
{
    int8_t row[READER_MAX_IN];

    for (size_t r = 0; r < n_rows; r++) {
        neon_bend_row(x + r * n_in, n_in);
        scales[r] = neon_round_row(x + r * n_in, n_in, row);
        put_row(row, r, n_in, q);
    }
    fill_pair(n_rows, n_in, q);
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

/* The sums of a pair of rows: of each two outputs the first row's, then the
 * second's. */
static inline void put_pair(const struct reader_dense *dense, size_t o,
                            const float *scales, const int32x4_t sum[4],
                            float *out, bool is_whole)
{
    for (size_t j = 0; j < 4; j += 2) {
        int64x2_t a = vreinterpretq_s64_s32(sum[j]);
        int64x2_t b = vreinterpretq_s64_s32(sum[j + 1]);

        put_four(dense, o + 2 * j, scales[0],
                 vreinterpretq_s32_s64(vzip1q_s64(a, b)), out + 2 * j);
        if (is_whole) {
            put_four(dense, o + 2 * j, scales[1],
                     vreinterpretq_s32_s64(vzip2q_s64(a, b)),
                     out + dense->n_out + 2 * j);
        }
    }
}

/* Outputs of a tile, and of a panel of weights: what 8 rows get of a panel
 * are whole cache lines. */
#define TILE_OUTS 8
#define PANEL_OUTS 16

/* Lay out a tile's weights in the order it reads them: of 16 inputs each pair
 * of outputs' first 8, then each pair's other 8. */
static void pack_tile(const int8_t *weights, size_t n_in, int8_t *packed)
{
    for (size_t k = 0; k < n_in; k += 16) {
        for (size_t j = 0; j < TILE_OUTS / 2; j++) {
            int8x16_t a = vld1q_s8(weights + (2 * j) * n_in + k);
            int8x16_t b = vld1q_s8(weights + (2 * j + 1) * n_in + k);

            vst1q_s8(packed + k * TILE_OUTS + j * 32, low_halves(a, b));
            vst1q_s8(packed + k * TILE_OUTS + j * 32 + 16, high_halves(a, b));
        }
    }
}

/*
 * 8 rows by 8 outputs from output `o` on. rows[i] is a pair of rows; the first
 * n_rows are asked for, and `out` is where the first one's outputs belong.
 */
WITH_SMMLA static inline void smmla_tile(const struct reader_dense *dense,
                                         size_t o, const int8_t *packed,
                                         const int8_t *const rows[PAIRS],
                                         const float *scales, size_t n_rows,
                                         float *out)
{
    int32x4_t s[PAIRS][4];

    memset(s, 0, sizeof(s));
    for (size_t k = 0; k < dense->n_in; k += 16) {
        const int8_t *w = packed + k * TILE_OUTS;
        int8x16_t low[4];
        int8x16_t high[4];

        for (size_t j = 0; j < 4; j++) {
            low[j] = vld1q_s8(w + j * 32);
            high[j] = vld1q_s8(w + j * 32 + 16);
        }
        for (size_t i = 0; i < PAIRS; i++) {
            int8x16_t a = vld1q_s8(rows[i] + 2 * k);
            int8x16_t b = vld1q_s8(rows[i] + 2 * k + 16);

            for (size_t j = 0; j < 4; j++) {
                s[i][j] = smmla(s[i][j], a, low[j]);
            }
            for (size_t j = 0; j < 4; j++) {
                s[i][j] = smmla(s[i][j], b, high[j]);
            }
        }
    }
    if (n_rows >= READER_ROWS) { /* straight from the registers */
        for (size_t i = 0; i < PAIRS; i++) {
            put_pair(dense, o, scales + 2 * i, s[i], out + 2 * i * dense->n_out,
                     true);
        }
        return;
    }
    for (size_t i = 0; 2 * i < n_rows; i++) {
        put_pair(dense, o, scales + 2 * i, s[i], out + 2 * i * dense->n_out,
                 2 * i + 1 < n_rows);
    }
}

/* All rows by one panel of outputs, which is packed on the stack first: rows
 * are many, and the tile then has nothing to do but load and multiply. */
WITH_SMMLA static void smmla_panel(const struct reader_dense *dense, size_t o,
                                   const int8_t *q, const float *scales,
                                   size_t n_rows, float *out)
{
    int8_t packed[PANEL_OUTS * READER_MAX_IN];
    size_t n_pairs = (n_rows + 1) / 2;
    size_t n_in = dense->n_in;

    for (size_t h = 0; h < PANEL_OUTS; h += TILE_OUTS) {
        pack_tile(dense->weights + (o + h) * n_in, n_in, packed + h * n_in);
    }
    for (size_t p = 0; p < n_pairs; p += PAIRS) {
        const int8_t *rows[PAIRS];
        float *to = out + 2 * p * dense->n_out + o;

        for (size_t i = 0; i < PAIRS; i++) {
            /* past the end the last pair is done again */
            size_t pair = p + i < n_pairs ? p + i : n_pairs - 1;

            rows[i] = q + pair * 2 * n_in;
        }
        for (size_t h = 0; h < PANEL_OUTS; h += TILE_OUTS) {
            smmla_tile(dense, o + h, packed + h * n_in, rows, scales + 2 * p,
                       n_rows - 2 * p, to + h);
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
    "i8mm",        paired_round, paired_bend, smmla_product,
    neon_add_norm, neon_attend,  neon_dot};

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
