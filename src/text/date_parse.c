/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_parse.c - the grammar of date expressions. See dates_internal.h.
 *
 * Recursive descent over classified tokens; the only recursion is one level
 * deep ("two days before Christmas"). Words that are also something else (may,
 * march, sun, fall, second) need a neighbour that makes them a date.
 */
#include "text/dates_internal.h"

#define DAY CLOCK_DAY_MS

typedef bool rule_fn(const struct date_parser *p, size_t *at,
                     struct when *out);

static const struct date_item *item_at(const struct date_parser *p, size_t at)
{
    return &p->items[at < p->n ? at : p->n];
}

static enum date_class class_at(const struct date_parser *p, size_t at)
{
    const struct date_item *item = item_at(p, at);

    return item->class;
}

static bool is_class(const struct date_parser *p, size_t at,
                     enum date_class class)
{
    return class_at(p, at) == class;
}

static void skip(const struct date_parser *p, size_t *at, enum date_class class)
{
    *at += is_class(p, *at, class);
}

static bool is_preposition(enum date_class class)
{
    return class == DC_IN || class == DC_ON || class == DC_LAST ||
           class == DC_NEXT || class == DC_THIS || class == DC_SINCE ||
           class == DC_UNTIL || class == DC_BY || class == DC_EARLY ||
           class == DC_MID || class == DC_LATE || class == DC_OF ||
           class == DC_FROM || class == DC_BETWEEN || class == DC_BEFORE ||
           class == DC_AFTER || class == DC_PAST;
}

static enum date_class class_before(const struct date_parser *p, size_t at)
{
    return at == 0 || item_at(p, at)->breaks ? DC_END : class_at(p, at - 1);
}

/* ---- years and tenses ---- */

/* Of a yearly range, the year that is meant when none is said. */
static int64_t year_for(const struct date_ref *ref, struct when this_year)
{
    int64_t now = ref->now_local;

    if (ref->tense == TENSE_PAST) {
        return this_year.from > now ? ref->year - 1 : ref->year;
    }
    if (ref->tense == TENSE_FUTURE) {
        return this_year.to <= now ? ref->year + 1 : ref->year;
    }
    if (this_year.from > now + 183 * DAY) {
        return ref->year - 1;
    }
    if (this_year.to < now - 183 * DAY) {
        return ref->year + 1;
    }
    return ref->year;
}

/* The year meant by last, this or next before a yearly range. */
static int64_t year_by(const struct date_ref *ref, enum date_class which,
                       struct when this_year)
{
    int64_t now = ref->now_local;

    if (which == DC_LAST || which == DC_PAST) {
        return this_year.to <= now ? ref->year : ref->year - 1;
    }
    if (which == DC_NEXT) {
        return this_year.from > now ? ref->year : ref->year + 1;
    }
    return ref->year;
}

static bool take_year(const struct date_parser *p, size_t *at, int64_t *out)
{
    size_t next = *at;

    skip(p, &next, DC_COMMA);
    skip(p, &next, DC_OF);
    if (!is_class(p, next, DC_YEAR)) {
        return false;
    }
    *out = item_at(p, next)->value;
    *at = next + 1;
    return true;
}

/* ---- names of days, months, seasons ---- */

static bool weekday_is_sure(const struct date_parser *p, size_t at)
{
    const struct date_item *item = item_at(p, at);
    enum date_class before = class_before(p, at);

    if (before == DC_EVERY) {
        return false;
    }
    if (!item->is_short) {
        return true;
    }
    /* "Sat down", "the sun": only with a word that asks for a day */
    return item->is_capital || !item->is_risky
               ? is_preposition(before) || is_class(p, at + 1, DC_MONTH) ||
                     is_class(p, at + 1, DC_COMMA) || !item->is_risky
               : false;
}

static int64_t weekday_from(const struct date_ref *ref, int64_t weekday,
                            enum date_class which)
{
    int64_t ahead = (weekday - ref->weekday + 7) % 7;

    if (which == DC_LAST || which == DC_PAST) {
        return ref->today + (ahead == 0 ? -7 : ahead - 7);
    }
    if (which == DC_NEXT) {
        return ref->today - ref->weekday + 7 + weekday;
    }
    if (ref->tense == TENSE_PAST && ahead > 0) {
        ahead -= 7;
    }
    return ref->today + ahead;
}

/* Can the month at `at` be one, and not the modal or the walk? */
static bool month_is_sure(const struct date_parser *p, size_t at)
{
    const struct date_item *item = item_at(p, at);
    enum date_class before = class_before(p, at);
    const struct date_item *next = item_at(p, at + 1);
    bool has_day_after = next->class == DC_ORDINAL || next->class == DC_YEAR ||
                         next->class == DC_DAYS ||
                         (next->class == DC_NUMBER && next->extra == 1 &&
                          next->value >= 1 && next->value <= 31);
    bool has_day_before = before == DC_ORDINAL || before == DC_NUMBER;

    if (item->is_risky || item->is_short) {
        if (has_day_before && at > 0 && item_at(p, at - 1)->extra == 1 &&
            (item->is_capital || item->is_short)) {
            return true;
        }
        if (item->is_capital) {
            return is_preposition(before) || has_day_after;
        }
        return (before == DC_IN || before == DC_LAST || before == DC_NEXT ||
                before == DC_SINCE || before == DC_UNTIL || before == DC_MID ||
                before == DC_EARLY || before == DC_LATE) &&
               (class_at(p, at + 1) != DC_OTHER || item->is_short ||
                item_at(p, at + 1)->breaks || item->value == 5);
    }
    return true;
}

/* ---- base expressions ---- */

static bool month_day_number(const struct date_parser *p, size_t at,
                             int64_t *out)
{
    const struct date_item *item = item_at(p, at);

    if ((item->class != DC_NUMBER && item->class != DC_ORDINAL) ||
        item->value < 1 || item->value > 31 ||
        (item->class == DC_NUMBER && item->extra != 1)) {
        return false;
    }
    *out = item->value;
    return true;
}

static bool date_in_year(const struct date_parser *p, int64_t month,
                         int64_t first, int64_t last, size_t *at,
                         struct when *out)
{
    int64_t year;
    int64_t from;
    int64_t to;
    bool has_year = take_year(p, at, &year);

    if (!has_year) {
        year = p->ref.year;
        if (!day_of(year, month, first, &from)) {
            /* 29 February: the nearest leap year back */
            while (year > p->ref.year - 8 &&
                   !day_of(year, month, first, &from)) {
                year--;
            }
        } else {
            year = year_for(&p->ref, when_days(from, from + 1, DATE_DAY));
        }
    }
    if (!day_of(year, month, first, &from) || !day_of(year, month, last, &to)) {
        return false;
    }
    *out = when_days(from, to + 1, first == last ? DATE_DAY : DATE_RANGE);
    out->is_relative = !has_year;
    return true;
}

/* May 5th, May 5 2023, May 5-7, May the 5th, May 2021, May */
static bool rule_month(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    size_t next = *at + 1;
    int64_t month = item_at(p, *at)->value;
    int64_t day;
    int64_t year;

    if (!is_class(p, *at, DC_MONTH) || !month_is_sure(p, *at)) {
        return false;
    }
    skip(p, &next, DC_THE);
    if (is_class(p, next, DC_DAYS)) {
        int64_t first = item_at(p, next)->value;
        int64_t last = item_at(p, next)->extra;

        next++;
        if (date_in_year(p, month, first, last, &next, out)) {
            *at = next;
            return true;
        }
        return false;
    }
    if (month_day_number(p, next, &day)) {
        next++;
        if (date_in_year(p, month, day, day, &next, out)) {
            *at = next;
            return true;
        }
        return false; /* no such day */
    }
    next = *at + 1;
    if (take_year(p, &next, &year)) {
        *out = when_month(year, month, 1);
    } else {
        *out = when_month(p->ref.year, month, 1);
        *out = when_month(year_for(&p->ref, *out), month, 1);
        out->is_relative = true;
    }
    *at = next;
    return true;
}

/* 5 May, the 5th of May 2023, 5-7 May */
static bool rule_day_month(const struct date_parser *p, size_t *at,
                           struct when *out)
{
    size_t next = *at;
    int64_t first;
    int64_t last;
    const struct date_item *month;

    skip(p, &next, DC_THE);
    if (is_class(p, next, DC_DAYS)) {
        first = item_at(p, next)->value;
        last = item_at(p, next)->extra;
    } else if (month_day_number(p, next, &first)) {
        last = first;
    } else {
        return false;
    }
    next++;
    skip(p, &next, DC_OF);
    month = item_at(p, next);
    if (month->class != DC_MONTH ||
        (month->is_risky && !month->is_capital)) {
        return false;
    }
    next++;
    if (!date_in_year(p, month->value, first, last, &next, out)) {
        return false;
    }
    *at = next;
    return true;
}

/* on the 5th; not "on the 5th floor" */
static bool rule_on_the_nth(const struct date_parser *p, size_t *at,
                            struct when *out)
{
    const struct date_item *item = item_at(p, *at + 1);
    const struct date_item *after = item_at(p, *at + 2);
    struct when when;
    int64_t day;

    if (!is_class(p, *at, DC_THE) || class_before(p, *at) != DC_ON ||
        item->class != DC_ORDINAL || item->extra != 1 ||
        (after->class == DC_OTHER && after->value == 0 && !after->breaks)) {
        return false;
    }
    if (!day_of(p->ref.year, p->ref.month, item->value, &day)) {
        return false;
    }
    when = when_days(day, day + 1, DATE_DAY);
    if (p->ref.tense == TENSE_PAST && day > p->ref.today) {
        day = day_move(day, DU_MONTH, -1);
    } else if (p->ref.tense != TENSE_PAST && day < p->ref.today) {
        day = day_move(day, DU_MONTH, 1);
    }
    when = when_days(day, day + 1, DATE_DAY);
    when.is_relative = true;
    *out = when;
    *at += 2;
    return true;
}

static bool rule_today(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    int64_t day = p->ref.today;

    if (is_class(p, *at, DC_TONIGHT)) {
        *out = when_daypart(day, DP_EVENING);
    } else if (is_class(p, *at, DC_TODAY)) {
        day += item_at(p, *at)->value;
        *out = when_days(day, day + 1, DATE_DAY);
    } else {
        return false;
    }
    out->is_relative = true;
    *at += 1;
    return true;
}

/* the day before yesterday, the day after tomorrow, the other day */
static bool rule_day_beside(const struct date_parser *p, size_t *at,
                            struct when *out)
{
    size_t next = *at;
    const struct date_item *side;
    const struct date_item *day;

    skip(p, &next, DC_THE);
    if (is_class(p, next, DC_OTHER_DAY) && next > *at) {
        day = item_at(p, next + 1);
        if (day->class != DC_UNIT || day->value != DU_DAY) {
            return false;
        }
        *out = when_days(p->ref.today - 7, p->ref.today, DATE_RANGE);
        out->is_relative = true;
        *at = next + 2;
        return true;
    }
    side = item_at(p, next + 1);
    day = item_at(p, next + 2);
    if (class_at(p, next) != DC_UNIT || item_at(p, next)->value != DU_DAY ||
        (side->class != DC_BEFORE && side->class != DC_AFTER) ||
        day->class != DC_TODAY) {
        return false;
    }
    *out = when_unit(p->ref.today + day->value, DU_DAY,
                     side->class == DC_BEFORE ? -1 : 1);
    out->is_relative = true;
    *at = next + 3;
    return true;
}

/* A count: 3, three, a, a couple of, a few, twenty five. */
static bool take_count(const struct date_parser *p, size_t *at, int64_t *out)
{
    size_t next = *at;
    int64_t value;

    if (!is_class(p, next, DC_NUMBER) && !is_class(p, next, DC_YEAR)) {
        return false;
    }
    value = item_at(p, next)->value;
    next++;
    if (is_class(p, next, DC_NUMBER) && item_at(p, next)->extra == 0 &&
        item_at(p, next - 1)->extra == 0) {
        int64_t second = item_at(p, next)->value;

        /* "a couple", "a few", "twenty five", "two hundred" */
        value = item_at(p, next - 1)->is_risky ? second
                : second == 100                ? value * 100
                                               : value + second;
        next++;
    }
    skip(p, &next, DC_OF);
    *out = value;
    *at = next;
    return true;
}

/* three weeks ago, in two days, 5 minutes from now, two Fridays ago */
static bool rule_count(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    size_t next = *at;
    bool has_in = is_class(p, next, DC_IN);
    int64_t n;
    const struct date_item *unit;
    bool is_ago;
    bool is_ahead;

    next += has_in;
    if (!take_count(p, &next, &n)) {
        return false;
    }
    unit = item_at(p, next);
    if (unit->class != DC_UNIT && unit->class != DC_WEEKDAYS &&
        !(unit->class == DC_ORDINAL && unit->value == 2 && unit->is_risky)) {
        return false;
    }
    next++;
    is_ago = is_class(p, next, DC_AGO);
    is_ahead = is_class(p, next, DC_FROM) &&
               (is_class(p, next + 1, DC_NOW) ||
                (is_class(p, next + 1, DC_TODAY) &&
                 item_at(p, next + 1)->value == 0));
    if (unit->class == DC_WEEKDAYS) {
        if (!is_ago || n < 1) {
            return false;
        }
        n = weekday_from(&p->ref, unit->value, DC_LAST) - (n - 1) * 7;
        *out = when_days(n, n + 1, DATE_DAY);
        out->is_relative = true;
        *at = next + 1;
        return true;
    }
    if (is_ago) {
        next++;
        n = -n;
    } else if (is_ahead) {
        next += 2;
    } else if (!has_in || p->ref.tense == TENSE_PAST ||
               unit->class == DC_ORDINAL) {
        return false; /* "in 3 days it was done" says how long, not when */
    }
    *out = when_away(&p->ref,
                     unit->class == DC_ORDINAL ? DU_SECOND
                                               : (enum date_unit)unit->value,
                     n);
    *at = next;
    return true;
}

static struct when weekend_by(const struct date_ref *ref, enum date_class which)
{
    struct when this_one = when_unit(ref->today, DU_WEEKEND, 0);

    if (which == DC_LAST || which == DC_PAST) {
        return when_unit(ref->today, DU_WEEKEND, -1);
    }
    if (which == DC_NEXT) {
        return when_unit(ref->today, DU_WEEKEND, 1);
    }
    /* "over the weekend" in the past tense, said on a Tuesday */
    if (which == DC_THE && ref->tense == TENSE_PAST && ref->weekday < 5) {
        return when_unit(ref->today, DU_WEEKEND, -1);
    }
    return this_one;
}

static int64_t shift_of(enum date_class which)
{
    return which == DC_NEXT ? 1 : which == DC_THIS ? 0 : -1;
}

static bool which_unit(const struct date_parser *p, enum date_class which,
                       const struct date_item *item, struct when *out)
{
    enum date_unit unit = (enum date_unit)item->value;

    if (unit == DU_WEEKEND) {
        *out = weekend_by(&p->ref, which);
    } else if (unit <= DU_HOUR) {
        return false;
    } else if (unit == DU_DAY && which != DC_NEXT) {
        return false; /* "this day", "last day": not from now */
    } else if (which == DC_PAST) {
        *out = when_span(&p->ref, unit, -1);
    } else {
        *out = when_unit(p->ref.today, unit, shift_of(which));
    }
    return true;
}

static bool which_part(const struct date_parser *p, enum date_class which,
                       const struct date_item *item, struct when *out)
{
    enum date_part part = (enum date_part)item->value;

    if (which == DC_THIS && part < DP_NOON) {
        *out = when_daypart(p->ref.today,
                            part == DP_NIGHT ? DP_EVENING : part);
        return true;
    }
    if (which == DC_LAST && (part == DP_NIGHT || part == DP_EVENING)) {
        *out = when_daypart(p->ref.today - 1, part);
        return true;
    }
    return false;
}

static struct when which_season(const struct date_ref *ref,
                                enum date_class which, int64_t season)
{
    struct when this_year = when_season(season, ref->year);
    bool is_running = season == 3 && ref->month <= 2; /* since last year */

    if (season == 3 && which == DC_LAST) {
        return when_season(3, ref->year - (is_running ? 2 : 1));
    }
    if (is_running && which == DC_THIS) {
        return when_season(3, ref->year - 1);
    }
    return when_season(season, year_by(ref, which, this_year));
}

static struct when holiday_in(int64_t holiday, int64_t year)
{
    int64_t day = holiday_day(holiday, year);

    return when_days(day, day + 1, DATE_DAY);
}

static bool which_named(const struct date_parser *p, enum date_class which,
                        size_t *next, struct when *out)
{
    const struct date_item *item = item_at(p, *next);
    const struct date_ref *ref = &p->ref;

    if (item->class == DC_UNIT) {
        return which_unit(p, which, item, out);
    }
    if (item->class == DC_DAYPART) {
        return which_part(p, which, item, out);
    }
    if (item->class == DC_WEEKDAY) {
        int64_t day = weekday_from(ref, item->value, which);

        *out = when_days(day, day + 1, DATE_DAY);
    } else if (item->class == DC_MONTH) {
        *out = when_month(ref->year, item->value, 1);
        *out = when_month(year_by(ref, which, *out), item->value, 1);
    } else if (item->class == DC_SEASON) {
        *out = which_season(ref, which, item->value);
    } else if (item->class == DC_HOLIDAY) {
        *out = holiday_in(item->value, ref->year);
        *out = holiday_in(item->value, year_by(ref, which, *out));
        *next += (size_t)item->extra;
    } else {
        return false;
    }
    return true;
}

/* last, this, next and what follows: Thursday, week, May, summer, 3 days */
static bool rule_which(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    size_t next = *at;
    enum date_class which;
    int64_t n;
    size_t after;

    skip(p, &next, DC_THE);
    which = class_at(p, next);
    if (which != DC_LAST && which != DC_THIS && which != DC_NEXT &&
        which != DC_PAST) {
        return false;
    }
    if (which == DC_THIS &&
        (is_class(p, next + 1, DC_PAST) || is_class(p, next + 1, DC_NEXT))) {
        next++; /* "this past Sunday", "this coming Friday" */
        which = is_class(p, next, DC_PAST) ? DC_LAST : DC_THIS;
    }
    next++;
    after = next;
    if (which != DC_THIS && take_count(p, &after, &n) &&
        is_class(p, after, DC_UNIT) && !item_at(p, next)->is_risky) {
        *out = when_span(&p->ref, (enum date_unit)item_at(p, after)->value,
                         which == DC_NEXT ? n : -n);
        *at = after + 1;
        return true;
    }
    if (!which_named(p, which, &next, out)) {
        return false;
    }
    out->is_relative = true;
    *at = next + 1;
    return true;
}

/* Thursday; Thursday, May 5; Thursday the 5th of May */
static bool rule_weekday(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    size_t next = *at + 1;
    int64_t day;

    if (!is_class(p, *at, DC_WEEKDAY) || !weekday_is_sure(p, *at)) {
        return false;
    }
    skip(p, &next, DC_COMMA);
    if (rule_month(p, &next, out) || rule_day_month(p, &next, out)) {
        if (out->grain == DATE_DAY) {
            *at = next;
            return true;
        }
    }
    day = weekday_from(&p->ref, item_at(p, *at)->value, DC_ON);
    *out = when_days(day, day + 1, DATE_DAY);
    out->is_relative = true;
    *at += 1;
    return true;
}

/* the weekend */
static bool rule_weekend(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    const struct date_item *item = item_at(p, *at + 1);

    if (!is_class(p, *at, DC_THE) || item->class != DC_UNIT ||
        item->value != DU_WEEKEND || item->is_risky) {
        return false;
    }
    *out = weekend_by(&p->ref, DC_THE);
    out->is_relative = true;
    *at += 2;
    return true;
}

/* the summer of 2019, in the fall, winter 2020 */
static bool rule_season(const struct date_parser *p, size_t *at,
                        struct when *out)
{
    size_t next = *at;
    const struct date_item *item;
    int64_t year;
    bool is_sure;

    skip(p, &next, DC_THE);
    item = item_at(p, next);
    if (item->class != DC_SEASON) {
        return false;
    }
    is_sure = class_before(p, *at) == DC_IN || class_before(p, next) == DC_IN;
    next++;
    if (take_year(p, &next, &year)) {
        *out = when_season(item->value, year);
    } else if (is_sure) {
        *out = when_season(item->value, p->ref.year);
        *out = when_season(item->value, year_for(&p->ref, *out));
        out->is_relative = true;
    } else {
        return false;
    }
    *at = next;
    return true;
}

static bool rule_holiday(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    const struct date_item *item = item_at(p, *at);
    size_t next = *at + 1 + (size_t)item->extra;
    int64_t year;

    if (item->class != DC_HOLIDAY) {
        return false;
    }
    if (take_year(p, &next, &year)) {
        *out = holiday_in(item->value, year);
    } else {
        *out = holiday_in(item->value, p->ref.year);
        *out = holiday_in(item->value, year_for(&p->ref, *out));
        out->is_relative = true;
    }
    *at = next;
    return true;
}

/* Q3 2024, the third quarter of 2024 */
static bool rule_quarter(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    size_t next = *at;
    int64_t quarter;
    int64_t year = p->ref.year;
    bool has_year;

    skip(p, &next, DC_THE);
    quarter = item_at(p, next)->value;
    if (is_class(p, next, DC_ORDINAL) && quarter <= 4 &&
        is_class(p, next + 1, DC_UNIT) &&
        item_at(p, next + 1)->value == DU_QUARTER) {
        next += 2;
    } else if (is_class(p, next, DC_QUARTER)) {
        next++;
    } else {
        return false;
    }
    has_year = take_year(p, &next, &year);
    *out = when_month(year, (quarter - 1) * 3 + 1, 3);
    out->is_relative = !has_year;
    *at = next;
    return true;
}

/* 2023; not "2023 people", "$2023" (the caller's words decide) */
static bool rule_year(const struct date_parser *p, size_t *at,
                      struct when *out)
{
    const struct date_item *item = item_at(p, *at);
    const struct date_item *next = item_at(p, *at + 1);
    enum date_class before = class_before(p, *at);

    if (item->class != DC_YEAR) {
        return false;
    }
    if (!is_preposition(before) &&
        ((next->class == DC_OTHER && !next->breaks && !next->is_capital &&
          next->value == 0) ||
         next->class == DC_UNIT || before == DC_AT)) {
        return false;
    }
    *out = when_year(item->value, 1);
    *at += 1;
    return true;
}

static bool rule_decade(const struct date_parser *p, size_t *at,
                        struct when *out)
{
    size_t next = *at;

    skip(p, &next, DC_THE);
    if (!is_class(p, next, DC_DECADE) ||
        (next == *at && item_at(p, next)->value < 1000)) {
        return false;
    }
    *out = when_year(item_at(p, next)->value, 10);
    *at = next + 1;
    return true;
}

static bool rule_numeric(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    const struct date_item *item = item_at(p, *at);

    if (item->class == DC_DATE) {
        *out = when_unit(item->value, (enum date_unit)item->extra, 0);
    } else if (item->class == DC_MOMENT) {
        *out = (struct when){.from = item->value,
                             .to = item->value + CLOCK_SECOND_MS,
                             .grain = DATE_TIME,
                             .is_utc = true};
        *at += (size_t)item->extra;
    } else {
        return false;
    }
    *at += 1;
    return true;
}

/* ---- times of day ---- */

/* The minutes of a clock time, and how many it covers. */
static bool take_time(const struct date_parser *p, size_t *at, bool may_be_bare,
                      int64_t *out_minute, int64_t *out_length)
{
    size_t next = *at;
    bool has_at = is_class(p, next, DC_AT);
    const struct date_item *item;
    const struct date_item *half;

    next += has_at;
    item = item_at(p, next);
    half = item_at(p, next + 1);
    if (item->class == DC_DAYPART && item->value >= DP_NOON) {
        *out_minute = item->value == DP_NOON ? 720 : 1440;
        *out_length = 1;
        *at = next + 1;
        return true;
    }
    if (item->class == DC_TIME) {
        *out_minute = item->value;
        *out_length = item->extra;
        next++;
        if (half->class == DC_MERIDIEM && !item->is_short &&
            item->value < 780 && !(half->is_risky && half->breaks)) {
            *out_minute = item->value % 720 + half->value * 720;
            next++;
        }
        *at = next;
        return true;
    }
    if (item->class != DC_NUMBER || item->value < 1 || item->value > 12) {
        return false;
    }
    if (half->class == DC_MERIDIEM && item->extra == 1) {
        *out_minute = item->value % 12 * 60 + half->value * 720;
        *out_length = 60;
        *at = next + 2;
        return true;
    }
    if (half->class == DC_OCLOCK || (has_at && may_be_bare && !item->is_risky &&
                                     half->class != DC_UNIT)) {
        /* between 1 and 7 people mean the afternoon */
        *out_minute = (item->value % 12 + (item->value <= 7 ? 12 : 0)) * 60;
        if (item->value == 12) {
            *out_minute = 720;
        }
        *out_length = 60;
        *at = next + 1 + (half->class == DC_OCLOCK);
        return true;
    }
    return false;
}

static struct when at_minute(int64_t day, int64_t minute, int64_t length)
{
    int64_t from = day * DAY + minute * CLOCK_MINUTE_MS;

    return (struct when){.from = from,
                         .to = from + length * CLOCK_MINUTE_MS,
                         .grain = DATE_TIME};
}

/* A day may be followed by a time of day. */
static void narrow(const struct date_parser *p, size_t *at, struct when *when)
{
    int64_t minute;
    int64_t length;
    int64_t day = when->from / DAY;
    size_t next = *at;
    bool is_relative = when->is_relative;

    if (when->grain != DATE_DAY || when->is_utc || when->from % DAY != 0) {
        return;
    }
    skip(p, &next, DC_COMMA);
    if (take_time(p, &next, true, &minute, &length)) {
        *when = at_minute(day, minute, length);
        *at = next;
    } else if (is_class(p, *at, DC_DAYPART)) {
        *when = when_daypart(day, (enum date_part)item_at(p, *at)->value);
        *at += 1;
    } else if (is_class(p, *at, DC_IN) && is_class(p, *at + 1, DC_THE) &&
               is_class(p, *at + 2, DC_DAYPART)) {
        *when = when_daypart(day, (enum date_part)item_at(p, *at + 2)->value);
        *at += 3;
    }
    when->is_relative = is_relative;
}

static bool parse_base(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    static rule_fn *const rules[] = {
        rule_today,   rule_day_beside, rule_count,    rule_which,
        rule_day_month, rule_month,    rule_weekday,  rule_weekend,
        rule_season,  rule_holiday,    rule_quarter,  rule_decade,
        rule_numeric, rule_on_the_nth, rule_year,
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (rules[i](p, at, out)) {
            return true;
        }
    }
    return false;
}

/* 3pm; 3pm tomorrow; 15:30 on Friday; noon */
static bool parse_time(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    size_t next = *at;
    size_t after;
    int64_t minute;
    int64_t length;
    struct when day;

    if (!take_time(p, &next, false, &minute, &length)) {
        return false;
    }
    after = next;
    skip(p, &after, DC_COMMA);
    skip(p, &after, DC_ON);
    if (parse_base(p, &after, &day) && day.grain == DATE_DAY && !day.is_utc) {
        *out = at_minute(day.from / DAY, minute, length);
        out->is_relative = day.is_relative;
        *at = after;
        return true;
    }
    *out = at_minute(p->ref.today, minute, length);
    out->is_relative = true;
    *at = next;
    return true;
}

/* early June, mid-March, the end of the month, late last year */
static bool parse_third(const struct date_parser *p, size_t *at,
                        struct when *out)
{
    size_t next = *at;
    enum date_class class;
    int third;

    skip(p, &next, DC_THE);
    class = class_at(p, next);
    if (class != DC_EARLY && class != DC_MID && class != DC_LATE) {
        return false;
    }
    third = class == DC_EARLY ? 0 : class == DC_MID ? 1 : 2;
    if (item_at(p, next)->is_risky && !is_class(p, next + 1, DC_OF)) {
        return false; /* "end" and "start" need "of" */
    }
    next++;
    skip(p, &next, DC_OF);
    if (is_class(p, next, DC_THE) && is_class(p, next + 1, DC_UNIT) &&
        item_at(p, next + 1)->value >= DU_WEEK &&
        item_at(p, next + 1)->value != DU_WEEKEND) {
        *out = when_unit(p->ref.today,
                         (enum date_unit)item_at(p, next + 1)->value, 0);
        out->is_relative = true;
        next += 2;
    } else if (!parse_base(p, &next, out) || out->is_utc ||
               out->to - out->from < 3 * DAY) {
        return false;
    }
    *out = when_third(*out, third);
    *at = next;
    return true;
}

/* the day after Christmas, two weeks before May 5, the Friday before ... */
static bool parse_beside(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    size_t next = *at;
    int64_t n = 1;
    const struct date_item *item;
    enum date_class side;
    struct when anchor;
    int64_t day;

    skip(p, &next, DC_THE);
    if (!take_count(p, &next, &n) && next == *at) {
        return false;
    }
    item = item_at(p, next);
    side = class_at(p, next + 1);
    if ((item->class != DC_UNIT && item->class != DC_WEEKDAY) ||
        (side != DC_BEFORE && side != DC_AFTER && side != DC_FROM)) {
        return false;
    }
    next += 2;
    skip(p, &next, DC_THE);
    if (n > 10000 || !parse_base(p, &next, &anchor) ||
        anchor.grain != DATE_DAY) {
        return false;
    }
    day = anchor.from / DAY;
    n = side == DC_BEFORE ? -n : n;
    if (item->class == DC_WEEKDAY) {
        int64_t ahead = (item->value - day_weekday(day) + 7) % 7;

        day += side == DC_BEFORE ? (ahead == 0 ? -7 : ahead - 7)
                                 : (ahead == 0 ? 7 : ahead);
        *out = when_days(day, day + 1, DATE_DAY);
    } else if (item->value <= DU_HOUR) {
        return false;
    } else if (item->value == DU_WEEKEND) {
        day = side == DC_BEFORE ? day - (day_weekday(day) >= 5 ? 7 : 0)
                                : day + 7;
        *out = when_unit(day, DU_WEEKEND, side == DC_BEFORE ? -1 : 0);
    } else {
        *out = when_unit(day, (enum date_unit)item->value, n);
    }
    out->is_relative = anchor.is_relative;
    *at = next;
    return true;
}

static bool parse_point(const struct date_parser *p, size_t *at,
                        struct when *out)
{
    size_t next = *at;

    /* "later today", "earlier this week" */
    if (is_class(p, next, DC_LATER) && (is_class(p, next + 1, DC_TODAY) ||
                                        is_class(p, next + 1, DC_THIS))) {
        next++;
    }
    if (parse_third(p, &next, out) || parse_beside(p, &next, out) ||
        parse_time(p, &next, out)) {
        *at = next;
        return true;
    }
    if (!parse_base(p, &next, out)) {
        return false;
    }
    narrow(p, &next, out);
    *at = next;
    return true;
}

static void to_utc_like(const struct date_parser *p, struct when *when)
{
    /* mixed pairs are rare: bring an instant onto the local line */
    if (when->is_utc) {
        int64_t shift = p->ref.now_local - p->ref.now_utc;

        when->from += shift;
        when->to += shift;
        when->is_utc = false;
    }
}

static bool join_points(const struct date_parser *p, struct when first,
                        struct when second, struct when *out)
{
    to_utc_like(p, &first);
    to_utc_like(p, &second);
    if (first.is_relative && !second.is_relative) {
        /* "March to May 2022": the year said last holds for both */
        while (first.from >= second.to && first.from > 0) {
            first.from = day_move(first.from / DAY, DU_YEAR, -1) * DAY;
        }
        while (day_move(first.from / DAY, DU_YEAR, 1) * DAY < second.from) {
            first.from = day_move(first.from / DAY, DU_YEAR, 1) * DAY;
        }
    }
    if (second.to <= first.from) {
        return false;
    }
    *out = (struct when){.from = first.from,
                         .to = second.to,
                         .grain = DATE_RANGE,
                         .is_relative =
                             first.is_relative || second.is_relative};
    return true;
}

/* between X and Y, from X to Y */
static bool parse_between(const struct date_parser *p, size_t *at,
                          struct when *out)
{
    size_t next = *at;
    enum date_class lead = class_at(p, next);
    enum date_class middle;
    struct when first;
    struct when second;
    size_t after;

    if (lead != DC_BETWEEN && lead != DC_FROM) {
        return false;
    }
    next++;
    if (!parse_point(p, &next, &first)) {
        return false;
    }
    middle = class_at(p, next);
    after = next + 1;
    if (!(lead == DC_BETWEEN ? middle == DC_AND
                             : middle == DC_TO || middle == DC_UNTIL) ||
        !parse_point(p, &after, &second) ||
        !join_points(p, first, second, out)) {
        return false;
    }
    *at = after;
    return true;
}

static struct when open_range(int64_t from, int64_t to)
{
    return (struct when){.from = from,
                         .to = to,
                         .grain = DATE_RANGE,
                         .is_relative = true};
}

/* since X, until X, by X, before X, after X */
static bool parse_open(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    size_t next = *at + 1;
    enum date_class lead = class_at(p, *at);
    int64_t now = p->ref.now_local;
    struct when when;

    if (lead != DC_SINCE && lead != DC_UNTIL && lead != DC_BY &&
        lead != DC_BEFORE && lead != DC_AFTER) {
        return false;
    }
    if (!parse_point(p, &next, &when)) {
        return false;
    }
    to_utc_like(p, &when);
    if (lead == DC_SINCE) {
        *out = open_range(when.from, now); /* empty if it is to come */
    } else if (lead == DC_BEFORE) {
        *out = open_range(when.from > now ? now : CLOCK_MIN_MS, when.from);
    } else if (lead == DC_AFTER) {
        *out = open_range(when.to, when.to < now ? now : CLOCK_MAX_MS);
    } else {
        *out = open_range(when.to > now ? now : CLOCK_MIN_MS, when.to);
    }
    if (out->to <= out->from) {
        return false;
    }
    *at = next;
    return true;
}

bool date_parse(const struct date_parser *parser, size_t *at,
                struct when *out)
{
    size_t next = *at;
    size_t after;
    struct when second;

    if (parse_between(parser, at, out) || parse_open(parser, at, out)) {
        return true;
    }
    if (!parse_point(parser, &next, out)) {
        return false;
    }
    after = next + 1;
    if (is_class(parser, next, DC_TO) && parse_point(parser, &after, &second) &&
        second.grain == out->grain &&
        join_points(parser, *out, second, out)) {
        next = after;
    }
    *at = next;
    return true;
}
