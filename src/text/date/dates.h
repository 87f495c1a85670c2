/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dates.h - find date expressions and resolve them to ranges of time.
 *
 * Words of English, German, Spanish, French, Italian, Portuguese, Dutch and
 * Russian (models/lexicon), ISO 8601 and the common numeric forms; the usual
 * ones of Chinese, Japanese and Korean (date_spaceless.c). All ranges are
 * half-open. Weeks begin on Monday. Conventions, where usage differs:
 *   - 3/14/2024 is month first (day first if it cannot be a month);
 *     14.03.2024 is day first.
 *   - morning is 5-12 h, afternoon 12-18 h, evening 18-24 h, night 18-6 h.
 *   - "3pm" is the hour from 15:00, "15:30" the minute.
 *   - "last Thursday" is the latest before today, "next Thursday" that of next
 *     week, "the coming Thursday" the first to come.
 *     In other languages "nächsten Donnerstag" is the first to come, but not
 *     tomorrow: who means that says so.
 *   - A weekday alone is past or to come by its preposition ("since", "by"),
 *     else by the verb beside it, else to come.
 *   - A day or month without a year: a stated weekday decides ("Sat 14 Feb"),
 *     then the preposition, then nearness where the other year is far off, then
 *     the verb. Where nothing decides, the nearer, marked `is_unsure`.
 *   - Both ends of "14-15 Feb" are of that month; "the 17th" is of a month or
 *     a feast said just before, a time alone of a day said just before.
 *   - What recurs ("Sundays at 6 PM", "every morning", "le mardi", "a Friday")
 *     is no date; a birthday without a year is unsure, and so is a weekday of
 *     a habit ("we always eat fish on Friday").
 *   - "two weeks after that" and, told of the past, "the next day" count from a
 *     day said just before; where there is none they are no date.
 *   - A day of several words is a row as well ("que viene", "fin de semana");
 *     "Freitagabend" and "l'année" are two words in one, "am 5.4." and "el
 *     12/04" a day and its month where the language writes them so.
 *   - "dans", "dentro de", "fra" and "daqui a" are to come whatever the verb.
 *   - "a week on Friday" and "Friday week" are a week after the coming Friday.
 *   - "KW 48" and "calendar week 3" are weeks of ISO 8601, of the year that a
 *     day would be of. "30 February" is nothing.
 *   - "on 11/28" and "Friday 12/4" are month first; "by 12/4" may be a
 *     fraction.
 *   - "heute vor einem Jahr" and "a week ago today" are that very day, too.
 *   - "heute in zwei Wochen" is that very day, "Dienstag in acht Tagen" a week
 *     after the coming Tuesday.
 *   - "the second Tuesday in March" is one day; without a month, or "of the
 *     month", it is none.
 *   - An hour alone ("open till 18:00") is unsure: it says no day.
 *   - What was made "from Monday" is past, "from Monday on" is to come; of
 *     "asked for leave from May" the near May; a habit begins on a sure day.
 *   - A limit that was granted ("gave him until Friday") is to come.
 *   - "the 13th" is a day before a verb or at the end, "the 3rd" only behind a
 *     preposition; of rent and wages, and "of the month", it is every month's.
 *   - "within a week", "over two days" and "en deux jours" say how long.
 *   - "mon closed, tue-thu 9 to 5" and "Monday to Friday" are every week's,
 *     unless a verb says which.
 *   - may, march and sat in small letters need a number, an hour or a
 *     preposition beside them.
 *   - "the Sunday Times", "Easter Road", "May Whitman", "rue du 4 septembre"
 *     and "May is here" are names.
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

/* Is it the name of a month in a language that writes "14. Februar"? */
bool date_is_month(struct str word);
/* Does a word of a language other than English say when, not what: "gestern",
 * "soirée", "semana"? */
bool date_says_when(struct str word);
/* Is a folded word one that dates are told with, in any language: "june",
 * "lundi", "week", "seit"? */
bool date_has_word(struct str word);

#endif
