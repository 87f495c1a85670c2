/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smalltalk.c - texts of nothing but words of a table. See smalltalk.h.
 *
 * A text is small talk if every word of it is in smalltalk_words.c, which holds
 * words that together cannot name a matter: with one other word it is content.
 */
#include "text/smalltalk.h"

#include "base/utf8.h"
#include "text/chars.h"
#include "text/smalltalk_words.h"

#include <ctype.h>
#include <string.h>
#include <utf8proc.h>

/* Longer texts are about something. */
#define MAX_WORDS 14
#define MAX_WORD_BYTES 32

/* A word of a text, or a run of a script that puts none apart. */
struct said_word {
    size_t from;
    size_t to;
    bool is_run;
    bool is_odd; /* a digit, an amount, too long: content */
    size_t len;  /* of `lower`; of words alone */
    char lower[MAX_WORD_BYTES];
};

static bool is_run_class(enum char_class class)
{
    return class == CHAR_HAN || class == CHAR_SEA || class == CHAR_HANGUL;
}

/* ㅋㅋ, ㅠㅠ: letters by themselves, in a run like what they are made into. */
static enum char_class class_at(struct str text, size_t at, uint32_t *out_c,
                                uint32_t *out_len)
{
    enum char_class class = char_at(text, at, out_c, out_len);

    return *out_c >= 0x3131 && *out_c <= 0x318e ? CHAR_HANGUL : class;
}

static bool is_word_class(enum char_class class)
{
    return char_is_word(class) || class == CHAR_CURRENCY || is_run_class(class);
}

static void add_lower(struct said_word *word, uint32_t c)
{
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n =
        utf8proc_encode_char(utf8proc_tolower((utf8proc_int32_t)c), bytes);

    if (word->len + (size_t)n > MAX_WORD_BYTES) {
        word->is_odd = true;
        return;
    }
    memcpy(word->lower + word->len, bytes, (size_t)n);
    word->len += (size_t)n;
}

/* The next word from `*at`; false at the end. */
static bool next_word(struct str text, size_t *at, struct said_word *out)
{
    enum char_class class = CHAR_SPACE;
    uint32_t c = 0;
    uint32_t len = 0;

    while (*at < text.len) {
        class = class_at(text, *at, &c, &len);
        if (is_word_class(class)) {
            break;
        }
        *at += len;
    }
    *out = (struct said_word){.from = *at, .is_run = is_run_class(class)};
    while (*at < text.len) {
        class = class_at(text, *at, &c, &len);
        if (!is_word_class(class) || is_run_class(class) != out->is_run) {
            break;
        }
        out->is_odd |= class == CHAR_DIGIT || class == CHAR_CURRENCY;
        if (!out->is_run && !out->is_odd) {
            add_lower(out, c);
        }
        *at += len;
    }
    out->to = *at;
    return out->to > out->from;
}

static bool is_apostrophe_at(struct str text, size_t at)
{
    uint32_t len;

    return at < text.len && char_is_apostrophe(char_decode(text, at, &len));
}

/* "I'm", "let's", "you're", "d'accord": what follows an apostrophe, and a
 * letter before one, is no word. */
static bool is_ending(struct str text, const struct said_word *word)
{
    static const char *const endings[] = {"d", "ll", "m", "re", "s", "t", "ve"};
    size_t from = word->from;

    if (word->len == 1 && is_apostrophe_at(text, word->to)) {
        return true;
    }
    if (from == 0 || !(text.s[from - 1] == '\'' ||
                       (from >= 3 && is_apostrophe_at(text, from - 3)))) {
        return false;
    }
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (str_eq((struct str){word->lower, word->len}, str_of(endings[i]))) {
            return true;
        }
    }
    return false;
}

static enum smalltalk_word kind_of(struct str text,
                                   const struct said_word *word)
{
    if (word->is_odd) {
        return SMALLTALK_NONE;
    }
    if (word->is_run) {
        return smalltalk_run(str_sub(text, word->from, word->to));
    }
    if (is_ending(text, word)) {
        return SMALLTALK_FILLER;
    }
    return smalltalk_word((struct str){word->lower, word->len});
}

bool smalltalk_is(struct str text)
{
    struct said_word word;
    size_t at = 0;
    size_t n = 0;

    while (next_word(text, &at, &word)) {
        if (++n > MAX_WORDS || kind_of(text, &word) == SMALLTALK_NONE) {
            return false;
        }
    }
    return true;
}

/* Does a character part what is said? Bytes of it, or 0. */
static size_t mark_at(struct str text, size_t at)
{
    uint32_t len;

    switch (char_decode(text, at, &len)) {
    case ',':
    case '.':
    case '!':
    case '?':
    case ';':
    case 0x2026: /* … */
    case 0x3001: /* 、 */
    case 0x3002: /* 。 */
    case 0xff01: /* ！ */
    case 0xff0c: /* ， */
    case 0xff1b: /* ； */
    case 0xff1f: /* ？ */
        return len;
    default:
        return 0;
    }
}

/* Past the stretch that ends at a mark; the whole text if none comes. */
static size_t stretch_end(struct str text, size_t from)
{
    while (from < text.len && text.s[from] != '\n' && !mark_at(text, from)) {
        from++;
    }
    while (from < text.len &&
           (mark_at(text, from) || isspace((unsigned char)text.s[from]))) {
        from += mark_at(text, from) ? mark_at(text, from) : 1;
    }
    return from;
}

/* "Hi Marta," and "Dear all": a greeting with a name, up to its mark. */
static bool is_address(struct str stretch)
{
    static const char *const greetings[] = {"bonjour", "dear", "hallo", "hello",
                                            "hey",     "hi",   "hola"};
    struct said_word word;
    size_t at = 0;
    size_t n = 0;
    bool is_greeting = false;

    if (!next_word(stretch, &at, &word)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(greetings) / sizeof(greetings[0]); i++) {
        is_greeting |=
            str_eq((struct str){word.lower, word.len}, str_of(greetings[i]));
    }
    while (is_greeting && next_word(stretch, &at, &word)) {
        n++;
    }
    return is_greeting && n <= 2 && memchr(stretch.s, ',', stretch.len) != NULL;
}

/* What is quoted is none of the speaker's courtesies: cut, it would keep its
 * closing mark alone. */
static bool opens_quote(struct str text)
{
    size_t at = 0;
    uint32_t len;

    while (at < text.len && isspace((unsigned char)text.s[at])) {
        at++;
    }
    if (at == text.len) {
        return false;
    }
    switch (char_decode(text, at, &len)) {
    case '"':
    case 0x00ab: /* « */
    case 0x00bb: /* » */
    case 0x201c: /* “ */
    case 0x201e: /* „ */
    case 0x300c: /* 「 */
        return true;
    default:
        return false;
    }
}

/* "Good, that you came" in German: "dass du kommst" is no sentence alone. */
static bool is_dependent(struct str text, size_t from)
{
    struct said_word word;
    struct str said;

    if (!next_word(text, &from, &word) || word.is_run) {
        return false;
    }
    said = (struct str){word.lower, word.len};
    return str_eq(said, STR("dass")) || str_eq(said, STR("daß"));
}

size_t smalltalk_skip(struct str text)
{
    size_t from = 0;

    if (opens_quote(text)) {
        return 0;
    }
    for (;;) {
        struct said_word word;
        size_t at = from;
        size_t end;

        if (!next_word(text, &at, &word)) {
            return text.len;
        }
        end = stretch_end(text, from);
        if (is_address(str_sub(text, from, end))) {
            from = end;
            continue;
        }
        if (!smalltalk_is(str_sub(text, from, end))) {
            return from;
        }
        /* "can you" before a comma may belong to what follows */
        if (end < text.len && (kind_of(text, &word) != SMALLTALK_OPENER ||
                               is_dependent(text, end))) {
            return from;
        }
        from = end;
    }
}

bool smalltalk_is_caption(struct str text)
{
    struct str line = str_trim(text);

    if (line.len == 0) {
        return true;
    }
    if (line.s[0] == '#' || line.s[0] == '|' || str_starts(line, STR("---")) ||
        str_starts(line, STR("```"))) {
        return true;
    }
    if (line.len > 4 && str_starts(line, STR("**")) &&
        str_ends(line, STR("**"))) {
        return true;
    }
    return line.s[line.len - 1] == ':';
}
