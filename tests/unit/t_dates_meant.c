/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_dates_meant.c - which day is meant: sentences of many people in ten
 * languages, each with the day it was said on and the day that is meant, or
 * that none is. dates_meant.def is the table the reader was written with and
 * must be right but for the rows in `missed`; dates_meant_apart.def was
 * put aside before, and says how well the reader does with what it never saw.
 * dates_brief.def and dates_brief_apart.def are the same for short and careless
 * words, hours, timetables and names.
 * dates_tongues.def has the words of dates of other languages.
 * `t_dates_meant all` names every row that is wrong.
 */
#include "support/test.h"

#include "base/clock.h"
#include "text/analysis.h"
#include "text/date/dates_internal.h"
#include "text/fold.h"

#include <stdio.h>
#include <string.h>

struct meant {
    const char *today;
    const char *text;
    const char *want; /* "first..last;next ..."; NULL: none is to be shown */
};

static const struct meant seen[] = {
#include "dates_meant.def"
};
/* Known to be read wrongly: a name that looks like "Rehearsal Tuesday was". */
static const struct meant missed[] = {
    {"2026-03-05", "Ruby Tuesday was playing on the radio", "2026-03-03"},
};
static const struct meant apart[] = {
#include "dates_meant_apart.def"
};
static const struct meant brief[] = {
#include "dates_brief.def"
};
static const struct meant tongues[] = {
#include "dates_tongues.def"
};
static const struct meant brief_apart[] = {
#include "dates_brief_apart.def"
};

/* The tables of words, as date_words.c has them. */
enum { RISKY, SHORT, SURE, NAME, ROTA, STREET };
struct date_row {
    const char *word;
    int class;
    int flags;
    int value;
};
static const struct date_row rows_of_words[] = {
#include "../../models/lexicon/en/dates.def"
    {"", 0, 0, 0},
#include "../../models/lexicon/de/dates.def"
    {"", 0, 0, 0},
#include "../../models/lexicon/es/dates.def"
    {"", 0, 0, 0},
#include "../../models/lexicon/fr/dates.def"
    {"", 0, 0, 0},
#include "../../models/lexicon/it/dates.def"
    {"", 0, 0, 0},
#include "../../models/lexicon/nl/dates.def"
    {"", 0, 0, 0},
#include "../../models/lexicon/pt/dates.def"
    {"", 0, 0, 0},
#include "../../models/lexicon/ru/dates.def"
};

static bool names_all;

static void add_day(int64_t ms, char out[static 256], const char *lead)
{
    char day[CLOCK_TEXT_SIZE];
    size_t len = strlen(out);

    clock_format(ms, day);
    (void)snprintf(out + len, 256 - len, "%s%.10s", lead, day);
}

/* The sure days of a text, as `want` writes them. */
static void days_of(struct arena *arena, const struct meant *row, bool all,
                    char out[static 256])
{
    struct analysis_options options = {.timezone = STR("")};
    struct tokens tokens;
    struct date *dates;
    size_t n;

    out[0] = '\0';
    assert_true(clock_parse(str_of(row->today), &options.time_ms));
    options.time_ms += 10 * CLOCK_HOUR_MS;
    assert_int_equal(tokens_of(arena, str_of(row->text), &tokens), CLEW_OK);
    assert_true(
        dates_of(arena, str_of(row->text), &tokens, &options, &dates, &n));
    for (size_t i = 0; i < n && (all || !out[0]); i++) {
        const struct date *date = &dates[i];

        if (date->is_unsure) {
            continue;
        }
        add_day(date->said_from_ms, out, out[0] ? ";" : "");
        if (date->said_grain != DATE_TIME &&
            date->said_to_ms - date->said_from_ms > CLOCK_DAY_MS) {
            add_day(date->said_to_ms - 1, out, "..");
        }
    }
}

struct score {
    size_t n_right;
    size_t n_wrong; /* a day that is not meant; the rest are not found */
};

static struct score score_of(const struct meant *rows, size_t count,
                             const char *name, bool tells)
{
    struct arena arena;
    struct score score = {0};

    for (size_t i = 0; i < count; i++) {
        const char *want = rows[i].want ? rows[i].want : "";
        char got[256];
        bool is_right;

        arena_init(&arena, (size_t)1 << 20);
        days_of(&arena, &rows[i], strchr(want, ';') != NULL, got);
        arena_release(&arena);
        is_right = strcmp(got, want) == 0;
        score.n_right += is_right;
        score.n_wrong += !is_right && got[0];
        if (!is_right && (tells || names_all)) {
            print_error("%s: \"%s\" on %s: %s, not %s\n", name, rows[i].text,
                        rows[i].today, got[0] ? got : "nothing",
                        want[0] ? want : "nothing");
        }
    }
    print_message("%s: %zu of %zu right, %zu wrong\n", name, score.n_right,
                  count, score.n_wrong);
    return score;
}

#define SCORE(rows, tells)                                                     \
    score_of(rows, sizeof(rows) / sizeof((rows)[0]), #rows, tells)

static void the_days_people_mean_are_found(void **state)
{
    struct score score = SCORE(seen, true);

    (void)state;
    assert_int_equal(score.n_right, sizeof(seen) / sizeof(seen[0]));
    score = SCORE(missed, true);
    assert_int_equal(score.n_right, sizeof(missed) / sizeof(missed[0]));
}

static void most_days_are_found_in_words_never_seen(void **state)
{
    struct score score = SCORE(apart, false);

    (void)state;
    assert_true(score.n_right >= 161);
    assert_true(score.n_wrong <= 13);
}

static void short_and_careless_words_are_read(void **state)
{
    struct score score = SCORE(brief, true);

    (void)state;
    assert_int_equal(score.n_right, sizeof(brief) / sizeof(brief[0]));
}

static void words_of_other_languages_are_read(void **state)
{
    struct score score = SCORE(tongues, true);

    (void)state;
    assert_int_equal(score.n_right, sizeof(tongues) / sizeof(tongues[0]));
}

static void most_careless_words_never_seen_are_read(void **state)
{
    struct score score = SCORE(brief_apart, false);

    (void)state;
    assert_true(score.n_right >= 86);
    assert_true(score.n_wrong <= 3);
}

/* A row that is out of order, or not as tokens are folded, is never found. */
static void words_of_dates_are_sorted_and_folded(void **state)
{
    struct arena arena;
    const char *before = "";

    (void)state;
    arena_init(&arena, (size_t)1 << 20);
    for (size_t i = 0; i < sizeof(rows_of_words) / sizeof(rows_of_words[0]);
         i++) {
        struct str word = str_of(rows_of_words[i].word);
        struct str folded;

        assert_true(word.len == 0 || strcmp(before, word.s) < 0);
        assert_true(fold_token(&arena, word, &folded));
        if (!str_eq(folded, word)) {
            fail_msg("\"%s\" is not folded", rows_of_words[i].word);
        }
        before = word.s;
    }
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_days_people_mean_are_found),
        cmocka_unit_test(most_days_are_found_in_words_never_seen),
        cmocka_unit_test(short_and_careless_words_are_read),
        cmocka_unit_test(words_of_other_languages_are_read),
        cmocka_unit_test(words_of_dates_are_sorted_and_folded),
        cmocka_unit_test(most_careless_words_never_seen_are_read),
    };

    names_all = argc > 1 && strcmp(argv[1], "all") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
