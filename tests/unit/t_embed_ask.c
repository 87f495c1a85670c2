/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_embed_ask.c - turning a question's vector: exact by hand, the same bits on
 * every machine, no trust in the file, and nothing for other models.
 */
#include "support/test.h"

#include "base/sha256.h"
#include "model/embed.h"
#include "model/embed_ask.h"
#include "model/embed_static.h"
#include "model/static_kernels.h"

#include <math.h>

#define HEADER 128
#define MAX_FILE (HEADER + 256 * (4 + 256))

static _Alignas(64) char bytes[MAX_FILE];

static struct embedder toy = {.id = "toy-1", .dim = 16};

static void put_u32(size_t at, uint32_t value)
{
    memcpy(bytes + at, &value, sizeof(value));
}

static float *scales(void)
{
    return (float *)(void *)(bytes + HEADER);
}

static int8_t *row(size_t i, size_t dim)
{
    return (int8_t *)bytes + HEADER + 4 * dim + i * dim;
}

/* A file of zeros, which changes nothing. */
static void make_file(const struct embedder *embedder)
{
    memset(bytes, 0, sizeof(bytes));
    memcpy(bytes, "clewask1", 8);
    put_u32(8, 1);
    put_u32(12, (uint32_t)embedder->dim);
    memcpy(bytes + 32, embedder->id, strlen(embedder->id));
}

/* With its checksum. */
static struct str file_of(size_t dim)
{
    struct str file = {bytes, HEADER + dim * (4 + dim)};

    sha256_of(str_sub(file, HEADER, file.len), (unsigned char *)bytes + 64);
    return file;
}

static enum clew_status read_toy(struct str file, struct embed_ask *out)
{
    return embed_ask_read(file, &toy, out, NULL);
}

static void a_small_matrix_is_applied_as_by_hand(void **state)
{
    struct embed_ask ask;
    float v[16] = {0.6f, 0.8f};
    float out[16];
    float a;
    float b;
    float c;
    float norm;

    (void)state;
    make_file(&toy);
    scales()[0] = 0.002f;
    scales()[2] = 0.01f;
    row(0, 16)[1] = -100;
    row(2, 16)[0] = 127;
    row(2, 16)[1] = 3;
    row(3, 16)[0] = 50; /* its scale is 0 */
    assert_int_equal(read_toy(file_of(16), &ask), CLEW_OK);
    embed_ask_turn(&ask, v, out);
    /* .6 and .8 are 19660 and 26214 of 32767 */
    a = 0.6f + (float)(-100 * 26214) * (0.002f / 32767.0f);
    b = 0.8f;
    c = (float)(127 * 19660 + 3 * 26214) * (0.01f / 32767.0f);
    assert_true(fabsf(a - 0.44f) < 1e-4f && fabsf(c - 0.786f) < 1e-4f);
    norm = sqrtf(a * a + b * b + c * c);
    assert_true(fabsf(out[0] - a / norm) < 1e-6f);
    assert_true(fabsf(out[1] - b / norm) < 1e-6f);
    assert_true(fabsf(out[2] - c / norm) < 1e-6f);
    assert_true(out[3] >= 0 && out[3] <= 0);
}

static void nothing_added_keeps_the_direction(void **state)
{
    struct embed_ask ask;
    float v[16] = {0.5f, -0.5f, 0.5f, 0.5f};
    float none[16] = {0};
    float out[16];

    (void)state;
    make_file(&toy);
    assert_int_equal(read_toy(file_of(16), &ask), CLEW_OK);
    embed_ask_turn(&ask, v, out);
    assert_memory_equal(out, v, sizeof(v));
    embed_ask_turn(&ask, none, out);
    assert_memory_equal(out, none, sizeof(none));
}

/* The largest sum there is: all weights and values at their ends. */
static void the_largest_sums_fit(void **state)
{
    static int8_t weights[EMBED_ASK_MAX_DIM * EMBED_ASK_MAX_DIM];
    static float scale[EMBED_ASK_MAX_DIM];
    static float v[EMBED_ASK_MAX_DIM];
    static float out[EMBED_ASK_MAX_DIM];
    struct embed_ask ask = {EMBED_ASK_MAX_DIM, scale, weights};

    (void)state;
    memset(weights, -128, sizeof(weights));
    for (size_t i = 0; i < EMBED_ASK_MAX_DIM; i++) {
        scale[i] = 1;
        v[i] = -2; /* longer than it may be: cut to -1 */
    }
    embed_ask_turn(&ask, v, out);
    for (size_t i = 0; i < EMBED_ASK_MAX_DIM; i++) {
        assert_true(out[i] > 0 && out[i] < 1);
    }
}

/* Pinned: another machine, or another compiler, must reach these bits too. */
static void every_machine_gives_the_same_bits(void **state)
{
    uint64_t hash = 1469598103934665603u;
    struct embed_ask ask;
    uint32_t seed = 7;
    size_t dim = embed_static()->dim;
    struct str text = STR("when did she tell us about the new flat?");
    float v[256];
    float out[256];

    (void)state;
    make_file(embed_static());
    for (size_t i = 0; i < dim; i++) {
        scales()[i] = (float)(i + 1) * 1e-5f;
        for (size_t k = 0; k < dim; k++) {
            seed = seed * 1664525u + 1013904223u;
            row(i, dim)[k] = (int8_t)(seed >> 24);
        }
    }
    assert_int_equal(embed_ask_read(file_of(dim), embed_static(), &ask, NULL),
                     CLEW_OK);
    assert_int_equal(embed_run(embed_static(), &text, 1, v, NULL), CLEW_OK);
    embed_ask_turn(&ask, v, out);
    for (size_t i = 0; i < sizeof(out); i++) {
        hash = (hash ^ ((unsigned char *)out)[i]) * 1099511628211u;
    }
    assert_int_equal(hash, 0xcde66f493d984763u);
}

static void a_broken_file_is_refused(void **state)
{
    static const size_t fields[] = {0, 4, 8, 12, 32, 64, 95, HEADER, 200};
    struct str file;
    struct embed_ask ask;

    (void)state;
    make_file(&toy);
    file = file_of(16);
    assert_int_equal(read_toy(file, &ask), CLEW_OK);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        bytes[fields[i]] ^= 1;
        assert_int_equal(read_toy(file, &ask), CLEW_CORRUPT);
        bytes[fields[i]] ^= 1;
    }
    for (size_t len = 0; len < file.len; len++) {
        assert_int_equal(read_toy((struct str){bytes, len}, &ask),
                         CLEW_CORRUPT);
    }
    assert_int_equal(read_toy((struct str){bytes, file.len + 1}, &ask),
                     CLEW_CORRUPT);
    scales()[3] = NAN;
    assert_int_equal(read_toy(file_of(16), &ask), CLEW_CORRUPT);
    scales()[3] = -0.1f;
    assert_int_equal(read_toy(file_of(16), &ask), CLEW_CORRUPT);
    scales()[3] = 1.0f;
    assert_int_equal(read_toy(file_of(16), &ask), CLEW_OK);
}

static void the_shipped_one_turns_a_little(void **state)
{
    struct str text = STR("Where did Maria find her keys?");
    const char *trouble = "";
    float v[256];
    float out[256];
    float cosine = 0;

    (void)state;
    assert_non_null(embed_ask_shipped(&trouble));
    assert_null(trouble);
    assert_int_equal(embed_run(embed_static(), &text, 1, v, NULL), CLEW_OK);
    assert_true(embed_ask(embed_static(), v, out));
    for (size_t i = 0; i < 256; i++) {
        cosine += v[i] * out[i];
    }
    assert_true(cosine > 0.5f && cosine < 0.999f);
}

static void another_model_keeps_its_vectors(void **state)
{
    float v[16] = {0.6f, 0.8f};
    float out[16] = {0};

    (void)state;
    assert_false(embed_ask(&toy, v, out));
    assert_memory_equal(out, v, sizeof(v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_matrix_is_applied_as_by_hand),
        cmocka_unit_test(nothing_added_keeps_the_direction),
        cmocka_unit_test(the_largest_sums_fit),
        cmocka_unit_test(every_machine_gives_the_same_bits),
        cmocka_unit_test(a_broken_file_is_refused),
        cmocka_unit_test(the_shipped_one_turns_a_little),
        cmocka_unit_test(another_model_keeps_its_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
