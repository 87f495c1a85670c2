/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_recur.c - what comes again and again is no event of one day. See
 * dates_internal.h.
 *
 * "every morning at 7:32", "Sundays at 6 PM", "18:00 on Tuesdays", "the first
 * Monday of every month". Such words are passed over; dates beside them
 * ("from 6 March") are still read.
 */
#include "text/dates_internal.h"

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

bool date_recurs(const struct date_parser *p, size_t *at)
{
    size_t next = *at;

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

    if (when->grain != DATE_RANGE || !when->is_weekly ||
        date_item_at(p, at)->breaks) {
        return false;
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

bool date_recurs_behind(const struct date_parser *p, size_t *at,
                        const struct when *when)
{
    size_t next = *at;
    bool has_of = date_is(p, next, DC_OF) || date_is(p, next, DC_IN);

    if (is_rota(p, next, when)) {
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
