/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_reader_top.c - a second top: the kinds of pairs that have it read with it,
 * all others to the bit as without, and files that are refused.
 */
#include "support/test.h"

#include "base/arena.h"
#include "model/reader_internal.h"
#include "support/reader_file.h"

#include <string.h>

#define ALL "answer note ending matter newer"

static const struct reader_model plain = {.dim = 32,
                                          .inner = 32,
                                          .heads = 2,
                                          .layers = 3,
                                          .read_layer = 1,
                                          .glance = 16,
                                          .glance_layer = 1,
                                          .n_tokens = 64,
                                          .seed = 23};

static struct reader_model with_top(const char *kinds, size_t layer)
{
    struct reader_model model = plain;

    model.top_kinds = kinds;
    model.top_layer = layer;
    return model;
}

static enum clew_status open_model(const struct reader_model *model,
                                   struct reader **out, struct clew_error *err)
{
    enum clew_status status;

    reader_file_make(model);
    status = reader_open(reader_file_path, out, err);
    assert_int_equal(reader_file_drop(), 0);
    return status;
}

static struct reader_verdict compare(const struct reader *reader,
                                     enum reader_pair_kind kind)
{
    static const struct reader_pair pair = {{"we will ship it on monday", 25},
                                            {"the cat will not ship it.", 25}};
    struct reader_verdict out;
    struct arena arena;

    arena_init(&arena, 1 << 24);
    assert_int_equal(reader_compare(reader, &arena, kind, &pair, 1, &out, NULL),
                     CLEW_OK);
    arena_release(&arena);
    return out;
}

/* For each kind of pair: is its verdict that of a file without a second top? */
static void expect_same(const char *kinds, const bool *is_same)
{
    struct reader_model model = with_top(kinds, 2);
    struct reader *first;
    struct reader *second;

    assert_int_equal(open_model(&plain, &first, NULL), CLEW_OK);
    assert_int_equal(open_model(&model, &second, NULL), CLEW_OK);
    for (size_t k = 0; k < READER_PAIR_KINDS; k++) {
        struct reader_verdict a = compare(first, (enum reader_pair_kind)k);
        struct reader_verdict b = compare(second, (enum reader_pair_kind)k);

        assert_int_equal(memcmp(&a, &b, sizeof(a)) == 0, is_same[k]);
    }
    reader_close(first);
    reader_close(second);
}

static void only_the_kinds_named_read_with_it(void **state)
{
    static const bool two[READER_PAIR_KINDS] = {
        [READER_ANSWER] = true, [READER_ENDING] = true, [READER_MATTER] = true};
    static const bool all[READER_PAIR_KINDS] = {false};
    static const bool none[READER_PAIR_KINDS] = {true, true, true, true, true};

    (void)state;
    expect_same("note newer", two);
    expect_same("newer note", two);
    expect_same(ALL, all);
    expect_same("", none);
}

static void it_reads_answers_in_two_steps_too(void **state)
{
    static const struct reader_pair pair = {{"the cat", 7}, {"on a ship", 9}};
    struct reader_model model = with_top("answer", 1);
    struct reader_glance glance;
    struct reader_verdict on;
    struct reader_verdict at_once;
    struct reader *reader;
    struct arena arena;

    (void)state;
    assert_int_equal(open_model(&model, &reader, NULL), CLEW_OK);
    arena_init(&arena, 1 << 24);
    assert_int_equal(
        reader_compare(reader, &arena, READER_ANSWER, &pair, 1, &at_once, NULL),
        CLEW_OK);
    assert_int_equal(reader_glance(reader, &arena, &pair, &glance, NULL),
                     CLEW_OK);
    assert_int_equal(reader_read_on(reader, &glance, &on, NULL), CLEW_OK);
    assert_memory_equal(&on, &at_once, sizeof(on));
    arena_release(&arena);
    reader_close(reader);
}

static void a_top_that_does_not_fit_is_corrupt(void **state)
{
    static const struct {
        const char *kinds;
        size_t layer;
    } bad[] = {
        {"note nota", 2}, {"keep", 2}, {"note  newer", 2},
        {"note", 0},      {"note", 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct reader_model model = with_top(bad[i].kinds, bad[i].layer);
        struct clew_error err = {0};
        struct reader *reader = NULL;

        assert_int_equal(open_model(&model, &reader, &err), CLEW_CORRUPT);
        assert_non_null(strstr(err.message, "top_"));
        assert_null(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_kinds_named_read_with_it),
        cmocka_unit_test(it_reads_answers_in_two_steps_too),
        cmocka_unit_test(a_top_that_does_not_fit_is_corrupt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
