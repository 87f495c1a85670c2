/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_rules.c - names of days, months, seasons and numeric dates. See
 * dates_internal.h.
 *
 * Words that are also something else (may, march, sun, fall) need a neighbour
 * that makes them a date.
 */
#include "text/date/dates_internal.h"

typedef bool rule_fn(const struct date_parser *p, size_t *at, struct when *out);

/* ---- names of days, months, seasons ---- */

/* Behind a weekday: "lundi prochain", "el lunes pasado". */
static enum date_class which_behind(const struct date_parser *p, size_t at)
{
    const struct date_item *item = date_item_at(p, at);

    return (item->class == DC_NEXT || item->class == DC_LAST) && item->is_short
               ? item->class
               : DC_ON;
}

/* Behind "sat": an hour, a part of the day or another day. */
static bool day_goes_on(const struct date_parser *p, size_t at)
{
    const struct date_item *item = date_item_at(p, at);
    bool is_join = item->class == DC_TO || item->class == DC_AND ||
                   item->class == DC_COMMA;

    if (item->breaks) {
        return false;
    }
    if (item->class == DC_AT && item->language != TEXT_ENGLISH &&
        (date_is(p, at + 1, DC_TIME) || date_is(p, at + 1, DC_NUMBER))) {
        return true; /* "quinta às 14h", "Mo um 10" */
    }
    return item->class == DC_TIME || item->class == DC_DAYPART ||
           (item->class == DC_NUMBER && date_is(p, at + 1, DC_MERIDIEM)) ||
           (is_join && date_is(p, at + 1, DC_WEEKDAY) &&
            date_item_at(p, at + 1)->is_short);
}

static bool weekday_is_sure(const struct date_parser *p, size_t at)
{
    const struct date_item *item = date_item_at(p, at);
    enum date_class before = date_class_before(p, at);

    /* "every Friday", "a Friday", "that Friday", "le vendredi" */
    if (before == DC_EVERY ||
        ((before == DC_NUMBER || before == DC_THE || before == DC_ON) &&
         date_item_at(p, at - 1)->is_risky &&
         which_behind(p, at + 1) == DC_ON)) {
        return false;
    }
    if (!item->is_short) {
        return true;
    }
    if (item->is_risky &&
        (before == DC_ON || before == DC_SINCE || before == DC_UNTIL ||
         before == DC_NEXT || before == DC_LAST || day_goes_on(p, at + 1) ||
         which_behind(p, at + 1) != DC_ON)) {
        return true; /* "na sexta", "on sat", "sat 10am", "sexta passada" */
    }
    if ((before == DC_TO || before == DC_AND || before == DC_COMMA) && at > 1 &&
        date_is(p, at - 2, DC_WEEKDAY) && date_item_at(p, at - 2)->is_short) {
        return true; /* "mon-wed" */
    }
    /* "Sat down", "the sun": only with a word that asks for a day */
    return item->is_capital || !item->is_risky
               ? date_is_preposition(before) || date_is(p, at + 1, DC_MONTH) ||
                     date_is(p, at + 1, DC_COMMA) || !item->is_risky
               : false;
}

/* ---- base expressions ---- */

static bool rule_today(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    int64_t day = p->ref.today;

    if (date_is(p, *at, DC_TONIGHT)) {
        int64_t part = date_item_at(p, *at)->value;

        *out = part < 0   ? when_daypart(day - 1, (enum date_part)(-part - 1))
               : part > 0 ? when_daypart(day, (enum date_part)(part - 1))
                          : when_daypart(day, DP_EVENING);
    } else if (date_is(p, *at, DC_TODAY)) {
        enum date_class before = date_class_before(p, *at);

        /* "am Morgen", "esta mañana": the part of the day */
        if (date_item_at(p, *at)->is_risky &&
            (before == DC_THE || before == DC_THIS || before == DC_ON)) {
            return false;
        }
        day += date_item_at(p, *at)->value;
        *out = when_days(day, day + 1, DATE_DAY);
    } else {
        return false;
    }
    out->is_relative = true;
    *at += 1;
    return true;
}

/* the week before last, the Friday after next */
static bool rule_last_but_one(const struct date_parser *p, size_t *at,
                              struct when *out)
{
    size_t next = *at;
    const struct date_item *item;
    bool is_back;

    date_skip(p, &next, DC_THE);
    item = date_item_at(p, next);
    is_back = date_is(p, next + 1, DC_BEFORE) && date_is(p, next + 2, DC_LAST);
    if (!is_back &&
        !(date_is(p, next + 1, DC_AFTER) && date_is(p, next + 2, DC_NEXT))) {
        return false;
    }
    if (item->class == DC_WEEKDAY) {
        int64_t day = date_weekday_from(&p->ref, item->value,
                                        is_back ? DC_LAST : DC_COMING);

        day += is_back ? -7 : 7;
        *out = when_days(day, day + 1, DATE_DAY);
    } else if (item->class == DC_UNIT && item->value >= DU_WEEK) {
        *out = when_unit(p->ref.today, (enum date_unit)item->value,
                         is_back ? -2 : 2);
    } else {
        return false;
    }
    out->is_relative = true;
    *at = next + 3;
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
    /* "depois de amanhã", "pasado mañana" */
    if (next == *at && ((date_is(p, next, DC_AFTER) && side->class == DC_OF) ||
                        date_is(p, next, DC_LAST))) {
        day = date_is(p, next, DC_LAST) ? side : day;
        if (day->class != DC_TODAY || day->value != 1 ||
            date_item_at(p, next)->language != day->language) {
            return false;
        }
        *out = when_days(p->ref.today + 2, p->ref.today + 3, DATE_DAY);
        out->is_relative = true;
        *at = next + (day == side ? 2 : 3);
        return true;
    }
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

/* Weeks behind a weekday: "Friday week", "Freitag in zwei Wochen", "vendredi en
 * huit"; 0: none */
static int64_t take_weeks(const struct date_parser *p, size_t *at)
{
    size_t next = *at;
    bool has_in = date_is(p, next, DC_IN);
    const struct date_item *unit;
    int64_t n = 1;

    next += has_in;
    if (has_in && !date_take_count(p, &next, &n)) {
        return 0;
    }
    unit = date_item_at(p, next);
    if (has_in && date_item_at(p, *at)->is_risky) { /* "en": in so many days */
        if (date_item_at(p, *at)->language != TEXT_FRENCH ||
            unit->class == DC_UNIT || (n != 8 && n != 15)) {
            return 0;
        }
        *at = next;
        return n / 7;
    }
    if (date_item_at(p, *at)->breaks || unit->class != DC_UNIT ||
        (unit->value != DU_WEEK && unit->value != DU_FORTNIGHT) || n > 100) {
        return 0;
    }
    *at = next + 1;
    return n * (unit->value == DU_FORTNIGHT ? 2 : 1);
}

/* Thursday; Thursday, May 5; Thursday week */
static bool rule_weekday(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    size_t next = *at + 1;
    enum date_class which;
    int64_t weeks;
    int64_t day;

    if (!date_is(p, *at, DC_WEEKDAY) || !weekday_is_sure(p, *at)) {
        return false;
    }
    date_skip(p, &next, DC_COMMA);
    if (date_rule_month(p, &next, out) && out->grain == DATE_DAY) {
        *at = next;
        return true;
    }
    next = *at + 1;
    weeks = take_weeks(p, &next);
    which = weeks > 0 ? DC_NEXT : which_behind(p, *at + 1);
    day = date_weekday_from(&p->ref, date_item_at(p, *at)->value,
                            which == DC_NEXT ? DC_COMING : which);
    if (weeks == 0 && which != DC_ON) {
        /* "viernes antepasado": the one before the last */
        int64_t more = date_item_at(p, *at + 1)->value;

        more += which == DC_NEXT && day == p->ref.today + 1;
        day += (which == DC_NEXT ? 7 : -7) * more;
    }
    *out = when_days(day + weeks * 7, day + weeks * 7 + 1, DATE_DAY);
    out->is_relative = true;
    if (weeks > 0) {
        *at = next;
        return true;
    }
    out->is_weekly = which == DC_ON;
    /* "the mail from Tuesday", "closed from Tuesday", "the Monday rush" */
    out->is_unsure =
        which == DC_ON &&
        (p->ref.seen.is_habit ||
         (!p->ref.seen.is_strong && p->ref.seen.bound == TENSE_NONE &&
          (date_item_at(p, *at)->is_vague ||
           (p->ref.seen.tense == TENSE_NONE &&
            (p->ref.seen.is_mixed || date_class_before(p, *at) == DC_FROM)))));
    *at += which == DC_ON ? 1 : 2;
    return true;
}

/* la semaine dernière, el mes pasado */
static bool rule_unit_which(const struct date_parser *p, size_t *at,
                            struct when *out)
{
    const struct date_item *item = date_item_at(p, *at);
    enum date_class which = which_behind(p, *at + 1);
    int64_t more;

    if (item->class != DC_UNIT || which == DC_ON || item->value < DU_WEEK) {
        return false;
    }
    more = date_item_at(p, *at + 1)->value;
    *out = when_unit(p->ref.today, (enum date_unit)item->value,
                     which == DC_NEXT ? 1 + more : -1 - more);
    out->is_relative = true;
    *at += 2;
    return true;
}

/* next week, la semaine dernière: a week that is said, not counted */
static bool take_week(const struct date_parser *p, size_t *at, struct when *out)
{
    size_t next = *at;

    if (!(date_rule_which(p, &next, out) || rule_unit_which(p, &next, out)) ||
        out->grain != DATE_WEEK) {
        return false;
    }
    *at = next;
    return true;
}

/* What joins a day and its week: "of", ", on the". */
static void skip_joints(const struct date_parser *p, size_t *at)
{
    date_skip(p, at, DC_COMMA);
    date_skip(p, at, DC_OF);
    date_skip(p, at, DC_IN);
    date_skip(p, at, DC_ON);
    date_skip(p, at, DC_THE);
}

/* Tuesday of last week, nächste Woche Dienstag: one day, not a week and one */
static bool rule_day_of_week(const struct date_parser *p, size_t *at,
                             struct when *out)
{
    size_t next = *at;
    size_t day_at = *at;
    struct when week;
    int64_t first;

    if (date_is(p, next, DC_WEEKDAY)) {
        next++;
        skip_joints(p, &next);
        if (date_item_at(p, next)->breaks || !take_week(p, &next, &week)) {
            return false;
        }
    } else {
        if (!date_is(p, next, DC_THIS) && !date_is(p, next, DC_NEXT) &&
            !date_is(p, next, DC_LAST) && !date_is(p, next, DC_THE) &&
            !date_is(p, next, DC_UNIT)) {
            return false;
        }
        if (!take_week(p, &next, &week)) {
            return false;
        }
        skip_joints(p, &next);
        if (!date_is(p, next, DC_WEEKDAY) || date_item_at(p, next)->breaks) {
            return false;
        }
        day_at = next++;
    }
    first = week.from / CLOCK_DAY_MS + date_item_at(p, day_at)->value;
    *out = when_days(first, first + 1, DATE_DAY);
    out->is_relative = true;
    *at = next;
    return true;
}

/* the weekend */
static bool rule_weekend(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    const struct date_item *item = date_item_at(p, *at + 1);

    if ((!date_is(p, *at, DC_THE) && !date_is(p, *at, DC_ON)) ||
        item->class != DC_UNIT || item->value != DU_WEEKEND || item->is_risky ||
        which_behind(p, *at + 2) != DC_ON) {
        return false; /* "le week-end dernier" is read from its noun on */
    }
    *out = date_weekend_by(&p->ref, DC_THE);
    out->is_relative = true;
    *at += 2;
    return true;
}

/* the summer of 2019, in the fall, winter 2020, l'été dernier */
static bool rule_season(const struct date_parser *p, size_t *at,
                        struct when *out)
{
    size_t next = *at;
    const struct date_item *item;
    enum date_class which;
    int64_t year;
    bool is_sure;
    bool is_unsure = false;

    date_skip(p, &next, DC_THE);
    item = date_item_at(p, next);
    if (item->class != DC_SEASON) {
        return false;
    }
    is_sure = item->is_short || date_class_before(p, *at) == DC_IN ||
              date_class_before(p, next) == DC_IN;
    next++;
    which = which_behind(p, next);
    if (which != DC_ON) {
        *out = date_season_by(&p->ref, which, item->value);
        out->is_relative = true;
        *at = next + 1;
        return true;
    }
    if (date_take_year(p, &next, &year)) {
        *out = when_season(item->value, year);
    } else if (is_sure) {
        *out = when_season(item->value, p->ref.year);
        year = date_year_for(&p->ref, *out, &is_unsure);
        *out = when_season(item->value, year);
        out->is_unsure = is_unsure;
        out->is_relative = true;
        out->is_yearly = true;
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
    bool is_unsure = false;

    if (item->class != DC_HOLIDAY) {
        return false;
    }
    if (date_take_year(p, &next, &year)) {
        *out = date_holiday_in(item->value, year);
    } else {
        *out = date_holiday_in(item->value, p->ref.year);
        year = date_year_for(&p->ref, *out, &is_unsure);
        *out = date_holiday_in(item->value, year);
        out->is_unsure = is_unsure;
        out->is_relative = true;
        out->is_yearly = true;
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
    has_year = date_take_year(p, &next, &year);
    *out = when_month(year, (quarter - 1) * 3 + 1, 3);
    out->is_relative = !has_year;
    *at = next;
    return true;
}

/* KW 48, Kalenderwoche 3 2027, calendar week 50: as ISO 8601 counts them */
static bool rule_week_no(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    size_t next = *at + 1;
    int64_t week = date_item_at(p, *at)->value;
    int64_t year = p->ref.year;
    bool is_unsure = false;
    bool has_year;

    if (!date_is(p, *at, DC_WEEK_NO)) {
        return false;
    }
    if (week == 0) {
        const struct date_item *number = date_item_at(p, next++);

        week =
            number->class == DC_NUMBER && !number->breaks ? number->value : 0;
    }
    has_year = date_take_year(p, &next, &year);
    if (!week_of(year, week, out)) {
        return false;
    }
    if (!has_year) {
        year = date_year_for(&p->ref, *out, &is_unsure);
        out->is_unsure = !week_of(year, week, out) || is_unsure;
        out->is_relative = true;
    }
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
        rule_day_of_week, rule_today,      rule_last_but_one, rule_day_beside,
        date_rule_count,  date_rule_rank,  date_rule_which,   date_rule_days,
        date_rule_month,  date_rule_nth,   rule_weekday,      rule_weekend,
        rule_season,      rule_unit_which, rule_holiday,      rule_quarter,
        rule_decade,      rule_numeric,    rule_week_no,      rule_year,
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (rules[i](p, at, out)) {
            return true;
        }
    }
    return false;
}
