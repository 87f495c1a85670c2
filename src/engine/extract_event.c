/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_event.c - something that happened, or will, at a known time.
 *
 * A statement becomes an event when it names a date and an action, done or
 * planned; "remind me to ..." is one with or without a date.
 */
#include "engine/extract_internal.h"

#include "base/clock.h"

#include <string.h>

/* What lasts longer is an age, not a date. */
#define LONGEST_MS (200 * CLOCK_DAY_MS)

#define PLAN                                                                   \
    "will planning plan going i'll we'll scheduled booked heading leaving "    \
    "starting having tomorrow next tonight appointment moving visiting "       \
    "flying hosting meeting"

static bool has_past(const struct clause *c)
{
    const struct intent_word *words = c->piece->words;

    for (size_t i = c->subject; i < c->end && i < c->subject + 6; i++) {
        if (word_is_past(&words[i]) && !word_any(&words[i], "used had")) {
            return true;
        }
    }
    return words_have(words, c->subject, c->end, "had was were been");
}

static void set_time(struct extract_item *item, const struct date *date)
{
    item->has_time = true;
    item->from_ms = date->from_ms;
    item->to_ms = date->to_ms;
}

/* The date that makes the clause an event, or NULL. */
static const struct date *event_date(const struct extraction *x,
                                     const struct clause *clause,
                                     bool *out_is_future)
{
    const struct intent_word *words = clause->piece->words;
    const struct date *date;
    uint32_t from;
    uint32_t to;

    clause_bytes(clause, &from, &to);
    date = extract_date_in(x, from, to);
    /* a year or a decade tells no event's time */
    if (!date || date->grain == DATE_YEAR ||
        date->to_ms - date->from_ms > LONGEST_MS) {
        return NULL;
    }
    *out_is_future = date->to_ms > x->turn->time_ms &&
                     words_have(words, clause->first, clause->end, PLAN);
    return *out_is_future || has_past(clause) ? date : NULL;
}

bool extract_is_event(const struct extraction *x, const struct clause *clause)
{
    bool is_future;

    return event_date(x, clause, &is_future) != NULL;
}

void extract_settle_event(const struct extraction *x, struct extract_item *item,
                          const struct clause *clause)
{
    bool is_future = false;
    const struct date *date = event_date(x, clause, &is_future);

    if (date) {
        item->type = EXTRACT_EVENT;
        item->rule = is_future ? "event-future" : "event-past";
        item->confidence = 0.85f;
        set_time(item, date);
    }
}

int64_t extract_expiry_ms(const struct extract_item *event)
{
    /* a while after its end: a day for a moment, as long as it lasted else */
    int64_t length = event->to_ms - event->from_ms;

    return event->to_ms + (length > CLOCK_DAY_MS ? length : CLOCK_DAY_MS);
}

/* "remind me to call mom later" -> "Call mom later" */
static enum clew_status
add_reminder(struct extraction *x, const struct intent_piece *piece, size_t at)
{
    struct clause c = {
        .piece = piece, .first = at, .subject = at, .end = piece->n_words};
    struct extract_item *item;
    struct buf text;
    uint32_t from;
    uint32_t to;
    enum clew_status status;
    const struct date *date;

    buf_init(&text, 1024);
    status = rewrite_clause(x, &c, true, &text);
    clause_bytes(&c, &from, &to);
    if (status == CLEW_OK) {
        status = rewrite_date(x, from, to, &text);
    }
    item = status == CLEW_OK
               ? extract_add(x, EXTRACT_EVENT, "event-reminder", 0.95f)
               : NULL;
    if (item) {
        item->summary = arena_str(x->arena, buf_str(&text));
        extract_cite_add(item, 0, piece->words[0].from, to);
        date = extract_date_in(x, from, to);
        if (date) {
            set_time(item, date);
        }
    }
    buf_release(&text);
    if (status == CLEW_TOO_LARGE) {
        return CLEW_OK;
    }
    if (status != CLEW_OK) {
        return status;
    }
    return item && item->summary.s ? CLEW_OK : CLEW_NO_MEMORY;
}

enum clew_status extract_reminders(struct extraction *x)
{
    for (size_t i = 0; i < x->pieces.count; i++) {
        const struct intent_piece *piece = &x->pieces.items[i];
        const struct intent_word *words = piece->words;

        if (i >= x->turn->intent->n_segments ||
            !(x->turn->intent->segments[i].flags & INTENT_REMINDER)) {
            continue;
        }
        for (size_t k = 0; k + 3 < piece->n_words; k++) {
            bool is_reminder = word_is(&words[k], "remind") &&
                               word_any(&words[k + 1], "me us") &&
                               word_any(&words[k + 2], "to about of that");

            if (is_reminder) {
                enum clew_status status = add_reminder(x, piece, k + 3);

                if (status != CLEW_OK) {
                    return status;
                }
                break;
            }
        }
    }
    return CLEW_OK;
}
