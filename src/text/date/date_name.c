/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_name.c - days, months and feasts that are names of something else. See
 * dates_internal.h.
 *
 * What stands beside the word decides, not a list of names: a common word with
 * a capital inside a sentence is part of a title ("the Sunday Times", "Easter
 * Road"), a name before a verb is a person ("Casey Monday is"), a noun behind
 * a feast is what it is about ("Christmas tree"), a street may bear a day
 * ("rue du 4 septembre"). German writes every noun
 * with a capital, so there only "Frau Sonntag" and the like are told.
 */
#include "text/date/dates_internal.h"

#include "text/lexicon.h"

/* Words between a street and its month: "plaza del dos de mayo". */
#define STREET_WORDS 4

/* A word and what is known of it. */
struct beside {
    const struct token *token; /* NULL: none, or punctuation */
    const struct date_item *item;
    struct lex_word known;
    bool is_known;
};

static struct beside look(const struct tokens *tokens,
                          const struct date_item *item)
{
    struct beside b = {.token = &tokens->items[item->token], .item = item};

    if (b.token->kind != TOKEN_WORD) {
        b.token = NULL;
        return b;
    }
    b.is_known =
        lexicon_find(b.token->folded, str_hash(b.token->folded), &b.known);
    return b;
}

/* A common word with a capital inside a sentence: "Road", "Times", "Happy" */
static bool is_title_word(const struct beside *b)
{
    return b->token && b->item->class == DC_OTHER && b->item->is_capital &&
           !b->item->starts && !(b->token->flags & TOKEN_STOP) && b->is_known &&
           b->known.flags & LEX_TAGGED && b->known.kind == LEX_NO_NAME &&
           b->known.capital < 128 && !(b->token->flags & TOKEN_ALL_CAPS);
}

static bool is_noun(const struct beside *b)
{
    return b->token && b->item->class == DC_OTHER && b->is_known &&
           !(b->token->flags & TOKEN_STOP) && b->known.flags & LEX_TAGGED &&
           b->known.noun > b->known.verb;
}

/* Casey of "Casey Monday is the caretaker" */
static bool is_person(const struct beside *b)
{
    return b->token && b->item->class == DC_OTHER && b->item->is_capital &&
           (b->item->starts || b->item->breaks) &&
           !(b->token->flags & TOKEN_STOP) &&
           (b->known.kind == LEX_PERSON || !b->is_known);
}

static bool is_be(const struct tokens *tokens, const struct date_item *item)
{
    static const char *const words[] = {"is",   "was",   "are",  "be",  "been",
                                        "it's", "she's", "he's", "were"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_eq(tokens->items[item->token].folded, str_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* "named Friday", "Frau Sonntag", "is called Sunday"; not "he called Sunday" */
static bool is_named(const struct tokens *tokens, const struct date_item *items,
                     size_t i)
{
    if (i == 0 || items[i].breaks) {
        return false;
    }
    return items[i - 1].class == DC_NAMED ||
           (i > 1 &&
            str_eq(tokens->items[items[i - 1].token].folded, STR("called")) &&
            is_be(tokens, &items[i - 2]));
}

/* A place that people eat or drink at */
static bool is_house_word(const struct beside *b)
{
    static const char *const words[] = {
        "restaurant", "bar", "diner", "pub", "grill", "cafe", "café", "bistro"};

    for (size_t i = 0; b->token && i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_eq(b->token->folded, str_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* "at Friday's", "at TGI Friday's", "Friday's bar"; not "at Friday's meeting"
 */
static bool is_house(const struct tokens *tokens, const struct date_item *items,
                     size_t i, const struct beside *next)
{
    size_t back =
        i > 1 && items[i - 1].class == DC_OTHER && items[i - 1].is_capital ? 2
                                                                           : 1;

    return str_ends(tokens->items[items[i].token].folded, STR("'s")) &&
           (is_house_word(next) ||
            (i >= back && !is_noun(next) && items[i - back].class == DC_AT));
}

/* "May Whitman", "by June Carter"; not "in May Anna", "the end of May Anna" */
static bool has_surname(const struct date_item *items, size_t i,
                        const struct beside *next)
{
    enum date_class before =
        i == 0 || items[i].breaks ? DC_END : items[i - 1].class;

    if (!next->token || next->item->class != DC_OTHER ||
        !next->item->is_capital ||
        next->token->flags & (TOKEN_STOP | TOKEN_ALL_CAPS) ||
        (next->is_known && next->known.kind != LEX_PERSON &&
         next->known.capital < 128)) {
        return false;
    }
    if (before == DC_BY || before == DC_FROM) {
        return !items[i - 1].starts; /* "From May Anna is here" */
    }
    return before == DC_END || before == DC_OTHER || before == DC_AND ||
           before == DC_TO || before == DC_AT || before == DC_COMMA;
}

/* Take "4 septembre" of "rue du 4 septembre"; true if it was one. */
static bool take_street(struct date_item *items, size_t i)
{
    size_t at = i;

    while (at > 0 && i - at < STREET_WORDS && !items[at].breaks &&
           (items[at - 1].class == DC_OF || items[at - 1].class == DC_FROM ||
            items[at - 1].class == DC_THE || items[at - 1].class == DC_NUMBER ||
            items[at - 1].class == DC_ORDINAL)) {
        at--;
    }
    if (at == 0 || at == i || items[at].breaks || !items[at - 1].is_street) {
        return false;
    }
    for (; at <= i; at++) {
        items[at].class = DC_OTHER;
    }
    return true;
}

/* A month that is a person too needs words of a date beside it. */
static bool has_no_date_beside(const struct date_item *items, size_t i)
{
    enum date_class before =
        i == 0 || items[i].breaks ? DC_END : items[i - 1].class;
    enum date_class after = items[i + 1].breaks ? DC_END : items[i + 1].class;

    return items[i].is_capital && (before == DC_END || before == DC_OTHER) &&
           after == DC_OTHER;
}

static bool is_name(const struct tokens *tokens, const struct date_item *items,
                    size_t i, size_t n)
{
    const struct date_item *item = &items[i];
    bool is_first = i == 0 || item->breaks;
    struct beside prev = {0};
    struct beside next = {0};

    if (is_named(tokens, items, i) ||
        (item->is_name && has_no_date_beside(items, i))) {
        return true;
    }
    if (item->language == TEXT_GERMAN || item->is_short ||
        (!item->is_capital && item->class != DC_HOLIDAY)) {
        return false;
    }
    if (!is_first) {
        prev = look(tokens, &items[i - 1]);
    }
    if (i + 1 < n && !items[i + 1].breaks) {
        next = look(tokens, &items[i + 1]);
    }
    if (item->class == DC_MONTH && has_surname(items, i, &next)) {
        return true;
    }
    return is_title_word(&prev) || is_title_word(&next) ||
           is_house(tokens, items, i, &next) ||
           (item->class == DC_HOLIDAY && item->extra == 0 && is_noun(&next)) ||
           (item->class == DC_WEEKDAY && is_person(&prev) && next.token &&
            next.item->class == DC_OTHER);
}

/* "the Monday meeting": which Monday's? */
static bool is_vague(const struct tokens *tokens, const struct date_item *items,
                     size_t i, size_t n)
{
    struct beside next;

    if (i == 0 || items[i].breaks || items[i - 1].class != DC_THE ||
        items[i].language == TEXT_GERMAN || i + 1 >= n || items[i + 1].breaks) {
        return false;
    }
    next = look(tokens, &items[i + 1]);
    return is_noun(&next);
}

/* "the 29th works": a verb behind a number */
static void mark_verb(const struct tokens *tokens, struct date_item *item)
{
    struct beside b = look(tokens, item);

    item->is_verb = b.token && item->class == DC_OTHER && !item->is_capital &&
                    b.is_known && b.known.flags & LEX_TAGGED &&
                    b.known.verb > b.known.noun;
}

void date_unname(const struct tokens *tokens, struct date_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum date_class class = items[i].class;

        if (class == DC_ORDINAL && i + 1 < n) {
            mark_verb(tokens, &items[i + 1]);
        }
        if (class != DC_WEEKDAY && class != DC_WEEKDAYS && class != DC_MONTH &&
            class != DC_HOLIDAY) {
            continue;
        }
        if (class == DC_MONTH && take_street(items, i)) {
            continue;
        }
        if (is_name(tokens, items, i, n)) {
            items[i].class = DC_OTHER;
        } else if (class == DC_WEEKDAY) {
            items[i].is_vague = is_vague(tokens, items, i, n);
        }
    }
}
