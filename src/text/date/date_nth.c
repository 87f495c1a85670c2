/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_nth.c - days by their number alone: "the 13th", "Friday the 13th", "the
 * 12th of next month", "the second Tuesday in March". See dates_internal.h.
 */
#include "text/date/dates_internal.h"

/* Months before and after now that are tried for "Friday the 17th". */
#define MONTHS_TRIED 6
/* Days from which "on the 17th" without a verb may be any month's. */
#define NTH_REACH 10
/* "the 13th" may be a day without a preposition, "the 3rd" is a rank. */
#define LEAST_BARE 10
/* "Monday 10" may be an hour. */
#define LAST_HOUR 12
/* "Monday 16" is of this month or of one beside it, in days. */
#define NUMBER_REACH 45

/* Which month's day: the one said before, else by tense the nearest. */
static bool nth_day(const struct date_ref *ref, int64_t number, int64_t *out)
{
    int64_t year = ref->year;
    int month = ref->month;
    enum date_tense side = ref->seen.bound ? ref->seen.bound : ref->seen.tense;
    int dom;

    if (ref->seen.is_for && ref->seen.bound == TENSE_NONE) {
        side = TENSE_FUTURE; /* "they rebooked me for the 11th" */
    }
    if (ref->has_said) {
        clock_civil_from_days(ref->said_day, &year, &month, &dom);
        if (day_of(year, month, number, out) &&
            !(side == TENSE_FUTURE && *out < ref->today) &&
            !(side == TENSE_PAST && *out > ref->today)) {
            return true;
        }
        year = ref->year;
        month = ref->month;
    }
    if (!day_of(year, month, number, out)) {
        /* "the 31st" in a month of thirty days */
        int64_t index = year * 12 + month - 1 + (side == TENSE_PAST ? -1 : 1);

        return day_of(index / 12, index % 12 + 1, number, out);
    }
    if (side == TENSE_PAST && *out > ref->today) {
        *out = day_move(*out, DU_MONTH, -1);
    } else if (side != TENSE_PAST && *out < ref->today) {
        *out = day_move(*out, DU_MONTH, 1);
    }
    return true;
}

/* The nearest month whose day `number` is that weekday. */
static bool nth_by_weekday(const struct date_parser *p, size_t at,
                           int64_t number, int64_t weekday, int64_t *out)
{
    const struct date_ref *ref = &p->ref;
    enum date_tense side = ref->seen.bound ? ref->seen.bound : ref->seen.tense;
    int64_t best = -1;

    if (date_class_before(p, at) == DC_TO && ref->seen.bound == TENSE_NONE) {
        side = TENSE_FUTURE; /* "they moved it to Monday 16" */
    }
    for (int64_t shift = -MONTHS_TRIED; shift <= MONTHS_TRIED; shift++) {
        int64_t index = ref->year * 12 + ref->month - 1 + shift;
        int64_t day;

        if (day_of(index / 12, index % 12 + 1, number, &day) &&
            day_weekday(day) == weekday &&
            !(side == TENSE_PAST && day > ref->today) &&
            !(side == TENSE_FUTURE && day < ref->today) &&
            (best < 0 || date_days_between(day, ref->today) < best)) {
            best = date_days_between(day, ref->today);
            *out = day;
        }
    }
    return best >= 0;
}

/* "of this month", "of next month": how many months on */
static bool take_month_of(const struct date_parser *p, size_t *at,
                          int64_t *out_shift)
{
    const struct date_item *which = date_item_at(p, *at + 1);
    const struct date_item *unit = date_item_at(p, *at + 2);

    if (!date_is(p, *at, DC_OF) || unit->class != DC_UNIT ||
        unit->value != DU_MONTH ||
        (which->class != DC_THIS && which->class != DC_NEXT &&
         which->class != DC_LAST)) {
        return false;
    }
    *out_shift = which->class == DC_NEXT ? 1 : which->class == DC_LAST ? -1 : 0;
    *at += 3;
    return true;
}

/*
 * Is "the 13th" a day, and no floor, century or rank? Behind a preposition
 * unless a noun follows, else only before a verb or at the end.
 */
static bool nth_is_day(enum date_class before, const struct date_item *number,
                       const struct date_item *after)
{
    if (before == DC_ON || before == DC_BY || before == DC_UNTIL ||
        before == DC_SINCE || before == DC_FROM || before == DC_TO) {
        return (after->class != DC_OTHER && after->class != DC_UNIT) ||
               after->breaks ||
               (after->class == DC_OTHER && after->value != 0) ||
               after->is_verb ||
               (after->language == TEXT_GERMAN && !after->is_capital);
    }
    return number->value >= LEAST_BARE &&
           (before == DC_END || before == DC_OTHER || before == DC_COMMA ||
            before == DC_AND) &&
           (after->breaks || after->class == DC_END ||
            after->class == DC_COMMA || after->class == DC_AT ||
            (after->class == DC_OTHER &&
             (after->value == 1 || after->is_verb)));
}

/* Is the number behind a weekday its day: "lunes 16", "Montag, den 16."? Not
 * "Monday 10" (o'clock), "Monday 16 people came", "Friday 13 to 15". */
static bool number_is_day(const struct date_parser *p, size_t at)
{
    const struct date_item *after = date_item_at(p, at + 1);
    enum date_class before = date_class_before(p, at);
    int language = date_item_at(p, at)->language;
    /* an hour has its preposition there: "lundi 9", "sábado 9 por la noche" */
    bool is_romance = language == TEXT_SPANISH || language == TEXT_FRENCH ||
                      language == TEXT_ITALIAN || language == TEXT_PORTUGUESE;

    if (is_romance && after->class == DC_DAYPART) {
        return true;
    }
    if (!is_romance && date_item_at(p, at)->value <= LAST_HOUR &&
        before != DC_THE && before != DC_ON && before != DC_UNIT) {
        return false;
    }
    return after->breaks || after->class == DC_END ||
           after->class == DC_COMMA || after->class == DC_AT ||
           after->class == DC_IN || after->class == DC_AND ||
           (after->class == DC_OTHER && (after->value == 1 || after->is_verb));
}

/* The day of "on the 12th", "the 12th of next month", "Friday the 12th". */
static bool nth_of(const struct date_parser *p, size_t from, size_t *at,
                   int64_t number, int64_t weekday, int64_t *out_day,
                   bool *out_near)
{
    const struct date_ref *ref = &p->ref;
    int64_t shift;

    *out_near = true;
    if (take_month_of(p, at, &shift)) {
        int64_t index = ref->year * 12 + ref->month - 1 + shift;

        return day_of(index / 12, index % 12 + 1, number, out_day);
    }
    if (date_is(p, *at, DC_OF) && !date_is(p, *at + 1, DC_EVERY)) {
        return false; /* "of the month": of every one; "of forty" */
    }
    if (weekday >= 0) {
        return nth_by_weekday(p, from, number, weekday, out_day);
    }
    if (!nth_day(ref, number, out_day)) {
        return false;
    }
    *out_near = ref->seen.bound != TENSE_NONE ||
                (!ref->seen.is_regular && !ref->seen.is_habit &&
                 (ref->has_said || ref->seen.tense != TENSE_NONE ||
                  date_days_between(*out_day, ref->today) <= NTH_REACH));
    return true;
}

bool date_rule_nth(const struct date_parser *p, size_t *at, struct when *out)
{
    size_t next = *at;
    enum date_class before = date_class_before(p, *at);
    const struct date_item *item;
    int64_t number;
    int64_t weekday;
    int64_t day;
    bool is_near;

    if (!date_take_day(p, &next, &number, &weekday) ||
        (next == *at + 1 && before != DC_ON)) {
        return false;
    }
    item = date_item_at(p, next - 1);
    if (item->class != DC_ORDINAL &&
        (weekday < 0 || !number_is_day(p, next - 1))) {
        return false;
    }
    /* "the first" and "the third" are seldom days */
    if ((item->extra != 1 && weekday < 0 && number < LEAST_BARE) ||
        (weekday < 0 && !nth_is_day(before, item, date_item_at(p, next))) ||
        !nth_of(p, *at, &next, number, weekday, &day, &is_near) ||
        (item->class != DC_ORDINAL &&
         date_days_between(day, p->ref.today) > NUMBER_REACH)) {
        return false;
    }
    *out = when_days(day, day + 1, DATE_DAY);
    out->is_relative = true;
    out->is_unsure = !is_near;
    *at = next;
    return true;
}

/* ---- one of a month's weekdays or weekends ---- */

/* Of a month's Tuesdays the fifth is the last there can be. */
#define MAX_RANK 5
#define LAST_RANK 0
#define SATURDAY 5

/* "the second Tuesday", "the last weekend" */
struct rank {
    int64_t nth;
    int64_t weekday; /* a weekend's is its Saturday */
    bool is_weekend;
};

static bool take_rank(const struct date_parser *p, size_t *at, struct rank *out)
{
    size_t next = *at;
    const struct date_item *nth;
    const struct date_item *of;
    bool is_last;
    bool is_weekend;

    date_skip(p, &next, DC_THE);
    nth = date_item_at(p, next);
    of = date_item_at(p, next + 1);
    is_last = nth->class == DC_LAST && nth->value == 0;
    is_weekend = of->class == DC_UNIT && of->value == DU_WEEKEND &&
                 !of->is_risky; /* "the first weekends" are several */
    if ((of->class != DC_WEEKDAY && !is_weekend) || of->breaks ||
        date_class_before(p, *at) == DC_WEEKDAY || /* "Sat the 1st, Monday" */
        !(is_last || (nth->class == DC_ORDINAL && nth->value <= MAX_RANK))) {
        return false;
    }
    *out = (struct rank){is_last ? LAST_RANK : nth->value,
                         is_weekend ? SATURDAY : of->value, is_weekend};
    *at = next + 2;
    return true;
}

/* The days in that month; false if it has no fifth. */
static bool rank_in(int64_t year, int64_t month, const struct rank *rank,
                    struct when *out)
{
    int64_t first;
    int64_t next;
    int64_t day;

    if (!day_of(year, month, 1, &first)) {
        return false;
    }
    next = day_move(first, DU_MONTH, 1);
    day = first + (rank->weekday - day_weekday(first) + 7) % 7;
    day += 7 * (rank->nth == LAST_RANK ? (next - 1 - day) / 7 : rank->nth - 1);
    *out = rank->is_weekend ? when_days(day, day + 2, DATE_RANGE)
                            : when_days(day, day + 1, DATE_DAY);
    return day < next;
}

/* The same in "March", "March 2027", "next month". */
static bool rank_of(const struct date_parser *p, size_t *at,
                    const struct rank *rank, struct when *out)
{
    const struct date_ref *ref = &p->ref;
    int64_t month = date_item_at(p, *at + 1)->value;
    int64_t year = ref->year;
    int64_t shift;
    bool is_unsure = false;
    bool has_year = false;

    if (take_month_of(p, at, &shift)) {
        int64_t index = ref->year * 12 + ref->month - 1 + shift;

        year = index / 12;
        month = index % 12 + 1;
    } else if ((date_is(p, *at, DC_OF) || date_is(p, *at, DC_IN)) &&
               date_is(p, *at + 1, DC_MONTH)) {
        *at += 2;
        has_year = date_take_year(p, at, &year);
        if (!has_year && rank_in(year, month, rank, out)) {
            year = date_year_for(ref, *out, &is_unsure);
        }
    } else {
        return false;
    }
    if (!rank_in(year, month, rank, out)) {
        return false;
    }
    out->is_relative = !has_year;
    out->is_unsure = is_unsure;
    return true;
}

bool date_rule_rank(const struct date_parser *p, size_t *at, struct when *out)
{
    size_t next = *at;
    struct rank rank;

    if (!take_rank(p, &next, &rank) || !rank_of(p, &next, &rank, out)) {
        return false;
    }
    *at = next;
    return true;
}

bool date_is_rank_alone(const struct date_parser *p, size_t *at)
{
    size_t next = *at;
    struct when when;
    struct rank rank;

    if (date_rule_rank(p, &next, &when) || !take_rank(p, &next, &rank) ||
        (rank.nth == LAST_RANK && !date_is(p, next, DC_OF))) {
        return false;
    }
    *at = next;
    return true;
}
