/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_kernels_x86.c - the reader's kernels on x86-64: AVX2, AVX-512 with
 * VNNI, and AMX. See reader_kernels.h.
 *
 * A tile of rows and outputs is summed in registers over the whole input;
 * weights stay in the nearest cache while all rows pass.
 */
#include "model/reader_kernels.h"

#include "model/reader_fma.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* A tile: rows by two registers of outputs, summed in 24 of the 32. */
#define VNNI_ROWS 12
#define VNNI_OUTS 32

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

/* Sixteen rows of sixteen numbers become sixteen columns. */
VNNI static inline void turn_over(__m512i m[16])
{
    __m512i t[16];

    for (size_t i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(m[i], m[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(m[i], m[i + 1]);
    }
    for (size_t i = 0; i < 16; i += 4) {
        m[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        m[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        m[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        m[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (size_t i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_i32x4(m[i], m[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(m[i], m[i + 4], 0xDD);
        t[i + 8] = _mm512_shuffle_i32x4(m[i + 8], m[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(m[i + 8], m[i + 12], 0xDD);
    }
    for (size_t i = 0; i < 8; i++) {
        m[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        m[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD);
    }
}

/*
 * The weights of VNNI_OUTS outputs from `o` on, four of each side by side as
 * the instruction takes them, so that no sum has to be gathered out of a
 * register: panel[n_in / 4][VNNI_OUTS][4], made up to 64 inputs with zeros. It
 * is made for all rows at once.
 */
VNNI static void pack_panel(const struct reader_dense *dense, size_t o,
                            int8_t *panel)
{
    size_t n_in = dense->n_in;

    for (size_t half = 0; half < VNNI_OUTS; half += 16) {
        for (size_t k = 0; k < n_in; k += 64) {
            size_t left = n_in - k < 64 ? n_in - k : 64;
            __mmask64 mask = ~0ULL >> (64 - left);
            __m512i m[16];

            for (size_t i = 0; i < 16; i++) {
                size_t out = o + half + i;

                m[i] = out < dense->n_out
                           ? _mm512_maskz_loadu_epi8(mask, dense->weights +
                                                               out * n_in + k)
                           : _mm512_setzero_si512();
            }
            turn_over(m);
            for (size_t i = 0; i < 16; i++) {
                _mm512_storeu_si512(
                    panel + (k / 4 + i) * VNNI_OUTS * 4 + half * 4, m[i]);
            }
        }
    }
}

/* 128 times the sum of each output's weights. */
VNNI static void sum_panel(const int8_t *panel, size_t n_in, __m512i off[2])
{
    __m512i lifted = _mm512_set1_epi8(-128); /* 128 without a sign */

    off[0] = off[1] = _mm512_setzero_si512();
    for (size_t k = 0; k < n_in / 4; k++) {
        const int8_t *w = panel + k * VNNI_OUTS * 4;

        off[0] = _mm512_dpbusd_epi32(off[0], lifted, _mm512_loadu_si512(w));
        off[1] =
            _mm512_dpbusd_epi32(off[1], lifted, _mm512_loadu_si512(w + 64));
    }
}

VNNI static inline void vnni_tile(const int8_t *panel, size_t n_in,
                                  const int8_t *const rows[VNNI_ROWS],
                                  __m512i sum[VNNI_ROWS][2])
{
#pragma GCC unroll 12
    for (size_t i = 0; i < VNNI_ROWS; i++) {
        sum[i][0] = sum[i][1] = _mm512_setzero_si512();
    }
    for (size_t k = 0; k < n_in; k += 4) {
        const int8_t *w = panel + k * VNNI_OUTS;
        __m512i low = _mm512_loadu_si512(w);
        __m512i high = _mm512_loadu_si512(w + 64);

#pragma GCC unroll 12
        for (size_t i = 0; i < VNNI_ROWS; i++) {
            int32_t four;
            __m512i a;

            memcpy(&four, rows[i] + k, sizeof(four));
            a = _mm512_set1_epi32(four);
            sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], a, low);
            sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], a, high);
        }
    }
}

/* As scaled(), of sixteen outputs from `o` on. */
VNNI static inline void put_scaled(const struct reader_dense *dense, size_t o,
                                   float scale, __m512i sum, float *out)
{
    size_t left = o < dense->n_out ? dense->n_out - o : 0;
    __mmask16 mask = left < 16 ? (__mmask16)((1u << left) - 1) : 0xFFFF;
    __m512 by = _mm512_mul_ps(_mm512_set1_ps(scale),
                              _mm512_maskz_loadu_ps(mask, dense->scales + o));
    __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), by);

    x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask, dense->bias + o));
    _mm512_mask_storeu_ps(out + o, mask, x);
}

VNNI static void vnni_panel(const struct reader_dense *dense, size_t o,
                            const int8_t *q, const float *scales, size_t n_rows,
                            float *out)
{
    /* 128 KB: every thread that reads has a stack of a megabyte at least */
    _Alignas(64) int8_t panel[READER_MAX_IN * VNNI_OUTS];
    size_t n_in = dense->n_in;
    __m512i off[2];

    pack_panel(dense, o, panel);
    sum_panel(panel, n_in, off);
    for (size_t r = 0; r < n_rows; r += VNNI_ROWS) {
        const int8_t *rows[VNNI_ROWS];
        __m512i sum[VNNI_ROWS][2];

        for (size_t i = 0; i < VNNI_ROWS; i++) {
            rows[i] = q + (r + i < n_rows ? r + i : n_rows - 1) * n_in;
        }
        vnni_tile(panel, n_in, rows, sum);
        for (size_t i = 0; i < VNNI_ROWS && r + i < n_rows; i++) {
            for (size_t half = 0; half < 2; half++) {
                put_scaled(dense, o + half * 16, scales[r + i],
                           _mm512_sub_epi32(sum[i][half], off[half]),
                           out + (r + i) * dense->n_out);
            }
        }
    }
}

VNNI static void vnni_product(const struct reader_dense *dense, const int8_t *q,
                              const float *scales, size_t n_rows, float *out)
{
    for (size_t o = 0; o < dense->n_out; o += VNNI_OUTS) {
        vnni_panel(dense, o, q, scales, n_rows, out);
    }
}

static const struct reader_kernels with_vnni = {
    "vnni",        lifted_round, lifted_bend, vnni_product,
    vnni_add_norm, vnni_attend,  vnni_dot};

/* --- AMX: tiles of sixteen rows and outputs ------------------------------ */

#define AMX                                                                    \
    __attribute__((                                                            \
        target("amx-tile,amx-int8,avx512f,avx512bw,avx512vl,avx512vnni")))
#define AMX_ROWS (2 * READER_ROWS)
#define AMX_STEP READER_STEP
#define AMX_TILE (AMX_ROWS * AMX_STEP)
/* Outputs that are summed side by side. */
#define AMX_OUTS (2 * AMX_ROWS)
/* What the kernel is asked for: the registers are large, so it wants to know
 * who uses them (arch_prctl(2), Linux 5.16). */
#define REQUEST_PERMISSION 0x1023
#define TILE_DATA 18

/*
 * Of two tiles the one that is multiplied from the left is taken as it lies:
 * that is the weights, so that these, which are many, are read where they are.
 * Rounded rows are turned for it, once for all outputs: [row / 16][k / 64][16]
 * [16 rows][4], from the first whole line of `q` on. Sums come one output below
 * the other, and are turned back as they are scaled.
 */
static int8_t *first_line(const int8_t *q)
{
    return (int8_t *)(((uintptr_t)q + AMX_STEP - 1) / AMX_STEP * AMX_STEP);
}

static size_t steps_of(size_t n_in)
{
    return (n_in + AMX_STEP - 1) / AMX_STEP;
}

/* Room for sixteen rows, and from one to the next: not a whole page, of which
 * the nearest cache holds twelve lines at the same place. */
#define STRETCH_BYTES (AMX_ROWS * (READER_MAX_IN + AMX_STEP))

static size_t row_bytes(size_t n_in)
{
    return (steps_of(n_in) + 1) * AMX_STEP;
}

/* Turn a stretch of sixteen rows; of those that are not there come sums that
 * nobody looks at. */
VNNI static void turn_rows(const int8_t *rows, size_t n_in, int8_t *out)
{
    for (size_t k = 0; k < n_in; k += AMX_STEP) {
        __m512i m[16];

        for (size_t i = 0; i < AMX_ROWS; i++) {
            m[i] = _mm512_loadu_si512(rows + i * row_bytes(n_in) + k);
        }
        turn_over(m);
        for (size_t i = 0; i < AMX_ROWS; i++) {
            _mm512_store_si512(out + k * AMX_ROWS + i * AMX_STEP, m[i]);
        }
    }
}

/* Where row `r` goes: made up to whole steps with zeros. */
static int8_t *begin_row(int8_t *rows, size_t r, size_t n_in)
{
    int8_t *row = rows + r % AMX_ROWS * row_bytes(n_in);

    memset(row + n_in, 0, steps_of(n_in) * AMX_STEP - n_in);
    return row;
}

/* The last of a stretch: they are turned. */
static void end_row(const int8_t *rows, size_t r, size_t n_rows, size_t n_in,
                    int8_t *q)
{
    if (r % AMX_ROWS == AMX_ROWS - 1 || r == n_rows - 1) {
        turn_rows(rows, n_in,
                  first_line(q) + r / AMX_ROWS * steps_of(n_in) * AMX_TILE);
    }
}

static void turned_round(const float *x, size_t n_rows, size_t n_in, int8_t *q,
                         float *scales)
{
    _Alignas(64) int8_t rows[STRETCH_BYTES];

    for (size_t r = 0; r < n_rows; r++) {
        scales[r] =
            vnni_round_row(x + r * n_in, n_in, begin_row(rows, r, n_in), 8);
        end_row(rows, r, n_rows, n_in, q);
    }
}

static void turned_bend(float *x, size_t n_rows, size_t n_in, int8_t *q,
                        float *scales)
{
    _Alignas(64) int8_t rows[STRETCH_BYTES];

    for (size_t r = 0; r < n_rows; r++) {
        scales[r] =
            vnni_bend_row(x + r * n_in, n_in, begin_row(rows, r, n_in), 8);
        end_row(rows, r, n_rows, n_in, q);
    }
}

/* Eight whole tiles. */
AMX static void begin_tiles(void)
{
    static const struct {
        uint8_t palette;
        uint8_t start_row;
        uint8_t reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1,
                .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

    _tile_loadconfig(&config);
}

/* The weights of AMX_OUTS outputs: rows, `apart` bytes from each other. Those
 * of the next are fetched meanwhile, a little with every step. */
struct weights {
    const int8_t *at;
    size_t apart;
    size_t below; /* bytes from the first sixteen rows to the others */
    const int8_t *next;
    size_t n_lines; /* of them, a step */
};

static inline void fetch_next(struct weights *weights)
{
    for (size_t i = 0; i < weights->n_lines; i++) {
        __builtin_prefetch(weights->next, 0, 3);
        weights->next += AMX_STEP;
    }
}

/* Sums of AMX_OUTS outputs by sixteen rows, or by twice as many. */
AMX static inline void amx_tile(struct weights *weights, size_t n_steps,
                                const int8_t *rows, bool is_two,
                                int32_t sums[AMX_OUTS][2 * AMX_ROWS])
{
    const int8_t *others = rows + n_steps * AMX_TILE;
    const int8_t *w = weights->at;

    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t k = 0; k < n_steps; k++) {
        _tile_loadd(4, w, weights->apart);
        _tile_loadd(6, rows + k * AMX_TILE, AMX_STEP);
        _tile_loadd(5, w + weights->below, weights->apart);
        fetch_next(weights);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(2, 5, 6);
        if (is_two) {
            _tile_loadd(7, others + k * AMX_TILE, AMX_STEP);
            _tile_dpbssd(1, 4, 7);
            _tile_dpbssd(3, 5, 7);
        }
        w += AMX_STEP;
    }
    _tile_stored(0, sums[0], sizeof(*sums));
    _tile_stored(2, sums[AMX_ROWS], sizeof(*sums));
    if (is_two) {
        _tile_stored(1, sums[0] + AMX_ROWS, sizeof(*sums));
        _tile_stored(3, sums[AMX_ROWS] + AMX_ROWS, sizeof(*sums));
    }
}

/* As scaled(), of sixteen outputs from `o` on and `n` rows of as many, whose
 * sums lie one output below the other. */
AMX static inline void put_turned(const struct reader_dense *dense, size_t o,
                                  const int32_t *sums, const float *scales,
                                  size_t n, float *out)
{
    __mmask16 mask = n < AMX_ROWS ? (__mmask16)((1u << n) - 1) : 0xFFFF;
    __m512 scale = _mm512_maskz_loadu_ps(mask, scales);
    __m512i m[16];

    for (size_t i = 0; i < 16; i++) {
        __m512 by = _mm512_mul_ps(scale, _mm512_set1_ps(dense->scales[o + i]));
        __m512 x = _mm512_mul_ps(
            _mm512_cvtepi32_ps(_mm512_load_si512(sums + i * 2 * AMX_ROWS)), by);

        x = _mm512_add_ps(x, _mm512_set1_ps(dense->bias[o + i]));
        m[i] = _mm512_castps_si512(x);
    }
    turn_over(m);
    for (size_t i = 0; i < n && i < AMX_ROWS; i++) {
        _mm512_storeu_si512(out + i * dense->n_out + o, m[i]);
    }
}

/* All rows by the outputs from `o` on. */
AMX static void amx_outputs(const struct reader_dense *dense, size_t o,
                            struct weights *weights, const int8_t *rows,
                            const float *scales, size_t n_rows, float *out)
{
    _Alignas(64) int32_t sums[AMX_OUTS][2 * AMX_ROWS];
    size_t n_steps = steps_of(dense->n_in);
    size_t n_outs = dense->n_out - o < AMX_OUTS ? dense->n_out - o : AMX_OUTS;

    for (size_t r = 0; r < n_rows; r += 2 * AMX_ROWS) {
        if (n_rows - r > AMX_ROWS) {
            amx_tile(weights, n_steps, rows, true, sums);
        } else {
            amx_tile(weights, n_steps, rows, false, sums);
        }
        rows += 2 * n_steps * AMX_TILE;
        for (size_t i = 0; i < 2 * AMX_ROWS && r + i < n_rows; i += AMX_ROWS) {
            for (size_t k = 0; k < n_outs; k += 16) {
                put_turned(dense, o + k, sums[k] + i, scales + r + i,
                           n_rows - r - i, out + (r + i) * dense->n_out);
            }
        }
    }
}

/* Rows that end within a step are copied, so that nothing is read behind the
 * last. What stands behind the others meets zeros. */
static void copy_weights(struct weights *weights, size_t n_outs, size_t n_in,
                         int8_t *own)
{
    size_t apart = steps_of(n_in) * AMX_STEP;

    for (size_t i = 0; i < n_outs; i++) {
        memcpy(own + i * apart, weights->at + i * n_in, n_in);
        memset(own + i * apart + n_in, 0, apart - n_in);
    }
    /* that a tile reads them is not said by its intrinsic */
    __asm__ volatile("" : : "r"(own) : "memory");
    weights->at = own;
    weights->apart = apart;
    weights->below = weights->below ? AMX_ROWS * apart : 0;
}

AMX static void amx_product(const struct reader_dense *dense, const int8_t *q,
                            const float *scales, size_t n_rows, float *out)
{
    /* 128 KB: every thread that reads has a stack of a megabyte at least */
    int8_t own[AMX_OUTS * READER_MAX_IN];
    size_t n_groups = (n_rows + 2 * AMX_ROWS - 1) / (2 * AMX_ROWS);
    size_t n_in = dense->n_in;

    begin_tiles();
    for (size_t o = 0; o < dense->n_out; o += AMX_OUTS) {
        size_t n_outs =
            dense->n_out - o < AMX_OUTS ? dense->n_out - o : AMX_OUTS;
        /* where there are sixteen only they are taken twice */
        struct weights weights = {
            .at = dense->weights + o * n_in,
            .apart = n_in,
            .below = n_outs > AMX_ROWS ? AMX_ROWS * n_in : 0,
            .next = dense->weights + (o + n_outs) * n_in,
            .n_lines = (AMX_OUTS + n_groups - 1) / n_groups};

        if (n_in % AMX_STEP != 0) {
            copy_weights(&weights, n_outs, n_in, own);
        }
        amx_outputs(dense, o, &weights, first_line(q), scales, n_rows, out);
    }
    _tile_release();
}

static const struct reader_kernels with_amx = {
    "amx",         turned_round, turned_bend, amx_product,
    vnni_add_norm, vnni_attend,  vnni_dot};

/* Bits 24 and 25 of the processor's word on what it extends. */
static bool has_tiles(void)
{
    unsigned a;
    unsigned b;
    unsigned c;
    unsigned d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 24 & d >> 25 & 1 &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

const struct reader_kernels *reader_kernels_amx(void)
{
    return reader_kernels_vnni() && has_tiles() ? &with_amx : NULL;
}

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

const struct reader_kernels *reader_kernels_amx(void)
{
    return NULL;
}

const struct reader_kernels *reader_kernels_avx2(void)
{
    return NULL;
}

const struct reader_kernels *reader_kernels_vnni(void)
{
    return NULL;
}

#endif
