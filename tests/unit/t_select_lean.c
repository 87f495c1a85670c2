/* SPDX-License-Identifier: Apache-2.0 */
/* talk/select.h: what becomes of sentences that point at their neighbours. */
#include "support/test.h"

#include "base/arena.h"
#include "talk/select.h"

#include <string.h>

#define NOW 1767607200000 /* 2026-01-05 10:00, a Monday */
#define MAX_SENTENCES 4

static struct arena arena;
static struct analysis analysis;
static struct reader_sentence read[MAX_SENTENCES];
static struct select_turn turn;

/* A turn of which the reader says nothing yet. */
static void say(const char *text)
{
    struct analysis_options options = {.time_ms = NOW};

    arena_clear(&arena);
    assert_int_equal(
        analysis_run(&arena, str_of(text), &options, &analysis, NULL), CLEW_OK);
    assert_true(analysis.n_sentences <= MAX_SENTENCES);
    memset(read, 0, sizeof(read));
    for (size_t i = 0; i < MAX_SENTENCES; i++) {
        read[i].keep[READER_KEEP_NONE] = 1;
        read[i].act[READER_ACT_NONE] = 1;
        read[i].about[READER_ABOUT_SELF] = 1;
    }
    turn = (struct select_turn){.text = analysis.text,
                                .analysis = &analysis,
                                .read = read,
                                .at_ms = NOW};
}

/* What stands by itself is not lost with a neighbour that does not. */
static void a_sentence_outlives_one_that_leans_on_nothing(void **state)
{
    struct select_input input = {.turn = &turn};
    struct select_note *notes = NULL;
    size_t n = 0;

    (void)state;
    say("They took it back. The cellar is 58 percent humid this morning.");
    for (size_t i = 0; i < 2; i++) {
        read[i].keep[READER_KEEP_NONE] = 0.1f;
        read[i].keep[READER_KEEP_FACT] = 0.9f;
    }
    assert_int_equal(select_notes(&arena, &input, &notes, &n), CLEW_OK);
    assert_int_equal(n, 1);
    assert_non_null(strstr(notes[0].summary.s,
                           "The cellar is 58 percent humid this morning."));
    assert_null(strstr(notes[0].summary.s, "They took"));
}

static void a_title_names_what_it_points_at(void **state)
{
    static const struct {
        const char *text;
        size_t opens;
        const char *title;
    } cases[] = {
        {"There are wasps in the attic. I'd like to get rid of them soon.", 1,
         "There are wasps in the attic. I'd like to get rid of them soon."},
        {"Lovely weather here. I'd like to get rid of the wasps in our old "
         "attic.",
         1, "I'd like to get rid of the wasps in our old attic."},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct select_opening opening;

        say(cases[i].text);
        read[cases[i].opens].act[READER_ACT_NONE] = 0.1f;
        read[cases[i].opens].act[READER_ACT_OPENS] = 0.9f;
        assert_int_equal(select_opening(&arena, &turn, &opening), CLEW_OK);
        assert_string_equal(opening.title.s, cases[i].title);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_outlives_one_that_leans_on_nothing),
        cmocka_unit_test(a_title_names_what_it_points_at),
    };
    int failed;

    arena_init(&arena, (size_t)1 << 24);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
