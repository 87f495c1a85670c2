/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_parse.c - points and ranges of time, from the base rules. See
 * dates_internal.h.
 *
 * Recursive descent over classified tokens; the only recursion is one level
 * deep ("two days before Christmas").
 */
#include "text/date/dates_internal.h"

#define DAY CLOCK_DAY_MS
/* The most days or weeks of "today in three weeks". */
#define MAX_ON 100

/* ---- times of day ---- */

/* The part of the day behind an hour: "la tarde", "abends"; -1 if none is. */
static int64_t part_behind(const struct date_item *item)
{
    int64_t part = item->class == DC_DAYPART ? item->value
                   : item->class == DC_DAILY ? item->value - 1
                                             : -1;

    return item->breaks || item->language == TEXT_ENGLISH || part >= DP_NOON
               ? -1
               : part;
}

/* An hour up to 12 in that part of the day. */
static int64_t hour_in(int64_t part, int64_t hour)
{
    bool is_late =
        part == DP_NIGHT ? hour >= 6 && hour < 12 : part != DP_MORNING;

    return hour % 12 + (is_late ? 12 : 0);
}

/* Minutes of the day that an hour from 1 to 24 means, by the part of the day
 * behind it: "8 Uhr", "a las ocho de la tarde", "9 утра", "8 Uhr abends". */
static int64_t minute_of_hour(const struct date_parser *p, size_t *at,
                              int64_t hour)
{
    int64_t part = part_behind(date_item_at(p, *at));

    if (part >= 0) {
        *at += 1;
        return (hour <= 12 ? hour_in(part, hour) : hour % 24) * 60;
    }
    /* between 1 and 7 people mean the afternoon */
    return hour == 12 ? 720 : hour <= 7 ? (hour + 12) * 60 : hour % 24 * 60;
}

/* An hour by its number: "at 9", "8 Uhr 30", "halb neun", "a las 9 y media",
 * "à 20 heures"; `at` is behind the preposition, if there is one. */
static bool take_hour(const struct date_parser *p, size_t *at, bool has_at,
                      bool may_be_bare, int64_t *out_minute,
                      int64_t *out_length)
{
    size_t next = *at;
    const struct date_item *lead = date_item_at(p, next);
    bool is_half = lead->class == DC_PART_HOUR && lead->is_risky;
    const struct date_item *hour = date_item_at(p, next + is_half);
    const struct date_item *behind = date_item_at(p, next + is_half + 1);
    bool is_english = hour->language == TEXT_ENGLISH;
    bool has_hours = has_at && hour->language == TEXT_FRENCH &&
                     behind->class == DC_UNIT && behind->value == DU_HOUR;
    bool has_oclock = behind->class == DC_OCLOCK || has_hours;

    if (hour->class != DC_NUMBER || hour->value < 1 ||
        hour->value > (is_english ? 12 : 24) ||
        !(has_oclock || is_half ||
          (has_at && may_be_bare && !hour->is_risky &&
           behind->class != DC_UNIT))) {
        return false;
    }
    next += (size_t)1 + is_half + has_oclock;
    if (has_hours && date_is(p, next, DC_OF)) {
        return false; /* "à deux heures de Paris" */
    }
    *out_length = 60;
    *out_minute = minute_of_hour(p, &next, hour->value);
    behind = date_item_at(p, next);
    if (is_half) {
        *out_minute += lead->value;
        *out_length = 1;
    } else if (behind->class == DC_PART_HOUR && !behind->is_risky) {
        next++;
        *out_minute = minute_of_hour(p, &next, hour->value) + behind->value;
        *out_length = 1;
    } else if (has_oclock && behind->class == DC_NUMBER && behind->extra == 1 &&
               behind->value < 60 && !behind->breaks && !is_english) {
        *out_minute += behind->value; /* "8 Uhr 30" */
        *out_length = 1;
        next++;
    }
    *at = next;
    return true;
}

bool date_take_time(const struct date_parser *p, size_t *at, bool may_be_bare,
                    int64_t *out_minute, int64_t *out_length)
{
    size_t next = *at;
    bool has_at = date_is(p, next, DC_AT);
    const struct date_item *item;
    const struct date_item *half;

    /* "в 9:30", "в 9 утра" */
    has_at |= date_is(p, next, DC_ON) &&
              date_item_at(p, next)->language == TEXT_RUSSIAN &&
              (date_is(p, next + 1, DC_TIME) ||
               (date_is(p, next + 1, DC_NUMBER) && may_be_bare &&
                date_is(p, next + 2, DC_DAYPART)));
    next += has_at;
    item = date_item_at(p, next);
    half = date_item_at(p, next + 1);
    if (item->class == DC_DAYPART && item->value >= DP_NOON) {
        *out_minute = item->value == DP_NOON ? 720 : 1440;
        *out_length = 1;
        *at = next + 1;
        return true;
    }
    if (item->class == DC_TIME && item->is_risky && !has_at) {
        return false; /* "3h" may be how long */
    }
    if (item->class == DC_TIME) {
        *out_minute = item->value;
        *out_length = item->extra;
        next++;
        if (half->class == DC_MERIDIEM && !item->is_short &&
            item->value < 780 && !(half->is_risky && half->breaks)) {
            *out_minute = item->value % 720 + half->value * 720;
            next++;
        } else if (half->class == DC_DAILY && part_behind(half) >= 0) {
            next++; /* "8:30 abends" */
            if (item->value < 780) {
                *out_minute =
                    hour_in(part_behind(half), item->value / 60) * 60 +
                    item->value % 60;
            }
        }
        *at = next;
        return true;
    }
    if (item->class == DC_NUMBER && item->value >= 1 && item->value <= 12 &&
        half->class == DC_MERIDIEM && item->extra == 1) {
        *out_minute = item->value % 12 * 60 + half->value * 720;
        *out_length = 60;
        *at = next + 2;
        return true;
    }
    if (!take_hour(p, &next, has_at, may_be_bare, out_minute, out_length)) {
        return false;
    }
    *at = next;
    return true;
}

static struct when at_minute(int64_t day, int64_t minute, int64_t length)
{
    int64_t from = day * DAY + minute * CLOCK_MINUTE_MS;

    return (struct when){.from = from,
                         .to = from + length * CLOCK_MINUTE_MS,
                         .grain = DATE_TIME};
}

/* "heute morgen", "Montag Morgen": the morning, not tomorrow */
static bool is_german_morning(const struct date_item *item)
{
    return item->class == DC_TODAY && item->is_risky && !item->breaks &&
           item->value == 1 && item->language == TEXT_GERMAN;
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
    date_skip(p, &next, DC_COMMA);
    if (date_take_time(p, &next, true, &minute, &length)) {
        *when = at_minute(day, minute, length);
        *at = next;
    } else if (date_is(p, *at, DC_DAYPART)) {
        *when = when_daypart(day, (enum date_part)date_item_at(p, *at)->value);
        *at += 1;
        next = *at;
        if (date_take_time(p, &next, true, &minute, &length)) {
            /* "morgen Abend um 8", "завтра утром в 9" */
            bool is_late = minute < 720 && when->from % DAY >= DAY / 2;

            *when = at_minute(day, minute + (is_late ? 720 : 0), length);
            *at = next;
        }
    } else if (is_german_morning(date_item_at(p, *at))) {
        *when = when_daypart(day, DP_MORNING);
        *at += 1;
    } else if (date_is(p, *at, DC_IN) && date_is(p, *at + 1, DC_THE) &&
               date_is(p, *at + 2, DC_DAYPART)) {
        *when =
            when_daypart(day, (enum date_part)date_item_at(p, *at + 2)->value);
        *at += 3;
    }
    when->is_relative = is_relative;
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

    if (!date_take_time(p, &next, false, &minute, &length)) {
        return false;
    }
    after = next;
    date_skip(p, &after, DC_COMMA);
    date_skip(p, &after, DC_ON);
    if (date_base(p, &after, &day) && day.grain == DATE_DAY && !day.is_utc) {
        *out = at_minute(day.from / DAY, minute, length);
        out->is_relative = day.is_relative;
        *at = after;
        return true;
    }
    /* "on Friday, between 8 and 10 am" */
    *out = at_minute(p->ref.has_day ? p->ref.that_day : p->ref.today, minute,
                     length);
    out->is_relative = true;
    out->is_unsure = !p->ref.has_day; /* "open till 18:00": on which day? */
    *at = next;
    return true;
}

/* early June, mid-March, the end of the month, late last year */
static bool parse_third(const struct date_parser *p, size_t *at,
                        struct when *out)
{
    size_t next = *at;
    enum date_class class;
    const struct date_item *unit;
    bool is_english;
    int third;

    date_skip(p, &next, DC_THE);
    class = date_class_at(p, next);
    if (class != DC_EARLY && class != DC_MID && class != DC_LATE) {
        return false;
    }
    third = class == DC_EARLY ? 0 : class == DC_MID ? 1 : 2;
    if (date_item_at(p, next)->is_risky && !date_is(p, next + 1, DC_OF)) {
        return false; /* "end", "start" and "fin" need "of" */
    }
    is_english = date_item_at(p, next)->language == TEXT_ENGLISH;
    next++;
    date_skip(p, &next, DC_OF);
    if (!is_english) {
        date_skip(p, &next, DC_FROM); /* "fin du mois" */
    }
    unit = date_item_at(p, next + date_is(p, next, DC_THE));
    if (unit->class == DC_UNIT && unit->value >= DU_WEEK &&
        unit->value != DU_WEEKEND &&
        (date_is(p, next, DC_THE) ||
         (!is_english && !date_item_at(p, next + 1)->is_short))) {
        *out = when_unit(p->ref.today, (enum date_unit)unit->value, 0);
        out->is_relative = true;
        next += 1 + date_is(p, next, DC_THE);
    } else if (!date_base(p, &next, out) || out->is_utc ||
               out->to - out->from < 3 * DAY) {
        return false;
    }
    *out = when_third(*out, third);
    *at = next;
    return true;
}

/* `n` of `item` away from a day, `side` of it. */
static bool beside_day(const struct date_item *item, int64_t day, int64_t n,
                       enum date_class side, struct when *out)
{
    bool is_before = side == DC_BEFORE;
    int64_t ahead = (item->value - day_weekday(day) + 7) % 7;

    if (item->class == DC_WEEKDAY) {
        day += is_before ? (ahead == 0 ? -7 : ahead - 7)
                         : (ahead == 0 ? 7 : ahead);
        *out = when_days(day, day + 1, DATE_DAY);
    } else if (item->value <= DU_HOUR) {
        return false;
    } else if (item->value == DU_WEEKEND) {
        day = is_before ? day - (day_weekday(day) >= 5 ? 7 : 0) : day + 7;
        *out = when_unit(day, DU_WEEKEND, is_before ? -1 : 0);
    } else {
        *out = when_unit(day, (enum date_unit)item->value, is_before ? -n : n);
    }
    return true;
}

/* "a week on Friday", "two weeks from Monday": to the day */
static bool is_week_on(const struct date_item *item, enum date_class side)
{
    return (side == DC_ON || side == DC_FROM) && item->class == DC_UNIT &&
           (item->value == DU_WEEK || item->value == DU_FORTNIGHT);
}

/* the day after Christmas, two weeks before May 5, the Friday before ... */
static bool parse_beside(const struct date_parser *p, size_t *at,
                         struct when *out)
{
    size_t next = *at;
    int64_t n = 1;
    const struct date_item *item;
    enum date_class side;
    struct date_parser coming = *p;
    struct when anchor;
    int64_t day;
    bool is_exact;

    date_skip(p, &next, DC_THE);
    if (!date_take_count(p, &next, &n) && next == *at) {
        return false;
    }
    item = date_item_at(p, next);
    side = date_class_at(p, next + 1);
    is_exact = is_week_on(item, side);
    if ((item->class != DC_UNIT && item->class != DC_WEEKDAY) ||
        (side != DC_BEFORE && side != DC_AFTER && side != DC_FROM &&
         !is_exact)) {
        return false;
    }
    next += 2;
    date_skip(p, &next, DC_THE);
    if (is_exact) {
        coming.ref.seen.bound = TENSE_FUTURE;
    }
    if (n > 10000 || !date_base(&coming, &next, &anchor) ||
        anchor.grain != DATE_DAY || (side == DC_ON && !anchor.is_relative)) {
        return false;
    }
    day = anchor.from / DAY;
    if (is_exact) {
        day = day_move(day, (enum date_unit)item->value, n);
        *out = when_days(day, day + 1, DATE_DAY);
    } else if (!beside_day(item, day, n, side, out)) {
        return false;
    }
    out->is_relative = anchor.is_relative;
    *at = next;
    return true;
}

/* "heute in einer Woche", "heute vor einem Jahr", "Dienstag in 14 Tagen",
 * "Tuesday in two weeks": that day, where "in two weeks" alone is any of its
 * week. */
static bool parse_on(const struct date_parser *p, size_t *at, struct when *out)
{
    size_t next = *at + 2;
    const struct date_item *from = date_item_at(p, *at);
    const struct date_item *unit;
    const struct date_item *side = date_item_at(p, *at + 1);
    bool is_back = side->class == DC_BEFORE && side->is_short;
    int64_t day = p->ref.today + from->value;
    int64_t n;

    if ((from->class != DC_TODAY && (from->class != DC_WEEKDAY || is_back)) ||
        (!is_back && (side->class != DC_IN || side->is_risky)) ||
        side->breaks || !date_take_count(p, &next, &n)) {
        return false;
    }
    unit = date_item_at(p, next);
    if (unit->class != DC_UNIT || unit->value < DU_DAY || n > MAX_ON) {
        return false;
    }
    if (from->class == DC_WEEKDAY) {
        n *= unit->value == DU_WEEK ? 7 : 1;
        if (unit->value > DU_WEEK || n < 7 || n % 7 > 1) {
            return false;
        }
        n -= n % 7; /* eight days are a week: both ends count */
        day = date_weekday_from(&p->ref, from->value, DC_COMING) + n;
    } else {
        day = day_move(day, (enum date_unit)unit->value, is_back ? -n : n);
    }
    *out = when_days(day, day + 1, DATE_DAY);
    out->is_relative = true;
    *at = next + 1;
    return true;
}

static bool parse_point(const struct date_parser *p, size_t *at,
                        struct when *out)
{
    size_t next = *at;

    /* "later today", "earlier this week" */
    if (date_is(p, next, DC_LATER) &&
        (date_is(p, next + 1, DC_TODAY) || date_is(p, next + 1, DC_THIS))) {
        next++;
    }
    if (parse_third(p, &next, out) || parse_beside(p, &next, out) ||
        parse_on(p, &next, out) || parse_time(p, &next, out)) {
        *at = next;
        return true;
    }
    if (!date_base(p, &next, out)) {
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
    if (second.from < first.from && first.grain == DATE_TIME &&
        second.grain == DATE_TIME && second.from + DAY > first.from) {
        second.from += DAY; /* "22:00 to 02:00" */
        second.to += DAY;
    }
    if (second.from < first.from && first.is_relative && second.is_relative) {
        /* "Tuesday to Thursday", "the 9th to the 12th", said between them */
        bool is_nth = second.grain == DATE_DAY && !second.is_yearly;
        int64_t day = day_move(second.from / DAY,
                               second.is_weekly ? DU_WEEK
                               : is_nth         ? DU_MONTH
                                                : DU_YEAR,
                               1);

        second.to += day * DAY - second.from;
        second.from = day * DAY;
    }
    if (second.to <= first.from) {
        return false;
    }
    *out = (struct when){.from = first.from,
                         .to = second.to,
                         .grain = DATE_RANGE,
                         .is_relative = first.is_relative || second.is_relative,
                         .is_unsure = (first.is_unsure && !first.is_weekly) ||
                                      (second.is_unsure && !second.is_weekly),
                         .is_weekly = first.is_weekly && second.is_weekly,
                         .is_yearly = first.is_yearly && second.is_yearly};
    return true;
}

/* The other end: an hour alone is of the day said first. */
static bool parse_second(const struct date_parser *p, size_t *at,
                         const struct when *first, struct when *out)
{
    struct date_parser own = *p;

    if (first->grain == DATE_TIME && !first->is_utc && !first->is_unsure) {
        own.ref.has_day = true;
        own.ref.that_day = first->from / DAY;
    }
    return parse_point(&own, at, out);
}

/* between X and Y, from X to Y */
static bool parse_between(const struct date_parser *p, size_t *at,
                          struct when *out)
{
    size_t next = *at;
    enum date_class lead = date_class_at(p, next);
    enum date_class middle;
    struct when first;
    struct when second;
    size_t after;

    if (lead != DC_BETWEEN && (lead != DC_FROM || p->ref.seen.is_move)) {
        return false;
    }
    if (date_rule_days(p, at, out)) {
        return true; /* "from 3 to 9 June" */
    }
    next++;
    if (!parse_point(p, &next, &first)) {
        return false;
    }
    middle = date_class_at(p, next);
    after = next + 1;
    if (!(lead == DC_BETWEEN ? middle == DC_AND
                             : middle == DC_TO || middle == DC_UNTIL) ||
        !parse_second(p, &after, &first, &second) ||
        !join_points(p, first, second, out)) {
        return false;
    }
    *at = after;
    return true;
}

static struct when open_range(int64_t from, int64_t to)
{
    return (struct when){
        .from = from, .to = to, .grain = DATE_RANGE, .is_relative = true};
}

/*
 * The side that the preposition says: since is past; until and by are to come
 * unless a verb looks back ("stayed until Sunday").
 */
static void bind_side(struct date_ref *ref, const struct date_item *item)
{
    enum date_class lead = item->class;

    if (lead == DC_SINCE) {
        /* "da lunedì" is from then on if what follows is to come */
        ref->seen.bound = item->is_risky && ref->seen.is_strong &&
                                  ref->seen.tense == TENSE_FUTURE
                              ? TENSE_FUTURE
                              : TENSE_PAST;
    } else if (lead == DC_BY ||
               (lead == DC_UNTIL && ref->seen.tense != TENSE_PAST)) {
        ref->seen.bound = ref->seen.tense == TENSE_PAST && ref->seen.is_strong
                              ? TENSE_PAST
                              : TENSE_FUTURE;
    }
}

/* since X, until X, by X, before X, after X */
static bool parse_open(const struct date_parser *p, size_t *at,
                       struct when *out)
{
    size_t next = *at + 1;
    enum date_class lead = date_class_at(p, *at);
    int64_t now = p->ref.now_local;
    struct when when;
    struct date_parser bound = *p;

    if (lead != DC_SINCE && lead != DC_UNTIL && lead != DC_BY &&
        lead != DC_BEFORE && lead != DC_AFTER) {
        return false;
    }
    bind_side(&bound.ref, date_item_at(p, *at));
    date_skip(p, &next, DC_FROM); /* "antes del 3 de mayo" */
    date_skip(p, &next, DC_ON);   /* "desde el domingo" */
    if (!parse_point(&bound, &next, &when)) {
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
    out->is_unsure = when.is_unsure;
    out->is_open = true;
    out->said_from = when.from;
    out->said_to = when.to;
    out->said_grain = when.grain;
    if (out->to <= out->from) {
        return false;
    }
    *at = next;
    return true;
}

bool date_parse(const struct date_parser *parser, size_t *at, struct when *out)
{
    size_t next = *at;
    size_t after;
    struct when second;
    bool is_move; /* "moved from Monday to Friday" */

    if (parse_between(parser, at, out) || parse_open(parser, at, out)) {
        return true;
    }
    if (!parse_point(parser, &next, out)) {
        return false;
    }
    after = next + 1;
    is_move =
        parser->ref.seen.is_move && date_class_before(parser, *at) == DC_FROM;
    if (!is_move && date_is(parser, next, DC_TO) &&
        parse_second(parser, &after, out, &second) &&
        second.grain == out->grain && join_points(parser, *out, second, out)) {
        next = after;
    }
    *at = next;
    return true;
}
