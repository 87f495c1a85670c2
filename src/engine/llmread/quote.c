/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.c - words in a text, found again. See quote.h.
 */
#include "engine/llmread/quote.h"

#include <ctype.h>
#include <string.h>

/* Words shorter than this stand anywhere ("of", "it"). */
#define LEAST_WORD 3
/* An ending that a word may have here and not there ("boiler's"). */
#define MAX_ENDING 2

/* A text without what copying loses, and where each byte of it stood. */
struct plain {
    char *s;
    uint32_t *at;
    size_t len;
};

/* What a mark of three bytes stands for; 0: itself. */
static char mark_of(const char *s, size_t len)
{
    static const struct {
        const char *bytes;
        char plain;
    } marks[] = {
        {"\xe2\x80\x98", '\''}, {"\xe2\x80\x99", '\''}, {"\xe2\x80\x9c", '"'},
        {"\xe2\x80\x9d", '"'},  {"\xe2\x80\x93", '-'},  {"\xe2\x80\x94", '-'},
        {"\xe2\x80\x91", '-'},
    };

    for (size_t i = 0; len >= 3 && i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (memcmp(s, marks[i].bytes, 3) == 0) {
            return marks[i].plain;
        }
    }
    return '\0';
}

static bool plain_of(struct arena *arena, struct str text, struct plain *out)
{
    bool is_gap = true; /* none at the beginning */

    out->s = arena_alloc(arena, text.len + 1);
    out->at = arena_zero(arena, text.len + 1, sizeof(*out->at));
    out->len = 0;
    if (!out->s || !out->at) {
        return false;
    }
    for (size_t i = 0; i < text.len;) {
        unsigned char c = (unsigned char)text.s[i];
        char mark = mark_of(text.s + i, text.len - i);
        bool is_nbsp = c == 0xc2 && i + 1 < text.len &&
                       (unsigned char)text.s[i + 1] == 0xa0;
        size_t step = mark ? 3 : is_nbsp ? 2 : 1;

        if (isspace(c) || is_nbsp) {
            if (!is_gap) {
                out->at[out->len] = (uint32_t)i;
                out->s[out->len++] = ' ';
            }
            is_gap = true;
        } else {
            out->at[out->len] = (uint32_t)i;
            out->s[out->len++] = mark ? mark : (char)tolower(c);
            is_gap = false;
        }
        i += step;
    }
    out->at[out->len] = (uint32_t)text.len;
    return true;
}

/* Marks around a quote are the quoter's. */
static struct str bare(struct str quote)
{
    while (quote.len > 0 &&
           (strchr("\"'. \n", quote.s[quote.len - 1]) != NULL)) {
        quote.len--;
    }
    while (quote.len > 0 && strchr("\"' \n", quote.s[0]) != NULL) {
        quote = str_sub(quote, 1, quote.len);
    }
    if (str_ends(quote, STR("\xe2\x80\xa6"))) {
        quote.len -= 3;
    }
    return str_trim(quote);
}

static bool is_inside_word(struct str text, size_t at)
{
    return at > 0 && at < text.len && isalnum((unsigned char)text.s[at - 1]) &&
           isalnum((unsigned char)text.s[at]);
}

enum clew_status quote_find(struct arena *arena, struct str text,
                            struct str quote, bool *out_found,
                            struct select_cite *out)
{
    struct plain whole;
    struct plain wanted;
    size_t at;

    *out_found = false;
    if (!plain_of(arena, text, &whole) ||
        !plain_of(arena, bare(quote), &wanted)) {
        return CLEW_NO_MEMORY;
    }
    while (wanted.len > 0 && wanted.s[wanted.len - 1] == ' ') {
        wanted.len--;
    }
    if (wanted.len == 0) {
        return CLEW_OK;
    }
    at = 0;
    do {
        struct str in = {whole.s, whole.len};
        struct str words = {wanted.s, wanted.len};

        at = str_find(in, words, at);
        if (at == SIZE_MAX) {
            return CLEW_OK;
        }
        out->from = whole.at[at];
        out->to = whole.at[at + wanted.len];
        at++;
    } while (is_inside_word(text, out->from) || is_inside_word(text, out->to));
    while (out->to > out->from && isspace((unsigned char)text.s[out->to - 1])) {
        out->to--;
    }
    /* a sentence that was quoted whole keeps its full stop */
    if (out->to < text.len && strchr(".!", text.s[out->to]) &&
        (out->to + 1 == text.len ||
         isspace((unsigned char)text.s[out->to + 1]))) {
        out->to++;
    }
    *out_found = true;
    return CLEW_OK;
}

bool quote_is_code(struct str text, size_t at)
{
    bool is_code = false;

    for (size_t i = str_find(text, STR("```"), 0); i < at && i != SIZE_MAX;
         i = str_find(text, STR("```"), i + 3)) {
        is_code = !is_code;
    }
    return is_code;
}

static bool is_word_byte(unsigned char c)
{
    return isalnum(c) || c >= 0x80;
}

/* The word as it is, or without an ending. */
static bool stands_in(struct str said, struct str word)
{
    bool is_number = isdigit((unsigned char)word.s[0]);

    for (size_t cut = 0; cut <= MAX_ENDING && word.len - cut >= LEAST_WORD;
         cut++) {
        struct str head = str_sub(word, 0, word.len - cut);
        size_t at = str_ifind(said, head, 0);

        while (at != SIZE_MAX) {
            size_t end = at + head.len;
            /* scripts without spaces have no such borders */
            bool is_start = at == 0 || !isalnum((unsigned char)said.s[at - 1]);
            bool is_end =
                end >= said.len || !isalnum((unsigned char)said.s[end]);

            if (is_start && (is_end || !is_number)) {
                return true;
            }
            at = str_ifind(said, head, at + 1);
        }
        if (is_number) {
            return false;
        }
    }
    return false;
}

bool quote_is_said(struct str said, struct str words)
{
    for (size_t i = 0; i < words.len;) {
        size_t from = i;

        while (i < words.len && is_word_byte((unsigned char)words.s[i])) {
            i++;
        }
        if (i - from >= LEAST_WORD ||
            (i > from && isdigit((unsigned char)words.s[from]))) {
            struct str word = str_sub(words, from, i);
            bool is_short = word.len < LEAST_WORD;

            if (is_short ? str_ifind(said, word, 0) == SIZE_MAX
                         : !stands_in(said, word)) {
                return false;
            }
        }
        i = i == from ? i + 1 : i;
    }
    return true;
}
