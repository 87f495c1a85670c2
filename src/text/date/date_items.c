/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_items.c - the tokens of a text as items of dates. See dates_internal.h.
 *
 * Each word, number and sign gets what it can mean; "mid-March" becomes two,
 * the dot of "14. Februar" none, and what is a name is taken out.
 */
#include "text/date/dates_internal.h"

#include <string.h>

/* Words and signs of a text that may be too short to tell its language. */
#define SHORT_ITEMS 60

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

/* Add "mid-March" and "twenty-five" as two items each, "tue-thu" as three,
 * "twenty-fifth" as one. */
static bool split_hyphen(const struct tokens *tokens, size_t index,
                         struct date_item *items, size_t *n)
{
    const struct token *token = &tokens->items[index];
    struct date_item first;
    struct date_item second;
    bool is_days;

    if (token->kind != TOKEN_WORD || index + 2 >= tokens->count ||
        !memchr(token->folded.s, '-', token->folded.len) ||
        !(tokens->items[index + 1].flags & TOKEN_PART) ||
        !(tokens->items[index + 2].flags & TOKEN_PART)) {
        return false;
    }
    first = date_item_of((struct str){"", 0}, tokens, index + 1);
    second = date_item_of((struct str){"", 0}, tokens, index + 2);
    is_days = first.class == DC_WEEKDAY && second.class == DC_WEEKDAY;
    if (!(first.class == DC_EARLY || first.class == DC_MID ||
          first.class == DC_LATE || is_days ||
          (first.class == DC_NUMBER &&
           (second.class == DC_NUMBER || second.class == DC_ORDINAL)))) {
        return false;
    }
    first.token = (uint32_t)index;
    second.token = (uint32_t)index;
    first.breaks = token->flags & TOKEN_BREAK;
    second.breaks = false;
    if (second.class == DC_ORDINAL) {
        first.class = DC_ORDINAL;
        first.value += second.value;
        items[(*n)++] = first;
        return true;
    }
    items[(*n)++] = first;
    if (is_days) {
        items[(*n)++] = (struct date_item){.class = DC_TO,
                                           .token = (uint32_t)index,
                                           .is_risky = true,
                                           .language = first.language};
    }
    items[(*n)++] = second;
    return true;
}

/* Function words may follow a year: "in 2023 we moved". */
static void soften(const struct tokens *tokens, struct date_item *item)
{
    const struct token *token = &tokens->items[item->token];

    if (item->class == DC_OTHER && (token->kind != TOKEN_WORD ||
                                    token->flags & (TOKEN_STOP | TOKEN_CHAT))) {
        item->value = 1;
        item->extra = token->kind != TOKEN_WORD; /* a sign */
    }
}

/* Is the dot at `index` that of "14." before more of a date? */
static bool is_ordinal_dot(struct str text, const struct tokens *tokens,
                           const struct date_item *last, size_t index,
                           bool is_on)
{
    const struct token *dot = &tokens->items[index];
    enum date_class next;

    if (last->class != DC_NUMBER || last->extra != 1 || last->value < 1 ||
        last->value > 31 || dot->kind != TOKEN_PUNCT ||
        !str_eq(dot->folded, STR(".")) || index + 1 >= tokens->count ||
        tokens->items[last->token].to != dot->from ||
        tokens->items[index + 1].flags & TOKEN_BREAK) {
        return false;
    }
    next = date_item_of(text, tokens, index + 1).class;
    return (is_on && next == DC_OTHER) || next == DC_MONTH || next == DC_TO ||
           next == DC_UNTIL || next == DC_AND;
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
        if (n > 0 && is_ordinal_dot(text, tokens, &items[n - 1], i,
                                    n > 1 && items[n - 2].class == DC_ON)) {
            items[n - 1].class = DC_ORDINAL; /* "14. Februar", "1.-3. Mai" */
            n_triggers++;
            continue;
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
    if (n_triggers > 0) {
        date_unname(tokens, items, n);
    }
    *out_n = n;
    return n_triggers;
}

/*
 * A text too short to tell its language by function words may tell it by its
 * days: "Il martedì vado in piscina".
 */
static enum text_language language_by_days(const struct tokens *tokens,
                                           const struct date_item *items,
                                           size_t n)
{
    bool is_foreign = false;
    size_t n_words = 0;
    size_t n_stops = 0;

    if ((tokens->language != TEXT_ENGLISH &&
         tokens->language != TEXT_UNKNOWN) ||
        n > SHORT_ITEMS) {
        return tokens->language;
    }
    for (size_t i = 0; i < n; i++) {
        const struct token *token = &tokens->items[items[i].token];

        n_words += token->kind == TOKEN_WORD;
        n_stops += token->kind == TOKEN_WORD && token->flags & TOKEN_STOP;
        is_foreign |= items[i].language != tokens->language;
    }
    return is_foreign && n_stops * 2 < n_words ? date_language(tokens)
                                               : tokens->language;
}

bool date_items_read(struct str text, const struct tokens *tokens,
                     struct date_item *items, size_t *out_n)
{
    struct tokens own = *tokens;

    if (read_items(text, tokens, items, out_n) == 0) {
        return false;
    }
    own.language = language_by_days(tokens, items, *out_n);
    if (own.language != tokens->language) {
        (void)read_items(text, &own, items, out_n); /* it has days */
    }
    return true;
}
