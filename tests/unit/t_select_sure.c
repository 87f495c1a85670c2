/* SPDX-License-Identifier: Apache-2.0 */
/* talk/select.h: how sure a reader must be of what becomes a note. */
#include "support/test.h"

#include "base/arena.h"
#include "talk/select.h"

#include <string.h>

#define NOW 1767607200000 /* 2026-01-05 10:00, a Monday */

struct row {
    const char *text;
    enum reader_keep keep;
    float sure;
    size_t n_notes;
};

static size_t notes_of(struct arena *arena, const struct row *row)
{
    struct analysis_options options = {.time_ms = NOW};
    struct reader_sentence read = {.about = {[READER_ABOUT_SELF] = 1},
                                   .act = {[READER_ACT_NONE] = 1}};
    struct select_turn turn = {.at_ms = NOW, .read = &read};
    struct select_input input = {.turn = &turn};
    struct clew_error err = {0};
    struct select_note *notes;
    struct analysis analysis;
    size_t n;

    assert_int_equal(
        analysis_run(arena, str_of(row->text), &options, &analysis, &err),
        CLEW_OK);
    assert_int_equal(analysis.n_sentences, 1);
    read.keep[READER_KEEP_NONE] = 1 - row->sure;
    read.keep[row->keep] = row->sure;
    turn.text = analysis.text;
    turn.analysis = &analysis;
    assert_int_equal(select_notes(arena, &input, &notes, &n), CLEW_OK);
    return n;
}

static void what_is_hardly_worth_it_is_left_out(void **state)
{
    static const struct row rows[] = {
        {"Gardening is good for Magda's mind.", READER_KEEP_FACT, 0.84f, 0},
        {"Gardening is good for Magda's mind.", READER_KEEP_FACT, 0.86f, 1},
        {"Always answer Magda in Polish.", READER_KEEP_INSTRUCTION, 0.5f, 1},
        /* a day to come, and one that is over */
        {"Magda gets her bees tomorrow.", READER_KEEP_EVENT, 0.5f, 1},
        {"Magda got her bees yesterday.", READER_KEEP_EVENT, 0.5f, 0},
        /* what one is asked to keep; one that only points says nothing */
        {"Remember that Magda cannot stand walnuts.", READER_KEEP_FACT, 0.05f,
         1},
        {"Remind me to call the bank before the fair.", READER_KEEP_EVENT,
         0.05f, 1},
        {"Remember that.", READER_KEEP_FACT, 0.05f, 0},
        {"Remember when we went to Lisbon by train?", READER_KEEP_EVENT, 0.05f,
         0},
    };
    struct arena arena;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n;

        arena_init(&arena, (size_t)1 << 24);
        n = notes_of(&arena, &rows[i]);
        arena_release(&arena);
        if (n != rows[i].n_notes) {
            fail_msg("%s at %.2f: %zu notes", rows[i].text,
                     (double)rows[i].sure, n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_hardly_worth_it_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
