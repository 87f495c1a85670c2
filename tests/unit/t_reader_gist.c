/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_reader_gist.c - gists: what a turn says as a place, beside what is read of
 * it, and files that are refused.
 */
#include "support/test.h"

#include "base/arena.h"
#include "model/reader_internal.h"
#include "support/reader_file.h"

#include <stdio.h>
#include <string.h>

static const struct reader_model plain = {.dim = 32,
                                          .inner = 32,
                                          .heads = 2,
                                          .layers = 4,
                                          .read_layer = 3,
                                          .n_tokens = 64,
                                          .seed = 29};

static enum clew_status open_model(const char *layers, struct reader **out,
                                   struct clew_error *err)
{
    struct reader_model model = plain;
    enum clew_status status;

    model.gist_layers = layers;
    reader_file_make(&model);
    status = reader_open(reader_file_path, out, err);
    assert_int_equal(reader_file_drop(), 0);
    return status;
}

#define MAX_SENTENCES 64
struct seen {
    struct reader_sentence sentences[MAX_SENTENCES];
    struct reader_gist gist;
};

/* Read `text` as sentences of 25 bytes. */
static struct seen look(const struct reader *reader, struct str text,
                        bool has_gist)
{
    static const struct reader_said before = {{"assistant", 9},
                                              {"we will ship it", 15}};
    struct reader_said turn = {STR("user"), text};
    struct reader_span spans[MAX_SENTENCES];
    size_t n = 0;
    struct seen out;
    struct arena arena;

    memset(&out, 0, sizeof(out));
    for (size_t at = 0; at < text.len && n < MAX_SENTENCES; at += 25) {
        spans[n++] = (struct reader_span){(uint32_t)at, (uint32_t)at + 25};
    }
    arena_init(&arena, 1 << 24);
    assert_int_equal(reader_read_gist(reader, &arena, &turn, &before, 1, spans,
                                      n, out.sentences,
                                      has_gist ? &out.gist : NULL, NULL),
                     CLEW_OK);
    arena_release(&arena);
    return out;
}

static struct reader_gist asked(const struct reader *reader, struct str text)
{
    struct reader_gist out;
    struct arena arena;

    arena_init(&arena, 1 << 24);
    assert_int_equal(reader_gist_asked(reader, &arena, text, &out, NULL),
                     CLEW_OK);
    arena_release(&arena);
    return out;
}

static double cosine(const struct reader_gist *a, const struct reader_gist *b)
{
    double sum = 0;

    for (size_t i = 0; i < READER_GIST_DIM; i++) {
        sum += a->at[i] * b->at[i];
    }
    return sum / READER_GIST_STEPS / READER_GIST_STEPS;
}

static const struct str said = {"we will ship it on monday"
                                "the cat will not ship it.",
                                50};

static void a_place_changes_nothing_that_is_read(void **state)
{
    static const char *const layers[] = {"3", "1", "1 2", "1 2 3", "2 3"};

    (void)state;
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
        struct reader *reader;
        struct seen with;
        struct seen without;

        assert_int_equal(open_model(layers[i], &reader, NULL), CLEW_OK);
        assert_true(reader_can_gist(reader));
        with = look(reader, said, true);
        without = look(reader, said, false);
        assert_memory_equal(with.sentences, without.sentences,
                            sizeof(with.sentences));
        assert_true(with.gist.is_known);
        /* a direction, but for values that were cut */
        assert_float_equal(cosine(&with.gist, &with.gist), 1.0, 0.05);
        reader_close(reader);
    }
}

static void a_long_turn_has_one_place(void **state)
{
    char text[50 * 24 + 1] = "";
    struct reader *reader;
    struct reader_gist once;
    struct reader_gist often;

    (void)state;
    for (size_t i = 0; i < 24; i++) {
        memcpy(text + i * 50, said.s, 50);
    }
    assert_int_equal(open_model("1 2", &reader, NULL), CLEW_OK);
    once = look(reader, said, true).gist;
    often = look(reader, (struct str){text, sizeof(text) - 1}, true).gist;
    assert_true(often.is_known);
    assert_true(cosine(&once, &often) > 0.5);
    reader_close(reader);
}

static void nothing_said_has_no_place(void **state)
{
    struct reader *reader;

    (void)state;
    assert_int_equal(open_model("1 2", &reader, NULL), CLEW_OK);
    assert_false(look(reader, STR(""), true).gist.is_known);
    assert_false(asked(reader, STR("")).is_known);
    assert_true(asked(reader, STR("will it ship")).is_known);
    reader_close(reader);
    assert_int_equal(open_model(NULL, &reader, NULL), CLEW_OK);
    assert_false(reader_can_gist(reader));
    assert_false(look(reader, said, true).gist.is_known);
    assert_false(asked(reader, STR("will it ship")).is_known);
    reader_close(reader);
}

static void layers_that_do_not_read_are_corrupt(void **state)
{
    static const char *const bad[] = {"",    "0",   "4",    "2 1", "2 2",
                                      "1 x", "1 4", "1  2", " 1",  "1 "};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct clew_error err = {0};
        struct reader *reader = NULL;

        assert_int_equal(open_model(bad[i], &reader, &err), CLEW_CORRUPT);
        assert_non_null(strstr(err.message, "gist"));
        assert_null(reader);
    }
}

/* The shipped one: questions lie nearer to what answers them than to other
 * turns, though they share no word with it. */
/* What is known by a file's name stays of use as long as nothing changed that
 * it is made of. */
static void gists_are_known_by_the_file_they_came_with(void **state)
{
    struct reader_model model = plain;
    struct reader *first = NULL;
    struct reader *later = NULL;
    struct clew_error err = {0};

    (void)state;
    assert_int_equal(open_model("1 2", &first, &err), CLEW_OK);
    assert_string_equal(reader_gist_id(first), reader_id(first));
    model.gist_layers = "1 2";
    model.gist_of = reader_id(first);
    model.top_kinds = "note";
    model.top_layer = 3;
    reader_file_make(&model);
    assert_int_equal(reader_open(reader_file_path, &later, &err), CLEW_OK);
    assert_int_equal(reader_file_drop(), 0);
    assert_string_not_equal(reader_id(later), reader_id(first));
    assert_string_equal(reader_gist_id(later), reader_id(first));
    reader_close(later);
    reader_close(first);
}

static void questions_lie_near_their_answers(void **state)
{
    static const struct {
        const char *question;
        const char *answer;
    } pairs[] = {
        {"what pet does he own", "His tortoise got out of the garden again."},
        {"where did they go on holiday", "Two weeks in Lisbon, and rain."},
        {"which instrument am i learning", "My cello lessons begin on Monday."},
        {"how much was the repair", "The plumber charged us 140 euros."},
    };
    const size_t n = sizeof(pairs) / sizeof(pairs[0]);
    double right = 0;
    double wrong = 0;
    struct reader *reader;
    struct arena arena;

    (void)state;
    if (reader_open(NULL, &reader, NULL) != CLEW_OK) {
        skip();
    }
    arena_init(&arena, 1 << 26);
    for (size_t i = 0; i < n; i++) {
        struct reader_said turn = {STR("user"), str_of(pairs[i].answer)};
        struct reader_span whole = {0, (uint32_t)turn.text.len};
        struct reader_sentence read;
        struct reader_gist gist;

        assert_int_equal(reader_read_gist(reader, &arena, &turn, NULL, 0,
                                          &whole, 1, &read, &gist, NULL),
                         CLEW_OK);
        for (size_t q = 0; q < n; q++) {
            struct reader_gist at = asked(reader, str_of(pairs[q].question));

            *(q == i ? &right : &wrong) += cosine(&at, &gist);
        }
    }
    assert_true(right / (double)n > wrong / (double)(n * (n - 1)) + 0.1);
    arena_release(&arena);
    reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_changes_nothing_that_is_read),
        cmocka_unit_test(a_long_turn_has_one_place),
        cmocka_unit_test(nothing_said_has_no_place),
        cmocka_unit_test(layers_that_do_not_read_are_corrupt),
        cmocka_unit_test(gists_are_known_by_the_file_they_came_with),
        cmocka_unit_test(questions_lie_near_their_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
