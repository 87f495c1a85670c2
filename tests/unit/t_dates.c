/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_dates.c - date expressions, resolved against a reference time and zone.
 */
#include "support/test.h"

#include "base/clock.h"
#include "text/analysis.h"
#include "text/date/dates.h"
#include "text/date/zone.h"

#include <stdio.h>

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

struct row {
    const char *text;
    const char *from; /* NULL: no date in the text */
    const char *to;
};

static void find(const char *text, const char *at, const char *zone,
                 struct date **out, size_t *n)
{
    struct analysis_options options = {.timezone = str_of(zone)};
    struct tokens tokens;

    assert_true(clock_parse(str_of(at), &options.time_ms));
    assert_int_equal(tokens_of(&arena, str_of(text), &tokens), CLEW_OK);
    assert_true(dates_of(&arena, str_of(text), &tokens, &options, out, n));
}

static size_t check(const struct row *rows, size_t count, const char *at,
                    const char *zone)
{
    size_t failed = 0;

    for (size_t i = 0; i < count; i++) {
        char from[CLOCK_TEXT_SIZE] = "nothing";
        char to[CLOCK_TEXT_SIZE] = "nothing";
        struct date *dates;
        size_t n;
        int64_t want_from;
        int64_t want_to;

        find(rows[i].text, at, zone, &dates, &n);
        if (n > 0) {
            clock_format(dates[0].from_ms, from);
            clock_format(dates[0].to_ms, to);
        }
        if (!rows[i].from) {
            if (n > 0) {
                print_error("\"%s\": \"%.*s\" is no date\n", rows[i].text,
                            (int)dates[0].text.len, dates[0].text.s);
                failed++;
            }
            continue;
        }
        assert_true(clock_parse(str_of(rows[i].from), &want_from));
        assert_true(clock_parse(str_of(rows[i].to), &want_to));
        if (n == 0 || dates[0].from_ms != want_from ||
            dates[0].to_ms != want_to) {
            print_error("\"%s\" at %s: %s - %s, not %s - %s\n", rows[i].text,
                        at, from, to, rows[i].from, rows[i].to);
            failed++;
        }
    }
    return failed;
}

#define CHECK(rows, at, zone)                                                  \
    assert_int_equal(check(rows, sizeof(rows) / sizeof((rows)[0]), at, zone), 0)

/* A Monday. */
static const char monday[] = "2023-05-08T13:56:00Z";

static void days_are_counted_from_the_turn(void **state)
{
    static const struct row rows[] = {
        {"today", "2023-05-08", "2023-05-09"},
        {"I did it yesterday", "2023-05-07", "2023-05-08"},
        {"see you tomorrow", "2023-05-09", "2023-05-10"},
        {"Tomorrow's meeting is off", "2023-05-09", "2023-05-10"},
        {"the day before yesterday", "2023-05-06", "2023-05-07"},
        {"the day after tomorrow", "2023-05-10", "2023-05-11"},
        {"tonight", "2023-05-08T18:00:00Z", "2023-05-09"},
        {"this morning", "2023-05-08T05:00:00Z", "2023-05-08T12:00:00Z"},
        {"this afternoon", "2023-05-08T12:00:00Z", "2023-05-08T18:00:00Z"},
        {"this evening", "2023-05-08T18:00:00Z", "2023-05-09"},
        {"last night", "2023-05-07T18:00:00Z", "2023-05-08T06:00:00Z"},
        {"yesterday morning", "2023-05-07T05:00:00Z", "2023-05-07T12:00:00Z"},
        {"tomorrow evening", "2023-05-09T18:00:00Z", "2023-05-10"},
        {"three days ago", "2023-05-05", "2023-05-06"},
        {"10 days ago", "2023-04-28", "2023-04-29"},
        {"a few days ago", "2023-05-05", "2023-05-06"},
        {"a couple of days ago", "2023-05-06", "2023-05-07"},
        {"in three days", "2023-05-11", "2023-05-12"},
        {"two days from now", "2023-05-10", "2023-05-11"},
        {"twenty-five days ago", "2023-04-13", "2023-04-14"},
        {"the other day", "2023-05-01", "2023-05-08"},
        {"an hour ago", "2023-05-08T12:56:00Z", "2023-05-08T13:56:00Z"},
        {"in 2 hours", "2023-05-08T15:56:00Z", "2023-05-08T16:56:00Z"},
        {"30 minutes ago", "2023-05-08T13:26:00Z", "2023-05-08T13:27:00Z"},
        {"later today", "2023-05-08", "2023-05-09"},
        {"in the last 3 days", "2023-05-05", "2023-05-08T13:56:00Z"},
        {"over the past two hours", "2023-05-08T11:56:00Z",
         "2023-05-08T13:56:00Z"},
    };

    (void)state;
    CHECK(rows, monday, "");
}

static void scripts_without_spaces_have_dates_too(void **state)
{
    static const struct row rows[] = {
        {"昨天我去了银行", "2023-05-07", "2023-05-08"},
        {"我大前天病了", "2023-05-05", "2023-05-06"},
        {"上周二说了什么？", "2023-05-02", "2023-05-03"},
        {"上星期天下雨", "2023-05-07", "2023-05-08"},
        {"上周三个人来了", "2023-05-01", "2023-05-08"},
        {"上周日本队赢了", "2023-05-01", "2023-05-08"},
        {"上个月15号搬家", "2023-04-15", "2023-04-16"},
        {"去年十二月二十三日", "2022-12-23", "2022-12-24"},
        {"2021年6月3日见面", "2021-06-03", "2021-06-04"},
        {"二〇二一年三月", "2021-03-01", "2021-04-01"},
        {"六月我们去云南", "2023-06-01", "2023-07-01"},
        {"两个月前买的", "2023-03-01", "2023-04-01"},
        {"三周后交稿", "2023-05-29", "2023-06-05"},
        {"先週の火曜日に話した", "2023-05-02", "2023-05-03"},
        {"一昨日、約束しました", "2023-05-06", "2023-05-07"},
        {"先月何を売りましたか", "2023-04-01", "2023-05-01"},
        {"来月の15日に会う", "2023-06-15", "2023-06-16"},
        {"2週間前に届いた", "2023-04-24", "2023-05-01"},
        {"昨年の4月", "2022-04-01", "2022-05-01"},
        {"金曜日に会う", "2023-05-12", "2023-05-13"},
        {"지난주 화요일에 만났다", "2023-05-02", "2023-05-03"},
        {"3일 전에 뭐라고 했어?", "2023-05-05", "2023-05-06"},
        {"6월에 뭘 계획했어?", "2023-06-01", "2023-07-01"},
        /* what only looks like one */
        {"一周一次", NULL, NULL},
        {"我每周五游泳", NULL, NULL},
        {"然后天黑了", NULL, NULL},
        {"以前年轻", NULL, NULL},
        {"日本周边", NULL, NULL},
        {"第三月台", NULL, NULL},
        {"13月、2月30日", NULL, NULL},
        {"```\n昨天\n```", NULL, NULL},
    };
    struct date *dates;
    size_t n;

    (void)state;
    CHECK(rows, monday, "");
    find("on 2023-05-01, 昨天 and yesterday, 2021年", monday, "", &dates, &n);
    assert_int_equal(n, 4);
    for (size_t i = 1; i < n; i++) {
        assert_true(dates[i - 1].span.to <= dates[i].span.from);
    }
    assert_true(str_eq(dates[3].text, STR("2021年")));
}

static void a_date_says_what_was_not_said_of_it(void **state)
{
    static const struct {
        const char *text;
        enum date_again again;
    } cases[] = {
        {"in March", DATE_YEARLY},     {"on 3 March", DATE_YEARLY},
        {"at Christmas", DATE_YEARLY}, {"from March to May", DATE_YEARLY},
        {"on Friday", DATE_WEEKLY},    {"in March 2021", DATE_ONCE},
        {"last Friday", DATE_ONCE},    {"next March", DATE_ONCE},
        {"yesterday", DATE_ONCE},      {"2021-03-01", DATE_ONCE},
        {"三月", DATE_YEARLY},         {"星期五", DATE_WEEKLY},
        {"2021年3月", DATE_ONCE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct date *dates;
        size_t n;

        find(cases[i].text, monday, "", &dates, &n);
        if (n != 1 || dates[0].again != cases[i].again) {
            print_error("%s\n", cases[i].text);
        }
        assert_int_equal(n, 1);
        assert_int_equal(dates[0].again, cases[i].again);
    }
}

static void weekdays_are_past_or_to_come(void **state)
{
    static const struct row rows[] = {
        {"last Thursday", "2023-05-04", "2023-05-05"},
        {"last Monday", "2023-05-01", "2023-05-02"},
        {"last Tues", "2023-05-02", "2023-05-03"},
        {"next Thursday", "2023-05-18", "2023-05-19"},
        {"this Thursday", "2023-05-11", "2023-05-12"},
        {"I booked Mr. Okafor for Thursday", "2023-05-11", "2023-05-12"},
        {"we met him on Thursday", "2023-05-04", "2023-05-05"},
        {"this past Sunday", "2023-05-07", "2023-05-08"},
        {"this coming Friday", "2023-05-12", "2023-05-13"},
        {"We will meet on Friday", "2023-05-12", "2023-05-13"},
        {"We met on Friday", "2023-05-05", "2023-05-06"},
        {"On Wed. we start", "2023-05-10", "2023-05-11"},
        {"three Fridays ago", "2023-04-21", "2023-04-22"},
        {"two Mondays ago", "2023-04-24", "2023-04-25"},
        {"Friday night", "2023-05-12T18:00:00Z", "2023-05-13T06:00:00Z"},
        {"last Friday night", "2023-05-05T18:00:00Z", "2023-05-06T06:00:00Z"},
        {"Thursday at 3pm", "2023-05-11T15:00:00Z", "2023-05-11T16:00:00Z"},
        {"on Sat we go", "2023-05-13", "2023-05-14"},
        {"see you on Sat", "2023-05-13", "2023-05-14"},
        {"Sat down and cried", NULL, NULL},
        {"I sat there", NULL, NULL},
        {"the sun is out", NULL, NULL},
        {"every Friday", NULL, NULL},
        {"I run on Sundays", NULL, NULL},
        {"Thursday, May 11", "2023-05-11", "2023-05-12"},
        {"Friday, 5 May 2023", "2023-05-05", "2023-05-06"},
        {"the Friday before 15 July 2023", "2023-07-14", "2023-07-15"},
        {"the Sunday after May 5th", "2023-05-07", "2023-05-08"},
    };

    (void)state;
    CHECK(rows, monday, "");
}

static void weeks_months_and_years(void **state)
{
    static const struct row rows[] = {
        {"last week", "2023-05-01", "2023-05-08"},
        {"this week", "2023-05-08", "2023-05-15"},
        {"next week", "2023-05-15", "2023-05-22"},
        {"two weeks ago", "2023-04-24", "2023-05-01"},
        {"in two weeks", "2023-05-22", "2023-05-29"},
        {"a fortnight ago", "2023-04-24", "2023-05-01"},
        {"last weekend", "2023-05-06", "2023-05-08"},
        {"this weekend", "2023-05-13", "2023-05-15"},
        {"next weekend", "2023-05-20", "2023-05-22"},
        {"We hiked over the weekend", "2023-05-06", "2023-05-08"},
        {"last month", "2023-04-01", "2023-05-01"},
        {"this month", "2023-05-01", "2023-06-01"},
        {"next month", "2023-06-01", "2023-07-01"},
        {"a couple of months ago", "2023-03-01", "2023-04-01"},
        {"six months ago", "2022-11-01", "2022-12-01"},
        {"last year", "2022-01-01", "2023-01-01"},
        {"this year", "2023-01-01", "2024-01-01"},
        {"next year", "2024-01-01", "2025-01-01"},
        {"five years ago", "2018-01-01", "2019-01-01"},
        {"a decade ago", "2010-01-01", "2020-01-01"},
        {"last quarter", "2023-01-01", "2023-04-01"},
        {"Q3 2024", "2024-07-01", "2024-10-01"},
        {"in Q1", "2023-01-01", "2023-04-01"},
        {"the third quarter of 2022", "2022-07-01", "2022-10-01"},
        {"last summer", "2022-06-01", "2022-09-01"},
        {"this summer", "2023-06-01", "2023-09-01"},
        {"next summer", "2023-06-01", "2023-09-01"},
        {"last winter", "2022-12-01", "2023-03-01"},
        {"last fall", "2022-09-01", "2022-12-01"},
        {"the summer of 2019", "2019-06-01", "2019-09-01"},
        {"winter 2020", "2020-12-01", "2021-03-01"},
        {"prices fall again", NULL, NULL},
        {"the spring broke", NULL, NULL},
        {"in the 90s", "1990-01-01", "2000-01-01"},
        {"the 1980s", "1980-01-01", "1990-01-01"},
        {"in 2019", "2019-01-01", "2020-01-01"},
        {"2023", "2023-01-01", "2024-01-01"},
        {"in 2021 we moved", "2021-01-01", "2022-01-01"},
        {"2023 people came", NULL, NULL},
        {"it cost $2023", NULL, NULL},
        {"the week before May 5", "2023-04-24", "2023-05-01"},
        {"two weeks before 9 June 2023", "2023-05-22", "2023-05-29"},
    };

    (void)state;
    CHECK(rows, monday, "");
}

static void months_and_days_of_months(void **state)
{
    static const struct row rows[] = {
        {"in May", "2023-05-01", "2023-06-01"},
        {"in May 2021", "2021-05-01", "2021-06-01"},
        {"May 2021", "2021-05-01", "2021-06-01"},
        {"We met in December", "2022-12-01", "2023-01-01"},
        {"We will meet in December", "2023-12-01", "2024-01-01"},
        {"in January", "2023-01-01", "2023-02-01"},
        {"last March", "2023-03-01", "2023-04-01"},
        {"last June", "2022-06-01", "2022-07-01"},
        {"next January", "2024-01-01", "2024-02-01"},
        {"May 5th", "2023-05-05", "2023-05-06"},
        {"on May 5", "2023-05-05", "2023-05-06"},
        {"5 May 2023", "2023-05-05", "2023-05-06"},
        {"May 5, 2023", "2023-05-05", "2023-05-06"},
        {"the 5th of May", "2023-05-05", "2023-05-06"},
        {"the fifth of May 2020", "2020-05-05", "2020-05-06"},
        {"7 May 2023 at 15:30", "2023-05-07T15:30:00Z", "2023-05-07T15:31:00Z"},
        {"Dec 24", "2022-12-24", "2022-12-25"},
        {"Sept. 3", "2023-09-03", "2023-09-04"},
        {"Sept 3 2022", "2022-09-03", "2022-09-04"},
        {"21st September", "2023-09-21", "2023-09-22"},
        {"May 5-7", "2023-05-05", "2023-05-08"},
        {"5-7 June 2024", "2024-06-05", "2024-06-08"},
        {"mid-March", "2023-03-11", "2023-03-21"},
        {"early June", "2023-06-01", "2023-06-11"},
        {"late April 2022", "2022-04-21", "2022-05-01"},
        {"the end of the month", "2023-05-21", "2023-06-01"},
        {"the beginning of the year", "2023-01-01", "2023-05-01"},
        {"the end of last year", "2022-09-01", "2023-01-01"},
        {"late 2021", "2021-09-01", "2022-01-01"},
        {"in the middle of July", "2023-07-11", "2023-07-21"},
        {"We leave on the 12th.", "2023-05-12", "2023-05-13"},
        {"on the 5th floor", NULL, NULL},
        {"You may go", NULL, NULL},
        {"May I ask something?", NULL, NULL},
        {"It may 5 times fail", NULL, NULL},
        {"the troops march on", NULL, NULL},
        {"a second opinion", NULL, NULL},
        {"an august company", NULL, NULL},
        {"June is my sister", NULL, NULL},
    };

    (void)state;
    CHECK(rows, monday, "");
}

static void numbers_and_iso_forms(void **state)
{
    static const struct row rows[] = {
        {"2024-03-01", "2024-03-01", "2024-03-02"},
        {"on 2024/03/01", "2024-03-01", "2024-03-02"},
        {"2024-03", "2024-03-01", "2024-04-01"},
        {"3/14/2024", "2024-03-14", "2024-03-15"},
        {"14/3/2024", "2024-03-14", "2024-03-15"},
        {"14.03.2024", "2024-03-14", "2024-03-15"},
        {"1.2.24", "2024-02-01", "2024-02-02"},
        {"03-14-2024", "2024-03-14", "2024-03-15"},
        {"2024-03-01T09:00:00Z", "2024-03-01T09:00:00Z",
         "2024-03-01T09:00:01Z"},
        {"2024-03-01T09:00:00+02:00", "2024-03-01T07:00:00Z",
         "2024-03-01T07:00:01Z"},
        {"2024-02-30", NULL, NULL},
        {"13/13/2024", NULL, NULL},
        {"version 1.2.3", NULL, NULL},
        {"24/7 support", NULL, NULL},
        {"call 555-1234", NULL, NULL},
        {"192.168.0.1", NULL, NULL},
    };

    (void)state;
    CHECK(rows, monday, "");
}

static void times_of_day(void **state)
{
    static const struct row rows[] = {
        {"at 3pm", "2023-05-08T15:00:00Z", "2023-05-08T16:00:00Z"},
        {"at 3 pm", "2023-05-08T15:00:00Z", "2023-05-08T16:00:00Z"},
        {"at 3 p.m.", "2023-05-08T15:00:00Z", "2023-05-08T16:00:00Z"},
        {"at 11 am", "2023-05-08T11:00:00Z", "2023-05-08T12:00:00Z"},
        {"12am", "2023-05-08T00:00:00Z", "2023-05-08T01:00:00Z"},
        {"12 pm", "2023-05-08T12:00:00Z", "2023-05-08T13:00:00Z"},
        {"15:30", "2023-05-08T15:30:00Z", "2023-05-08T15:31:00Z"},
        {"3:30pm", "2023-05-08T15:30:00Z", "2023-05-08T15:31:00Z"},
        {"3:30 PM", "2023-05-08T15:30:00Z", "2023-05-08T15:31:00Z"},
        {"at noon", "2023-05-08T12:00:00Z", "2023-05-08T12:01:00Z"},
        {"at midnight", "2023-05-09T00:00:00Z", "2023-05-09T00:01:00Z"},
        {"tomorrow at 3", "2023-05-09T15:00:00Z", "2023-05-09T16:00:00Z"},
        {"tomorrow at 9", "2023-05-09T09:00:00Z", "2023-05-09T10:00:00Z"},
        {"3pm tomorrow", "2023-05-09T15:00:00Z", "2023-05-09T16:00:00Z"},
        {"15:30 on Friday", "2023-05-12T15:30:00Z", "2023-05-12T15:31:00Z"},
        {"5 o'clock", "2023-05-08T17:00:00Z", "2023-05-08T18:00:00Z"},
        {"yesterday at noon", "2023-05-07T12:00:00Z", "2023-05-07T12:01:00Z"},
        {"morgen um acht Uhr abends", "2023-05-09T20:00:00Z",
         "2023-05-09T21:00:00Z"},
        {"am Freitag um halb acht morgens", "2023-05-12T07:30:00Z",
         "2023-05-12T07:31:00Z"},
        {"morgen um 8:30 abends", "2023-05-09T20:30:00Z",
         "2023-05-09T20:31:00Z"},
        {"morgen um 12 Uhr mittags", "2023-05-09T12:00:00Z",
         "2023-05-09T13:00:00Z"},
        {"um 20 Uhr abends am Freitag", "2023-05-12T20:00:00Z",
         "2023-05-12T21:00:00Z"},
        {"abends um 8", NULL, NULL},
        {"25:99", NULL, NULL},
        {"look at 3 cats", NULL, NULL},
    };

    (void)state;
    CHECK(rows, monday, "");
}

static void holidays_have_their_day(void **state)
{
    static const struct row rows[] = {
        {"at Christmas", "2022-12-25", "2022-12-26"},
        {"We will go at Christmas", "2023-12-25", "2023-12-26"},
        {"last Christmas", "2022-12-25", "2022-12-26"},
        {"next Christmas", "2023-12-25", "2023-12-26"},
        {"Christmas 2020", "2020-12-25", "2020-12-26"},
        {"Christmas Eve 2021", "2021-12-24", "2021-12-25"},
        {"New Year's Eve 2022", "2022-12-31", "2023-01-01"},
        {"New Year's Day 2022", "2022-01-01", "2022-01-02"},
        {"Easter 2024", "2024-03-31", "2024-04-01"},
        {"Good Friday 2024", "2024-03-29", "2024-03-30"},
        {"Thanksgiving 2023", "2023-11-23", "2023-11-24"},
        {"Black Friday 2023", "2023-11-24", "2023-11-25"},
        {"Halloween 2023", "2023-10-31", "2023-11-01"},
        {"Valentine's Day", "2023-02-14", "2023-02-15"},
        {"Labor Day 2023", "2023-09-04", "2023-09-05"},
        {"Memorial Day 2023", "2023-05-29", "2023-05-30"},
        {"Mother's Day 2023", "2023-05-14", "2023-05-15"},
        {"Father's Day 2023", "2023-06-18", "2023-06-19"},
        {"two days before Christmas 2021", "2021-12-23", "2021-12-24"},
        {"the day after Thanksgiving 2023", "2023-11-24", "2023-11-25"},
    };

    (void)state;
    CHECK(rows, monday, "");
}

static void ranges_have_two_ends(void **state)
{
    static const struct row rows[] = {
        {"since Monday", "2023-05-08", "2023-05-08T13:56:00Z"},
        {"since last Thursday", "2023-05-04", "2023-05-08T13:56:00Z"},
        {"since 2019", "2019-01-01", "2023-05-08T13:56:00Z"},
        {"since May 2021", "2021-05-01", "2023-05-08T13:56:00Z"},
        {"until Friday", "2023-05-08T13:56:00Z", "2023-05-13"},
        {"by tomorrow", "2023-05-08T13:56:00Z", "2023-05-10"},
        {"before 2020", "0001-01-01", "2020-01-01"},
        {"after May 2021", "2021-06-01", "2023-05-08T13:56:00Z"},
        {"between March and May 2022", "2022-03-01", "2022-06-01"},
        {"between May 3 and May 6", "2023-05-03", "2023-05-07"},
        {"from Tuesday to Thursday", "2023-05-09", "2023-05-12"},
        {"from 2019 to 2021", "2019-01-01", "2022-01-01"},
        {"May 3 - May 6", "2023-05-03", "2023-05-07"},
        {"2019-2021", NULL, NULL},
        {"between you and me", NULL, NULL},
        {"since you asked", NULL, NULL},
        {"the next two weeks", "2023-05-08T13:56:00Z", "2023-05-23"},
        {"the last two months", "2023-03-08", "2023-05-08T13:56:00Z"},
    };

    (void)state;
    CHECK(rows, monday, "");
}

static void year_turns_month_ends_and_leap_days(void **state)
{
    static const struct row leap[] = {
        {"yesterday", "2024-02-28", "2024-02-29"},
        {"tomorrow", "2024-03-01", "2024-03-02"},
        {"a year ago", "2023-01-01", "2024-01-01"},
        {"one month ago", "2024-01-01", "2024-02-01"},
        {"last month", "2024-01-01", "2024-02-01"},
        {"next month", "2024-03-01", "2024-04-01"},
        {"February 29", "2024-02-29", "2024-03-01"},
        {"Feb 29, 2023", "2023-01-01", "2024-01-01"},
        {"the end of the month", "2024-02-21", "2024-03-01"},
    };
    static const struct row eve[] = {
        {"tomorrow", "2024-01-01", "2024-01-02"},
        {"next week", "2024-01-01", "2024-01-08"},
        {"this week", "2023-12-25", "2024-01-01"},
        {"next month", "2024-01-01", "2024-02-01"},
        {"next year", "2024-01-01", "2025-01-01"},
        {"last weekend", "2023-12-23", "2023-12-25"},
        {"this weekend", "2023-12-30", "2024-01-01"},
        {"next Monday", "2024-01-01", "2024-01-02"},
        {"last Sunday", "2023-12-24", "2023-12-25"},
        {"two months ago", "2023-10-01", "2023-11-01"},
        {"in a month", "2024-01-01", "2024-02-01"},
    };
    static const struct row new_year[] = {
        {"last week", "2023-12-25", "2024-01-01"},
        {"last month", "2023-12-01", "2024-01-01"},
        {"yesterday", "2024-01-02", "2024-01-03"},
        {"last winter", "2022-12-01", "2023-03-01"},
        {"this winter", "2023-12-01", "2024-03-01"},
        {"We met in November", "2023-11-01", "2023-12-01"},
        {"on December 30", "2023-12-30", "2023-12-31"},
    };

    (void)state;
    CHECK(leap, "2024-02-29T12:00:00Z", "");
    CHECK(eve, "2023-12-31T12:00:00Z", "");
    CHECK(new_year, "2024-01-03T08:00:00Z", "");
}

static void zones_and_summer_time(void **state)
{
    /* 23:30 UTC is the next day in Berlin, the same in New York */
    static const struct row berlin[] = {
        {"today", "2023-05-08T22:00:00Z", "2023-05-09T22:00:00Z"},
        {"yesterday", "2023-05-07T22:00:00Z", "2023-05-08T22:00:00Z"},
        {"at 3pm", "2023-05-09T13:00:00Z", "2023-05-09T14:00:00Z"},
        {"in January 2023", "2022-12-31T23:00:00Z", "2023-01-31T23:00:00Z"},
        {"in March 2023", "2023-02-28T23:00:00Z", "2023-03-31T22:00:00Z"},
        {"2024-03-01", "2024-02-29T23:00:00Z", "2024-03-01T23:00:00Z"},
        {"2024-03-01T09:00:00Z", "2024-03-01T09:00:00Z",
         "2024-03-01T09:00:01Z"},
    };
    static const struct row new_york[] = {
        {"today", "2023-05-08T04:00:00Z", "2023-05-09T04:00:00Z"},
        {"tonight", "2023-05-08T22:00:00Z", "2023-05-09T04:00:00Z"},
        {"last night", "2023-05-07T22:00:00Z", "2023-05-08T10:00:00Z"},
    };
    /* clocks go forward on 2023-03-26 and back on 2023-10-29 in Berlin */
    static const struct row spring[] = {
        {"today", "2023-03-25T23:00:00Z", "2023-03-26T22:00:00Z"},
        {"yesterday", "2023-03-24T23:00:00Z", "2023-03-25T23:00:00Z"},
        {"today at 2:30am", "2023-03-26T01:30:00Z", "2023-03-26T01:31:00Z"},
        {"this week", "2023-03-19T23:00:00Z", "2023-03-26T22:00:00Z"},
    };
    static const struct row autumn[] = {
        {"today", "2023-10-28T22:00:00Z", "2023-10-29T23:00:00Z"},
        {"today at 2:30am", "2023-10-29T00:30:00Z", "2023-10-29T00:31:00Z"},
        {"tomorrow", "2023-10-29T23:00:00Z", "2023-10-30T23:00:00Z"},
        {"an hour ago", "2023-10-29T00:30:00Z", "2023-10-29T01:30:00Z"},
    };
    static const struct row india[] = {
        {"today", "2023-05-08T18:30:00Z", "2023-05-09T18:30:00Z"},
    };
    static const struct row nowhere[] = {
        {"today", "2023-05-08", "2023-05-09"},
    };
    /* past the table of transitions the rule of the file holds */
    static const struct row far[] = {
        {"today", "2060-07-14T22:00:00Z", "2060-07-15T22:00:00Z"},
        {"in January 2060", "2059-12-31T23:00:00Z", "2060-01-31T23:00:00Z"},
    };

    (void)state;
    CHECK(berlin, "2023-05-08T23:30:00Z", "Europe/Berlin");
    CHECK(new_york, "2023-05-08T23:30:00Z", "America/New_York");
    CHECK(spring, "2023-03-26T12:00:00Z", "Europe/Berlin");
    CHECK(autumn, "2023-10-29T01:30:00Z", "Europe/Berlin");
    CHECK(india, "2023-05-08T23:30:00Z", "Asia/Kolkata");
    CHECK(india, "2023-05-08T23:30:00Z", "+05:30");
    CHECK(nowhere, "2023-05-08T23:30:00Z", "Mars/Olympus");
    CHECK(far, "2060-07-15T12:00:00Z", "Europe/Berlin");
}

static void offsets_of_zones_are_those_of_the_files(void **state)
{
    static const struct {
        const char *zone;
        const char *at;
        int64_t minutes;
        bool is_known;
    } cases[] = {
        {"", "2023-01-01T00:00:00Z", 0, true},
        {"UTC", "2023-01-01T00:00:00Z", 0, true},
        {"Z", "2023-01-01T00:00:00Z", 0, true},
        {"+02:00", "2023-01-01T00:00:00Z", 120, true},
        {"-0530", "2023-01-01T00:00:00Z", -330, true},
        {"UTC+2", "2023-01-01T00:00:00Z", 120, true},
        {"Europe/Berlin", "2023-01-01T00:00:00Z", 60, true},
        {"Europe/Berlin", "2023-03-26T00:59:59Z", 60, true},
        {"Europe/Berlin", "2023-03-26T01:00:00Z", 120, true},
        {"America/New_York", "2023-07-01T00:00:00Z", -240, true},
        {"America/New_York", "2100-07-01T00:00:00Z", -240, true},
        {"America/New_York", "2100-01-01T00:00:00Z", -300, true},
        {"Asia/Kathmandu", "2023-07-01T00:00:00Z", 345, true},
        {"Australia/Sydney", "2090-01-01T00:00:00Z", 660, true},
        {"Australia/Sydney", "2090-07-01T00:00:00Z", 600, true},
        {"America/Sao_Paulo", "2023-01-01T00:00:00Z", -180, true},
        {"Nowhere", "2023-01-01T00:00:00Z", 0, false},
        {"../../etc/passwd", "2023-01-01T00:00:00Z", 0, false},
        {"/etc/passwd", "2023-01-01T00:00:00Z", 0, false},
        {"Europe", "2023-01-01T00:00:00Z", 0, false},
        {"+99:00", "2023-01-01T00:00:00Z", 0, false},
        {"+", "2023-01-01T00:00:00Z", 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t at;
        int64_t offset = 0;
        bool is_known;

        assert_true(clock_parse(str_of(cases[i].at), &at));
        is_known = text_zone_offset(str_of(cases[i].zone), at, &offset);
        if (is_known != cases[i].is_known ||
            (is_known && offset != cases[i].minutes * CLOCK_MINUTE_MS)) {
            fail_msg("\"%s\" at %s: %d, %d min", cases[i].zone, cases[i].at,
                     (int)is_known, (int)(offset / CLOCK_MINUTE_MS));
        }
    }
}

static void several_dates_come_in_order_with_their_words(void **state)
{
    struct date *dates;
    size_t n;

    (void)state;
    find("We met last Thursday, moved in May 2021 and will marry in two weeks.",
         monday, "", &dates, &n);
    assert_int_equal(n, 3);
    assert_true(str_eq(dates[0].text, STR("last Thursday")));
    assert_int_equal(dates[0].grain, DATE_DAY);
    assert_true(dates[0].is_relative);
    assert_true(str_eq(dates[1].text, STR("May 2021")));
    assert_int_equal(dates[1].grain, DATE_MONTH);
    assert_false(dates[1].is_relative);
    assert_true(str_eq(dates[2].text, STR("in two weeks")));
    assert_int_equal(dates[2].grain, DATE_WEEK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_counted_from_the_turn),
        cmocka_unit_test(scripts_without_spaces_have_dates_too),
        cmocka_unit_test(a_date_says_what_was_not_said_of_it),
        cmocka_unit_test(weekdays_are_past_or_to_come),
        cmocka_unit_test(weeks_months_and_years),
        cmocka_unit_test(months_and_days_of_months),
        cmocka_unit_test(numbers_and_iso_forms),
        cmocka_unit_test(times_of_day),
        cmocka_unit_test(holidays_have_their_day),
        cmocka_unit_test(ranges_have_two_ends),
        cmocka_unit_test(year_turns_month_ends_and_leap_days),
        cmocka_unit_test(zones_and_summer_time),
        cmocka_unit_test(offsets_of_zones_are_those_of_the_files),
        cmocka_unit_test(several_dates_come_in_order_with_their_words),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
