/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_vec.c - every kernel gives exactly what the scalar one gives, and the
 * quantised forms rank as the floats do.
 */
#include "support/test.h"

#include "base/rand.h"
#include "vec/vec.h"

#include <math.h>

#define MAX_DIM 2049
#define N_ROWS 7

static const char *const names[] = {"neon", "dotprod", "avx2", "vnni",
                                    "avx512"};

static void each_kernel_equals_scalar_at_every_dimension(void **state)
{
    static int8_t rows[N_ROWS * MAX_DIM];
    static int8_t query[MAX_DIM];
    const struct vec_ops *truth = vec_ops_named("scalar");
    int32_t want[N_ROWS];
    int32_t got[N_ROWS];
    int n_kernels = 0;

    (void)state;
    rand_seed(1);
    rand_bytes(rows, sizeof(rows));
    rand_bytes(query, sizeof(query));
    memset(rows, -128, MAX_DIM); /* the worst case for widths */
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        const struct vec_ops *ops = vec_ops_named(names[k]);

        if (!ops) {
            continue;
        }
        n_kernels++;
        for (size_t dim = 0; dim <= MAX_DIM; dim++) {
            truth->scan_i8(query, rows, N_ROWS, dim, want);
            ops->scan_i8(query, rows, N_ROWS, dim, got);
            assert_memory_equal(want, got, sizeof(want));
            assert_int_equal(ops->dot_i8(query, rows, dim), want[0]);
        }
    }
    assert_true(n_kernels > 0);
}

static void each_bit_kernel_equals_scalar_at_every_width(void **state)
{
    enum { MAX_WORDS = 33 };
    static uint64_t rows[N_ROWS * MAX_WORDS];
    static uint64_t planes[VEC_PLANES * MAX_WORDS];
    int32_t want[N_ROWS];
    int32_t got[N_ROWS];

    (void)state;
    rand_seed(2);
    rand_bytes(rows, sizeof(rows));
    rand_bytes(planes, sizeof(planes));
    memset(rows, 0xff, sizeof(uint64_t) * MAX_WORDS);
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        const struct vec_ops *ops = vec_ops_named(names[k]);

        for (size_t words = 0; ops && words <= MAX_WORDS; words++) {
            vec_ops_named("scalar")->scan_bits(planes, rows, N_ROWS, words,
                                               want);
            ops->scan_bits(planes, rows, N_ROWS, words, got);
            assert_memory_equal(want, got, sizeof(want));
        }
    }
    memset(planes, 0xff, sizeof(planes));
    vec_ops()->scan_bits(planes, rows, 1, MAX_WORDS, got);
    assert_int_equal(got[0], -64 * MAX_WORDS);
}

static void each_sign_kernel_marks_what_is_near(void **state)
{
    enum { MAX_WORDS = 33, ROWS = 151 };
    static uint64_t rows[ROWS * MAX_WORDS];
    static uint64_t query[MAX_WORDS];

    (void)state;
    rand_seed(4);
    rand_bytes(rows, sizeof(rows));
    rand_bytes(query, sizeof(query));
    memset(rows, 0xff, sizeof(uint64_t) * MAX_WORDS);
    for (size_t k = 0; k <= sizeof(names) / sizeof(names[0]); k++) {
        const struct vec_ops *ops = vec_ops_named(k ? names[k - 1] : "scalar");

        for (uint32_t words = 0; ops && words <= MAX_WORDS; words++) {
            uint32_t bounds[] = {0,          words * 30,
                                 words * 32, words * 64 - 1,
                                 words * 64, UINT32_MAX};

            for (size_t b = 0; b < sizeof(bounds) / sizeof(bounds[0]); b++) {
                uint64_t got[(ROWS + 63) / 64];

                memset(got, 0xff, sizeof(got));
                ops->scan_signs(query, rows, ROWS, words, bounds[b], got);
                for (size_t i = 0; i < sizeof(got) * 8; i++) {
                    bool is_near =
                        i < ROWS &&
                        vec_differ(query, rows + i * words, words) <= bounds[b];

                    assert_int_equal(got[i / 64] >> (i % 64) & 1, is_near);
                }
            }
        }
    }
}

static void the_bit_scan_sums_the_query_over_set_bits(void **state)
{
    int8_t query[100];
    int8_t row[100];
    uint64_t planes[VEC_PLANES * 2];
    uint64_t bits[2];
    int32_t got = 0;
    int32_t want = 0;
    int32_t sum = 0;
    int32_t all = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        query[i] = (int8_t)(i - 50);
        row[i] = (int8_t)(i % 3 - 1);
        int scaled = 14 * query[i];
        int value = (scaled + (scaled < 0 ? -50 : 50)) / 100;

        want += row[i] > 0 ? value : 0;
        all += value;
    }
    assert_true(vec_query_planes(query, 100, planes, &sum) > 0);
    vec_sign_bits(row, 100, bits);
    vec_ops()->scan_bits(planes, bits, 1, 2, &got);
    assert_int_equal(got, want);
    assert_int_equal(sum, all);
}

/* Vectors around a few centres, as sentences on a few subjects are. */
static void make_vector(float *out, size_t dim, const float *centre)
{
    float norm = 0;

    for (size_t i = 0; i < dim; i++) {
        float noise = 0;

        for (int k = 0; k < 4; k++) {
            noise += (float)rand_below(2001) / 1000.0f - 1.0f;
        }
        out[i] = noise + (centre ? 16 * centre[i] : 0);
        norm += out[i] * out[i];
    }
    norm = 1 / sqrtf(norm);
    for (size_t i = 0; i < dim; i++) {
        out[i] *= norm;
    }
}

/* How many of `scores` are above the one at `at`. */
static size_t rank_of(const float *scores, size_t n, size_t at)
{
    size_t above = 0;

    for (size_t i = 0; i < n; i++) {
        above += scores[i] > scores[at];
    }
    return above;
}

enum { N = 4000, DIM = 256, WORDS = DIM / 64, N_QUERIES = 10 };

struct corpus {
    float vectors[N * DIM];
    int8_t rows[N * DIM];
    float scales[N];
    uint64_t bits[N * WORDS];
    float exact[N];
    float rough[N];
    float fine[N];
    int32_t out[N];
};

static void score_all(struct corpus *c, const float *query)
{
    int8_t quantised[DIM];
    uint64_t planes[VEC_PLANES * WORDS];
    int32_t sum;

    (void)vec_quantise(query, DIM, quantised);
    (void)vec_query_planes(quantised, DIM, planes, &sum);
    vec_ops()->scan_bits(planes, c->bits, N, WORDS, c->out);
    for (size_t i = 0; i < N; i++) {
        c->rough[i] = (float)c->out[i];
    }
    vec_ops()->scan_i8(quantised, c->rows, N, DIM, c->out);
    for (size_t i = 0; i < N; i++) {
        c->fine[i] = (float)c->out[i] * c->scales[i];
        c->exact[i] = 0;
        for (size_t d = 0; d < DIM; d++) {
            c->exact[i] += query[d] * c->vectors[i * DIM + d];
        }
    }
}

static void a_shortlist_of_500_holds_the_exact_top_10(void **state)
{
    struct corpus *c = calloc(1, sizeof(*c));
    size_t in_shortlist = 0;
    size_t in_top = 0;

    (void)state;
    assert_non_null(c);
    rand_seed(3);
    for (size_t i = 0; i < N; i++) {
        make_vector(c->vectors + i * DIM, DIM,
                    i < 200 ? NULL : c->vectors + i % 200 * DIM);
        c->scales[i] =
            vec_quantise(c->vectors + i * DIM, DIM, c->rows + i * DIM);
        vec_sign_bits(c->rows + i * DIM, DIM, c->bits + i * WORDS);
    }
    for (size_t k = 0; k < N_QUERIES; k++) {
        float query[DIM];

        make_vector(query, DIM, c->vectors + k * DIM);
        score_all(c, query);
        for (size_t i = 0; i < N; i++) {
            if (rank_of(c->exact, N, i) < 10) {
                in_shortlist += rank_of(c->rough, N, i) < 500;
                in_top += rank_of(c->fine, N, i) < 11;
            }
        }
    }
    assert_true(in_shortlist >= 10 * N_QUERIES * 97 / 100);
    assert_true(in_top >= 10 * N_QUERIES * 97 / 100);
    free(c);
}

static void a_centre_is_taken_off_and_put_back(void **state)
{
    enum { LEN = 100 };
    float centre[LEN];
    float x[LEN];
    float y[LEN];
    int8_t a[LEN];
    int8_t b[LEN];
    struct vec_form form;
    struct vec_form other;
    float offset = 0;
    float exact = 0;

    (void)state;
    for (int i = 0; i < LEN; i++) {
        centre[i] = (float)(i % 7) / 50;
        x[i] = centre[i] + (float)(i % 5 - 2) / 100;
        y[i] = centre[i] + (float)(i % 3 - 1) / 100;
        offset += y[i] * centre[i];
        exact += x[i] * y[i];
    }
    vec_quantise_about(x, centre, LEN, a, &form);
    vec_quantise_about(y, centre, LEN, b, &other);
    assert_float_equal(offset + form.bias +
                           form.scale * other.scale *
                               (float)vec_ops()->dot_i8(a, b, LEN),
                       exact, 5e-5);
    /* nearer than without a centre, where the steps are coarser */
    assert_true(form.scale < vec_quantise(x, LEN, a) / 2);
    assert_true(form.sign > 0);
    memset(x, 0, sizeof(x)); /* nothing is not what lies at the centre */
    vec_quantise_about(x, centre, LEN, a, &form);
    assert_true(form.scale <= 0);
}

static void mixing_keeps_dot_products_and_spreads_axes(void **state)
{
    static const size_t dims[] = {1, 2, 3, 100, 256, 384, 1000, VEC_MAX_DIM};
    static float x[VEC_MAX_DIM];
    static float y[VEC_MAX_DIM];

    (void)state;
    for (size_t n = 0; n < sizeof(dims) / sizeof(dims[0]); n++) {
        double before = 0;
        double after = 0;
        float largest = 0;

        for (size_t i = 0; i < dims[n]; i++) {
            x[i] = i == dims[n] / 2 ? 1.0f : 0.0f; /* all on one axis */
            y[i] = (float)(i * 7 % 11) / 10 - 0.5f;
            before += (double)x[i] * (double)y[i];
        }
        vec_mix(x, dims[n]);
        vec_mix(y, dims[n]);
        for (size_t i = 0; i < dims[n]; i++) {
            after += (double)x[i] * (double)y[i];
            largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
        }
        assert_float_equal(before, after, 1e-4);
        assert_true(dims[n] < 100 || largest < 0.2f);
    }
}

static void a_query_is_quantised_twice_as_fine(void **state)
{
    enum { LEN = 64 };
    float x[LEN];
    float y[LEN];
    int8_t a[LEN];
    int8_t b[2 * LEN];
    struct vec_form form;
    struct vec_form query;
    float exact = 0;
    float fine = 0;
    float coarse;

    (void)state;
    for (int i = 0; i < LEN; i++) {
        x[i] = (float)(i * i % 17) / 20 - 0.4f;
        y[i] = (float)(i * 5 % 13) / 20 - 0.3f;
        exact += x[i] * y[i];
    }
    vec_quantise_about(x, NULL, LEN, a, &form);
    vec_quantise_query(y, NULL, LEN, b, &query, &fine);
    coarse = form.scale * query.scale * (float)vec_ops()->dot_i8(a, b, LEN);
    fine *= form.scale * (float)vec_ops()->dot_i8(a, b + LEN, LEN);
    assert_true(fine > 0 || fine < 0);
    assert_float_equal(coarse + fine, exact, 0.004f);
    memset(y, 0, sizeof(y));
    vec_quantise_query(y, NULL, LEN, b, &query, &fine);
    assert_true(query.scale <= 0 && fine <= 0);
}

static void quantising_nothing_gives_nothing(void **state)
{
    float vector[3] = {0, 0, 0};
    int8_t out[3] = {1, 1, 1};

    (void)state;
    assert_true(vec_quantise(vector, 3, out) <= 0);
    assert_int_equal(out[0] | out[1] | out[2], 0);
    vector[1] = NAN;
    assert_true(vec_quantise(vector, 3, out) <= 0);
    vector[1] = -0.5f;
    assert_true(vec_quantise(vector, 3, out) > 0);
    assert_int_equal(out[1], -127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_equals_scalar_at_every_dimension),
        cmocka_unit_test(each_bit_kernel_equals_scalar_at_every_width),
        cmocka_unit_test(each_sign_kernel_marks_what_is_near),
        cmocka_unit_test(the_bit_scan_sums_the_query_over_set_bits),
        cmocka_unit_test(a_shortlist_of_500_holds_the_exact_top_10),
        cmocka_unit_test(a_centre_is_taken_off_and_put_back),
        cmocka_unit_test(mixing_keeps_dot_products_and_spreads_axes),
        cmocka_unit_test(a_query_is_quantised_twice_as_fine),
        cmocka_unit_test(quantising_nothing_gives_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
