/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_dates.c - days of what is kept. See select_dates.h.
 */
#include "talk/select_dates.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

/* Days told in one note: more is a list, and its words say which. */
#define MAX_DATES 8
/* What lasts longer is an age, not a date. */
#define LONGEST_MS (200 * CLOCK_DAY_MS)
/* "before September" begins at the beginning of time: it says no day. */
#define EARLIEST_MS (-100LL * 365 * CLOCK_DAY_MS)

int64_t select_expiry_ms(int64_t from_ms, int64_t to_ms)
{
    int64_t length = to_ms - from_ms;

    if (length <= CLOCK_DAY_MS) {
        return to_ms + 14 * CLOCK_DAY_MS;
    }
    return to_ms + (length <= 31 * CLOCK_DAY_MS ? 60 : 365) * CLOCK_DAY_MS;
}

static void date_text(int64_t ms, enum date_grain grain, char out[32])
{
    int64_t year;
    int month;
    int day;
    int64_t days = ms / CLOCK_DAY_MS - (ms % CLOCK_DAY_MS < 0);

    clock_civil_from_days(days, &year, &month, &day);
    if (grain == DATE_YEAR) {
        (void)snprintf(out, 32, "%04d", (int)year);
    } else if (grain == DATE_MONTH) {
        (void)snprintf(out, 32, "%04d-%02d", (int)year, month);
    } else {
        (void)snprintf(out, 32, "%04d-%02d-%02d", (int)year, month, day);
    }
}

void select_add_dates(struct buf *out, const struct select_turn *turn,
                      const struct select_cite *cite)
{
    const struct analysis *a = turn->analysis;
    size_t n = 0;
    char before[80] = "";

    for (size_t i = 0; i < a->n_dates && n < MAX_DATES; i++) {
        const struct date *d = &a->dates[i];
        int64_t offset = 0;
        int64_t end_offset = 0;
        char first[32];
        char last[32];
        char all[80];

        if (!d->is_relative || d->is_unsure || d->span.from < cite->from ||
            d->span.to > cite->to || d->said_from_ms < EARLIEST_MS) {
            continue;
        }
        /* UTC where the zone is unknown; clocks may change in between */
        (void)text_zone_offset(turn->timezone, d->said_from_ms, &offset);
        (void)text_zone_offset(turn->timezone, d->said_to_ms - 1, &end_offset);
        date_text(d->said_from_ms + offset, d->said_grain, first);
        date_text(d->said_to_ms + end_offset - 1, d->said_grain, last);
        (void)snprintf(all, sizeof(all), "%s%s%s", first,
                       strcmp(first, last) == 0 ? "" : " to ",
                       strcmp(first, last) == 0 ? "" : last);
        if (strcmp(all, before) != 0) { /* "Monday 16", "9:30": one day */
            (void)buf_printf(out, " [%s]", all); /* checked at the end */
            memcpy(before, all, sizeof(before));
            n++;
        }
    }
}

void select_set_time(struct select_note *note, const struct analysis *a)
{
    const struct date *best = NULL;

    for (size_t i = 0; i < a->n_dates; i++) {
        const struct date *d = &a->dates[i];

        if (d->span.from >= note->cite.from && d->span.to <= note->cite.to &&
            d->grain != DATE_YEAR && !d->is_unsure &&
            d->to_ms - d->from_ms <= LONGEST_MS &&
            (!best || d->grain < best->grain)) {
            best = d;
        }
    }
    if (best) {
        note->has_time = true;
        note->from_ms = best->from_ms;
        note->to_ms = best->to_ms;
        note->begins = best->begins;
    }
}
