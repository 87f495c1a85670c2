/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dates.h - find date expressions and resolve them to ranges of time.
 *
 * English words, ISO 8601 and the common numeric forms. All ranges are
 * half-open. Weeks begin on Monday. Conventions, where usage differs:
 *   - 3/14/2024 is month first (day first if it cannot be a month);
 *     14.03.2024 is day first.
 *   - morning is 5-12 h, afternoon 12-18 h, evening 18-24 h, night 18-6 h.
 *   - "3pm" is the hour from 15:00, "15:30" the minute.
 *   - "last Thursday" is the latest before today, "next Thursday" that of next
 *     week; a weekday or month alone is past or to come by the sentence's
 *     tense, else the next weekday, the nearest month.
 *   - "two weeks ago" is that calendar week, months and years alike.
 *   - early, mid, late: thirds (days 1-10, 11-20, 21- of a month; four months
 *     each of a year). Seasons are the northern ones, by whole months.
 *   - "since X" ends at the turn's time; "until X" begins there, or at the
 *     beginning of time if X is past.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_DATES_H
#define TEXT_DATES_H

#include "text/analysis.h"

/*
 * The dates in `tokens`, in order, not overlapping. False when the arena is
 * full. A time out of the years 1-9999 is left out.
 */
bool dates_of(struct arena *arena, struct str text, const struct tokens *tokens,
              const struct analysis_options *options, struct date **out_dates,
              size_t *out_count);

#endif
