/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_recur.c - what comes again and again is no event of one day. See
 * dates_internal.h.
 *
 * "every morning at 7:32", "Sundays at 6 PM", "18:00 on Tuesdays", "the first
 * Monday of every month". Such words are passed over; dates beside them
 * ("from 6 March") are still read.
 */
#include "text/date/dates_internal.h"

/* Entries of a timetable that are passed over at once. */
#define ROTA_ENTRIES 14
/* Days of "Monday to Friday": the working week, unless a verb says which. */
#define WORK_DAYS 5

/* "todos los segundos": no more words stand before what recurs. */
#define EVERY_WORDS 4

static bool can_recur(enum date_class class)
{
    return class == DC_WEEKDAY || class == DC_WEEKDAYS || class == DC_UNIT ||
           class == DC_DAYPART || class == DC_DAILY || class == DC_MONTH ||
           class == DC_SEASON || class == DC_HOLIDAY;
}

/* "every other", "todos los", "each second": up to what recurs */
static bool take_every(const struct date_parser *p, size_t *at)
{
    size_t next = *at;

    if (!date_is(p, next, DC_EVERY)) {
        return false;
    }
    while (next < *at + EVERY_WORDS &&
           (date_is(p, next, DC_EVERY) || date_is(p, next, DC_THE) ||
            date_is(p, next, DC_OTHER_DAY) || date_is(p, next, DC_NUMBER) ||
            date_is(p, next, DC_ORDINAL))) {
        next++;
    }
    /* "cada mañana": the morning, not tomorrow */
    if (!can_recur(date_class_at(p, next)) &&
        !(date_is(p, next, DC_TODAY) && date_item_at(p, next)->is_risky)) {
        return false;
    }
    *at = next + 1;
    return true;
}

static bool take_head(const struct date_parser *p, size_t *at)
{
    if (take_every(p, at)) {
        return true;
    }
    if (date_is(p, *at, DC_WEEKDAYS) || date_is(p, *at, DC_DAILY)) {
        *at += 1;
        return true;
    }
    if (date_is(p, *at, DC_WEEKDAY) && date_is(p, *at + 1, DC_DAILY)) {
        *at += 2; /* "Monday mornings" */
        return true;
    }
    return false;
}

static bool is_join(enum date_class class)
{
    return class == DC_AND || class == DC_TO || class == DC_COMMA;
}

static void skip_time(const struct date_parser *p, size_t *at)
{
    size_t next = *at;
    int64_t minute;
    int64_t length;

    date_skip(p, &next, DC_COMMA);
    date_skip(p, &next, DC_FROM);
    if (date_is(p, next, DC_AT) && date_is(p, next + 1, DC_EVERY)) {
        next += 2; /* "a las 18:00" */
    }
    if (!date_take_time(p, &next, true, &minute, &length)) {
        return;
    }
    *at = next;
    if (is_join(date_class_at(p, next)) || date_is(p, next, DC_UNTIL)) {
        next++;
        if (date_take_time(p, &next, true, &minute, &length)) {
            *at = next;
        }
    }
}

/* ---- timetables: "mon closed, tue-thu 9 to 5" ---- */

/* "tue-thu", "Dienstag bis Freitag", "martes a viernes", "mon, wed" */
static bool take_days(const struct date_parser *p, size_t *at)
{
    size_t next = *at;

    if (!date_is(p, next, DC_WEEKDAY) && !date_is(p, next, DC_WEEKDAYS)) {
        return false;
    }
    next++;
    while ((is_join(date_class_at(p, next)) || date_is(p, next, DC_UNTIL) ||
            date_is(p, next, DC_AT)) &&
           date_is(p, next + 1, DC_WEEKDAY)) {
        next += 2;
    }
    *at = next;
    return true;
}

static bool take_hour(const struct date_parser *p, size_t *at)
{
    const struct date_item *item = date_item_at(p, *at);

    if (item->class != DC_TIME &&
        (item->class != DC_NUMBER || item->value > 24)) {
        return false;
    }
    *at += 1;
    if (date_is(p, *at, DC_MERIDIEM) || date_is(p, *at, DC_OCLOCK)) {
        *at += 1;
    }
    return true;
}

/* "9 to 5", "9-17", "de 10 a 20", "10 bis 18 Uhr", "closed" */
static bool take_hours(const struct date_parser *p, size_t *at)
{
    size_t next = *at;

    if (date_is(p, next, DC_OTHER) && date_item_at(p, next)->extra == 1) {
        next++; /* a colon */
    }
    if (date_is(p, next, DC_OF) || date_is(p, next, DC_FROM)) {
        next++;
    }
    if (date_item_at(p, next)->is_rota || date_is(p, next, DC_DAYS)) {
        next++;
        if (date_is(p, next, DC_MERIDIEM) || date_is(p, next, DC_OCLOCK)) {
            next++;
        }
        *at = next;
        return true;
    }
    if (!take_hour(p, &next) ||
        (!is_join(date_class_at(p, next)) && !date_is(p, next, DC_UNTIL) &&
         !date_is(p, next, DC_AT))) {
        return false;
    }
    next++;
    if (!take_hour(p, &next)) {
        return false;
    }
    *at = next;
    return true;
}

/* Two entries or more, one behind the other: hours of every week. */
static bool take_timetable(const struct date_parser *p, size_t *at)
{
    size_t next = *at;
    size_t end = *at;
    int n = 0;

    while (n < ROTA_ENTRIES && take_days(p, &next) && take_hours(p, &next)) {
        n++;
        end = next;
        next +=
            is_join(date_class_at(p, next)) ||
            (date_is(p, next, DC_OTHER) && date_item_at(p, next)->extra == 1);
    }
    if (n < 2) {
        return false;
    }
    *at = end;
    return true;
}

bool date_recurs(const struct date_parser *p, size_t *at)
{
    size_t next = *at;

    if (date_is_rank_alone(p, at)) {
        return true; /* of no month, or of each */
    }
    if (date_is(p, next, DC_WEEKDAY) &&
        !date_is_preposition(date_class_before(p, next)) &&
        take_timetable(p, at)) {
        return true;
    }
    if (!take_head(p, &next)) {
        return false;
    }
    for (;;) {
        size_t after = next + is_join(date_class_at(p, next));
        bool is_same = date_is(p, after, DC_WEEKDAYS) ||
                       date_is(p, after, DC_DAILY) ||
                       (date_is(p, after, DC_DAYPART) && after == next) ||
                       (date_is(p, after, DC_WEEKDAY) && after > next &&
                        !date_is(p, next, DC_COMMA));

        if (date_item_at(p, after)->breaks || !is_same) {
            break;
        }
        next = after + 1;
    }
    if (!date_item_at(p, next)->breaks) {
        skip_time(p, &next);
    }
    *at = next;
    return true;
}

/* "Monday to Friday from 9 to 5", "Monday to Friday at 9" */
static bool is_rota(const struct date_parser *p, size_t at,
                    const struct when *when)
{
    int64_t minute;
    int64_t length;
    int64_t n;

    if (when->grain != DATE_RANGE || !when->is_weekly) {
        return false;
    }
    if (!p->ref.seen.is_strong && p->ref.seen.bound == TENSE_NONE &&
        when->to - when->from >= WORK_DAYS * CLOCK_DAY_MS &&
        day_weekday(when->from / CLOCK_DAY_MS) == 0) {
        return true; /* "open Monday to Friday" */
    }
    if (date_item_at(p, at)->breaks) {
        return false;
    }
    if (date_item_at(p, at)->is_rota || date_is(p, at, DC_DAYS)) {
        return true; /* "Mon-Fri 9-17" */
    }
    date_skip(p, &at, DC_COMMA);
    if (date_is(p, at, DC_FROM)) {
        at++;
        return date_is(p, at, DC_TIME) || date_take_count(p, &at, &n);
    }
    if (date_is(p, at, DC_NUMBER) && date_is(p, at + 1, DC_TO)) {
        return true; /* "9 to 5" */
    }
    return date_take_time(p, &at, true, &minute, &length);
}

/* "my days are Mon, Tue and Thu": three or more, and no verb says which week */
static bool take_many(const struct date_parser *p, size_t *at,
                      const struct when *when)
{
    const struct date_tense_seen *seen = &p->ref.seen;
    size_t next = *at;
    int n = 1;

    if (!when->is_weekly || seen->is_strong || seen->tense == TENSE_PAST ||
        seen->bound != TENSE_NONE) {
        return false;
    }
    while (n < ROTA_ENTRIES && !date_item_at(p, next)->breaks) {
        size_t after = next;

        while (after < next + 2 && is_join(date_class_at(p, after))) {
            after++; /* ", and" */
        }
        if (after == next || !date_is(p, after, DC_WEEKDAY)) {
            break;
        }
        next = after + 1;
        n++;
    }
    if (n < 3) {
        return false;
    }
    *at = next;
    return true;
}

bool date_recurs_behind(const struct date_parser *p, size_t *at,
                        const struct when *when)
{
    size_t next = *at;
    bool has_of = date_is(p, next, DC_OF) || date_is(p, next, DC_IN);

    if (is_rota(p, next, when) || take_many(p, at, when)) {
        return true;
    }
    if (!when->is_relative ||
        !(when->grain == DATE_TIME || (has_of && when->grain == DATE_DAY))) {
        return false;
    }
    next += has_of;
    date_skip(p, &next, DC_COMMA);
    date_skip(p, &next, DC_ON);
    if (date_item_at(p, *at)->breaks || !date_recurs(p, &next)) {
        return false;
    }
    *at = next;
    return true;
}
