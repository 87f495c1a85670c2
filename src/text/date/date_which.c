/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_which.c - last, this, next; counts; and which year is meant. See
 * dates_internal.h.
 */
#include "text/date/dates_internal.h"

#define DAY CLOCK_DAY_MS
/* A day that was agreed or asked for is to come up to here. */
#define ARRANGED_DAYS 125

/*
 * How far the nearer of two years may be to be meant whatever the tense says:
 * a verb near a date often belongs to something else ("told her that 12
 * February works"), and who means the one nearly a year away says so. A month
 * alone is vaguer, so its verb counts for more.
 */
static int64_t near_days(const struct date_ref *ref, bool is_month)
{
    if (is_month) {
        return ref->seen.is_strong || ref->seen.is_done ? 0
               : ref->seen.is_from                      ? ARRANGED_DAYS
                                                        : 45;
    }
    if (ref->seen.tense == TENSE_PAST && !ref->seen.is_strong) {
        /* "agreed on 3 November" */
        return ref->seen.is_arranged ? ARRANGED_DAYS : 60;
    }
    return ref->seen.is_strong ? 30 : 45; /* "it is 3 November" */
}

/* "so many years ago today" */
#define MAX_AGO 1000
/* Past this the other side is about as likely, unless a word decides. */
#define UNSURE_DAYS 150

int64_t date_year_for(const struct date_ref *ref, struct when this_year,
                      bool *out_unsure)
{
    int64_t now = ref->now_local;
    bool is_ahead = this_year.from > now; /* this year's is to come */
    int64_t last = is_ahead ? ref->year - 1 : ref->year;
    int64_t year = is_ahead ? 0 : 365 * DAY;
    int64_t ahead = this_year.from + year - now;
    int64_t back = now - (this_year.to + year - 365 * DAY);
    int64_t near = ahead < back ? ahead : back;
    bool is_month = this_year.to - this_year.from > 7 * DAY;
    enum date_tense tense = ref->seen.tense;

    /* "always on Fridays, from 3 May": a habit begins on a day */
    *out_unsure =
        ref->seen.is_yearly || (ref->seen.is_habit && !ref->seen.is_from &&
                                ref->seen.bound == TENSE_NONE);
    if (!is_ahead && this_year.to > now) {
        return ref->year; /* it is now */
    }
    if (ref->seen.bound != TENSE_NONE) {
        return ref->seen.bound == TENSE_PAST ? last : last + 1;
    }
    if (ref->seen.is_for && !is_month) {
        tense = TENSE_FUTURE; /* "sent the plan for 24 July" */
    }
    if (tense == TENSE_NONE || near <= near_days(ref, is_month) * DAY) {
        *out_unsure |= tense == TENSE_NONE && near > UNSURE_DAYS * DAY;
        return ahead < back ? last + 1 : last;
    }
    return tense == TENSE_PAST ? last : last + 1;
}

/* The year meant by last, this or next before a yearly range. */
static int64_t date_year_by(const struct date_ref *ref, enum date_class which,
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

/* Days to a weekday that is today's: who tells of today says "today", unless
 * the day is what he tells. */
static int64_t same_weekday(const struct date_ref *ref, enum date_tense side)
{
    if (ref->seen.is_named || ref->seen.bound != TENSE_NONE ||
        side == TENSE_NONE) {
        return 0; /* "since Monday" may be since this morning */
    }
    return side == TENSE_PAST ? -7 : 7;
}

int64_t date_weekday_from(const struct date_ref *ref, int64_t weekday,
                          enum date_class which)
{
    int64_t ahead = (weekday - ref->weekday + 7) % 7;
    enum date_tense side = ref->seen.bound != TENSE_NONE ? ref->seen.bound
                           : ref->seen.is_for            ? TENSE_FUTURE
                                                         : ref->seen.tense;

    if (which == DC_LAST || which == DC_PAST) {
        return ref->today + (ahead == 0 ? -7 : ahead - 7);
    }
    if (which == DC_NEXT) {
        return ref->today - ref->weekday + 7 + weekday;
    }
    if (which == DC_COMING) {
        return ref->today + (ahead == 0 ? 7 : ahead);
    }
    return ref->today + (ahead == 0           ? same_weekday(ref, side)
                         : side == TENSE_PAST ? ahead - 7
                                              : ahead);
}

bool date_take_count(const struct date_parser *p, size_t *at, int64_t *out)
{
    size_t next = *at;
    int64_t value;

    if (!date_is(p, next, DC_NUMBER) && !date_is(p, next, DC_YEAR)) {
        return false;
    }
    value = date_item_at(p, next)->value;
    next++;
    if (date_is(p, next, DC_NUMBER) && date_item_at(p, next)->extra == 0 &&
        date_item_at(p, next - 1)->extra == 0) {
        int64_t second = date_item_at(p, next)->value;

        /* "a couple", "a few", "twenty five", "two hundred" */
        value = date_item_at(p, next - 1)->is_risky ? second
                : second == 100                     ? value * 100
                                                    : value + second;
        next++;
    }
    date_skip(p, &next, DC_OF);
    *out = value;
    *at = next;
    return true;
}

/* `n` units from the day that was told of: days and weeks to the day. */
static bool from_anchor(const struct date_ref *ref, enum date_unit unit,
                        int64_t n, struct when *out)
{
    if (!ref->has_anchor || unit <= DU_HOUR || n > 10000 || n < -10000) {
        return false;
    }
    if (unit == DU_DAY || unit == DU_WEEK || unit == DU_FORTNIGHT) {
        int64_t day = day_move(ref->anchor, unit, n);

        *out = when_days(day, day + 1, DATE_DAY);
    } else {
        *out = when_unit(ref->anchor, unit, n);
    }
    out->is_relative = true;
    return true;
}

/* "later", "after that", "davor": the side, 0 if it is none; moves past it. */
static int64_t take_told(const struct date_parser *p, size_t *at)
{
    enum date_class class = date_class_at(p, *at);
    const struct date_item *that = date_item_at(p, *at + 1);

    if (class == DC_LATER) {
        *at += 1;
        return date_item_at(p, *at - 1)->value;
    }
    if ((class == DC_AFTER || class == DC_BEFORE) && that->class == DC_THE &&
        that->is_risky) {
        *at += 2;
        return class == DC_AFTER ? 1 : -1;
    }
    return 0;
}

/* "two Fridays ago", "a week ago Monday": weeks before the last one */
static bool weekday_ago(const struct date_parser *p, size_t *at,
                        int64_t weekday, int64_t weeks, struct when *out)
{
    int64_t day = date_weekday_from(&p->ref, weekday, DC_LAST) - weeks * 7;

    if (weeks < 0 || weeks > 10000) {
        return false;
    }
    *out = when_days(day, day + 1, DATE_DAY);
    out->is_relative = true;
    *at += 1;
    return true;
}

/* Behind a count and its unit at `next - 1`: which side of what? */
static bool count_by(const struct date_parser *p, size_t *at, size_t next,
                     int64_t n, struct when *out)
{
    const struct date_item *unit = date_item_at(p, next - 1);
    bool has_in = date_is(p, *at, DC_IN);
    bool is_before = date_is(p, *at, DC_BEFORE);
    bool is_ago = date_is(p, next, DC_AGO);
    const struct date_item *after = date_item_at(p, next + 1);
    int64_t side;

    if (is_ago && unit->class == DC_UNIT && unit->value == DU_WEEK &&
        after->class == DC_WEEKDAY && !after->breaks) {
        *at = next + 1;
        return weekday_ago(p, at, after->value, n, out);
    }
    if (is_ago && unit->class == DC_UNIT && unit->value >= DU_DAY &&
        n <= MAX_AGO && after->class == DC_TODAY && !after->is_risky &&
        !after->breaks) { /* "a year ago today": that very day */
        int64_t day = day_move(p->ref.today + after->value,
                               (enum date_unit)unit->value, -n);

        *out = when_days(day, day + 1, DATE_DAY);
        out->is_relative = true;
        *at = next + 2;
        return true;
    }
    if (!is_ago && !is_before && !has_in && unit->class == DC_UNIT) {
        side = take_told(p, &next);
        if (side != 0) {
            *at = next;
            return from_anchor(&p->ref, (enum date_unit)unit->value, n * side,
                               out);
        }
    }
    if (is_ago || is_before) {
        next += is_ago;
        n = -n;
    } else if (date_is(p, next, DC_FROM) &&
               (after->class == DC_NOW ||
                (after->class == DC_TODAY && after->value == 0))) {
        next += 2;
    } else if (!has_in || unit->class == DC_ORDINAL ||
               (p->ref.seen.tense == TENSE_PAST &&
                !date_item_at(p, *at)->is_short)) { /* "dans", "dentro de" */
        return false; /* "in 3 days it was done" says how long, not when */
    }
    *out = when_away(
        &p->ref,
        unit->class == DC_ORDINAL ? DU_SECOND : (enum date_unit)unit->value, n);
    *at = next;
    return true;
}

bool date_rule_count(const struct date_parser *p, size_t *at, struct when *out)
{
    size_t next = *at;
    int64_t n;
    const struct date_item *unit;
    size_t first = *at;
    bool is_counted;

    if (date_is(p, next, DC_IN)) {
        if (date_item_at(p, next)->is_risky) {
            return false; /* "within a week", "en deux jours": how long */
        }
        next++;
        date_skip(p, &next, DC_OF); /* "dentro de dos semanas" */
    } else if (date_is(p, next, DC_BEFORE) && date_item_at(p, next)->is_short) {
        /* "vor drei Tagen", "hace tres días", "il y a trois jours" */
        next++;
        date_skip(p, &next, DC_THE);
    }
    unit = date_item_at(p, next);
    if (unit->class == DC_UNIT && unit->language == TEXT_RUSSIAN &&
        (next > *at || date_is(p, next + 1, DC_AGO))) {
        n = 1; /* "через неделю", "месяц назад" */
    } else if (!date_take_count(p, &next, &n)) {
        return false;
    }
    unit = date_item_at(p, next);
    if (unit->class == DC_WEEKDAYS && date_is(p, next + 1, DC_AGO) &&
        date_class_at(p, *at) != DC_BEFORE) {
        *at = next + 1;
        return weekday_ago(p, at, unit->value, n - 1, out);
    }
    is_counted =
        (unit->class == DC_UNIT ||
         (unit->class == DC_ORDINAL && unit->value == 2 && unit->is_risky)) &&
        count_by(p, at, next + 1, n, out);
    *at = is_counted ? *at : first;
    return is_counted;
}

struct when date_weekend_by(const struct date_ref *ref, enum date_class which)
{
    struct when this_one = when_unit(ref->today, DU_WEEKEND, 0);

    if (which == DC_LAST || which == DC_PAST) {
        return when_unit(ref->today, DU_WEEKEND, -1);
    }
    if (which == DC_NEXT) {
        return when_unit(ref->today, DU_WEEKEND, 1);
    }
    /* "over the weekend" in the past tense, said on a Tuesday */
    if (which == DC_THE && ref->seen.tense == TENSE_PAST && ref->weekday < 5) {
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

    if (which == DC_LAST && p->ref.seen.is_owned) {
        return false; /* "in her last year": of school */
    }
    if (unit == DU_WEEKEND) {
        *out = date_weekend_by(&p->ref, which);
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

    if (which == DC_THIS && part <= DP_NOON) {
        *out = when_daypart(p->ref.today, part == DP_NIGHT ? DP_EVENING : part);
        return true;
    }
    if (which == DC_LAST && (part == DP_NIGHT || part == DP_EVENING)) {
        *out = when_daypart(p->ref.today - 1, part);
        return true;
    }
    return false;
}

struct when date_season_by(const struct date_ref *ref, enum date_class which,
                           int64_t season)
{
    struct when this_year = when_season(season, ref->year);
    bool is_running = season == 3 && ref->month <= 2; /* since last year */

    if (season == 3 && which == DC_LAST) {
        return when_season(3, ref->year - (is_running ? 2 : 1));
    }
    if (is_running && which == DC_THIS) {
        return when_season(3, ref->year - 1);
    }
    return when_season(season, date_year_by(ref, which, this_year));
}

struct when date_holiday_in(int64_t holiday, int64_t year)
{
    int64_t day = holiday_day(holiday, year);

    return when_days(day, day + 1, DATE_DAY);
}

static bool which_named(const struct date_parser *p, enum date_class which,
                        size_t *next, struct when *out)
{
    const struct date_item *item = date_item_at(p, *next);
    const struct date_ref *ref = &p->ref;

    if (item->class == DC_UNIT) {
        return which_unit(p, which, item, out);
    }
    if (item->class == DC_TODAY && item->is_risky && which == DC_THIS) {
        *out = when_daypart(ref->today, DP_MORNING); /* "esta mañana" */
        return true;
    }
    if (item->class == DC_DAYPART) {
        return which_part(p, which, item, out);
    }
    if (item->class == DC_WEEKDAY) {
        int64_t day = date_weekday_from(ref, item->value, which);

        *out = when_days(day, day + 1, DATE_DAY);
    } else if (item->class == DC_MONTH) {
        if (which == DC_THIS && item->is_risky && !item->is_capital &&
            !date_ends_at(p, *next + 1)) {
            return false; /* "this may be wrong" */
        }
        *out = when_month(ref->year, item->value, 1);
        *out = when_month(date_year_by(ref, which, *out), item->value, 1);
    } else if (item->class == DC_SEASON) {
        *out = date_season_by(ref, which, item->value);
    } else if (item->class == DC_HOLIDAY) {
        *out = date_holiday_in(item->value, ref->year);
        *out = date_holiday_in(item->value, date_year_by(ref, which, *out));
        *next += (size_t)item->extra;
    } else {
        return false;
    }
    return true;
}

/* "the next day the car was gone": next to what was told of, not to today */
static bool is_told(const struct date_parser *p, size_t at, bool has_the)
{
    const struct date_item *item = date_item_at(p, at);

    return p->ref.seen.tense == TENSE_PAST &&
           (item->class == DC_UNIT || item->class == DC_WEEKDAY) &&
           (has_the || (item->class == DC_UNIT && item->value == DU_DAY));
}

/* "the last week of July", "the last two weeks of July": not from today */
static bool is_of_month(const struct date_parser *p, size_t at)
{
    return (date_is(p, at, DC_OF) || date_is(p, at, DC_IN)) &&
           date_is(p, at + 1, DC_MONTH);
}

/* The week, month or weekday that is `n` further on than `when`. */
static void move_on(const struct date_item *item, int64_t n, struct when *when)
{
    int64_t day = when->from / DAY;
    enum date_unit unit = (enum date_unit)item->value;

    if (item->class == DC_WEEKDAY) {
        *when = when_days(day + n * 7, day + n * 7 + 1, DATE_DAY);
    } else if (item->class == DC_UNIT && unit >= DU_WEEK) {
        *when = when_unit(day, unit, n);
    }
}

bool date_rule_which(const struct date_parser *p, size_t *at, struct when *out)
{
    size_t next = *at;
    enum date_class which;
    int64_t n;
    size_t after;
    int64_t more;   /* "übernächste": one further */
    bool is_coming; /* "the coming Friday", "nächsten Freitag" */

    date_skip(p, &next, DC_THE);
    which = date_class_at(p, next);
    if (which != DC_LAST && which != DC_THIS && which != DC_NEXT &&
        which != DC_PAST) {
        return false;
    }
    if (which == DC_THIS &&
        (date_is(p, next + 1, DC_PAST) || date_is(p, next + 1, DC_NEXT))) {
        next++; /* "this past Sunday", "this coming Friday" */
        which = date_is(p, next, DC_PAST) ? DC_LAST : DC_THIS;
    }
    if (which == DC_NEXT && is_told(p, next + 1, next > *at)) {
        const struct date_item *unit = date_item_at(p, next + 1);

        *at = next + 2; /* left alone if there is no day it follows */
        return unit->class == DC_UNIT &&
               from_anchor(&p->ref, (enum date_unit)unit->value, 1, out);
    }
    more =
        which == DC_NEXT || which == DC_LAST ? date_item_at(p, next)->value : 0;
    is_coming = which == DC_NEXT && date_item_at(p, next)->is_risky &&
                date_is(p, next + 1, DC_WEEKDAY);
    next++;
    after = next;
    if (which != DC_THIS && date_take_count(p, &after, &n) &&
        date_is(p, after, DC_UNIT) && !date_item_at(p, next)->is_risky &&
        !is_of_month(p, after + 1)) {
        *out = when_span(&p->ref, (enum date_unit)date_item_at(p, after)->value,
                         which == DC_NEXT ? n : -n);
        *at = after + 1;
        return true;
    }
    if (which == DC_LAST && date_is(p, next, DC_UNIT) &&
        is_of_month(p, next + 1)) {
        return false;
    }
    if (!which_named(p, is_coming ? DC_COMING : which, &next, out)) {
        return false;
    }
    if (is_coming && date_item_at(p, next)->language != TEXT_ENGLISH &&
        out->from == (p->ref.today + 1) * DAY) {
        more = 1; /* who means tomorrow says so */
    }
    if (more > 0) {
        move_on(date_item_at(p, next), which == DC_NEXT ? more : -more, out);
    }
    out->is_relative = true;
    *at = next + 1;
    return true;
}
