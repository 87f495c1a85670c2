/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_embed.c - the shipped embedder: same bits on every processor, unit
 * vectors, sense in what is near, and no trust in its own file.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "model/embed.h"
#include "model/embed_static.h"
#include "model/static_kernels.h"

#include <math.h>

#define DIM 256

static const char *const texts[] = {
    "",
    "hello",
    "The cat sat on the mat.",
    "A man is playing a guitar on the stage, and people are listening.",
    "naïve café in 東京 with Привет мир and 😀",
    "supercalifragilisticexpialidocious snake_case /usr/lib/x.so.1",
    "... !!! ???",
    "\xff\xfe broken \xc3 bytes",
};
#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

static void vector_of(struct embedder *embedder, const char *text, float *out)
{
    struct str s = str_of(text);

    assert_int_equal(embed_run(embedder, &s, 1, out, NULL), CLEW_OK);
}

static float dot(const float *a, const float *b)
{
    float sum = 0;

    for (size_t i = 0; i < DIM; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static float likeness(const char *a, const char *b)
{
    float va[DIM];
    float vb[DIM];

    vector_of(embed_static(), a, va);
    vector_of(embed_static(), b, vb);
    return dot(va, vb);
}

static void vectors_have_unit_length(void **state)
{
    float v[DIM];

    (void)state;
    assert_int_equal(embed_static()->dim, DIM);
    assert_string_equal(embed_static()->id, "clew-static-1");
    for (size_t i = 0; i < N_TEXTS; i++) {
        vector_of(embed_static(), texts[i], v);
        assert_true(fabsf(dot(v, v) - (texts[i][0] ? 1.0f : 0.0f)) < 1e-5f);
    }
}

static void every_processor_gives_the_same_bits(void **state)
{
    static const char *const names[] = {"neon", "avx2"};
    struct embedder *truth = NULL;
    float want[DIM];
    float got[DIM];
    size_t compared = 0;
#if defined(__aarch64__)
    size_t least = N_TEXTS; /* every one has NEON */
#else
    size_t least = 0;
#endif

    (void)state;
    assert_int_equal(embed_static_new(embed_static_file(),
                                      static_kernels_named("scalar"), &truth,
                                      NULL),
                     CLEW_OK);
    for (size_t k = 0; k < 2; k++) {
        const struct static_kernels *kernels = static_kernels_named(names[k]);
        struct embedder *other = NULL;

        if (!kernels) {
            continue;
        }
        assert_int_equal(
            embed_static_new(embed_static_file(), kernels, &other, NULL),
            CLEW_OK);
        for (size_t i = 0; i < N_TEXTS; i++) {
            vector_of(truth, texts[i], want);
            vector_of(other, texts[i], got);
            assert_memory_equal(want, got, sizeof(want));
            compared++;
        }
        embed_free(other);
    }
    assert_true(compared >= least);
    embed_free(truth);
}

/* The bits of one vector, pinned: another machine must reach them too. */
static void a_vector_is_the_same_on_every_machine(void **state)
{
    uint64_t hash = 1469598103934665603u;

    (void)state;
    for (size_t i = 0; i < N_TEXTS; i++) {
        float v[DIM];
        unsigned char bytes[sizeof(v)];

        vector_of(embed_static(), texts[i], v);
        memcpy(bytes, v, sizeof(v));
        for (size_t k = 0; k < sizeof(v); k++) {
            hash = (hash ^ bytes[k]) * 1099511628211u;
        }
    }
    assert_int_equal(hash, 0x034ca117d49a95d5u);
}

static void kernels_agree_on_every_length(void **state)
{
    static const char *const names[] = {"neon", "avx2"};
    const struct static_kernels *truth = static_kernels_named("scalar");
    int8_t rows[512];
    float query[512];
    uint32_t seed = 12345;

    (void)state;
    for (size_t i = 0; i < sizeof(rows); i++) {
        seed = seed * 1664525u + 1013904223u;
        rows[i] = (int8_t)(seed >> 24);
        query[i] = (float)(int32_t)seed / 1e9f;
    }
    for (size_t k = 0; k < 2; k++) {
        const struct static_kernels *it = static_kernels_named(names[k]);

        for (size_t dim = 16; it && dim <= 512; dim += 16) {
            float a[512] = {1, 2, 3};
            float b[512] = {1, 2, 3};
            float x = truth->sum_squares(query, dim);
            float y = it->sum_squares(query, dim);

            assert_memory_equal(&x, &y, sizeof(x));
            truth->add_row(a, rows, 0.37f, dim);
            it->add_row(b, rows, 0.37f, dim);
            assert_memory_equal(a, b, sizeof(a));
        }
    }
}

static void near_meanings_are_nearer_than_far_ones(void **state)
{
    (void)state;
    assert_true(
        likeness("A man is playing a guitar.", "Someone plays an instrument.") >
        likeness("A man is playing a guitar.",
                 "The stock market fell sharply."));
    assert_true(likeness("How do I reset my password?",
                         "I forgot my login and cannot sign in") >
                likeness("How do I reset my password?",
                         "What shall we cook for dinner?"));
    assert_true(likeness("my dog is sick", "the puppy needs a vet") >
                likeness("my dog is sick", "the car needs new tires"));
    assert_true(likeness("same words here", "same words here") > 0.9999f);
}

/* Stretches of every length that begin at every third word. */
static void stretches_are_as_near_as_their_vectors(void **state)
{
    static const char text[] =
        "A man is playing a guitar, and people listen. The naïve café in "
        "東京 is closed! Reset my password? \xff broken snake_case words, "
        "the stock market fell sharply; the puppy needs a vet and I forgot "
        "my login. Привет мир 😀 again.";
    struct str whole = STR(text);
    float asked[DIM];
    size_t n_compared = 0;

    (void)state;
    vector_of(embed_static(), "who plays an instrument?", asked);
    for (size_t words = 1; words < 16; words++) {
        struct embed_stretch stretches[12];
        size_t count = 0;

        for (size_t at = 0; at < whole.len && count < 12; at++) {
            size_t end = at;

            if (at > 0 && whole.s[at - 1] != ' ') {
                continue;
            }
            for (size_t n = 0; end < whole.len && n < words; end++) {
                n += whole.s[end] == ' ';
            }
            stretches[count++] = (struct embed_stretch){.from = at, .to = end};
        }
        assert_true(embed_near(embed_static(), whole, asked, stretches, count));
        for (size_t i = 0; i < count; i++) {
            struct str part =
                str_sub(whole, stretches[i].from, stretches[i].to);
            float v[DIM];

            assert_int_equal(embed_run(embed_static(), &part, 1, v, NULL),
                             CLEW_OK);
            assert_true(stretches[i].off < 0.01f);
            assert_true(fabsf(dot(asked, v) - stretches[i].cosine) <=
                        stretches[i].off);
            n_compared++;
        }
    }
    assert_int_equal(n_compared, 15 * 12);
}

static void words_that_are_cut_are_not_vouched_for(void **state)
{
    struct embed_stretch inside = {.from = 2, .to = 9};
    struct embed_stretch blank = {.from = 5, .to = 6};
    struct embed_stretch behind = {.from = 6, .to = 11};
    float asked[DIM];

    (void)state;
    vector_of(embed_static(), "hello", asked);
    assert_true(
        embed_near(embed_static(), STR("hello world"), asked, &behind, 1));
    assert_false(
        embed_near(embed_static(), STR("hello world"), asked, &inside, 1));
    assert_false(
        embed_near(embed_static(), STR("hello, world"), asked, &blank, 1));
}

static void a_batch_equals_its_texts_alone(void **state)
{
    struct str batch[N_TEXTS];
    float all[N_TEXTS * DIM];
    float one[DIM];

    (void)state;
    for (size_t i = 0; i < N_TEXTS; i++) {
        batch[i] = str_of(texts[i]);
    }
    assert_int_equal(embed_run(embed_static(), batch, N_TEXTS, all, NULL),
                     CLEW_OK);
    for (size_t i = 0; i < N_TEXTS; i++) {
        vector_of(embed_static(), texts[i], one);
        assert_memory_equal(one, all + i * DIM, sizeof(one));
    }
}

static void a_damaged_file_is_refused(void **state)
{
    static const size_t fields[] = {0, 8, 12, 16, 20, 24, 28};
    struct str file = embed_static_file();
    char *copy = alloc_copy(file.s, file.len);
    struct embedder *embedder = NULL;

    (void)state;
    assert_non_null(copy);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        memcpy(copy + fields[i], "\xf1\xff\xff\xff", 4);
        assert_int_equal(embed_static_new((struct str){copy, file.len},
                                          static_kernels(), &embedder, NULL),
                         CLEW_CORRUPT);
        memcpy(copy + fields[i], file.s + fields[i], 4);
    }
    for (size_t len = 0; len < file.len; len += len < 64 ? 8 : 999983) {
        assert_int_equal(embed_static_new((struct str){copy, len},
                                          static_kernels(), &embedder, NULL),
                         CLEW_CORRUPT);
    }
    alloc_free(copy);
}

static void lines_come_out_as_json(void **state)
{
    char in_text[] = "hello world\n\nlast";
    char *out_text = NULL;
    size_t out_len = 0;
    FILE *in = fmemopen(in_text, strlen(in_text), "r");
    FILE *out = open_memstream(&out_text, &out_len);
    float want[DIM];
    float got = 0;

    (void)state;
    assert_int_equal(embed_lines(embed_static(), in, out, NULL), CLEW_OK);
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
    vector_of(embed_static(), "hello world", want);
    assert_int_equal(out_text[0], '[');
    got = strtof(out_text + 1, NULL);
    assert_memory_equal(&got, want, sizeof(got));
    assert_non_null(strstr(out_text, "]\n[0,0,"));
    assert_string_equal(out_text + out_len - 2, "]\n");
    free(out_text);
}

static void a_centre_is_found_by_a_few_sentences(void **state)
{
    struct embedder *embedder = embed_static();
    static int16_t found[EMBED_MAX_DIM];
    static float centre[EMBED_MAX_DIM];
    double dot = 0;
    double mine = 0;
    double theirs = 0;

    (void)state;
    assert_int_equal(embed_find_centre(embedder, found, NULL), CLEW_OK);
    assert_true(embed_centre(embedder, centre));
    for (size_t i = 0; i < embedder->dim; i++) {
        dot += (double)centre[i] * found[i];
        mine += (double)found[i] * found[i];
        theirs += (double)centre[i] * (double)centre[i];
    }
    assert_true(dot / sqrt(mine * theirs) > 0.8); /* of a whole corpus */
    struct embedder without = {.dim = 3};

    assert_false(embed_centre(&without, centre));
    assert_true(centre[2] >= 0 && centre[2] <= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_centre_is_found_by_a_few_sentences),
        cmocka_unit_test(vectors_have_unit_length),
        cmocka_unit_test(every_processor_gives_the_same_bits),
        cmocka_unit_test(a_vector_is_the_same_on_every_machine),
        cmocka_unit_test(kernels_agree_on_every_length),
        cmocka_unit_test(near_meanings_are_nearer_than_far_ones),
        cmocka_unit_test(stretches_are_as_near_as_their_vectors),
        cmocka_unit_test(words_that_are_cut_are_not_vouched_for),
        cmocka_unit_test(a_batch_equals_its_texts_alone),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(lines_come_out_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
