/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_rules.c - names of days, months, seasons and numeric dates. See
 * dates_internal.h.
 *
 * Words that are also something else (may, march, sun, fall) need a neighbour
 * that makes them a date.
 */
#include "text/dates_internal.h"

typedef bool rule_fn(const struct date_parser *p, size_t *at, struct when *out);

static bool take_year(const struct date_parser *p, size_t *at, int64_t *out)
{
    size_t next = *at;

    date_skip(p, &next, DC_COMMA);
    date_skip(p, &next, DC_OF);
    if (!date_is(p, next, DC_YEAR)) {
        return false;
    }
    *out = date_item_at(p, next)->value;
    *at = next + 1;
    return true;
}

/* ---- names of days, months, seasons ---- */

static bool weekday_is_sure(const struct date_parser *p, size_t at)
{
    const struct date_item *item = date_item_at(p, at);
    enum date_class before = date_class_before(p, at);

    if (before == DC_EVERY) {
        return false;
    }
    if (!item->is_short) {
        return true;
    }
    /* "Sat down", "the sun": only with a word that asks for a day */
    return item->is_capital || !item->is_risky
               ? date_is_preposition(before) || date_is(p, at + 1, DC_MONTH) ||
                     date_is(p, at + 1, DC_COMMA) || !item->is_risky
               : false;
}

/* Can the month at `at` be one, and not the modal or the walk? */
static bool month_is_sure(const struct date_parser *p, size_t at)
{
    const struct date_item *item = date_item_at(p, at);
    enum date_class before = date_class_before(p, at);
    const struct date_item *next = date_item_at(p, at + 1);
    bool has_day_after = next->class == DC_ORDINAL || next->class == DC_YEAR ||
                         next->class == DC_DAYS ||
                         (next->class == DC_NUMBER && next->extra == 1 &&
                          next->value >= 1 && next->value <= 31);
    bool has_day_before = before == DC_ORDINAL || before == DC_NUMBER;

    if (item->is_risky || item->is_short) {
        if (has_day_before && at > 0 && date_item_at(p, at - 1)->extra == 1 &&
            (item->is_capital || item->is_short)) {
            return true;
        }
        if (item->is_capital) {
            return date_is_preposition(before) || has_day_after;
        }
        return (before == DC_IN || before == DC_LAST || before == DC_NEXT ||
                before == DC_SINCE || before == DC_UNTIL || before == DC_MID ||
                before == DC_EARLY || before == DC_LATE) &&
               (date_class_at(p, at + 1) != DC_OTHER || item->is_short ||
                date_item_at(p, at + 1)->breaks || item->value == 5);
    }
    return true;
}

/* ---- base expressions ---- */

static bool month_day_number(const struct date_parser *p, size_t at,
                             int64_t *out)
{
    const struct date_item *item = date_item_at(p, at);

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
            year = date_year_for(&p->ref, when_days(from, from + 1, DATE_DAY));
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
    int64_t month = date_item_at(p, *at)->value;
    int64_t day;
    int64_t year;

    if (!date_is(p, *at, DC_MONTH) || !month_is_sure(p, *at)) {
        return false;
    }
    date_skip(p, &next, DC_THE);
    if (date_is(p, next, DC_DAYS)) {
        int64_t first = date_item_at(p, next)->value;
        int64_t last = date_item_at(p, next)->extra;

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
        *out = when_month(date_year_for(&p->ref, *out), month, 1);
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

    date_skip(p, &next, DC_THE);
    if (date_is(p, next, DC_DAYS)) {
        first = date_item_at(p, next)->value;
        last = date_item_at(p, next)->extra;
    } else if (month_day_number(p, next, &first)) {
        last = first;
    } else {
        return false;
    }
    next++;
    date_skip(p, &next, DC_OF);
    month = date_item_at(p, next);
    if (month->class != DC_MONTH || (month->is_risky && !month->is_capital)) {
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
    const struct date_item *item = date_item_at(p, *at + 1);
    const struct date_item *after = date_item_at(p, *at + 2);
    struct when when;
    int64_t day;

    if (!date_is(p, *at, DC_THE) || date_class_before(p, *at) != DC_ON ||
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

    if (date_is(p, *at, DC_TONIGHT)) {
        *out = when_daypart(day, DP_EVENING);
    } else if (date_is(p, *at, DC_TODAY)) {
        day += date_item_at(p, *at)->value;
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

    date_skip(p, &next, DC_THE);
    if (date_is(p, next, DC_OTHER_DAY) && next > *at) {
        day = date_item_at(p, next + 1);
        if (day->class != DC_UNIT || day->value != DU_DAY) {
            return false;
        }
        *out = when_days(p->ref.today - 7, p->ref.today, DATE_RANGE);
        out->is_relative = true;
        *at = next + 2;
        return true;
    }
    side = date_item_at(p, next + 1);
    day = date_item_at(p, next + 2);
    if (date_class_at(p, next) != DC_UNIT ||
        date_item_at(p, next)->value != DU_DAY ||
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

/* Thursday; Thursday, May 5; Thursday the 5th of May */
static bool rule_weekday(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    size_t next = *at + 1;
    int64_t day;

    if (!date_is(p, *at, DC_WEEKDAY) || !weekday_is_sure(p, *at)) {
        return false;
    }
    date_skip(p, &next, DC_COMMA);
    if (rule_month(p, &next, out) || rule_day_month(p, &next, out)) {
        if (out->grain == DATE_DAY) {
            *at = next;
            return true;
        }
    }
    day = date_weekday_from(&p->ref, date_item_at(p, *at)->value, DC_ON);
    *out = when_days(day, day + 1, DATE_DAY);
    out->is_relative = true;
    *at += 1;
    return true;
}

/* the weekend */
static bool rule_weekend(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    const struct date_item *item = date_item_at(p, *at + 1);

    if (!date_is(p, *at, DC_THE) || item->class != DC_UNIT ||
        item->value != DU_WEEKEND || item->is_risky) {
        return false;
    }
    *out = date_weekend_by(&p->ref, DC_THE);
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

    date_skip(p, &next, DC_THE);
    item = date_item_at(p, next);
    if (item->class != DC_SEASON) {
        return false;
    }
    is_sure = date_class_before(p, *at) == DC_IN ||
              date_class_before(p, next) == DC_IN;
    next++;
    if (take_year(p, &next, &year)) {
        *out = when_season(item->value, year);
    } else if (is_sure) {
        *out = when_season(item->value, p->ref.year);
        *out = when_season(item->value, date_year_for(&p->ref, *out));
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
    const struct date_item *item = date_item_at(p, *at);
    size_t next = *at + 1 + (size_t)item->extra;
    int64_t year;

    if (item->class != DC_HOLIDAY) {
        return false;
    }
    if (take_year(p, &next, &year)) {
        *out = date_holiday_in(item->value, year);
    } else {
        *out = date_holiday_in(item->value, p->ref.year);
        *out = date_holiday_in(item->value, date_year_for(&p->ref, *out));
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

    date_skip(p, &next, DC_THE);
    quarter = date_item_at(p, next)->value;
    if (date_is(p, next, DC_ORDINAL) && quarter <= 4 &&
        date_is(p, next + 1, DC_UNIT) &&
        date_item_at(p, next + 1)->value == DU_QUARTER) {
        next += 2;
    } else if (date_is(p, next, DC_QUARTER)) {
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
static bool rule_year(const struct date_parser *p, size_t *at, struct when *out)
{
    const struct date_item *item = date_item_at(p, *at);
    const struct date_item *next = date_item_at(p, *at + 1);
    enum date_class before = date_class_before(p, *at);

    if (item->class != DC_YEAR) {
        return false;
    }
    if (!date_is_preposition(before) &&
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

    date_skip(p, &next, DC_THE);
    if (!date_is(p, next, DC_DECADE) ||
        (next == *at && date_item_at(p, next)->value < 1000)) {
        return false;
    }
    *out = when_year(date_item_at(p, next)->value, 10);
    *at = next + 1;
    return true;
}

static bool rule_numeric(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    const struct date_item *item = date_item_at(p, *at);

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

bool date_base(const struct date_parser *p, size_t *at, struct when *out)
{
    static rule_fn *const rules[] = {
        rule_today,     rule_day_beside, date_rule_count, date_rule_which,
        rule_day_month, rule_month,      rule_weekday,    rule_weekend,
        rule_season,    rule_holiday,    rule_quarter,    rule_decade,
        rule_numeric,   rule_on_the_nth, rule_year,
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (rules[i](p, at, out)) {
            return true;
        }
    }
    return false;
}
