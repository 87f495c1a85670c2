/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_kernels.c - scalar, NEON and AVX2 forms. See static_kernels.h.
 *
 * Compiled with -ffp-contract=off: a fused multiply-add would round once where
 * the scalar form rounds twice.
 */
#include "model/static_kernels.h"

#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

/* Halves onto halves: 16 to 8, 4, 2, 1. */
static float fold_lanes(float *lanes)
{
    for (size_t half = STATIC_LANES / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; i++) {
            lanes[i] += lanes[i + half];
        }
    }
    return lanes[0];
}

/* --- scalar -------------------------------------------------------------- */

static void add_row_scalar(float *sum, const int8_t *row, float weight,
                           size_t dim)
{
    for (size_t i = 0; i < dim; i++) {
        sum[i] += weight * (float)row[i];
    }
}

static float sum_squares_scalar(const float *a, size_t dim)
{
    float lanes[STATIC_LANES] = {0};

    for (size_t i = 0; i < dim; i++) {
        lanes[i % STATIC_LANES] += a[i] * a[i];
    }
    return fold_lanes(lanes);
}

static const struct static_kernels scalar = {"scalar", add_row_scalar,
                                             sum_squares_scalar};

/* --- NEON ---------------------------------------------------------------- */
#if defined(__aarch64__)

static void widen_neon(const int8_t *row, float32x4_t out[4])
{
    int8x16_t bytes = vld1q_s8(row);
    int16x8_t low = vmovl_s8(vget_low_s8(bytes));
    int16x8_t high = vmovl_high_s8(bytes);

    out[0] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(low)));
    out[1] = vcvtq_f32_s32(vmovl_high_s16(low));
    out[2] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(high)));
    out[3] = vcvtq_f32_s32(vmovl_high_s16(high));
}

static float fold_neon(const float32x4_t lanes[4])
{
    float32x4_t four =
        vaddq_f32(vaddq_f32(lanes[0], lanes[2]), vaddq_f32(lanes[1], lanes[3]));
    float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));

    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

static void add_row_neon(float *sum, const int8_t *row, float weight,
                         size_t dim)
{
    for (size_t i = 0; i < dim; i += 16) {
        float32x4_t wide[4];

        widen_neon(row + i, wide);
        for (size_t k = 0; k < 4; k++) {
            float32x4_t old = vld1q_f32(sum + i + k * 4);

            vst1q_f32(sum + i + k * 4,
                      vaddq_f32(old, vmulq_n_f32(wide[k], weight)));
        }
    }
}

static float sum_squares_neon(const float *a, size_t dim)
{
    float32x4_t lanes[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0),
                            vdupq_n_f32(0)};

    for (size_t i = 0; i < dim; i += 16) {
        for (size_t k = 0; k < 4; k++) {
            float32x4_t v = vld1q_f32(a + i + k * 4);

            lanes[k] = vaddq_f32(lanes[k], vmulq_f32(v, v));
        }
    }
    return fold_neon(lanes);
}

static const struct static_kernels neon = {"neon", add_row_neon,
                                           sum_squares_neon};

static const struct static_kernels *const variants[] = {&neon, &scalar};

static int has_variant(const struct static_kernels *kernels)
{
    (void)kernels; /* every aarch64 has it */
    return 1;
}

/* --- AVX2 ---------------------------------------------------------------- */
#elif defined(__x86_64__)

#define AVX2 __attribute__((target("avx2")))

AVX2 static __m256 widen_avx2(const int8_t *row)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)row);

    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

AVX2 static float fold_avx2(__m256 low, __m256 high)
{
    __m256 eight = _mm256_add_ps(low, high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight),
                             _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));

    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

AVX2 static void add_row_avx2(float *sum, const int8_t *row, float weight,
                              size_t dim)
{
    __m256 w = _mm256_set1_ps(weight);

    for (size_t i = 0; i < dim; i += 8) {
        __m256 part = _mm256_mul_ps(widen_avx2(row + i), w);

        _mm256_storeu_ps(sum + i,
                         _mm256_add_ps(_mm256_loadu_ps(sum + i), part));
    }
}

AVX2 static float sum_squares_avx2(const float *a, size_t dim)
{
    __m256 low = _mm256_setzero_ps();
    __m256 high = _mm256_setzero_ps();

    for (size_t i = 0; i < dim; i += 16) {
        __m256 v = _mm256_loadu_ps(a + i);
        __m256 w = _mm256_loadu_ps(a + i + 8);

        low = _mm256_add_ps(low, _mm256_mul_ps(v, v));
        high = _mm256_add_ps(high, _mm256_mul_ps(w, w));
    }
    return fold_avx2(low, high);
}

static const struct static_kernels avx2 = {"avx2", add_row_avx2,
                                           sum_squares_avx2};

static const struct static_kernels *const variants[] = {&avx2, &scalar};

static int has_variant(const struct static_kernels *kernels)
{
    return kernels != &avx2 || __builtin_cpu_supports("avx2");
}

#else
static const struct static_kernels *const variants[] = {&scalar};

static int has_variant(const struct static_kernels *kernels)
{
    (void)kernels;
    return 1;
}
#endif

/* --- the choice ---------------------------------------------------------- */

const struct static_kernels *static_kernels_named(const char *name)
{
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        if (strcmp(variants[i]->name, name) == 0 && has_variant(variants[i])) {
            return variants[i];
        }
    }
    return NULL;
}

const struct static_kernels *static_kernels(void)
{
    const char *wanted = getenv("CLEW_CPU");
    const struct static_kernels *named =
        wanted ? static_kernels_named(wanted) : NULL;

    if (named) {
        return named;
    }
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        if (has_variant(variants[i])) {
            return variants[i];
        }
    }
    return &scalar;
}
