/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentence.c - where sentences begin. See token_internal.h.
 *
 * Works on tokens: a full stop inside a number, name or path is part of its
 * token already, so what is left to tell apart is abbreviations, initials and
 * list numbers. A fenced block is one sentence.
 */
#include "text/token_internal.h"

#include "text/date/dates.h"

#include <string.h>

#define LINE_AREA (TOKEN_IN_FENCE | TOKEN_IN_QUOTE)

static bool is_punct(const struct token *token, const char *one_of)
{
    return token->kind == TOKEN_PUNCT && token->folded.len > 0 &&
           (unsigned char)token->folded.s[0] < 0x80 &&
           strchr(one_of, token->folded.s[0]);
}

static uint32_t first_char(struct str text, const struct token *token)
{
    uint32_t len;

    return char_decode(text, token->from, &len);
}

/* Ends a sentence whatever follows: ? ! and the full stops of other scripts. */
static bool is_strong_end(struct str text, const struct token *token)
{
    if (token->kind != TOKEN_PUNCT) {
        return false;
    }
    switch (first_char(text, token)) {
    case '?':
    case '!':
    case 0x061f: /* Arabic question mark */
    case 0x06d4: /* Urdu full stop */
    case 0x0964: /* danda */
    case 0x3002: /* ideographic full stop */
    case 0xff01:
    case 0xff0e:
    case 0xff1f:
    case 0xff61:
    case 0x203c:
    case 0x2047:
    case 0x2048:
    case 0x2049:
        return true;
    default:
        return false;
    }
}

static bool is_wide_end(struct str text, const struct token *token)
{
    uint32_t c = token->kind == TOKEN_PUNCT ? first_char(text, token) : 0;

    return c == 0x3002 || c == 0xff01 || c == 0xff1f || c == 0xff61;
}

static bool is_ellipsis(struct str text, const struct token *token)
{
    return token->kind == TOKEN_PUNCT &&
           (first_char(text, token) == 0x2026 ||
            (text.s[token->from] == '.' && token->to - token->from > 1));
}

static bool is_closer(struct str text, const struct token *token)
{
    if (token->kind != TOKEN_PUNCT || token->flags & TOKEN_AFTER_SPACE) {
        return false;
    }
    switch (first_char(text, token)) {
    case '"':
    case '\'':
    case ')':
    case ']':
    case '*':
    case '_':
    case '`':
    case 0x2019:
    case 0x201d:
    case 0x00bb:
    case 0x300d:
    case 0x300f:
    case 0xff09:
        return true;
    default:
        return false;
    }
}

/* Abbreviations that a name or number follows; no sentence ends there. */
static bool is_title(struct str word)
{
    static const char *const titles[] = {
        "mr",   "mrs",  "ms",  "dr",  "prof", "st",  "sr",   "jr",     "vs",
        "fig",  "no",   "nr",  "art", "vol",  "ed",  "eds",  "gen",    "col",
        "lt",   "sgt",  "rev", "hon", "dept", "eg",  "ie",   "approx", "ca",
        "cf",   "mt",   "ave", "bzw", "z",    "sra", "mme",  "dra",    "srta",
        "mlle", "dott", "sig", "ing", "tel",  "str", "evtl", "ggf",    "inkl",
        "zzgl", "av",   "núm", "pág"};

    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (str_eq(word, str_of(titles[i]))) {
            return true;
        }
    }
    return false;
}

/* Abbreviations after which a sentence may well end. */
static bool is_loose_abbreviation(const struct token *token)
{
    static const char *const words[] = {
        "etc", "inc", "ltd", "corp", "co",  "am",  "pm",   "usw", "jan", "feb",
        "mar", "apr", "jun", "jul",  "aug", "sep", "sept", "oct", "nov", "dec"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_eq(token->folded, str_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* "im 3. Stock", "zum 2. Mal", "die 4. Klasse": German words that ask for a
 * noun, a number and the noun. "am 27. Dann" has no noun and "am 27. Papa" may
 * be two sentences, so "am" is none of them. */
static bool is_counted_noun(const struct tokens *tokens,
                            const struct token *number,
                            const struct token *after)
{
    static const char *const leads[] = {"im",  "zum", "zur", "beim", "der",
                                        "die", "das", "dem", "den",  "des"};

    if (number == tokens->items || number->kind != TOKEN_NUMBER ||
        number->folded.len > 2 || after->kind != TOKEN_WORD ||
        !(after->flags & TOKEN_CAPITAL) ||
        (after->flags & TOKEN_STOP && !str_eq(after->folded, STR("mal")))) {
        return false;
    }
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        if (str_eq(number[-1].folded, str_of(leads[i]))) {
            return true;
        }
    }
    return false;
}

static bool opens_sentence(const struct token *next)
{
    return !(next->flags & TOKEN_LOWER_START) || next->kind == TOKEN_PUNCT;
}

/* Does the single full stop at `dot` end a sentence before `next`? */
static bool full_stop_ends(const struct tokens *tokens, size_t dot, size_t next)
{
    const struct token *before = dot > 0 ? &tokens->items[dot - 1] : NULL;
    const struct token *after = &tokens->items[next];

    if (!before || before->to != tokens->items[dot].from) {
        return true;
    }
    while (before > tokens->items && before->flags & TOKEN_PART) {
        before--;
    }
    if (after->flags & TOKEN_LOWER_START && after->kind == TOKEN_WORD) {
        return !is_title(before->folded) && !is_loose_abbreviation(before) &&
               before->folded.len > 1 &&
               (before->kind == TOKEN_WORD || before->kind == TOKEN_CODE);
    }
    if (is_title(before->folded)) {
        return after->kind == TOKEN_WORD && after->flags & TOKEN_STOP &&
               !(before->flags & TOKEN_CAPITAL);
    }
    /* an initial: J. Smith; but "plan B. Then" has a function word next */
    if (before->folded.len == 1 && before->flags & TOKEN_CAPITAL &&
        before->folded.s[0] != 'i') {
        return after->flags & TOKEN_STOP;
    }
    /* "1. First" is a list item */
    if (before->kind == TOKEN_NUMBER && before->flags & TOKEN_BREAK) {
        return false;
    }
    /* "am 14. Februar" */
    if (before->kind == TOKEN_NUMBER && before->folded.len <= 2 &&
        date_is_month(after->folded)) {
        return false;
    }
    if (is_counted_noun(tokens, before, after)) {
        return false;
    }
    return opens_sentence(after);
}

/* The token whose end of sentence comes right before `next`, or SIZE_MAX. */
static size_t end_before(struct str text, const struct tokens *tokens,
                         size_t next)
{
    size_t i = next;

    while (i > 0 && is_closer(text, &tokens->items[i - 1])) {
        i--;
    }
    return i > 0 ? i - 1 : SIZE_MAX;
}

/* Closing quotes and brackets stay with the sentence they close. */
static bool still_closes(struct str text, const struct tokens *tokens, size_t i)
{
    return is_closer(text, &tokens->items[i]) ||
           (is_strong_end(text, &tokens->items[i]) &&
            !(tokens->items[i].flags & TOKEN_AFTER_SPACE));
}

static bool line_breaks(struct str text, const struct tokens *tokens, size_t i)
{
    const struct token *before = &tokens->items[i - 1];
    const struct token *token = &tokens->items[i];
    bool is_bullet = is_punct(token, "-*+|#") || token->kind == TOKEN_NUMBER ||
                     token->kind == TOKEN_SYMBOL;
    bool is_open = is_punct(before, ",(") ||
                   (before->kind == TOKEN_WORD && before->flags & TOKEN_STOP);

    if (token->flags & TOKEN_AFTER_BLANK || is_bullet ||
        first_char(text, token) == 0x2022) {
        return true;
    }
    /* a wrapped line goes on in lower case, or after a word that asks for more
     */
    return !(token->flags & TOKEN_LOWER_START) && !is_open;
}

/* Is there nothing before the mark that it could end: `"! LaTeX Error`, `(?)`?
 */
static bool ends_nothing(struct str text, const struct tokens *tokens,
                         size_t end)
{
    const struct token *mark = &tokens->items[end];
    const struct token *before = end > 0 ? mark - 1 : NULL;

    if (!before || mark->flags & TOKEN_BREAK) {
        return true;
    }
    if (before->kind != TOKEN_PUNCT || before->to != mark->from) {
        return false;
    }
    switch (first_char(text, before)) {
    case '"':
    case '\'':
        return before->flags & (TOKEN_AFTER_SPACE | TOKEN_BREAK);
    case '(':
    case '[':
    case 0x00ab:
    case 0x2018:
    case 0x201c:
    case 0x201e:
        return true;
    default:
        return false;
    }
}

/* Most tokens follow a word: decide those without looking further. */
static bool breaks_before(struct str text, const struct tokens *tokens,
                          size_t i)
{
    const struct token *token = &tokens->items[i];
    const struct token *before = &tokens->items[i - 1];
    size_t end;

    if ((token->flags ^ before->flags) & LINE_AREA) {
        return true;
    }
    if (token->flags & (TOKEN_IN_FENCE | TOKEN_PART)) {
        return false;
    }
    if (token->flags & TOKEN_AFTER_LINE && line_breaks(text, tokens, i)) {
        return true;
    }
    if (before->kind != TOKEN_PUNCT) {
        /* "in the U.S. They": the dot is part of the token */
        return before->kind == TOKEN_WORD && text.s[before->to - 1] == '.' &&
               token->flags & TOKEN_CAPITAL && token->flags & TOKEN_STOP &&
               token->flags & TOKEN_AFTER_SPACE;
    }
    if (still_closes(text, tokens, i)) {
        return false;
    }
    end = end_before(text, tokens, i);
    if (end == SIZE_MAX) {
        return false;
    }
    if (is_wide_end(text, &tokens->items[end])) {
        return true;
    }
    if (is_strong_end(text, &tokens->items[end])) {
        if (end + 1 < i && token->flags & TOKEN_LOWER_START) {
            return false; /* "why?" he asked */
        }
        if (ends_nothing(text, tokens, end)) {
            return false;
        }
        return token->flags & TOKEN_AFTER_SPACE ||
               token->flags & TOKEN_CAPITAL ||
               first_char(text, &tokens->items[end]) >= 0x80;
    }
    if (is_ellipsis(text, &tokens->items[end])) {
        return opens_sentence(token) && token->kind != TOKEN_PUNCT;
    }
    if (end + 1 < i && token->flags & TOKEN_LOWER_START) {
        return false; /* It said "no such file." and stopped */
    }
    return text.s[tokens->items[end].from] == '.' &&
           tokens->items[end].to - tokens->items[end].from == 1 &&
           (token->flags & TOKEN_AFTER_SPACE || token->flags & TOKEN_CAPITAL) &&
           full_stop_ends(tokens, end, i);
}

void sentence_mark(struct str text, struct tokens *tokens)
{
    bool wants_word = true;

    for (size_t i = 0; i < tokens->count; i++) {
        struct token *token = &tokens->items[i];

        if (i == 0 || breaks_before(text, tokens, i)) {
            token->flags |= TOKEN_BREAK;
            wants_word = true;
        }
        if (wants_word && token->kind != TOKEN_PUNCT &&
            !(token->kind == TOKEN_NUMBER && token->flags & TOKEN_BREAK &&
              i + 1 < tokens->count && is_punct(token + 1, ".)"))) {
            token->flags |= TOKEN_SENTENCE_START;
            wants_word = false;
        }
    }
}
