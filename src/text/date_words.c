/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_words.c - what a token can mean in a date. See dates_internal.h.
 */
#include "text/dates_internal.h"

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
    TABLE(dutch, TEXT_DUTCH),
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

/* Bytes of the longest word worth looking up. */
#define MAX_WORD 16

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
 * The word in the text's own language; else in English, where it is not also
 * something else; else a name of any language ("Donnerstag").
 */
static const struct date_word *
find_word(struct str word, enum text_language language, uint8_t *out_language)
{
    const struct date_word *found = NULL;
    bool is_own = false;

    if (word.len > MAX_WORD || word.len == 0) {
        return NULL;
    }
    for (size_t i = 1; i < N_TABLES && !is_own; i++) {
        if (tables[i].language == language) {
            is_own = true;
            found = find_in(&tables[i], word);
        }
    }
    *out_language = (uint8_t)language;
    if (!found) {
        found = find_in(&tables[0], word);
        if (found && is_own && found->flags & (RISKY | SHORT)) {
            return NULL;
        }
    }
    for (size_t i = 1; i < N_TABLES && !found; i++) {
        found = find_in(&tables[i], word);
        if (found && !(found->flags & SURE)) {
            found = NULL;
        }
        *out_language = (uint8_t)(found ? tables[i].language : language);
    }
    return found;
}

/* Up to `max` leading digits; their number. */
static size_t digits_at(struct str text, size_t at, size_t max, int64_t *out)
{
    size_t n = 0;

    *out = 0;
    while (n < max && at + n < text.len && text.s[at + n] >= '0' &&
           text.s[at + n] <= '9') {
        *out = *out * 10 + (text.s[at + n] - '0');
        n++;
    }
    return n;
}

static void set(struct date_item *item, enum date_class class, int64_t value,
                int64_t extra)
{
    item->class = class;
    item->value = value;
    item->extra = extra;
}

/* 15:30, 3:30pm, 3pm, 15:30:10, 15h is not one. */
static bool read_time(struct str text, struct date_item *item)
{
    int64_t hour;
    int64_t minute = 0;
    int64_t second;
    size_t at = digits_at(text, 0, 2, &hour);
    int64_t length = 60;
    struct str tail;

    if (at == 0) {
        return false;
    }
    if (at < text.len && text.s[at] == ':') {
        if (digits_at(text, at + 1, 2, &minute) != 2 || minute > 59) {
            return false;
        }
        at += 3;
        length = 1;
        if (at < text.len && text.s[at] == ':') {
            if (digits_at(text, at + 1, 2, &second) != 2) {
                return false;
            }
            at += 3;
        }
    }
    tail = str_sub(text, at, text.len);
    if (tail.len == 0 && length == 1 && hour < 24) {
        set(item, DC_TIME, hour * 60 + minute, length);
        return true;
    }
    if ((str_eq(tail, STR("am")) || str_eq(tail, STR("pm"))) && hour >= 1 &&
        hour <= 12) {
        hour = hour % 12 + (tail.s[0] == 'p' ? 12 : 0);
        set(item, DC_TIME, hour * 60 + minute, length);
        item->is_short = true; /* its am or pm is said */
        return true;
    }
    return false;
}

/* Three numbers with one separator, or a year and a month. */
static bool read_numeric_date(struct str text, struct date_item *item)
{
    int64_t a;
    int64_t b;
    int64_t c = 0;
    int64_t day;
    size_t na = digits_at(text, 0, 4, &a);
    size_t nb;
    size_t nc = 0;
    size_t at = na;
    char sep;

    if (na == 0 || na == 3 || at >= text.len || !strchr("-/.", text.s[at])) {
        return false;
    }
    sep = text.s[at];
    nb = digits_at(text, at + 1, 2, &b);
    at += 1 + nb;
    if (nb == 0) {
        return false;
    }
    if (at == text.len && na == 4 && sep == '-' && nb == 2 && b >= 1 &&
        b <= 12 && a >= 1) {
        set(item, DC_DATE, clock_days_from_civil(a, (int)b, 1), DU_MONTH);
        return true;
    }
    if (at == text.len && na <= 2 && sep != '.' && a >= 1 && b > a && b <= 31) {
        set(item, DC_DAYS, a, b);
        item->is_risky = sep == '/'; /* this one and that, or either */
        return true;
    }
    if (at >= text.len || text.s[at] != sep) {
        return false;
    }
    nc = digits_at(text, at + 1, 4, &c);
    if (at + 1 + nc != text.len || nc == 0 || nc == 3) {
        return false;
    }
    if (na == 4) { /* year first */
        int64_t year = a;

        a = b;
        b = c;
        c = year;
    } else if (nc != 4 && !(nc == 2 && sep != '-')) {
        return false;
    } else if (sep == '.' || (a > 12 && b <= 12)) {
        int64_t first = a;

        a = b;
        b = first;
    }
    c += na != 4 && nc == 2 ? (c < 70 ? 2000 : 1900) : 0;
    if (!day_of(c, a, b, &day)) {
        return false;
    }
    set(item, DC_DATE, day, DU_DAY);
    return true;
}

/* "th" of 14th, and where it ends */
static size_t skip_ending(struct str text, size_t at)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (str_starts(str_sub(text, at, text.len), str_of(endings[i]))) {
            return at + 2;
        }
    }
    return at;
}

/* 14th-16th */
static bool read_days(struct str text, struct date_item *item)
{
    int64_t first;
    int64_t last;
    size_t at = digits_at(text, 0, 2, &first);
    size_t n;

    at = skip_ending(text, at);
    if (at == 0 || at >= text.len || text.s[at] != '-') {
        return false;
    }
    n = digits_at(text, at + 1, 2, &last);
    if (n == 0 || skip_ending(text, at + 1 + n) != text.len || first < 1 ||
        last <= first || last > 31) {
        return false;
    }
    set(item, DC_DAYS, first, last);
    return true;
}

/* An hour of "9-5", "9:00-17:00", "9am-1pm"; where it ends, 0 if it is none. */
static size_t skip_hour(struct str text, size_t at)
{
    int64_t hour;
    int64_t minute;
    size_t n = digits_at(text, at, 2, &hour);

    if (n == 0 || hour > 24) {
        return 0;
    }
    at += n;
    if (at < text.len && (text.s[at] == ':' || text.s[at] == '.') &&
        digits_at(text, at + 1, 2, &minute) == 2 && minute < 60) {
        at += 3;
    }
    if (str_starts(str_sub(text, at, text.len), STR("am")) ||
        str_starts(str_sub(text, at, text.len), STR("pm"))) {
        at += 2;
    }
    return at;
}

/* From one hour to another, and no two days */
static bool read_hours(struct str text, struct date_item *item)
{
    size_t at = skip_hour(text, 0);

    if (at == 0 || at >= text.len || text.s[at] != '-' ||
        skip_hour(text, at + 1) != text.len) {
        return false;
    }
    item->is_rota = true;
    return true;
}

/* 90s, '90s, 1990s, q3, 20th */
static bool read_mixed(struct str text, struct date_item *item)
{
    int64_t value;
    size_t n = digits_at(text, 0, 4, &value);
    struct str tail = str_sub(text, n, text.len);

    if (n == 0 && text.len == 2 && text.s[0] == 'q' && text.s[1] >= '1' &&
        text.s[1] <= '4') {
        set(item, DC_QUARTER, text.s[1] - '0', 0);
        return true;
    }
    if ((str_eq(tail, STR("s")) || str_eq(tail, STR("'s"))) &&
        value % 10 == 0) {
        if (n == 4 && value >= 1000) {
            set(item, DC_DECADE, value, 0);
            return true;
        }
        if (n == 2 && value >= 20) {
            set(item, DC_DECADE, 1900 + value, 0);
            return true;
        }
    }
    if (value == 1 && str_eq(tail, STR("er"))) {
        set(item, DC_ORDINAL, 1, 1); /* "le 1er mai" */
        return true;
    }
    if (n >= 1 && n <= 2 && value >= 1 && value <= 31 &&
        (str_eq(tail, STR("th")) || str_eq(tail, STR("st")) ||
         str_eq(tail, STR("nd")) || str_eq(tail, STR("rd")))) {
        set(item, DC_ORDINAL, value, 1);
        return true;
    }
    return false;
}

static void read_number(struct str text, struct date_item *item)
{
    int64_t value;

    if (read_time(text, item)) {
        return;
    }
    if (!str_parse_int(text, &value) || value < 0 || text.len > 4) {
        return;
    }
    set(item,
        text.len == 4 && value >= 1900 && value < 2100 ? DC_YEAR : DC_NUMBER,
        value, 1);
}

static void read_code(struct str text, const struct token *token,
                      struct date_item *item)
{
    struct str folded = token->folded;
    struct str raw = str_sub(text, token->from, token->to);
    struct str zoned = str_sub(text, token->from, (size_t)token->to + 6);
    int64_t ms;

    if (read_numeric_date(folded, item) || read_time(folded, item) ||
        read_mixed(folded, item) || read_days(folded, item) ||
        read_hours(folded, item)) {
        return;
    }
    if (raw.len > 10 && clock_parse(raw, &ms)) {
        set(item, DC_MOMENT, ms, 0);
    } else if (raw.len > 10 && zoned.len == raw.len + 6 &&
               zoned.s[raw.len] == '+' && clock_parse(zoned, &ms)) {
        set(item, DC_MOMENT, ms, 2); /* "+" and "02:00" are tokens too */
    }
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
        set(item, entry->class, entry->value, 0);
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
            set(item, pairs[i].value ? DC_HOLIDAY : DC_OTHER, pairs[i].value,
                1 + (strchr(pairs[i].second, ' ') != NULL));
            return true;
        }
    }
    return false;
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
    entry = find_word(word, tokens->language, &item->language);
    if (!entry) {
        return;
    }
    item->class = entry->class;
    item->value = entry->value;
    item->is_risky = entry->flags & RISKY;
    item->is_short = entry->flags & SHORT;
    item->is_name = entry->flags & NAME;
    item->is_rota = entry->flags & ROTA;
    item->is_street = entry->flags & STREET;
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

struct date_item date_item_of(struct str text, const struct tokens *tokens,
                              size_t index)
{
    const struct token *token = &tokens->items[index];
    struct date_item item = {
        .class = DC_OTHER,
        .token = (uint32_t)index,
        .is_capital = token->flags & TOKEN_CAPITAL,
        .starts = token->flags & TOKEN_SENTENCE_START,
        .breaks = token->flags & TOKEN_BREAK,
        .language = (uint8_t)tokens->language,
    };

    switch ((enum token_kind)token->kind) {
    case TOKEN_WORD:
        read_word(tokens, index, &item);
        break;
    case TOKEN_NUMBER:
        read_number(token->folded, &item);
        break;
    case TOKEN_CODE:
        if (token->to - token->from <= 40) {
            read_code(text, token, &item);
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

enum text_language date_language(const struct tokens *tokens)
{
    size_t hits[N_TABLES] = {0};
    size_t best = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->items[i];

        for (size_t t = 1; token->kind == TOKEN_WORD && t < N_TABLES; t++) {
            const struct date_word *found =
                token->folded.len > 0 ? find_in(&tables[t], token->folded)
                                      : NULL;

            hits[t] += found && found->class != DC_OTHER;
            best = hits[t] > hits[best] ? t : best;
        }
    }
    return tables[best].language;
}

bool date_is_month(struct str word)
{
    const struct word_table table = TABLE(german, TEXT_GERMAN);
    const struct date_word *found = find_in(&table, word);

    return word.len > 0 && found && found->class == DC_MONTH;
}
