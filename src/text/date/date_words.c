/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_words.c - what a token can mean in a date. See dates_internal.h.
 */
#include "text/date/dates_internal.h"

#include "text/lexicon.h"

#include <pthread.h>
#include <string.h>

/* SURE: a word of another language that no English one can be taken for. */
enum word_flags {
    RISKY = 1,
    SHORT = 2,
    SURE = 4,
    NAME = 8,
    ROTA = 16,  /* closed, open: of a timetable */
    STREET = 32 /* may be named after a day */
};

struct date_word {
    const char *word;
    uint8_t class;
    uint8_t flags;
    int16_t value;
};

/* Sorted by bytes: looked up by halving. */
static const struct date_word english[] = {
#include "lexicon/en/dates.def"
};
static const struct date_word german[] = {
#include "lexicon/de/dates.def"
};
static const struct date_word spanish[] = {
#include "lexicon/es/dates.def"
};
static const struct date_word french[] = {
#include "lexicon/fr/dates.def"
};
static const struct date_word italian[] = {
#include "lexicon/it/dates.def"
};
static const struct date_word portuguese[] = {
#include "lexicon/pt/dates.def"
};
static const struct date_word dutch[] = {
#include "lexicon/nl/dates.def"
};
static const struct date_word russian[] = {
#include "lexicon/ru/dates.def"
};

struct word_table {
    const struct date_word *words;
    size_t count;
    enum text_language language;
};

#define TABLE(words, language)                                                 \
    {                                                                          \
        words, sizeof(words) / sizeof((words)[0]), language                    \
    }
static const struct word_table tables[] = {
    TABLE(english, TEXT_ENGLISH), TABLE(german, TEXT_GERMAN),
    TABLE(spanish, TEXT_SPANISH), TABLE(french, TEXT_FRENCH),
    TABLE(italian, TEXT_ITALIAN), TABLE(portuguese, TEXT_PORTUGUESE),
    TABLE(dutch, TEXT_DUTCH),     TABLE(russian, TEXT_RUSSIAN),
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

/* Bytes of the longest word worth looking up, or of several. */
#define MAX_WORD 32
/* Words of the longest row: "antes de ayer". */
#define MAX_WORDS 3

/* Holidays of two words, the first without its possessive ending. */
static const struct {
    const char *first;
    const char *second;
    int64_t value;
    bool wants_capital;
} pairs[] = {
    {"new", "year's eve", 1231, true},  {"new", "years eve", 1231, true},
    {"new", "year eve", 1231, true},    {"new", "year's day", 101, true},
    {"new", "years day", 101, true},    {"new", "year's", 101, true},
    {"new", "years", 101, true},        {"christmas", "eve", 1224, false},
    {"christmas", "day", 1225, false},  {"boxing", "day", 1226, false},
    {"good", "friday", 2, true},        {"black", "friday", 4, true},
    {"labor", "day", 5, false},         {"labour", "day", 5, false},
    {"memorial", "day", 6, false},      {"mother's", "day", 7, false},
    {"mothers", "day", 7, true},        {"father's", "day", 8, false},
    {"fathers", "day", 8, true},        {"valentine's", "day", 214, false},
    {"valentines", "day", 214, false},  {"patrick's", "day", 317, false},
    {"independence", "day", 704, true}, {"thanksgiving", "day", 3, false},
    {"easter", "sunday", 1, false},     {"mardi", "gras", 0, false},
};

static const struct date_word *find_in(const struct word_table *table,
                                       struct str word)
{
    const struct date_word *words = table->words;
    size_t low = 0;
    size_t high = table->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strncmp(word.s, words[mid].word, word.len);

        if (order == 0) {
            order = words[mid].word[word.len] ? -1 : 0;
        }
        if (order == 0) {
            return &words[mid];
        }
        if (order < 0) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return NULL;
}

/*
 * Which tables may have words of a hash, one bit each: most words of a text are
 * in none, and are not looked up eight times to know that. And which may be the
 * first of several words.
 */
#define FILTER_SIZE 16384u
static uint8_t filter[FILTER_SIZE];
static bool leads[FILTER_SIZE];
static pthread_once_t filter_once = PTHREAD_ONCE_INIT;

static void make_filter(void)
{
    for (size_t t = 0; t < N_TABLES; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            struct str word = str_of(tables[t].words[i].word);
            struct str first;

            filter[str_hash(word) % FILTER_SIZE] |= (uint8_t)(1u << t);
            if (str_find(word, STR(" "), 0) != SIZE_MAX) {
                (void)str_split(&word, ' ', &first);
                leads[str_hash(first) % FILTER_SIZE] = true;
            }
        }
    }
}

static unsigned tables_of(struct str word)
{
    _Static_assert(N_TABLES <= 8, "a bit of a byte each");
    (void)pthread_once(&filter_once, make_filter); /* cannot fail */
    return filter[str_hash(word) % FILTER_SIZE];
}

/* "hier" of German and "dos" of Portuguese say nothing of a day. */
static bool is_stop_of(struct str word, enum text_language language)
{
    struct lex_word known;

    return lexicon_find(word, str_hash(word), &known) &&
           (known.stop_mask >> language & 1);
}

/*
 * The word in the text's own language; else in English, where it is not also
 * something else; else a name of any language ("Donnerstag").
 */
static const struct date_word *
find_word(struct str word, enum text_language language, uint8_t *out_language)
{
    const struct date_word *found = NULL;
    bool is_own = false;
    unsigned may = 0;

    if (word.len > MAX_WORD || word.len == 0) {
        return NULL;
    }
    *out_language = (uint8_t)language;
    may = tables_of(word);
    if (!may) {
        return NULL;
    }
    for (size_t i = 1; i < N_TABLES && !is_own; i++) {
        if (tables[i].language == language) {
            is_own = true;
            found = may >> i & 1 ? find_in(&tables[i], word) : NULL;
        }
    }
    if (!found) {
        found = may & 1 ? find_in(&tables[0], word) : NULL;
        if (found && is_own && found->flags & (RISKY | SHORT)) {
            return NULL;
        }
    }
    for (size_t i = 1; i < N_TABLES && !found; i++) {
        found = may >> i & 1 ? find_in(&tables[i], word) : NULL;
        if (found && (!(found->flags & SURE) ||
                      (is_own && is_stop_of(word, language)))) {
            found = NULL;
        }
        *out_language = (uint8_t)(found ? tables[i].language : language);
    }
    return found;
}

/* "2moro" is a code to the tokens */
static void read_short(const struct tokens *tokens, struct str folded,
                       struct date_item *item)
{
    const struct date_word *entry =
        item->class == DC_OTHER && folded.len > 3
            ? find_word(folded, tokens->language, &item->language)
            : NULL;

    if (entry) {
        date_item_set(item, entry->class, entry->value, 0);
    }
}

/* Does the text go on with `words` (separated by single spaces)? */
static bool goes_on(const struct tokens *tokens, size_t index, struct str rest)
{
    struct str word;

    while (str_split(&rest, ' ', &word)) {
        index++;
        if (index >= tokens->count ||
            !str_eq(tokens->items[index].folded, word)) {
            return false;
        }
    }
    return true;
}

/* A holiday of several words; `extra` = further tokens it takes. */
static bool read_pair(const struct tokens *tokens, size_t index,
                      struct date_item *item)
{
    const struct token *token = &tokens->items[index];

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (token->folded.s[0] == pairs[i].first[0] &&
            str_eq(token->folded, str_of(pairs[i].first)) &&
            (!pairs[i].wants_capital || token->flags & TOKEN_CAPITAL) &&
            goes_on(tokens, index, str_of(pairs[i].second))) {
            date_item_set(item, pairs[i].value ? DC_HOLIDAY : DC_OTHER,
                          pairs[i].value,
                          1 + (strchr(pairs[i].second, ' ') != NULL));
            return true;
        }
    }
    return false;
}

/* The longest row of several words that begins here; `item->last` is its end.
 */
static const struct date_word *find_words(const struct tokens *tokens,
                                          size_t index, struct date_item *item)
{
    const struct date_word *found = NULL;
    char joined[MAX_WORD];
    size_t len = 0;
    int n = 0;

    if (tokens->items[index].flags & TOKEN_PART ||
        !leads[str_hash(tokens->items[index].folded) % FILTER_SIZE]) {
        return NULL;
    }
    for (size_t i = index; i < tokens->count && n < MAX_WORDS; i++) {
        const struct token *token = &tokens->items[i];
        const struct date_word *entry;

        if (token->flags & TOKEN_PART) {
            continue;
        }
        if (token->kind != TOKEN_WORD ||
            (n > 0 && token->flags & TOKEN_BREAK) ||
            len + token->folded.len + 1 > sizeof(joined)) {
            break;
        }
        if (n++ > 0) {
            joined[len++] = ' ';
        }
        memcpy(joined + len, token->folded.s, token->folded.len);
        len += token->folded.len;
        entry = n > 1 ? find_word((struct str){joined, len}, tokens->language,
                                  &item->language)
                      : NULL;
        if (entry) {
            found = entry;
            item->last = (uint32_t)i;
        }
    }
    return found;
}

static void set_entry(struct date_item *item, const struct date_word *entry)
{
    item->class = entry->class;
    item->value = entry->value;
    item->is_risky = entry->flags & RISKY;
    item->is_short = entry->flags & SHORT;
    item->is_name = entry->flags & NAME;
    item->is_rota = entry->flags & ROTA;
    item->is_street = entry->flags & STREET;
}

static void read_word(const struct tokens *tokens, size_t index,
                      struct date_item *item)
{
    const struct token *token = &tokens->items[index];
    struct str word = token->folded;
    const struct date_word *entry;

    if (word.len == 0 || read_pair(tokens, index, item)) {
        return;
    }
    if (str_ends(word, STR("'s")) && !str_eq(word, STR("valentine's"))) {
        word.len -= 2;
    }
    (void)tables_of(word); /* makes the filters */
    entry = find_words(tokens, index, item);
    if (!entry) {
        entry = find_word(word, tokens->language, &item->language);
    }
    if (entry) {
        set_entry(item, entry);
    }
}

static void read_punct(struct str text, const struct token *token,
                       struct date_item *item)
{
    char c = text.s[token->from];

    if (c == ',') {
        item->class = DC_COMMA;
    } else if (c == '-' || str_eq(token->folded, STR("\xe2\x80\x93")) ||
               str_eq(token->folded, STR("\xe2\x80\x94"))) {
        item->class = DC_TO;
        item->is_risky = true;
    }
}

static struct date_item item_at(const struct tokens *tokens, size_t index)
{
    const struct token *token = &tokens->items[index];

    return (struct date_item){
        .class = DC_OTHER,
        .token = (uint32_t)index,
        .last = (uint32_t)index,
        .is_capital = token->flags & TOKEN_CAPITAL,
        .starts = token->flags & TOKEN_SENTENCE_START,
        .breaks = token->flags & TOKEN_BREAK,
        .language = (uint8_t)tokens->language,
    };
}

struct date_item date_item_as(const struct tokens *tokens, size_t index,
                              struct str word)
{
    struct date_item item = item_at(tokens, index);
    const struct date_word *entry =
        find_word(word, tokens->language, &item.language);

    if (entry) {
        set_entry(&item, entry);
    }
    return item;
}

struct date_item date_item_of(struct str text, const struct tokens *tokens,
                              size_t index)
{
    const struct token *token = &tokens->items[index];
    struct date_item item = item_at(tokens, index);

    switch ((enum token_kind)token->kind) {
    case TOKEN_WORD:
        read_word(tokens, index, &item);
        break;
    case TOKEN_NUMBER:
        date_read_number(token->folded, &item);
        break;
    case TOKEN_CODE:
        if (token->to - token->from <= 40) {
            date_read_code(text, token, &item);
            read_short(tokens, token->folded, &item);
        }
        break;
    case TOKEN_PUNCT:
        read_punct(text, token, &item);
        break;
    case TOKEN_BIGRAM:
    case TOKEN_SYMBOL:
        break;
    }
    return item;
}

/* Tables that have the words of several from here on, one bit each. */
static unsigned tables_with_words(const struct tokens *tokens, size_t index)
{
    struct tokens own = *tokens;
    unsigned mask = 0;

    for (size_t t = 1; t < N_TABLES; t++) {
        struct date_item item = {0};

        own.language = tables[t].language;
        if (find_words(&own, index, &item) &&
            item.language == (uint8_t)own.language) {
            mask |= 1u << t;
        }
    }
    return mask;
}

enum text_language date_language(const struct tokens *tokens, size_t least)
{
    size_t hits[N_TABLES] = {0};
    size_t best = 0;

    for (size_t t = 1; t < N_TABLES; t++) {
        best = tables[t].language == tokens->language ? t : best;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->items[i];
        unsigned several;

        if (token->kind != TOKEN_WORD || token->folded.len == 0) {
            continue;
        }
        several = tables_with_words(tokens, i);
        for (size_t t = 1; t < N_TABLES; t++) {
            const struct date_word *found = find_in(&tables[t], token->folded);

            hits[t] += (found && found->class != DC_OTHER) + (several >> t & 1);
        }
    }
    for (size_t t = 1; t < N_TABLES; t++) {
        best = hits[t] > hits[best] ? t : best;
    }
    return hits[best] >= least ? tables[best].language : tokens->language;
}

bool date_is_month(struct str word)
{
    const struct word_table table = TABLE(german, TEXT_GERMAN);
    const struct date_word *found = find_in(&table, word);

    return word.len > 0 && found && found->class == DC_MONTH;
}

bool date_says_when(struct str word)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const struct date_word *found = find_in(&tables[i], word);

        if (found && tables[i].language != TEXT_ENGLISH &&
            (found->class == DC_WEEKDAY || found->class == DC_WEEKDAYS ||
             found->class == DC_MONTH || found->class == DC_TODAY ||
             found->class == DC_TONIGHT || found->class == DC_DAYPART ||
             found->class == DC_UNIT)) {
            return true;
        }
    }
    return false;
}

bool date_has_word(struct str word)
{
    for (size_t i = 0; i < N_TABLES && word.len > 0; i++) {
        const struct date_word *found = find_in(&tables[i], word);

        if (found && found->class != DC_OTHER) {
            return true;
        }
    }
    return false;
}
