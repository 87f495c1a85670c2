/* SPDX-License-Identifier: Apache-2.0 */
/* talk/select.h: what a turn of several matters opens beside its opening. */
#include "support/test.h"

#include "base/arena.h"
#include "talk/select.h"

#include <stdio.h>
#include <string.h>

#define NOW 1767607200000 /* 2026-01-05 10:00, a Monday */
#define MAX_SENTENCES 8

static struct arena arena;
static struct analysis analysis;
static struct reader_sentence read[MAX_SENTENCES];

/* A turn of which sentence i opens something with opens[i] percent; the titles
 * of what else than the first it opens, joined by '|'. */
static const char *further(const char *text, const int *opens, size_t n)
{
    static char titles[2048];
    struct analysis_options options = {.time_ms = NOW};
    struct select_turn turn = {
        .analysis = &analysis, .read = read, .at_ms = NOW};
    struct select_opening first;
    struct select_opening others[SELECT_MAX_FURTHER];
    size_t count = 0;
    size_t len = 0;

    arena_clear(&arena);
    assert_int_equal(
        analysis_run(&arena, str_of(text), &options, &analysis, NULL), CLEW_OK);
    assert_int_equal(analysis.n_sentences, n);
    memset(read, 0, sizeof(read));
    for (size_t i = 0; i < n; i++) {
        read[i].act[READER_ACT_OPENS] = (float)opens[i] / 100.0f;
        read[i].act[READER_ACT_NONE] = 1 - read[i].act[READER_ACT_OPENS];
    }
    turn.text = analysis.text;
    assert_int_equal(select_opening(&arena, &turn, &first), CLEW_OK);
    assert_int_equal(select_further(&arena, &turn, &first, others, &count),
                     CLEW_OK);
    assert_true(count <= SELECT_MAX_FURTHER);
    titles[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(titles + len, sizeof(titles) - len, "%s%.*s",
                                i > 0 ? "|" : "", (int)others[i].title.len,
                                others[i].title.s);
    }
    return titles;
}

static void each_matter_of_a_mail_opens(void **state)
{
    const char *mail = "The oven door hangs crooked since Sunday.\n"
                       "Our insurance wants the meter reading by Friday.\n"
                       "The vet asks 140 euros for Minka's two teeth.";

    (void)state;
    assert_string_equal(further(mail, (int[]){0, 0, 0}, 3), "");
    assert_string_equal(further(mail, (int[]){80, 0, 0}, 3), "");
    assert_string_equal(further(mail, (int[]){80, 90, 0}, 3),
                        "The oven door hangs crooked since Sunday.");
    assert_string_equal(further(mail, (int[]){80, 90, 80}, 3),
                        "The oven door hangs crooked since Sunday.|"
                        "The vet asks 140 euros for Minka's two teeth.");
    /* of what is less than likely only the likeliest */
    assert_string_equal(further(mail, (int[]){60, 65, 55}, 3), "");
}

static void one_matter_in_two_sentences_is_one(void **state)
{
    (void)state;
    assert_string_equal(
        further("The oven door hangs crooked since Sunday evening. It does not "
                "shut with any amount of force.",
                (int[]){90, 90}, 2),
        "");
}

static void no_more_open_than_there_is_room_for(void **state)
{
    (void)state;
    assert_string_equal(
        further("The old oven bakes no bread since Tuesday noon.\n"
                "The kitchen tap drips all night.\n"
                "The hallway lamp flickers in rain.\n"
                "The cellar door squeaks terribly.\n"
                "The garage roof leaks over bikes.",
                (int[]){90, 80, 80, 80, 80}, 5),
        "The kitchen tap drips all night.|"
        "The hallway lamp flickers in rain.|"
        "The cellar door squeaks terribly.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_matter_of_a_mail_opens),
        cmocka_unit_test(one_matter_in_two_sentences_is_one),
        cmocka_unit_test(no_more_open_than_there_is_room_for),
    };
    int failed;

    arena_init(&arena, (size_t)1 << 24);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
