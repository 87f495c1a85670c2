/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_dates_said.c - days as people say them in talk: which side of today a
 * weekday, a day or a month lies on when no year is said, what recurs, and
 * what stays open. t_dates.c has the forms; this has the judgement.
 */
#include "support/test.h"

#include "base/clock.h"
#include "text/analysis.h"
#include "text/date/dates.h"

#include <string.h>

struct said {
    const char *today;
    const char *text;
    const char *first; /* of the first sure date; NULL: none is to be shown */
    const char *last;  /* NULL: the same day */
};

static void day_text(int64_t ms, char out[CLOCK_TEXT_SIZE])
{
    clock_format(ms, out);
    out[10] = '\0';
}

static bool is_right(struct arena *arena, const struct said *row)
{
    struct analysis_options options = {.timezone = STR("")};
    char first[CLOCK_TEXT_SIZE] = "nothing";
    char last[CLOCK_TEXT_SIZE] = "nothing";
    const char *want = row->last ? row->last : row->first;
    struct tokens tokens;
    struct date *dates;
    size_t n;
    size_t i = 0;

    assert_true(clock_parse(str_of(row->today), &options.time_ms));
    options.time_ms += 10 * CLOCK_HOUR_MS;
    assert_int_equal(tokens_of(arena, str_of(row->text), &tokens), CLEW_OK);
    assert_true(
        dates_of(arena, str_of(row->text), &tokens, &options, &dates, &n));
    while (i < n && dates[i].is_unsure) {
        i++;
    }
    if (i < n) {
        day_text(dates[i].from_ms, first);
        day_text(dates[i].to_ms - 1, last);
    }
    if (row->first ? strcmp(first, row->first) == 0 && strcmp(last, want) == 0
                   : i == n) {
        return true;
    }
    print_error("\"%s\" on %s: %s to %s, not %s to %s\n", row->text, row->today,
                first, last, row->first ? row->first : "nothing",
                row->first ? want : "nothing");
    return false;
}

static void check(const struct said *rows, size_t count)
{
    struct arena arena;
    size_t n_wrong = 0;

    arena_init(&arena, (size_t)64 << 20);
    for (size_t i = 0; i < count; i++) {
        n_wrong += !is_right(&arena, &rows[i]);
    }
    arena_release(&arena);
    if (n_wrong > 0) {
        print_error("%zu of %zu wrong\n", n_wrong, count);
    }
    assert_int_equal(n_wrong, 0);
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

/* 2026-02-03 is a Tuesday, 2026-05-14 a Thursday, 2026-03-06 a Friday. */

static void prepositions_bind_a_weekday(void **state)
{
    static const struct said rows[] = {
        {"2026-02-03", "the queue has been stuck since saturday", "2026-01-31",
         "2026-02-03"},
        {"2026-03-06", "no heating since Monday", "2026-03-02", "2026-03-06"},
        {"2026-03-08", "two complaints since Thursday", "2026-03-05",
         "2026-03-08"},
        {"2026-03-06", "I need the slides by Wednesday", "2026-03-06",
         "2026-03-11"},
        {"2026-03-06", "she asked for the draft by Tuesday", "2026-03-06",
         "2026-03-10"},
        {"2026-03-04", "The offer stands until Sunday", "2026-03-04",
         "2026-03-08"},
        {"2026-03-04", "from Tuesday to Thursday I am in Ghent", "2026-03-10",
         "2026-03-12"},
        {"2026-02-05", "we sent the agenda for Monday", "2026-02-09", NULL},
        {"2026-02-05", "please shift my exam from Monday to Tuesday",
         "2026-02-09", NULL},
        {"2026-02-05", "the letter from Tuesday", NULL, NULL},
        {"2026-02-05", "the review got moved to Wednesday", "2026-02-11", NULL},
    };

    (void)state;
    CHECK(rows);
}

static void verbs_place_a_weekday(void **state)
{
    static const struct said rows[] = {
        {"2026-03-06", "2 shipped wednesday, 1 open", "2026-03-04", NULL},
        {"2026-03-08", "invoice paid thursday", "2026-03-05", NULL},
        {"2026-03-02", "tyres done saturday", "2026-02-28", NULL},
        {"2026-03-05", "the tap will be fixed on Monday", "2026-03-09", NULL},
        {"2026-03-05", "the cake has to be ordered Saturday", "2026-03-07",
         NULL},
        {"2026-03-05", "I'll bring the signed forms Tuesday", "2026-03-10",
         NULL},
        {"2026-03-05", "We merged it and the release is Tuesday", "2026-03-10",
         NULL},
        {"2026-03-05", "the planned outage is on Sunday", "2026-03-08", NULL},
        {"2026-03-05", "who was the man we met on Tuesday?", "2026-03-03",
         NULL},
        {"2026-03-05", "Our rehearsal is scheduled Monday", "2026-03-09", NULL},
        {"2026-03-05", "The server crashed on Monday", "2026-03-02", NULL},
        {"2026-03-05", "It was due Tuesday", "2026-03-03", NULL},
        {"2026-03-05", "Sorted: the gate, the hedge (Tuesday)", NULL, NULL},
        {"2026-03-07", "lunch with Iris this coming Friday", "2026-03-13",
         NULL},
        {"2026-03-05", "the coming Monday suits me", "2026-03-09", NULL},
    };

    (void)state;
    CHECK(rows);
}

static void a_day_without_a_year_is_the_near_one(void **state)
{
    static const struct said rows[] = {
        {"2026-02-05", "Noted in the plan: Yusuf takes 21 Feb", "2026-02-21",
         NULL},
        {"2026-02-05", "we discussed the offsite of 9 March", "2026-03-09",
         NULL},
        {"2026-02-05", "told Ana that 12 February works", "2026-02-12", NULL},
        {"2026-02-05", "they agreed on 30 January", "2026-01-30", NULL},
        {"2026-01-04", "the heater broke on 28 December", "2025-12-28", NULL},
        {"2025-12-29", "the flat is free from 3 January", "2026-01-03", NULL},
        {"2025-12-29", "I booked the train for 11 January", "2026-01-11", NULL},
        {"2026-05-14", "Dates confirmed, the fair opens 2 September",
         "2026-09-02", NULL},
        {"2026-03-20", "the lease ends 31 August", "2026-08-31", NULL},
        {"2026-06-02", "Hearing listed for 24 July", "2026-07-24", NULL},
        {"2026-03-20", "we flew out on 18 August", "2025-08-18", NULL},
        {"2026-03-20", "since 11 November we have no lift", "2025-11-11",
         "2026-03-20"},
        {"2026-03-20", "closed until 2 May", "2026-03-20", "2026-05-02"},
        {"2026-03-05", "the submission date is November 3", "2026-11-03", NULL},
        {"2026-03-10", "something about 11 September", NULL, NULL},
        {"2026-03-10", "Bea was born on 4 August", NULL, NULL},
    };

    (void)state;
    CHECK(rows);
}

static void a_stated_weekday_decides(void **state)
{
    static const struct said rows[] = {
        {"2026-05-14", "Recorded: Mon 23 Nov, hall B", "2026-11-23", NULL},
        {"2026-05-14", "Sunday 23 November", "2025-11-23", NULL},
        {"2026-05-14", "the recital, Saturday, December 5", "2026-12-05", NULL},
        {"2026-05-14", "the recital, Friday, December 5", "2025-12-05", NULL},
        {"2026-02-05", "Swapped, Lena has Fri 20 – Sun 22 Feb", "2026-02-20",
         "2026-02-22"},
        {"2026-05-14", "Friday the 29th is fine", "2026-05-29", NULL},
        {"2026-05-14", "Monday the 8th is fine", "2026-06-08", NULL},
    };

    (void)state;
    CHECK(rows);
}

static void both_ends_of_a_range_share_the_month(void **state)
{
    static const struct said rows[] = {
        {"2026-02-05", "who has the pager 21-22 feb", "2026-02-21",
         "2026-02-22"},
        {"2026-05-14", "PyDays 17–19 September in Graz", "2026-09-17",
         "2026-09-19"},
        {"2026-05-14", "away from 3 to 9 June", "2026-06-03", "2026-06-09"},
        {"2026-05-14", "between 3 and 9 June", "2026-06-03", "2026-06-09"},
        {"2026-05-14", "the 3rd to the 9th of June", "2026-06-03",
         "2026-06-09"},
        {"2026-05-14", "June 3 – 9", "2026-06-03", "2026-06-09"},
        {"2026-05-14", "14th-16th July", "2026-07-14", "2026-07-16"},
        {"2026-05-14", "29 June – 3 July", "2026-06-29", "2026-07-03"},
        {"2025-11-14", "29 December – 3 January", "2025-12-29", "2026-01-03"},
        {"2026-05-14", "sessions on 9 and 23 June", "2026-06-09", NULL},
        {"2026-05-14", "sessions 9/23 June", NULL, NULL},
    };

    (void)state;
    CHECK(rows);
}

static void a_month_alone_goes_by_its_words(void **state)
{
    static const struct said rows[] = {
        {"2026-03-20", "I need a sitter in August", "2026-08-01", "2026-08-31"},
        {"2026-03-20", "we plan to repaint in October", "2026-10-01",
         "2026-10-31"},
        {"2026-03-20", "the logs go back to October", "2025-10-01",
         "2025-10-31"},
        {"2026-03-20", "invoices going back to november", "2025-11-01",
         "2025-11-30"},
        {"2026-03-20", "back in September he had a fall", "2025-09-01",
         "2025-09-30"},
        {"2026-03-20", "we moved here in October", "2025-10-01", "2025-10-31"},
        {"2026-03-20", "since December", "2025-12-01", "2026-03-20"},
        {"2026-03-20", "something with September", NULL, NULL},
    };

    (void)state;
    CHECK(rows);
}

/* The days of a text with three dates, the second and the third of which lean
 * on the first. */
static void lean_on_the_first(const char *today, const char *text,
                              const char *second, const char *third)
{
    struct arena arena;
    struct analysis_options options = {.timezone = STR("")};
    struct tokens tokens;
    struct date *dates;
    size_t n;
    char day[CLOCK_TEXT_SIZE];

    arena_init(&arena, (size_t)1 << 20);
    assert_true(clock_parse(str_of(today), &options.time_ms));
    assert_int_equal(tokens_of(&arena, str_of(text), &tokens), CLEW_OK);
    assert_true(dates_of(&arena, str_of(text), &tokens, &options, &dates, &n));
    assert_int_equal(n, 3);
    day_text(dates[1].said_from_ms, day);
    assert_string_equal(day, second);
    day_text(dates[2].said_from_ms, day);
    assert_string_equal(day, third);
    arena_release(&arena);
}

static void a_number_alone_keeps_the_month_said_before(void **state)
{
    static const struct said rows[] = {
        {"2026-05-14", "on the 20th I am out", "2026-05-20", NULL},
        {"2026-05-14", "We paid it on the 2nd", "2026-05-02", NULL},
        {"2026-05-14", "by the 22nd please", "2026-05-14", "2026-05-22"},
    };

    (void)state;
    CHECK(rows);
    lean_on_the_first("2026-05-14",
                      "The fair is 16-18 September. Her talk is on the 17th, "
                      "ours on the 18th.",
                      "2026-09-17", "2026-09-18");
}

/* "on the 24th" behind Christmas is of its month. */
static void a_number_alone_keeps_the_month_of_a_feast(void **state)
{
    (void)state;
    lean_on_the_first("2026-11-01",
                      "Christmas is at my aunt's. We drive on the 23rd. Leo "
                      "stays home till the 24th",
                      "2026-12-23", "2026-12-24");
}

static void what_recurs_has_no_day(void **state)
{
    static const struct said rows[] = {
        {"2026-02-05", "choir is Wednesdays at 7 PM", NULL, NULL},
        {"2026-02-05", "the pump starts every night at 2:15", NULL, NULL},
        {"2026-02-05", "backup runs at 03:00 daily", NULL, NULL},
        {"2026-02-05", "6 pm on Tuesdays and Thursdays", NULL, NULL},
        {"2026-02-05", "each Friday at noon", NULL, NULL},
        {"2026-02-05", "yoga on Monday mornings", NULL, NULL},
        {"2026-02-05", "the first Monday of every month", NULL, NULL},
        {"2026-02-05", "wages go out on the 25th of every month", NULL, NULL},
        {"2026-02-05", "the desk is open Monday to Friday from 9 to 5", NULL,
         NULL},
        {"2026-02-05", "every other Saturday at 10:30", NULL, NULL},
        {"2026-02-05", "every Friday at 3pm from 6 March", "2026-03-06", NULL},
    };

    (void)state;
    CHECK(rows);
}

/* The number behind a weekday, and the week it is of. */
static void a_weekday_has_its_number_and_its_week(void **state)
{
    static const struct said rows[] = {
        {"2026-03-04", "they moved it to Monday 16", "2026-03-16", NULL},
        {"2026-03-04", "Monday 16 people came", "2026-03-02", NULL},
        {"2026-03-04", "la entrevista me la han pasado al lunes 16 a las 9:30",
         "2026-03-16", NULL},
        {"2026-03-04", "on se voit lundi 16 à 9h30", "2026-03-16", NULL},
        {"2026-03-04", "ci vediamo lunedì 16 alle 9", "2026-03-16", NULL},
        {"2026-03-04", "a consulta é na segunda-feira, dia 16", "2026-03-16",
         NULL},
        {"2026-03-04", "we met on Tuesday of last week", "2026-02-24", NULL},
        {"2026-03-04", "last week Tuesday we met", "2026-02-24", NULL},
        {"2026-03-04", "le mardi de la semaine prochaine je viens",
         "2026-03-10", NULL},
        {"2026-03-04", "la reunión es pasado mañana por la tarde", "2026-03-06",
         NULL},
        {"2026-03-04", "depois de amanhã eu tenho consulta com o médico",
         "2026-03-06", NULL},
    };

    (void)state;
    CHECK(rows);
}

static void days_of_chinese_japanese_and_korean(void **state)
{
    static const struct said rows[] = {
        {"2026-03-04", "改到 3 月 18 号", "2026-03-18", NULL},
        {"2026-03-04", "会议改到周五了", "2026-03-06", NULL},
        {"2026-03-04", "周一开会了", "2026-03-02", NULL},
        {"2026-03-04", "周五前要把报告交了", "2026-03-06", NULL},
        {"2026-03-04", "木曜の10時に変更しました", "2026-03-05", NULL},
        {"2026-03-04", "月曜に会いました", "2026-03-02", NULL},
        {"2026-03-04", "金曜日までに出さないといけない", "2026-03-06", NULL},
        {"2026-03-04", "다음 주 화요일 오후 3시에 예약했어요", "2026-03-10",
         NULL},
        {"2026-03-04", "다음 달 5일에 병원에 가요", "2026-04-05", NULL},
        {"2026-03-04", "치과는 목요일로 바꿨어요", "2026-03-05", NULL},
        {"2026-03-04", "지난주 금요일에 샀어요", "2026-02-27", NULL},
    };

    (void)state;
    CHECK(rows);
}

static void german_days(void **state)
{
    static const struct said rows[] = {
        {"2026-02-03", "seit Sonntag geht die Heizung nicht", "2026-02-01",
         "2026-02-03"},
        {"2026-02-05", "Die Messe ist vom 1. bis 3. März in Köln", "2026-03-01",
         "2026-03-03"},
        {"2026-02-05", "Urlaub 1-3 März", "2026-03-01", "2026-03-03"},
        {"2026-02-05", "Der Termin ist am 14. Februar um 9 Uhr", "2026-02-14",
         NULL},
        {"2026-03-05", "Wir haben das am Montag besprochen und gemacht",
         "2026-03-02", NULL},
        {"2026-03-05", "Am Dienstag war der Techniker da", "2026-03-03", NULL},
        {"2026-03-05", "Der Vertrag muss bis Dienstag fertig sein",
         "2026-03-05", "2026-03-10"},
        {"2026-03-05", "Wir treffen uns nächsten Montag", "2026-03-09", NULL},
        {"2026-03-05", "vor drei Tagen kam die Rechnung", "2026-03-02", NULL},
        {"2026-03-20", "Im August brauchen wir eine Vertretung", "2026-08-01",
         "2026-08-31"},
        {"2026-03-05", "Das Training ist montags um 18:00", NULL, NULL},
        {"2026-03-05", "jeden Morgen um 7:30 läuft die Pumpe", NULL, NULL},
        {"2026-03-05", "Das Bad ist fertig, er hat am Dienstag angerufen",
         "2026-03-03", NULL},
        {"2026-03-05", "Sie ist am Montag nach Rom geflogen", "2026-03-02",
         NULL},
        {"2026-03-05", "Die Abnahme ist am Montag", "2026-03-09", NULL},
        {"2026-03-05", "nächste Woche Dienstag kommt er", "2026-03-10", NULL},
        {"2026-03-05", "der Termin ist Montag, den 16. um 9:30", "2026-03-16",
         NULL},
        {"2026-03-05", "Gestern war der Strom weg", "2026-03-04", NULL},
    };

    (void)state;
    CHECK(rows);
}

static void spanish_days(void **state)
{
    static const struct said rows[] = {
        {"2026-02-03", "desde el domingo no hay agua en la casa", "2026-02-01",
         "2026-02-03"},
        {"2026-02-05", "La feria es del 3 al 5 de marzo", "2026-03-03",
         "2026-03-05"},
        {"2026-02-05", "La cita es el 14 de febrero", "2026-02-14", NULL},
        {"2026-03-05", "El lunes fue un desastre para todos", "2026-03-02",
         NULL},
        {"2026-03-05", "El martes vamos a pintar la cocina", "2026-03-10",
         NULL},
        {"2026-03-05", "lo vi el lunes pasado en la oficina", "2026-03-02",
         NULL},
        {"2026-03-05", "llegó hace tres días a la casa", "2026-03-02", NULL},
        {"2026-03-05", "El martes llegaron las cajas de la mudanza",
         "2026-03-03", NULL},
        {"2026-03-05", "los lunes a las 18:00 hay clase", NULL, NULL},
        {"2026-03-05", "cada mañana a las 7:30 suena la bomba", NULL, NULL},
    };

    (void)state;
    CHECK(rows);
}

static void french_days(void **state)
{
    static const struct said rows[] = {
        {"2026-02-03", "depuis dimanche le chauffage est en panne",
         "2026-02-01", "2026-02-03"},
        {"2026-02-05", "Le salon est du 3 au 5 mars à Lyon", "2026-03-03",
         "2026-03-05"},
        {"2026-02-05", "Le rendez-vous est le 14 février", "2026-02-14", NULL},
        {"2026-03-05", "Lundi était une journée difficile pour nous",
         "2026-03-02", NULL},
        {"2026-03-05", "On doit finir le dossier mardi", "2026-03-10", NULL},
        {"2026-03-05", "je le vois lundi prochain avec elle", "2026-03-09",
         NULL},
        {"2026-03-05", "il est venu il y a trois jours", "2026-03-02", NULL},
        {"2026-03-05", "tous les lundis à 18:00 il y a cours", NULL, NULL},
        {"2026-03-05", "la semaine dernière il était malade", "2026-02-23",
         "2026-03-01"},
    };

    (void)state;
    CHECK(rows);
}

/* A limit that was set, a beginning that was asked for: the verb is past, the
 * day is to come. */
static void limits_and_beginnings(void **state)
{
    static const struct said rows[] = {
        {"2026-03-06", "we gave the roofer until the 20th", "2026-03-06",
         "2026-03-20"},
        {"2026-03-06", "the bank granted us till 4 August", "2026-03-06",
         "2026-08-04"},
        {"2026-03-05", "they allowed her until Monday", "2026-03-05",
         "2026-03-09"},
        {"2026-03-06", "she stayed with us until the 2nd", "0001-01-01",
         "2026-03-02"},
        {"2026-03-06", "wir haben ihm bis zum 20. gegeben", "2026-03-06",
         "2026-03-20"},
        {"2026-09-10", "I applied for a bigger flat, from November",
         "2026-11-01", "2026-11-30"},
        {"2026-09-10", "he asked for half days from December", "2026-12-01",
         "2026-12-31"},
        {"2026-09-10", "the flat was empty from November", "2025-11-01",
         "2025-11-30"},
        {"2026-08-11", "mehr Rente, rückwirkend ab April", "2026-04-01",
         "2026-04-30"},
        {"2026-08-11", "sie turnt jetzt immer mittwochs, ab 19. August",
         "2026-08-19", NULL},
        {"2026-08-11", "I always swim on Tuesdays, from 19 August",
         "2026-08-19", NULL},
    };

    (void)state;
    CHECK(rows);
}

static void what_friends_tell_each_other(void **state)
{
    static const struct said rows[] = {
        /* the weekday of today is a week away: today is called today */
        {"2026-09-03", "I have an interview with the brewery on Thursday.",
         "2026-09-10", NULL},
        {"2026-09-06", "We scattered the ashes off the pier on Sunday.",
         "2026-08-30", NULL},
        {"2026-09-07", "The roofer is coming on Monday.", "2026-09-14", NULL},
        {"2026-09-07", "The roofer came on Monday.", "2026-08-31", NULL},
        {"2026-09-06", "Today is Sunday and I feel like baking.", "2026-09-06",
         NULL},
        {"2026-09-07", "Dinner with Ana, Monday, eight o'clock.", "2026-09-07",
         NULL},
        /* not from today */
        {"2026-09-02", "I've asked for the last two weeks of July off.",
         "2026-07-01", "2026-07-31"},
        /* a clock and a year of school are no days */
        {"2026-09-02", "By the 7 o'clock bus, and we sleep at her aunt's.",
         NULL, NULL},
        {"2026-09-02", "I'll take the 9 o'clock train.", NULL, NULL},
        {"2026-09-02", "Hattie is in her last year and wants to study law.",
         NULL, NULL},
        {"2026-09-02", "It is Hattie's last year at the mill.", NULL, NULL},
        {"2026-09-02", "We moved here last year.", "2025-01-01", "2025-12-31"},
    };

    (void)state;
    CHECK(rows);
}

static void what_somebody_wrote_has_a_verb_of_its_own(void **state)
{
    static const struct said rows[] = {
        {"2026-11-12", "The landlord wrote: from December our rent goes up.",
         "2026-12-01", "2026-12-31"},
        {"2026-11-12", "We met: in February we will move.", "2027-02-01",
         "2027-02-28"},
        {"2026-11-12", "Fixed: tap, Tuesday", "2026-11-10", NULL},
    };

    (void)state;
    CHECK(rows);
}

/* 2026-04-15 is a Wednesday. */
static void one_of_a_months_weekdays(void **state)
{
    static const struct said rows[] = {
        {"2026-04-15", "The regatta is on the third Saturday in June.",
         "2026-06-20", NULL},
        {"2026-04-15", "We signed on the second Monday of March.", "2026-03-09",
         NULL},
        {"2026-04-15", "the last Tuesday of next month suits everyone",
         "2026-05-26", NULL},
        {"2026-04-15", "Opening night: first Friday in October 2027",
         "2027-10-01", NULL},
        {"2026-12-02", "The audit starts on the first Monday of next month.",
         "2027-01-04", NULL},
        {"2026-04-15", "Der Flohmarkt ist am ersten Sonntag im Juli.",
         "2026-07-05", NULL},
        {"2026-04-15", "La feria es el tercer jueves de mayo.", "2026-05-21",
         NULL},
        {"2026-04-15", "La brocante a lieu le quatrième dimanche de juin.",
         "2026-06-28", NULL},
        {"2026-04-15", "Il mercatino è il secondo sabato di giugno.",
         "2026-06-13", NULL},
        /* nor is a month's last weekend, or week, the one before today */
        {"2026-11-09", "We go to Ghent the last weekend of January.",
         "2027-01-30", "2027-01-31"},
        {"2026-11-09", "Am ersten Wochenende im März wird gestrichen.",
         "2027-03-06", "2027-03-07"},
        {"2026-11-09", "The kiln is free the last week of January.",
         "2027-01-01", "2027-01-31"},
        {"2026-11-09", "Only the last weekend of the fair is left.", NULL,
         NULL},
        /* of no month, or of each */
        {"2026-04-15", "The knitting circle meets on the second Tuesday.", NULL,
         NULL},
        {"2026-04-15", "rehearsal is on the last Thursday of the month", NULL,
         NULL},
        {"2026-04-15", "My first Monday at the bakery went well.", NULL, NULL},
        {"2026-04-15", "I rang her last Monday.", "2026-04-13", NULL},
    };

    (void)state;
    CHECK(rows);
}

static void days_counted_from_a_day(void **state)
{
    static const struct said rows[] = {
        {"2026-04-15", "Heute in drei Wochen ist die Prüfung.", "2026-05-06",
         NULL},
        {"2026-04-15", "Heute in zehn Tagen kommt der Gutachter.", "2026-04-25",
         NULL},
        {"2026-04-15", "Am Freitag in einer Woche gebe ich ab.", "2026-04-24",
         NULL},
        {"2026-04-15", "Freitag in vierzehn Tagen passt uns.", "2026-05-01",
         NULL},
        {"2026-04-15", "today in two weeks we hand over the keys", "2026-04-29",
         NULL},
        /* "am" is English, too, and Mai a name */
        {"2026-04-15", "Anprobe am 9. Mai", "2026-05-09", NULL},
        {"2026-04-15", "Mai called about the fitting", NULL, NULL},
        /* a month without such a day is passed over */
        {"2026-04-15", "The lease ends on the 31st.", "2026-05-31", NULL},
        {"2026-04-15", "He paid us on the 31st.", "2026-03-31", NULL},
    };

    (void)state;
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prepositions_bind_a_weekday),
        cmocka_unit_test(verbs_place_a_weekday),
        cmocka_unit_test(a_day_without_a_year_is_the_near_one),
        cmocka_unit_test(a_stated_weekday_decides),
        cmocka_unit_test(both_ends_of_a_range_share_the_month),
        cmocka_unit_test(a_month_alone_goes_by_its_words),
        cmocka_unit_test(a_number_alone_keeps_the_month_said_before),
        cmocka_unit_test(a_number_alone_keeps_the_month_of_a_feast),
        cmocka_unit_test(what_recurs_has_no_day),
        cmocka_unit_test(a_weekday_has_its_number_and_its_week),
        cmocka_unit_test(days_of_chinese_japanese_and_korean),
        cmocka_unit_test(german_days),
        cmocka_unit_test(spanish_days),
        cmocka_unit_test(french_days),
        cmocka_unit_test(limits_and_beginnings),
        cmocka_unit_test(what_friends_tell_each_other),
        cmocka_unit_test(what_somebody_wrote_has_a_verb_of_its_own),
        cmocka_unit_test(one_of_a_months_weekdays),
        cmocka_unit_test(days_counted_from_a_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
