/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_slots.c - when may a newer statement retire an older one?
 *
 * Written histories: what was said first, what was said later, and what a
 * careful reader would do. No wrong retirement is allowed at all; of the
 * right ones most must be found.
 */
#include "support/test.h"

#include "base/arena.h"
#include "talk/slots.h"

struct history {
    const char *older;
    const char *newer;
    enum slot_verdict expect;
};

#define YES SLOT_SUPERSEDES
#define ASK SLOT_SUGGESTS
#define NO SLOT_UNRELATED

static const struct history histories[] = {
    /* work */
    {"I work at Google.", "I now work at Stripe.", YES},
    {"I work for Acme Corp in Boston.", "I joined Globex last month.", YES},
    {"I'm working at Siemens.", "I started working at Bosch.", YES},
    {"I work at Google.", "I got a new job at Netflix.", YES},
    {"I work at Google.", "I left Google.", YES},
    {"I work at Google.", "I left Facebook.", NO},
    {"I work at Google.", "My sister works at Stripe.", NO},
    {"I work at Google.", "I used to work at Amazon.", NO},
    {"I work at Google.", "I might work at Stripe.", NO},
    {"I work at Google.", "I also work at a bakery on weekends.", ASK},
    {"I work at Google.", "Do you work at Stripe?", NO},
    {"I work at Google.", "If I worked at Stripe I'd be happy.", NO},
    {"I work at Google.", "I worked at Oracle in 2009.", NO},
    {"I work at Google.", "I want to work at Stripe.", NO},
    {"I work at Google.", "I work at Google in Zurich.", NO},
    /* home */
    {"I live in Berlin.", "I moved to Munich.", YES},
    {"I live in Berlin.", "I'm living in Lisbon now.", YES},
    {"We live in Austin.", "We moved to Denver last week.", YES},
    {"I live in Berlin.", "I lived in Paris when I was a kid.", NO},
    {"I live in Berlin.", "My brother lives in Munich.", NO},
    {"I live in Berlin.", "I moved from Berlin to Hamburg.", YES},
    {"I live in Berlin.", "I'm thinking of moving to Rome.", NO},
    {"I live in Berlin.", "I would love to live in Rome.", NO},
    {"I live in Berlin.", "I moved the meeting to Friday.", NO},
    {"I live in Berlin.", "I live with two friends.", NO},
    /* age, family, diet, study */
    {"I'm 34 years old.", "I just turned 35.", YES},
    {"I'm 34.", "I'm 35 now.", YES},
    {"I'm 34.", "My dad is 70.", NO},
    {"I'm single.", "I got married.", YES},
    {"I'm married.", "I got divorced.", YES},
    {"I'm engaged.", "My best friend got married.", NO},
    {"I'm a vegetarian.", "I'm vegan now.", YES},
    {"I'm a vegetarian.", "I made a vegan cake.", NO},
    {"I study physics.", "I'm studying biology.", YES},
    {"I'm majoring in history.", "I'm majoring in law now.", YES},
    {"I study physics.", "I study every evening.", NO},
    {"I have two kids.", "I have three kids.", YES},
    {"I have 2 cats.", "I have 3 cats now.", YES},
    {"I have two kids.", "I have three cats.", NO},
    {"I have two children.", "We have three kids.", YES},
    /* things with a value */
    {"My phone number is 555-1234.", "My phone number is 555-9876.", YES},
    {"My email is ann@old.example.", "My new email is ann@new.example.", ASK},
    {"My email is ann@work.example.", "My private email is a@home.example.",
     ASK},
    {"The deadline is Friday.", "The deadline moved to Monday.", YES},
    {"The deadline is Friday.", "The deadline is now Tuesday.", YES},
    {"The deadline is Friday.", "The deadline is Monday.", ASK},
    {"Our meeting is on Tuesday.", "Our meeting was moved to Thursday.", YES},
    {"The standup is at 9:30.", "The standup has been pushed to 10:00.", YES},
    {"The standup is at 9:30.", "The retro has been pushed to 10:00.", NO},
    {"My rent is 900 euros.", "My rent went up to 1100 euros.", YES},
    {"The budget is 10k.", "The budget was cut to 8k.", ASK},
    {"The launch is in May.", "The launch is now in June.", YES},
    {"The launch is in May.", "The launch may slip.", NO},
    {"My favorite color is blue.", "My favorite color is green.", ASK},
    {"My favorite color is blue.", "My favorite food is sushi.", NO},
    {"The database version is 14.", "The database version is now 15.", YES},
    {"The server version is 14.", "The database version is now 15.", NO},
    /* tools */
    {"We use Jenkins for CI.", "We switched from Jenkins to GitHub Actions.",
     YES},
    {"I use Vim for coding.", "I now use Emacs for coding.", YES},
    {"I use Vim.", "I use Slack.", NO},
    {"I use Vim for coding.", "I use Slack for chat.", NO},
    {"We use MySQL for billing.", "We migrated to Postgres for billing.", YES},
    {"We use MySQL.", "We should use Postgres.", NO},
    {"We use MySQL.", "We switched from Oracle to Postgres.", NO},
    {"I drive a Honda.", "I drive a Tesla now.", YES},
    {"I drive a Honda.", "I drive my kids to school.", ASK},
    {"I use Python for scripts.", "I don't use Ruby for scripts.", NO},
    {"I work at Google.", "I live in Berlin.", NO},
};

#define N_HISTORIES (sizeof(histories) / sizeof(histories[0]))

static enum slot_verdict verdict_of(struct arena *arena,
                                    const struct history *h)
{
    struct slot older;
    struct slot newer;

    if (!slot_of(arena, str_of(h->older), str_of("Ann"), &older) ||
        !slot_of(arena, str_of(h->newer), str_of("Ann"), &newer)) {
        return SLOT_UNRELATED;
    }
    return slot_compare(&older, &newer);
}

static void no_history_is_retired_wrongly(void **state)
{
    struct arena arena;
    int wrong = 0;
    int exact = 0;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < N_HISTORIES; i++) {
        enum slot_verdict got = verdict_of(&arena, &histories[i]);

        exact += got == histories[i].expect;
        if (got == SLOT_SUPERSEDES && histories[i].expect != SLOT_SUPERSEDES) {
            print_error("wrongly retired: \"%s\" by \"%s\"\n",
                        histories[i].older, histories[i].newer);
            wrong++;
        } else if (got != histories[i].expect) {
            print_message("got %d, want %d: \"%s\" / \"%s\"\n", (int)got,
                          (int)histories[i].expect, histories[i].older,
                          histories[i].newer);
        }
    }
    print_message("%d of %zu histories exact\n", exact, N_HISTORIES);
    arena_release(&arena);
    assert_int_equal(wrong, 0);
}

static void most_changes_are_found(void **state)
{
    struct arena arena;
    int found = 0;
    int all = 0;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < N_HISTORIES; i++) {
        if (histories[i].expect == SLOT_SUPERSEDES) {
            all++;
            found += verdict_of(&arena, &histories[i]) == SLOT_SUPERSEDES;
        }
    }
    arena_release(&arena);
    assert_true(all >= 30);
    assert_true(found * 10 >= all * 9);
}

static void another_speaker_retires_nothing(void **state)
{
    struct arena arena;
    struct slot older;
    struct slot newer;

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_true(
        slot_of(&arena, str_of("I live in Berlin."), str_of("Ann"), &older));
    assert_true(
        slot_of(&arena, str_of("I moved to Munich."), str_of("Bob"), &newer));
    assert_int_equal(slot_compare(&older, &newer), SLOT_UNRELATED);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_history_is_retired_wrongly),
        cmocka_unit_test(most_changes_are_found),
        cmocka_unit_test(another_speaker_retires_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
