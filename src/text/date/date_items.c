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
        [DC_AGO] = true,     [DC_ORDINAL] = true,  [DC_WEEK_NO] = true,
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
    first.last = (uint32_t)index;
    second.token = (uint32_t)index;
    second.last = (uint32_t)index;
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
                                           .last = (uint32_t)index,
                                           .is_risky = true,
                                           .language = first.language};
    }
    items[(*n)++] = second;
    return true;
}

/* Two items of one token. */
static void push_two(struct date_item first, struct date_item second,
                     struct date_item *items, size_t *n)
{
    second.breaks = false;
    second.starts = false;
    items[(*n)++] = first;
    items[(*n)++] = second;
}

/* Add "l'année" and "quest'anno" as two. */
static bool split_elided(const struct tokens *tokens, size_t index,
                         struct date_item *items, size_t *n)
{
    struct str word = tokens->items[index].folded;
    const char *mark = word.len > 0 ? memchr(word.s, '\'', word.len) : NULL;
    size_t at = mark ? (size_t)(mark - word.s) + 1 : 0;
    struct date_item first;
    struct date_item second;

    if (at < 2 || at >= word.len || tokens->language == TEXT_ENGLISH) {
        return false;
    }
    first = date_item_as(tokens, index, str_sub(word, 0, at));
    second = date_item_as(tokens, index, str_sub(word, at, word.len));
    if (first.class == DC_OTHER || second.class == DC_OTHER) {
        return false;
    }
    push_two(first, second, items, n);
    return true;
}

/* Bytes of the shortest and the longest weekday of German and Dutch. */
#define LEAST_WEEKDAY 6
#define MOST_WEEKDAY 10

/* Add "Freitagabend" and "maandagochtend" as two. */
static bool split_daypart(const struct tokens *tokens, size_t index,
                          struct date_item *items, size_t *n)
{
    struct str word = tokens->items[index].folded;

    for (size_t at = LEAST_WEEKDAY; at <= MOST_WEEKDAY && at + 2 < word.len;
         at++) {
        struct tokens own = *tokens;
        struct date_item first =
            date_item_as(tokens, index, str_sub(word, 0, at));
        struct date_item second;

        if (first.class != DC_WEEKDAY ||
            (first.language != TEXT_GERMAN && first.language != TEXT_DUTCH)) {
            continue;
        }
        own.language = (enum text_language)first.language;
        second = date_item_as(&own, index, str_sub(word, at, word.len));
        if (second.class == DC_DAYPART || second.class == DC_DAILY ||
            (second.class == DC_TODAY && second.value == 1)) {
            push_two(first, second, items, n);
            return true;
        }
    }
    return false;
}

/* Can a day and its month stand behind this: "am 5.4.", "el 12/04"? */
static bool leads_day_month(const struct date_item *last)
{
    return last->class == DC_ON || last->class == DC_UNTIL ||
           last->class == DC_FROM || last->class == DC_SINCE ||
           last->class == DC_BY || last->class == DC_WEEKDAY ||
           last->class == DC_THE || last->class == DC_TO ||
           (last->class == DC_UNIT && last->value == DU_DAY);
}

/* … behind this in English: "on 11/28", "Friday 12/4"; not "by 1/2 inch" */
static bool leads_month_day(const struct date_item *last, int64_t day)
{
    return last->class == DC_WEEKDAY ||
           (day > 12 && leads_day_month(last) && last->class != DC_THE &&
            last->class != DC_TO && last->class != DC_UNIT);
}

/* Add "31.12.", "12/04" and English "4/12" as a day and its month, where that
 * is how the language writes them. */
static bool split_day_month(struct str text, const struct tokens *tokens,
                            size_t index, struct date_item *items, size_t *n)
{
    const struct token *token = &tokens->items[index];
    struct str word = token->folded;
    char sign =
        tokens->language == TEXT_GERMAN || tokens->language == TEXT_RUSSIAN
            ? '.'
            : '/';
    const char *mark =
        word.len >= 3 && word.len <= 5 ? memchr(word.s, sign, word.len) : NULL;
    size_t at = mark ? (size_t)(mark - word.s) : 0;
    struct date_item first = date_item_of(text, tokens, index);
    struct date_item second = first;
    bool has_dot =
        sign == '.' && token->to < text.len && text.s[token->to] == '.';
    bool is_english = tokens->language == TEXT_ENGLISH;
    int64_t day;
    int64_t month;

    if (at == 0 || tokens->language == TEXT_UNKNOWN ||
        !str_parse_int(str_sub(word, 0, at), is_english ? &month : &day) ||
        !str_parse_int(str_sub(word, at + 1, word.len),
                       is_english ? &day : &month) ||
        day < 1 || day > 31 || month < 1 || month > 12 ||
        !(has_dot ||
          (*n > 0 && (is_english ? leads_month_day(&items[*n - 1], day)
                                 : leads_day_month(&items[*n - 1]))))) {
        return false;
    }
    date_item_set(&first, DC_ORDINAL, day, 1);
    date_item_set(&second, DC_MONTH, month, 0);
    first.is_risky = false;
    second.is_risky = false;
    if (has_dot && index + 2 < tokens->count &&
        !(tokens->items[index + 2].flags & TOKEN_BREAK)) {
        second.last = (uint32_t)index + 1; /* the dot of "31.12. aus" */
    }
    push_two(first, second, items, n);
    return true;
}

/* Add a token that is more than one item. */
static bool split(struct str text, const struct tokens *tokens, size_t index,
                  struct date_item *items, size_t *n)
{
    enum token_kind kind = (enum token_kind)tokens->items[index].kind;

    if (kind == TOKEN_WORD) {
        return split_hyphen(tokens, index, items, n) ||
               (date_item_of(text, tokens, index).class == DC_OTHER &&
                (split_elided(tokens, index, items, n) ||
                 split_daypart(tokens, index, items, n)));
    }
    return (kind == TOKEN_NUMBER || kind == TOKEN_CODE) &&
           split_day_month(text, tokens, index, items, n);
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
        !str_eq(dot->folded, STR(".")) ||
        tokens->items[last->token].to != dot->from) {
        return false;
    }
    if (index + 1 >= tokens->count ||
        tokens->items[index + 1].flags & TOKEN_BREAK) {
        return is_on && tokens->language == TEXT_GERMAN; /* "am 27." */
    }
    next = date_item_of(text, tokens, index + 1).class;
    return (is_on && (next == DC_OTHER || next == DC_AT || next == DC_COMMA)) ||
           next == DC_MONTH || next == DC_TO || next == DC_UNTIL ||
           next == DC_AND;
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
        if (split(text, tokens, i, items, &n)) {
            n_triggers++;
            i = items[n - 1].last > i ? items[n - 1].last : i;
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
        i = items[n].last;
        n++;
    }
    items[n] = (struct date_item){.class = DC_END, .breaks = true};
    if (n_triggers > 0) {
        date_unname(tokens, items, n);
    }
    *out_n = n;
    return n_triggers;
}

/* A number with a dot right behind it: "28." */
static bool is_dotted(const struct tokens *tokens, size_t i)
{
    const struct token *token = &tokens->items[i];

    return i + 1 < tokens->count && token[0].kind == TOKEN_NUMBER &&
           token[1].kind == TOKEN_PUNCT && str_eq(token[1].folded, STR(".")) &&
           token[0].to == token[1].from;
}

/* "1. Mai", where it is no day yet: English writes no dot there. */
static bool has_german_day(const struct tokens *tokens)
{
    for (size_t i = 0; i + 2 < tokens->count; i++) {
        const struct token *token = &tokens->items[i];

        if (is_dotted(tokens, i) && token[2].kind == TOKEN_WORD &&
            token[2].flags & TOKEN_CAPITAL && date_is_month(token[2].folded) &&
            date_item_as(tokens, i + 2, token[2].folded).class != DC_MONTH) {
            return true;
        }
    }
    return false;
}

/* "am 3.12.", "vom 12.03.", "am 28.": a day where only German has the word
 * before; not "I am 3.12 m tall". */
static bool has_german_number(struct str text, const struct tokens *tokens)
{
    for (size_t i = 0; i + 1 < tokens->count; i++) {
        struct str word = tokens->items[i].folded;
        struct tokens own = *tokens;
        struct date_item items[3] = {{.class = DC_ON}};
        size_t n = 1;

        own.language = TEXT_GERMAN;
        if ((str_eq(word, STR("am")) || str_eq(word, STR("vom")) ||
             str_eq(word, STR("zum"))) &&
            !(i > 0 && str_eq(tokens->items[i - 1].folded, STR("i"))) &&
            (is_dotted(tokens, i + 1) ||
             split_day_month(text, &own, i + 1, items, &n))) {
            return true;
        }
    }
    return false;
}

/*
 * A text too short to tell its language by function words may tell it by its
 * days: "semana que vem" is no Spanish, "Il martedì vado in piscina" no
 * English.
 */
static enum text_language neighbour_of(struct str text,
                                       const struct tokens *tokens)
{
    if (tokens->count <= SHORT_ITEMS &&
        (has_german_day(tokens) || has_german_number(text, tokens))) {
        return TEXT_GERMAN; /* though "am" is English, too */
    }
    /* one word alone may be another's: "hier" */
    return tokens->language != TEXT_ENGLISH && tokens->count <= SHORT_ITEMS
               ? date_language(tokens, 2)
               : tokens->language;
}

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
    return is_foreign && n_stops * 2 < n_words ? date_language(tokens, 1)
                                               : tokens->language;
}

bool date_items_read(struct str text, const struct tokens *tokens,
                     struct date_item *items, size_t *out_n)
{
    struct tokens own = *tokens;
    enum text_language language;

    own.language = neighbour_of(text, tokens);
    if (read_items(text, &own, items, out_n) == 0) {
        return false;
    }
    language = language_by_days(&own, items, *out_n);
    if (language != own.language) {
        own.language = language;
        (void)read_items(text, &own, items, out_n); /* it has days */
    }
    return true;
}
