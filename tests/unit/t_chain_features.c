/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_chain_features.c - the cues of a turn, and what a talk remembers of them.
 */
#include "support/test.h"

#include "engine/chain_decide.h"

static struct chain_features read(struct arena *arena, const char *text)
{
    struct analysis_options options = {.time_ms = 1709283600000};
    struct chain_features out;
    struct analysis analysis;
    struct clew_error err = {0};

    assert_int_equal(
        analysis_run(arena, str_of(text), &options, &analysis, &err), CLEW_OK);
    assert_int_equal(chain_features_of(arena, &analysis, 0,
                                       analysis.n_sentences, true, &out),
                     CLEW_OK);
    return out;
}

static void a_question_needs_no_mark(void **state)
{
    static const struct {
        const char *text;
        bool is_question;
        unsigned asks;
    } cases[] = {
        {"what do your friends think", true, 0},
        {"that is nice do you like sports", true, 0},
        {"I need to know where you are leaving from.", true, SLOT_PLACE},
        {"Let me know when you arrive.", true, SLOT_TIME | SLOT_DAY},
        {"I like what you do.", false, 0},
        {"It rained all day.", false, 0},
        {"Where is it?", true, SLOT_PLACE},
    };
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 24);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct chain_features f = read(&arena, cases[i].text);

        print_message("%s\n", cases[i].text);
        assert_int_equal((f.cues & CUE_QUESTION) != 0, cases[i].is_question);
        assert_int_equal(f.asks & cases[i].asks, cases[i].asks);
    }
    arena_release(&arena);
}

static void i_am_is_no_time_of_day(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 24);
    assert_int_equal(
        read(&arena, "I am leaving from Ely.").supplies & SLOT_TIME, 0);
    assert_true(read(&arena, "I leave at 9 am.").supplies & SLOT_TIME);
    assert_true(read(&arena, "At 21:30, please.").supplies & SLOT_TIME);
    arena_release(&arena);
}

static void figures_are_told_from_names(void **state)
{
    struct chain_features f;
    struct arena arena;
    size_t figures = 0;

    (void)state;
    arena_init(&arena, 1 << 24);
    f = read(&arena, "A table for 7 at the Riverside Brasserie.");
    for (size_t i = 0; i < f.n_names; i++) {
        figures += f.names[i].is_figure;
    }
    assert_int_equal(figures, 1);
    assert_true(f.n_names > 1);
    arena_release(&arena);
}

static void a_talk_counts_the_turns_in_one_chain(void **state)
{
    struct chain_features f = {0};
    struct chain_talk talk;
    struct chain_talk again;
    struct buf bytes;

    (void)state;
    chain_talk_init(&talk);
    chain_talk_add(&talk, &f, false);
    chain_talk_add(&talk, &f, true);
    chain_talk_add(&talk, &f, true);
    assert_int_equal(talk.run, 3);
    buf_init(&bytes, 256);
    assert_int_equal(chain_talk_write(&talk, &bytes), CLEW_OK);
    assert_true(chain_talk_read(buf_str(&bytes), &again));
    assert_int_equal(again.run, 3);
    buf_release(&bytes);
    chain_talk_add(&talk, &f, false);
    assert_int_equal(talk.run, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_needs_no_mark),
        cmocka_unit_test(i_am_is_no_time_of_day),
        cmocka_unit_test(figures_are_told_from_names),
        cmocka_unit_test(a_talk_counts_the_turns_in_one_chain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
