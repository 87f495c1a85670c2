/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_days.c - days of months: alone, as ranges, with their weekday. See
 * dates_internal.h.
 *
 * Without a year a stated weekday decides ("Sat 14 Feb" fits one year of
 * three), else date_year_for(). Both ends of a range are of its month.
 */
#include "text/date/dates_internal.h"

/* Days of a list that are looked at for its month: a page of numbers is none.
 */
#define LISTED_DAYS 12

bool date_take_year(const struct date_parser *p, size_t *at, int64_t *out)
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

static bool month_day_number(const struct date_parser *p, size_t at,
                             int64_t *out)
{
    const struct date_item *item = date_item_at(p, at);

    if ((item->class != DC_NUMBER && item->class != DC_ORDINAL) ||
        item->value < 1 || item->value > 31 ||
        (item->class == DC_NUMBER && item->extra != 1 &&
         (item->language == TEXT_ENGLISH || item->is_risky))) {
        return false; /* "dos de mayo" is a day, "two may" is none */
    }
    *out = item->value;
    return true;
}

/* Does no noun or verb follow that the word before may belong to? */
static bool is_free(const struct date_parser *p, size_t at)
{
    enum date_class class = date_class_at(p, at);

    return date_ends_at(p, at) || class == DC_YEAR || class == DC_TIME ||
           class == DC_AT || class == DC_THE;
}

/* A preposition that only a day can follow: not "in", "of", "this". */
static bool leads_day(enum date_class class)
{
    return class == DC_ON || class == DC_BY || class == DC_SINCE ||
           class == DC_UNTIL || class == DC_FROM || class == DC_BETWEEN;
}

/* "7 may", "the 7th of may"; not "about 7 may come", "20 march past" */
static bool has_small_day_before(const struct date_parser *p, size_t at)
{
    const struct date_item *next = date_item_at(p, at + 1);
    size_t back = at > 0 && date_is(p, at - 1, DC_OF) ? 2 : 1;
    int64_t day;
    enum date_class lead;

    if (at < back || date_item_at(p, at)->breaks ||
        !month_day_number(p, at - back, &day) ||
        (back == 1 && date_item_at(p, at - back)->extra != 1)) {
        return false;
    }
    if (back == 2 || is_free(p, at + 1) ||
        (next->class == DC_NUMBER && date_is(p, at + 2, DC_MERIDIEM)) ||
        ((next->class == DC_TO || next->class == DC_AND) &&
         month_day_number(p, at + 2, &day))) {
        return true;
    }
    lead = date_class_before(p, at - 1);
    if (lead == DC_THE) {
        lead = date_class_before(p, at - 2);
    }
    /* "since 3 may nothing works"; "on the 3rd may be too late" is the verb */
    return leads_day(lead) && next->class == DC_OTHER &&
           (next->value == 0 || date_item_at(p, at)->value != 5);
}

/* "on may 7", "may 7th"; not "it may 5 times fail", "they march 12 miles" */
static bool has_small_day_after(const struct date_parser *p, size_t at)
{
    const struct date_item *number = date_item_at(p, at + 1);
    const struct date_item *next = date_item_at(p, at + 2);
    int64_t day;

    if (number->breaks ||
        (number->class != DC_DAYS &&
         (!month_day_number(p, at + 1, &day) || number->extra != 1))) {
        return false;
    }
    if (!date_item_at(p, at)->is_risky && next->class != DC_UNIT) {
        return true; /* "dec 12 in the hall" */
    }
    return leads_day(date_class_before(p, at)) || number->class == DC_ORDINAL ||
           is_free(p, at + 2) ||
           (next->class == DC_OTHER && next->value == 1) ||
           (next->class == DC_NUMBER && date_is(p, at + 3, DC_MERIDIEM)) ||
           ((next->class == DC_TO || next->class == DC_AND) &&
            month_day_number(p, at + 3, &day));
}

/* Can the lower-case month at `at` be one, and not the modal or the walk? */
static bool date_is_small_month(const struct date_parser *p, size_t at)
{
    return has_small_day_before(p, at) || has_small_day_after(p, at);
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

    if (!item->is_capital && (item->is_risky || item->is_short) &&
        date_is_small_month(p, at)) {
        return true;
    }
    if (item->is_risky || item->is_short) {
        if (has_day_before && at > 0 && date_item_at(p, at - 1)->extra == 1 &&
            (item->is_capital || item->is_short)) {
            return true;
        }
        if (item->is_capital) {
            /* "January to March" */
            return date_is_preposition(before) || has_day_after ||
                   (before == DC_TO && at > 1 && date_is(p, at - 2, DC_MONTH));
        }
        return (before == DC_IN || before == DC_LAST || before == DC_NEXT ||
                before == DC_SINCE || before == DC_UNTIL || before == DC_MID ||
                before == DC_EARLY || before == DC_LATE) &&
               (date_class_at(p, at + 1) != DC_OTHER || item->is_short ||
                date_item_at(p, at + 1)->breaks || item->value == 5);
    }
    return true;
}

/* Days of one month; `weekday` is that of the first, -1 if none was said. */
struct month_days {
    int64_t month;
    int64_t first;
    int64_t last;
    int64_t weekday;
    bool is_unsure;
};

/* The nearest year in which the day falls on its weekday. */
static bool year_by_weekday(const struct date_ref *ref,
                            const struct month_days *days, int64_t *out)
{
    int64_t best = -1;
    int64_t day;

    for (int64_t year = ref->year - 1; year <= ref->year + 1; year++) {
        if (days->weekday >= 0 &&
            day_of(year, days->month, days->first, &day) &&
            day_weekday(day) == days->weekday &&
            (best < 0 || date_days_between(day, ref->today) < best)) {
            best = date_days_between(day, ref->today);
            *out = year;
        }
    }
    return best >= 0;
}

static bool in_year(const struct date_parser *p, const struct month_days *days,
                    size_t *at, struct when *out)
{
    int64_t year = p->ref.year;
    int64_t from;
    int64_t to;
    bool is_unsure = false;
    bool has_year = date_take_year(p, at, &year);

    if (!has_year && !year_by_weekday(&p->ref, days, &year)) {
        if (!day_of(year, days->month, days->first, &from)) {
            /* 29 February: the nearest leap year back */
            while (year > p->ref.year - 8 &&
                   !day_of(year, days->month, days->first, &from)) {
                year--;
            }
        } else {
            year = date_year_for(&p->ref, when_days(from, from + 1, DATE_DAY),
                                 &is_unsure);
        }
        is_unsure |= days->weekday >= 0; /* it fits none of the years */
    }
    if (!day_of(year, days->month, days->first, &from) ||
        !day_of(year, days->month, days->last, &to)) {
        return false;
    }
    *out = when_days(from, to + 1,
                     days->first == days->last ? DATE_DAY : DATE_RANGE);
    out->is_relative = !has_year;
    out->is_yearly = !has_year;
    out->is_unsure = is_unsure || days->is_unsure;
    return true;
}

/* After the first day of "June 3 - 9": the last one, else the first again. */
static int64_t month_last_day(const struct date_parser *p, size_t *at,
                              int64_t first)
{
    size_t next = *at + 1;
    const struct date_item *after;
    int64_t last;

    if (!date_is(p, *at, DC_TO) && !date_is(p, *at, DC_UNTIL)) {
        return first;
    }
    date_skip(p, &next, DC_THE);
    after = date_item_at(p, next + 1);
    if (!month_day_number(p, next, &last) || last <= first ||
        date_item_at(p, next)->breaks || after->class == DC_MONTH ||
        after->class == DC_OF || after->class == DC_MERIDIEM ||
        (after->class == DC_OTHER && after->value == 0 && !after->breaks)) {
        return first;
    }
    *at = next + 1;
    return last;
}

/* The month of "30 February" and "31st of April" is none either. */
static bool has_no_such_day_before(const struct date_parser *p, size_t at)
{
    size_t back = at > 1 && date_is(p, at - 1, DC_OF) ? 2 : 1;
    int64_t day;

    return at >= back && !date_item_at(p, at)->breaks &&
           month_day_number(p, at - back, &day) &&
           !day_of(2000, date_item_at(p, at)->value, day, &day);
}

bool date_rule_month(const struct date_parser *p, size_t *at, struct when *out)
{
    size_t next = *at + 1;
    struct month_days days = {.weekday = -1};
    int64_t year;
    bool is_unsure = false;

    if (!date_is(p, *at, DC_MONTH) || !month_is_sure(p, *at) ||
        has_no_such_day_before(p, *at)) {
        return false;
    }
    days.month = date_item_at(p, *at)->value;
    if (date_is(p, *at - (*at > 0), DC_WEEKDAY)) {
        days.weekday = date_item_at(p, *at - 1)->value;
    } else if (*at > 1 && date_is(p, *at - 1, DC_COMMA) &&
               date_is(p, *at - 2, DC_WEEKDAY)) {
        days.weekday = date_item_at(p, *at - 2)->value;
    }
    date_skip(p, &next, DC_THE);
    if (date_is(p, next, DC_DAYS) && !date_item_at(p, next)->is_risky) {
        days.first = date_item_at(p, next)->value;
        days.last = date_item_at(p, next)->extra;
        next++;
    } else if (month_day_number(p, next, &days.first) &&
               (date_item_at(p, *at)->language != TEXT_GERMAN ||
                date_is(p, next, DC_ORDINAL))) {
        next++;
        days.last = month_last_day(p, &next, days.first);
    }
    if (days.first > 0) {
        if (!in_year(p, &days, &next, out)) {
            return false; /* no such day */
        }
        *at = next;
        return true;
    }
    next = *at + 1;
    if (date_take_year(p, &next, &year)) {
        *out = when_month(year, days.month, 1);
    } else {
        *out = when_month(p->ref.year, days.month, 1);
        year = date_year_for(&p->ref, *out, &is_unsure);
        *out = when_month(year, days.month, 1);
        out->is_relative = true;
        out->is_yearly = true;
        out->is_unsure = is_unsure;
    }
    *at = next;
    return true;
}

bool date_take_day(const struct date_parser *p, size_t *at, int64_t *out_day,
                   int64_t *out_weekday)
{
    size_t next = *at;

    *out_weekday = -1;
    date_skip(p, &next, DC_THE);
    if (date_is(p, next, DC_WEEKDAY)) {
        *out_weekday = date_item_at(p, next)->value;
        next++;
        date_skip(p, &next, DC_COMMA);
        date_skip(p, &next, DC_ON); /* "Freitag, den 14." */
        date_skip(p, &next, DC_THE);
        if (date_is(p, next, DC_UNIT) &&
            date_item_at(p, next)->value == DU_DAY) {
            next++; /* "segunda-feira, dia 16" */
        }
    }
    if (!month_day_number(p, next, out_day)) {
        return false;
    }
    *at = next + 1;
    return true;
}

static bool take_month(const struct date_parser *p, size_t *at, int64_t *out)
{
    size_t next = *at;
    const struct date_item *month;

    date_skip(p, &next, DC_OF);
    month = date_item_at(p, next);
    if (month->class != DC_MONTH || (month->is_risky && !month->is_capital &&
                                     !date_is_small_month(p, next))) {
        return false;
    }
    *out = month->value;
    *at = next + 1;
    return true;
}

/* Is the number of a month before it: 23 of "June 9 and 23, 3 and 4 May"? */
static bool is_taken(const struct date_parser *p, size_t at)
{
    return at >= 3 &&
           (date_is(p, at - 1, DC_AND) || date_is(p, at - 1, DC_TO)) &&
           date_is(p, at - 3, DC_MONTH);
}

/* The month at the end of "9, 16 and 23 June", seen from behind the 9. */
static bool listed_month(const struct date_parser *p, size_t at, int64_t *out)
{
    for (int n = 0; n < LISTED_DAYS; n++) {
        int64_t day;
        int64_t weekday;

        if (!date_is(p, at, DC_COMMA) && !date_is(p, at, DC_AND)) {
            return false;
        }
        at++;
        if (date_item_at(p, at)->breaks ||
            !date_take_day(p, &at, &day, &weekday)) {
            return false;
        }
        if (take_month(p, &at, out)) {
            return true;
        }
    }
    return false;
}

/* The other end of "14 - 15 Feb", "between 3 and 9 June". */
static bool take_end(const struct date_parser *p, size_t *at, bool is_between,
                     struct month_days *days)
{
    size_t next = *at + 1;
    int64_t weekday;
    int64_t last;

    if (!date_is(p, *at, DC_TO) && !date_is(p, *at, DC_UNTIL) &&
        !(is_between && date_is(p, *at, DC_AND))) {
        return false;
    }
    if (!date_take_day(p, &next, &last, &weekday) || last <= days->first ||
        !take_month(p, &next, &days->month)) {
        return false;
    }
    if (days->weekday < 0 && weekday >= 0) {
        days->weekday = ((weekday - (last - days->first)) % 7 + 7) % 7;
    }
    days->last = last;
    *at = next;
    return true;
}

bool date_rule_days(const struct date_parser *p, size_t *at, struct when *out)
{
    size_t next = *at;
    bool is_between = date_is(p, next, DC_BETWEEN);
    bool has_lead = is_between || date_is(p, next, DC_FROM);
    struct month_days days = {.weekday = -1};
    bool has_month;

    next += has_lead;
    date_skip(p, &next, DC_THE);
    if (date_is(p, next, DC_DAYS)) {
        days.first = date_item_at(p, next)->value;
        days.last = date_item_at(p, next)->extra;
        days.is_unsure = date_item_at(p, next)->is_risky;
        next++;
        has_month = take_month(p, &next, &days.month);
    } else if (date_take_day(p, &next, &days.first, &days.weekday)) {
        days.last = days.first;
        has_month =
            take_end(p, &next, is_between, &days) ||
            (!has_lead &&
             (take_month(p, &next, &days.month) ||
              (!is_taken(p, *at) && listed_month(p, next, &days.month))));
    } else {
        return false;
    }
    if (!has_month || !in_year(p, &days, &next, out)) {
        return false;
    }
    *at = next;
    return true;
}
