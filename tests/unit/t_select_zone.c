/* SPDX-License-Identifier: Apache-2.0 */
/* talk/select.h: the days a note names are those of the speaker's zone. */
#include "support/test.h"

#include "base/arena.h"
#include "base/clock.h"
#include "talk/select.h"

#define NOW 1771200000000LL /* 2026-02-16, a Monday */

static void is_noted(const char *text, const char *zone, const char *note)
{
    struct analysis_options options = {.time_ms = NOW + 20 * CLOCK_HOUR_MS,
                                       .timezone = str_of(zone)};
    struct reader_sentence read = {.about = {[READER_ABOUT_SELF] = 1},
                                   .act = {[READER_ACT_NONE] = 1},
                                   .keep = {[READER_KEEP_FACT] = 1}};
    struct analysis analysis;
    struct select_turn turn = {.at_ms = options.time_ms,
                               .timezone = options.timezone,
                               .analysis = &analysis,
                               .read = &read};
    struct select_input input = {.turn = &turn};
    struct select_note *notes;
    struct arena arena;
    size_t n;

    arena_init(&arena, (size_t)1 << 24);
    assert_int_equal(
        analysis_run(&arena, str_of(text), &options, &analysis, NULL), CLEW_OK);
    assert_int_equal(analysis.n_sentences, 1);
    turn.text = analysis.text;
    assert_int_equal(select_notes(&arena, &input, &notes, &n), CLEW_OK);
    assert_int_equal(n, 1);
    assert_string_equal(notes[0].summary.s, note);
    arena_release(&arena);
}

static void a_date_is_that_of_the_speakers_zone(void **state)
{
    (void)state;
    /* there it is the 17th already */
    is_noted("The ferry to Kobe leaves tomorrow.", "+09:00",
             "The ferry to Kobe leaves tomorrow. [2026-02-18]");
}

static void a_month_ends_with_its_own_clock(void **state)
{
    (void)state;
    /* clocks go back, or forward, before it ends */
    is_noted("The bakery closes in October.", "Europe/Vienna",
             "The bakery closes in October. [2026-10]");
    is_noted("The bakery closes in March.", "Europe/Vienna",
             "The bakery closes in March. [2026-03]");
    is_noted("The bakery closes in April.", "Australia/Sydney",
             "The bakery closes in April. [2026-04]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_date_is_that_of_the_speakers_zone),
        cmocka_unit_test(a_month_ends_with_its_own_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
