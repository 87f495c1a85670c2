/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_reader_kernels.c - every variant this processor has against the scalar
 * one, bit for bit; the scalar one against plain arithmetic.
 */
#include "support/test.h"

#include "model/reader_fma.h"
#include "model/reader_kernels.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_N_ROWS 33
#define MAX_N_IN 256
#define MAX_N_OUT 80
#define WIDE 384

static const char *const names[] = {"dotprod", "i8mm", "avx2", "vnni", "amx"};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

static uint32_t seed;

static uint32_t next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static float next_float(float spread)
{
    return ((float)next() / (float)(1 << 23) - 1.0f) * spread;
}

static void fill(float *x, size_t n, float spread)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = next_float(spread);
    }
}

struct product_case {
    float x[MAX_N_ROWS * MAX_N_IN];
    int8_t weights[MAX_N_OUT * MAX_N_IN];
    float scales[MAX_N_OUT];
    float bias[MAX_N_OUT];
};

/* Round (bent or not), then multiply. */
static void run_product(const struct reader_kernels *kernels,
                        const struct product_case *c, size_t n_rows,
                        const struct reader_dense *dense, bool bends,
                        float *out)
{
    static float x[MAX_N_ROWS * MAX_N_IN];
    static int8_t q[(MAX_N_ROWS + READER_ROWS) * MAX_N_IN * 2];
    float scales[MAX_N_ROWS];

    assert_true(reader_rounded_bytes(n_rows, dense->n_in) <= sizeof(q));
    memset(q, 0x55, sizeof(q)); /* what was there must not show */
    memcpy(x, c->x, sizeof(x));
    if (bends) {
        kernels->bend(x, n_rows, dense->n_in, q, scales);
    } else {
        kernels->round(x, n_rows, dense->n_in, q, scales);
    }
    kernels->product(dense, q, scales, n_rows, out);
}

static void check_products(const struct reader_kernels *kernels,
                           struct product_case *c, size_t n_rows,
                           const struct reader_dense *dense)
{
    static float want[MAX_N_ROWS * MAX_N_OUT];
    static float got[MAX_N_ROWS * MAX_N_OUT];

    for (int bends = 0; bends < 2; bends++) {
        memset(want, 0, sizeof(want));
        memset(got, 0, sizeof(got));
        run_product(reader_kernels_scalar(), c, n_rows, dense, bends, want);
        run_product(kernels, c, n_rows, dense, bends, got);
        assert_memory_equal(got, want, sizeof(got));
    }
}

static void products_are_the_same_to_the_bit(void **state)
{
    static const size_t rows[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33};
    static const size_t ins[] = {16, 32, 48, 64, 80, 112, 192, 208, 256};
    static const size_t outs[] = {16, 48, 80};
    static struct product_case c;

    (void)state;
    for (size_t v = 0; v < N_NAMES; v++) {
        const struct reader_kernels *kernels = reader_kernels_named(names[v]);

        for (size_t t = 0; kernels && t < 12 * 9 * 3; t++) {
            size_t n_rows = rows[t % 12];
            struct reader_dense dense = {c.weights, c.scales, c.bias,
                                         ins[t / 12 % 9], outs[t / 108]};

            seed = (uint32_t)t;
            fill(c.x, n_rows * dense.n_in, t % 5 == 0 ? 1e6f : 3.0f);
            fill(c.scales, MAX_N_OUT, 0.01f);
            fill(c.bias, MAX_N_OUT, 1.0f);
            for (size_t i = 0; i < sizeof(c.weights); i++) {
                c.weights[i] = (int8_t)(t % 7 == 0 ? -128 : (int)next());
            }
            if (t % 4 == 0) { /* a row of nothing, and the largest sums */
                memset(c.x, 0, dense.n_in * sizeof(float));
                for (size_t i = 0; i < dense.n_in; i++) {
                    c.x[(n_rows - 1) * dense.n_in + i] = -2.5f;
                }
            }
            check_products(kernels, &c, n_rows, &dense);
        }
    }
}

/* What no sane model makes has one value everywhere too. */
static void odd_floats_round_the_same(void **state)
{
    static const float odd[] = {NAN,    INFINITY, -INFINITY, 1e-45f, -1e-38f,
                                1e-30f, 3e38f,    -0.0f,     0.5f,   -0.5f};
    static struct product_case c;
    struct reader_dense dense = {c.weights, c.scales, c.bias, 32, 16};

    (void)state;
    seed = 9;
    memset(c.weights, 1, sizeof(c.weights));
    fill(c.scales, MAX_N_OUT, 0.01f);
    for (size_t v = 0; v < N_NAMES; v++) {
        const struct reader_kernels *kernels = reader_kernels_named(names[v]);

        for (size_t a = 0; kernels && a < 10; a++) {
            static int8_t want[2 * READER_ROWS * 32 * 2];
            float scales[2];

            for (size_t i = 0; i < 32; i++) {
                c.x[i] = odd[a];
                c.x[32 + i] = odd[(a + i) % 10];
            }
            reader_kernels_scalar()->round(c.x, 2, 32, want, scales);
            if (!isnan(scales[0]) && !isnan(scales[1]) && !isinf(scales[0]) &&
                !isinf(scales[1])) {
                check_products(kernels, &c, 2, &dense);
            } else { /* signs of what is no number may differ */
                static float out[2 * MAX_N_OUT];

                run_product(kernels, &c, 2, &dense, false, out);
            }
        }
    }
}

static void check_attend(const struct reader_kernels *kernels, size_t n_rows,
                         size_t n_heads, size_t width, size_t from)
{
    static float qkv[MAX_N_ROWS * 3 * WIDE];
    static float want[MAX_N_ROWS * WIDE];
    static float got[MAX_N_ROWS * WIDE];
    static float scratch[(2 * WIDE + READER_QUERIES) * 48];
    struct reader_heads heads = {.qkv = qkv,
                                 .n_rows = n_rows,
                                 .dim = n_heads * width,
                                 .n_heads = n_heads,
                                 .from = from,
                                 .out = want,
                                 .scratch = scratch};

    assert_true(reader_scratch_floats(n_rows, width) * 4 <= sizeof(scratch));
    fill(qkv, n_rows * 3 * heads.dim, 2.0f);
    memset(want, 0, sizeof(want));
    memset(got, 0, sizeof(got));
    memset(scratch, 0xFF, sizeof(scratch));
    reader_kernels_scalar()->attend(&heads);
    memset(scratch, 0xFF, sizeof(scratch));
    heads.out = got;
    kernels->attend(&heads);
    assert_memory_equal(got, want, sizeof(got));
    for (size_t i = 0; i < n_rows * heads.dim; i++) {
        assert_true(i < from * heads.dim ? got[i] == 0.0f : isfinite(got[i]));
    }
}

static void attention_is_the_same_to_the_bit(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_NAMES; v++) {
        const struct reader_kernels *kernels = reader_kernels_named(names[v]);

        for (size_t n = 1; kernels && n <= MAX_N_ROWS; n++) {
            check_attend(kernels, n, 3, 16, 0);
            check_attend(kernels, n, 2, 32, n / 2);
            check_attend(kernels, n, 1, 48, n - 1);
        }
    }
}

static void norms_and_sums_are_the_same_to_the_bit(void **state)
{
    float x[3 * WIDE];
    float add[3 * WIDE];
    float weight[WIDE];
    float bias[WIDE];
    struct reader_norm norm = {weight, bias};

    (void)state;
    fill(weight, WIDE, 2.0f);
    fill(bias, WIDE, 1.0f);
    for (size_t v = 0; v < N_NAMES; v++) {
        const struct reader_kernels *kernels = reader_kernels_named(names[v]);

        for (size_t dim = 16; kernels && dim <= WIDE; dim += 16) {
            float want[3 * WIDE];
            float got[3 * WIDE];
            float a;
            float b;

            fill(x, 3 * dim, 5.0f);
            fill(add, 3 * dim, 5.0f);
            memcpy(want, x, sizeof(x));
            memcpy(got, x, sizeof(x));
            reader_kernels_scalar()->add_norm(want, add, 3, dim, &norm, 1e-12f);
            kernels->add_norm(got, add, 3, dim, &norm, 1e-12f);
            assert_memory_equal(got, want, 3 * dim * sizeof(float));
            a = reader_kernels_scalar()->dot(x, add, dim);
            b = kernels->dot(x, add, dim);
            assert_memory_equal(&a, &b, sizeof(a));
        }
    }
}

/* --- nothing beside its own is touched ------------------------------------ */

/*
 * Memory that ends where a page begins that may not be touched; the kernels are
 * built without a sanitizer. Never given back: the process is small.
 */
static void *guarded(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (n + page - 1) / page * page;
    char *p = mmap(NULL, whole + page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(p, MAP_FAILED);
    assert_int_equal(mprotect(p + whole, page, PROT_NONE), 0);
    return p + whole - n;
}

static float *guarded_floats(size_t n)
{
    float *x = guarded(n * sizeof(float));

    fill(x, n, 1.0f);
    return x;
}

static void work_at_the_edge(const struct reader_kernels *kernels,
                             size_t n_rows, size_t n_in, size_t n_out)
{
    float *x = guarded_floats(n_rows * n_in);
    float *scales = guarded_floats(n_rows);
    int8_t *q = guarded(reader_rounded_bytes(n_rows, n_in));
    struct reader_dense dense = {guarded(n_out * n_in), guarded_floats(n_out),
                                 guarded_floats(n_out), n_in, n_out};
    struct reader_norm norm = {guarded_floats(n_in), guarded_floats(n_in)};
    struct reader_heads heads = {
        .qkv = guarded_floats(n_rows * 3 * n_in),
        .n_rows = n_rows,
        .dim = n_in,
        .n_heads = n_in / READER_LANES,
        .out = guarded_floats(n_rows * n_in),
        .scratch = guarded_floats(reader_scratch_floats(n_rows, READER_LANES))};

    kernels->round(x, n_rows, n_in, q, scales);
    kernels->bend(x, n_rows, n_in, q, scales);
    kernels->product(&dense, q, scales, n_rows, guarded_floats(n_rows * n_out));
    kernels->attend(&heads);
    kernels->add_norm(x, heads.out, n_rows, n_in, &norm, 1e-12f);
    assert_true(isfinite(kernels->dot(x, heads.out, n_in * n_rows)));
}

static void no_kernel_reaches_past_what_it_is_given(void **state)
{
    static const size_t rows[] = {1, 2, 3, 5, 8, 13};
    static const size_t ins[] = {16, 48, 64, 80, 208};

    (void)state;
    for (size_t v = 0; v <= N_NAMES; v++) {
        const struct reader_kernels *kernels =
            v < N_NAMES ? reader_kernels_named(names[v])
                        : reader_kernels_scalar();

        for (size_t t = 0; kernels && t < 6 * 5; t++) {
            work_at_the_edge(kernels, rows[t % 6], ins[t / 6], 16 + t % 3 * 16);
        }
    }
}

/* --- one number for all processors ---------------------------------------- */

static uint32_t hash_bytes(uint32_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x01000193u;
    }
    return hash;
}

/* A hash of what each step gives for one input. */
static uint32_t hash_steps(const struct reader_kernels *kernels)
{
    static struct product_case c;
    static float out[MAX_N_ROWS * 3 * 48];
    static float scratch[(2 * 48 + READER_QUERIES) * 48];
    struct reader_dense dense = {c.weights, c.scales, c.bias, 208, 48};
    struct reader_heads heads = {.qkv = c.x,
                                 .n_rows = 21,
                                 .dim = 48,
                                 .n_heads = 3,
                                 .out = out,
                                 .scratch = scratch};
    struct reader_norm norm = {c.scales, c.bias};
    uint32_t hash = 0x811C9DC5u;
    float sum;

    seed = 2539;
    fill(c.x, sizeof(c.x) / sizeof(c.x[0]), 3.0f);
    fill(c.scales, MAX_N_OUT, 0.01f);
    fill(c.bias, MAX_N_OUT, 1.0f);
    for (size_t i = 0; i < sizeof(c.weights); i++) {
        c.weights[i] = (int8_t)next();
    }
    run_product(kernels, &c, 21, &dense, true, out);
    hash = hash_bytes(hash, out, 21 * 48 * sizeof(float));
    kernels->attend(&heads);
    hash = hash_bytes(hash, out, 21 * 48 * sizeof(float));
    kernels->add_norm(out, c.x, 21, 48, &norm, 1e-12f);
    hash = hash_bytes(hash, out, 21 * 48 * sizeof(float));
    sum = kernels->dot(c.x, out, 48 * 21);
    return hash_bytes(hash, &sum, sizeof(sum));
}

static void bits_are_the_same_on_every_processor(void **state)
{
    (void)state;
    assert_int_equal(hash_steps(reader_kernels_scalar()), 0x65DEC77Eu);
    assert_int_equal(hash_steps(reader_kernels()), 0x65DEC77Eu);
}

/* --- products rounded once without an instruction for it ------------------ */

static uint32_t next_bits(void)
{
    return next() << 16 ^ next();
}

static float of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Compares four at a time with the C library's. */
static void check_fma(const float a[4], const float b[4], const float c[4])
{
    reader_four x;
    reader_four y;
    reader_four z;
    reader_four got;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    memcpy(&z, c, sizeof(z));
    got = reader_fma(x, y, z);
    for (size_t i = 0; i < 4; i++) {
        float want = fmaf(a[i], b[i], c[i]);
        float one = got[i];

        assert_true(isnan(want) ? isnan(one)
                                : memcmp(&want, &one, sizeof(one)) == 0);
    }
}

/* The edges of what a float can be, each with each other. */
static void check_fma_edges(void)
{
    static const float edges[] = {
        0.0f,    1.0f,          0x1p-149f, 0x1p-126f,       0x1.fffffep127f,
        0.5f,    0x1.000002p0f, 0x1p-75f,  0x1.fffffep-1f,  0x1.fffffcp-127f,
        0x1p64f, 0x1.000002p1f, 0x1p-24f,  0x1.000002p-24f, 0x1.8p-149f,
        3.0f,    INFINITY,      0x1p127f,  0x1.fffffep63f,  NAN};
    const size_t n = sizeof(edges) / sizeof(edges[0]);

    for (size_t i = 0; i < n * n * n; i++) {
        float x = edges[i % n];
        float y = edges[i / n % n];
        float z = edges[i / n / n];
        const float a[4] = {x, -x, x, -x};
        const float b[4] = {y, y, y, y};
        const float c[4] = {z, z, -z, -z};

        check_fma(a, b, c);
    }
}

static void a_product_is_rounded_once(void **state)
{
    (void)state;
    check_fma_edges();
    seed = 11;
    for (size_t t = 0; t < 1000000; t++) {
        float a[4];
        float b[4];
        float c[4];

        for (size_t i = 0; i < 4; i++) {
            a[i] = of_bits(next_bits());
            b[i] = of_bits(next_bits());
            c[i] = of_bits(next_bits());
        }
        /* near each other; all but cancelled; a tie but for a little */
        b[1] = next_float(2.0f);
        a[1] = next_float(2.0f);
        c[1] = next_float(4.0f);
        b[2] = next_float(1.0f);
        a[2] = next_float(1.0f);
        c[2] = -(a[2] * b[2]);
        a[3] = 1.0f + (float)(next() % 16) * 0x1p-23f;
        b[3] = (1.0f + (float)(next() % 16) * 0x1p-23f) * 0x1p-24f;
        c[3] = (1.0f + (float)(next() % 16) * 0x1p-23f) *
               (next() % 2 ? 1.0f : -1.0f);
        check_fma(a, b, c);
    }
}

/* --- the scalar form is right -------------------------------------------- */

static void rounding_is_to_the_nearest_even(void **state)
{
    float x[16] = {127.0f, 0.5f,  1.5f,   2.5f,  -0.5f, -1.5f, -2.5f, 0.0f,
                   126.5f, 0.49f, -0.51f, 63.4f, 1.0f,  -1.0f, 99.9f, -127.0f};
    static const int8_t want[16] = {127, 0, 2,  2,  0, -2, -2,  0,
                                    126, 0, -1, 63, 1, -1, 100, -127};
    int8_t q[READER_ROWS * 16 * 2];
    float scale;

    (void)state;
    reader_kernels_scalar()->round(x, 1, 16, q, &scale);
    assert_memory_equal(q, want, sizeof(want));
    assert_true(scale == 1.0f);
    memset(x, 0, sizeof(x));
    reader_kernels_scalar()->round(x, 1, 16, q, &scale);
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(q[i], 0);
    }
    assert_true(scale == 0.0f);
}

static void gelu_is_within_a_millionth(void **state)
{
    (void)state;
    for (int step = -12000; step < 12000; step++) {
        float x[16];
        float y[16];
        float scale;
        int8_t q[READER_ROWS * 16 * 2];

        for (int i = 0; i < 16; i++) {
            x[i] = ((float)step + (float)i / 16.0f) / 1000.0f;
        }
        memcpy(y, x, sizeof(x));
        reader_kernels_scalar()->bend(y, 1, 16, q, &scale);
        for (int i = 0; i < 16; i++) {
            double exact =
                0.5 * (double)x[i] * (1 + erf((double)x[i] / sqrt(2.0)));

            assert_true(fabs((double)y[i] - exact) < 1e-6);
        }
    }
}

static void exp_is_close(void **state)
{
    (void)state;
    for (float x = -87.0f; x <= 0.0f; x += 0.00313f) {
        double want = exp((double)x);

        assert_true(fabs((double)reader_exp(x) - want) < 3e-7 * want);
    }
    assert_true(reader_exp(0.0f) == 1.0f);
    assert_true(reader_exp(-1e30f) < 1e-37f && reader_exp(-1e30f) >= 0.0f);
}

static void a_variant_can_be_asked_for(void **state)
{
    (void)state;
    assert_int_equal(setenv("CLEW_CPU", "scalar", 1), 0);
    assert_string_equal(reader_kernels()->name, "scalar");
    assert_int_equal(setenv("CLEW_CPU", "no such", 1), 0);
    assert_non_null(reader_kernels());
    assert_int_equal(unsetenv("CLEW_CPU"), 0);
    assert_null(reader_kernels_named("no such"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_the_same_to_the_bit),
        cmocka_unit_test(odd_floats_round_the_same),
        cmocka_unit_test(attention_is_the_same_to_the_bit),
        cmocka_unit_test(norms_and_sums_are_the_same_to_the_bit),
        cmocka_unit_test(no_kernel_reaches_past_what_it_is_given),
        cmocka_unit_test(bits_are_the_same_on_every_processor),
        cmocka_unit_test(a_product_is_rounded_once),
        cmocka_unit_test(rounding_is_to_the_nearest_even),
        cmocka_unit_test(gelu_is_within_a_millionth),
        cmocka_unit_test(exp_is_close),
        cmocka_unit_test(a_variant_can_be_asked_for),
    };

    for (size_t i = 0; i < N_NAMES; i++) {
        if (reader_kernels_named(names[i])) {
            print_message("against scalar: %s\n", names[i]);
        }
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
