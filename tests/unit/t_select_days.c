/* SPDX-License-Identifier: Apache-2.0 */
/* t_select_days.c - the days that are told behind a note. */
#include "support/test.h"

#include "talk/select.h"

#define NOW 1771200000000LL /* 2026-02-16, a Monday */

/* The only note of a text of one sentence. */
static void is_note(const char *text, const char *wanted)
{
    struct arena arena;
    struct analysis_options options = {.time_ms = NOW};
    struct analysis analysis;
    struct reader_sentence read = {.keep = {[READER_KEEP_EVENT] = 1.0f}};
    struct select_turn turn = {
        .text = str_of(text), .analysis = &analysis, .read = &read};
    struct select_input input = {.turn = &turn};
    struct select_note *notes;
    size_t count;

    arena_init(&arena, 1 << 20);
    assert_int_equal(
        analysis_run(&arena, str_of(text), &options, &analysis, NULL), CLEW_OK);
    assert_int_equal(analysis.n_sentences, 1);
    assert_int_equal(select_notes(&arena, &input, &notes, &count), CLEW_OK);
    assert_int_equal(count, 1);
    assert_string_equal(notes[0].summary.s, wanted);
    arena_release(&arena);
}

static void a_day_is_told_once(void **state)
{
    (void)state;
    is_note("la entrevista me la han pasado al lunes 23 a las 9:30",
            "la entrevista me la han pasado al lunes 23 a las 9:30 "
            "[2026-02-23]");
    is_note("nächste Woche Dienstag kommt der Schornsteinfeger nach Altona",
            "nächste Woche Dienstag kommt der Schornsteinfeger nach Altona "
            "[2026-02-24]");
    is_note("the plumber comes on Tuesday, the painter on Thursday",
            "the plumber comes on Tuesday, the painter on Thursday "
            "[2026-02-17] [2026-02-19]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
