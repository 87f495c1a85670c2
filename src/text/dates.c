/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dates.c - walk a text for date expressions. See dates.h.
 */
#include "text/dates.h"

#include "text/dates_internal.h"
#include "text/zone.h"

#include <string.h>

/* Tokens of a sentence that are looked at for its tense. */
#define TENSE_TOKENS 40

static int64_t floor_div(int64_t value, int64_t by)
{
    int64_t quotient = value / by;

    return quotient - (value % by < 0);
}

static struct date_ref ref_of(const struct analysis_options *options)
{
    struct date_ref ref = {.now_utc = options->time_ms};

    ref.now_local = zone_to_local(options->timezone, ref.now_utc);
    ref.today = floor_div(ref.now_local, CLOCK_DAY_MS);
    ref.weekday = day_weekday(ref.today);
    clock_civil_from_days(ref.today, &ref.year, &ref.month, &ref.day);
    return ref;
}

/* Can a date be made of this without another of these? */
static bool is_trigger(const struct date_item *item)
{
    static const bool triggers[DC_END + 1] = {
        [DC_MONTH] = true,   [DC_WEEKDAY] = true,  [DC_WEEKDAYS] = true,
        [DC_UNIT] = true,    [DC_YEAR] = true,     [DC_DECADE] = true,
        [DC_QUARTER] = true, [DC_TIME] = true,     [DC_DATE] = true,
        [DC_MOMENT] = true,  [DC_DAYS] = true,     [DC_TODAY] = true,
        [DC_TONIGHT] = true, [DC_DAYPART] = true,  [DC_SEASON] = true,
        [DC_HOLIDAY] = true, [DC_MERIDIEM] = true, [DC_OCLOCK] = true,
        [DC_AGO] = true,     [DC_ORDINAL] = true,
    };

    return triggers[item->class];
}

/* Add "mid-March" and "twenty-five" as two items each. */
static bool split_hyphen(const struct tokens *tokens, size_t index,
                         struct date_item *items, size_t *n)
{
    const struct token *token = &tokens->items[index];
    struct date_item first;
    struct date_item second;

    if (token->kind != TOKEN_WORD || index + 2 >= tokens->count ||
        !memchr(token->folded.s, '-', token->folded.len) ||
        !(tokens->items[index + 1].flags & TOKEN_PART) ||
        !(tokens->items[index + 2].flags & TOKEN_PART)) {
        return false;
    }
    first = date_item_of((struct str){"", 0}, tokens, index + 1);
    second = date_item_of((struct str){"", 0}, tokens, index + 2);
    if (!(first.class == DC_EARLY || first.class == DC_MID ||
          first.class == DC_LATE ||
          (first.class == DC_NUMBER && second.class == DC_NUMBER))) {
        return false;
    }
    first.token = (uint32_t)index;
    second.token = (uint32_t)index;
    first.breaks = token->flags & TOKEN_BREAK;
    items[(*n)++] = first;
    items[(*n)++] = second;
    return true;
}

/* Function words may follow a year: "in 2023 we moved". */
static void soften(const struct tokens *tokens, struct date_item *item)
{
    const struct token *token = &tokens->items[item->token];

    if (item->class == DC_OTHER &&
        (token->kind != TOKEN_WORD || token->flags & TOKEN_STOP)) {
        item->value = 1;
    }
}

/* Items of all tokens that are not parts; returns how many can be dates. */
static size_t read_items(struct str text, const struct tokens *tokens,
                         struct date_item *items, size_t *out_n)
{
    size_t n = 0;
    size_t n_triggers = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->items[i];

        if (token->flags & (TOKEN_PART | TOKEN_IN_FENCE) ||
            token->kind == TOKEN_BIGRAM) {
            continue;
        }
        if (split_hyphen(tokens, i, items, &n)) {
            n_triggers++;
            continue;
        }
        items[n] = date_item_of(text, tokens, i);
        if (n > 0 && items[n - 1].is_short && token->kind == TOKEN_PUNCT &&
            str_eq(token->folded, STR("."))) {
            continue; /* "Sept. 3" */
        }
        /* "$2023", "#42" and "p. 5" are no dates */
        if (n > 0 && token->kind == TOKEN_NUMBER &&
            tokens->items[items[n - 1].token].kind == TOKEN_SYMBOL &&
            tokens->items[items[n - 1].token].to == token->from) {
            items[n].class = DC_OTHER;
        }
        soften(tokens, &items[n]);
        n_triggers += is_trigger(&items[n]);
        n++;
    }
    items[n] = (struct date_item){.class = DC_END, .breaks = true};
    *out_n = n;
    return n_triggers;
}

static bool is_word(const struct token *token, const char *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        if (list[i][0] == token->folded.s[0] &&
            str_eq(token->folded, str_of(list[i]))) {
            return true;
        }
    }
    return false;
}

static const char *const past_words[] = {
    "was",  "were",  "did",   "had",  "went",   "got",    "met",     "saw",
    "made", "took",  "came",  "said", "told",   "felt",   "gave",    "bought",
    "left", "began", "found", "ran",  "ate",    "didn't", "wasn't",  "won",
    "lost", "spent", "wrote", "read", "been",   "flew",   "drove",   "caught",
    "held", "kept",  "sent",  "sold", "taught", "broke",  "brought", NULL};
static const char *const future_words[] = {
    "will",  "i'll",   "we'll", "you'll", "he'll", "she'll",   "they'll",
    "shall", "it'll",  "going", "gonna",  "let's", "plan",     "planning",
    "won't", "should", "can",   "could",  "must",  "schedule", NULL};
/* what was arranged, "booked him for Thursday", is yet to come */
static const char *const arranged_words[] = {
    "booked",  "scheduled", "rescheduled", "arranged", "reserved",
    "planned", "postponed", "invited",     NULL};
/* a clause of its own begins */
static const char *const clause_words[] = {"and",      "but",   "so", "because",
                                           "although", "while", NULL};
/* "I've got a meeting" is no past */
static const char *const have_words[] = {
    "have", "has", "i've", "we've", "you've", "they've", "haven't", NULL};

static bool is_past_word(const struct token *token, bool has_have)
{
    if (has_have && str_eq(token->folded, STR("got"))) {
        return false;
    }
    return is_word(token, past_words) ||
           (token->folded.len > 4 && str_ends(token->folded, STR("ed")) &&
            !str_ends(token->folded, STR("eed")));
}

/*
 * Past or future: by the verb that stands nearest before the date at `at`, else
 * by the first one behind it in its clause. "Can you find the ring I got on 15
 * March?"
 */
static enum date_tense tense_at(const struct tokens *tokens, size_t from,
                                size_t at)
{
    enum date_tense tense = TENSE_NONE;
    bool is_arranged = false;
    bool has_have = false;

    from = at > from + TENSE_TOKENS ? at - TENSE_TOKENS : from;
    for (size_t i = from; i < tokens->count && i < at + TENSE_TOKENS; i++) {
        const struct token *token = &tokens->items[i];
        bool is_bound = is_arranged && (str_eq(token->folded, STR("for")) ||
                                        str_eq(token->folded, STR("until")));

        if ((i > from && token->flags & TOKEN_BREAK) ||
            (i >= at && tense != TENSE_NONE) ||
            (i > at && is_word(token, clause_words))) {
            break;
        }
        if (token->kind != TOKEN_WORD) {
            continue;
        }
        if (is_bound || is_word(token, future_words)) {
            tense = TENSE_FUTURE;
        } else if (is_past_word(token, has_have)) {
            tense = TENSE_PAST;
        }
        is_arranged |= is_word(token, arranged_words);
        has_have |= is_word(token, have_words);
    }
    return tense;
}

static bool is_in_range(int64_t ms)
{
    return ms >= CLOCK_MIN_MS && ms <= CLOCK_MAX_MS;
}

static bool to_date(struct str text, const struct tokens *tokens,
                    const struct analysis_options *options,
                    const struct date_item *first, const struct date_item *last,
                    struct when when, struct date *out)
{
    const struct token *from = &tokens->items[first->token];
    size_t end = last->token + 1;

    if (!when.is_utc) {
        /* the ends of time are not moved by a zone */
        if (when.from > CLOCK_MIN_MS + CLOCK_DAY_MS) {
            when.from = zone_to_utc(options->timezone, when.from);
        }
        if (when.to < CLOCK_MAX_MS - CLOCK_DAY_MS) {
            when.to = zone_to_utc(options->timezone, when.to);
        }
    }
    if (!is_in_range(when.from) || !is_in_range(when.to) ||
        when.from >= when.to) {
        return false;
    }
    while (end < tokens->count && tokens->items[end].flags & TOKEN_PART) {
        end++;
    }
    out->span = (struct span){from->from, tokens->items[last->token].to,
                              first->token, (uint32_t)end};
    out->text = str_sub(text, out->span.from, out->span.to);
    out->from_ms = when.from;
    out->to_ms = when.to;
    out->grain = when.grain;
    out->is_relative = when.is_relative;
    return true;
}

bool dates_of(struct arena *arena, struct str text, const struct tokens *tokens,
              const struct analysis_options *options, struct date **out_dates,
              size_t *out_count)
{
    struct date_parser parser = {0};
    struct date_item *items;
    struct date *dates = NULL;
    size_t n_dates = 0;
    size_t cap = 0;
    size_t at = 0;
    size_t seen = 0; /* items whose sentence breaks are noted */
    size_t sentence = 0;

    *out_dates = NULL;
    *out_count = 0;
    items = arena_alloc(arena, (tokens->count * 2 + 1) * sizeof(*items));
    if (!items) {
        return false;
    }
    if (read_items(text, tokens, items, &parser.n) == 0) {
        return true;
    }
    parser.items = items;
    parser.ref = ref_of(options);
    while (at < parser.n) {
        size_t from = at;
        struct when when;

        for (; seen <= at; seen++) {
            if (items[seen].breaks || seen == 0) {
                sentence = items[seen].token;
            }
        }
        if (items[at].class == DC_OTHER) {
            at++;
            continue;
        }
        parser.ref.tense = tense_at(tokens, sentence, items[at].token);
        if (!date_parse(&parser, &at, &when)) {
            at = from + 1;
            continue;
        }
        dates = arena_grow(arena, dates, n_dates, &cap, sizeof(*dates));
        if (!dates) {
            return false;
        }
        n_dates += to_date(text, tokens, options, &items[from], &items[at - 1],
                           when, &dates[n_dates]);
    }
    *out_dates = dates;
    *out_count = n_dates;
    return true;
}
