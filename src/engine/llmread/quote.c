/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.c - words in a text, found again. See quote.h.
 */
#include "engine/llmread/quote.h"

#include "base/buf.h"
#include "text/token.h"

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

/* The first place of `wanted` that cuts no word; false: there is none. */
static bool find_place(struct str text, const struct plain *whole,
                       const struct plain *wanted, struct select_cite *out)
{
    struct str in = {whole->s, whole->len};
    struct str words = {wanted->s, wanted->len};
    size_t at = 0;

    while (words.len > 0 && words.s[words.len - 1] == ' ') {
        words.len--;
    }
    if (words.len == 0) {
        return false;
    }
    do {
        at = str_find(in, words, at);
        if (at == SIZE_MAX) {
            return false;
        }
        out->from = whole->at[at];
        out->to = whole->at[at + words.len];
        at++;
    } while (is_inside_word(text, out->from) || is_inside_word(text, out->to));
    return true;
}

/* Marks that come in pairs; where both are the same, one closes the other. */
static const struct pair {
    const char *open;
    const char *close;
} pairs[] = {
    {"\"", "\""},
    {"(", ")"},
    {"\xe2\x80\x9c", "\xe2\x80\x9d"}, /* double, English */
    {"\xe2\x80\x9e", "\xe2\x80\x9c"}, /* … German */
    {"\xc2\xab", "\xc2\xbb"},         /* guillemets */
    {"\xe3\x80\x8c", "\xe3\x80\x8d"}, /* corner brackets */
};

static size_t count_of(struct str text, const char *mark)
{
    size_t n = 0;

    for (size_t at = str_find(text, str_of(mark), 0); at != SIZE_MAX;
         at = str_find(text, str_of(mark), at + 1)) {
        n++;
    }
    return n;
}

/* What the words open and the very next mark closes belongs to them. */
static void close_marks(struct str text, struct select_cite *cite)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct str words = str_sub(text, cite->from, cite->to);
        size_t n_open = count_of(words, pairs[i].open);
        bool is_open = strcmp(pairs[i].open, pairs[i].close) == 0
                           ? n_open % 2 == 1
                           : n_open > count_of(words, pairs[i].close);
        size_t stop = cite->to < text.len && strchr(".!?,", text.s[cite->to]);

        if (is_open) {
            struct str rest = str_sub(text, cite->to + stop, text.len);

            if (str_starts(rest, str_of(pairs[i].close))) {
                cite->to += (uint32_t)(stop + strlen(pairs[i].close));
            }
        }
    }
}

enum clew_status quote_find(struct arena *arena, struct str text,
                            struct str quote, bool *out_found,
                            struct select_cite *out)
{
    struct plain whole;
    struct plain as_given;
    struct plain wanted;

    *out_found = false;
    if (!plain_of(arena, text, &whole) ||
        !plain_of(arena, str_trim(quote), &as_given) ||
        !plain_of(arena, bare(quote), &wanted)) {
        return CLEW_NO_MEMORY;
    }
    /* marks that stand in the text are the speaker's, others the quoter's */
    if (wanted.len == 0 || (!find_place(text, &whole, &as_given, out) &&
                            !find_place(text, &whole, &wanted, out))) {
        return CLEW_OK;
    }
    while (out->to > out->from && isspace((unsigned char)text.s[out->to - 1])) {
        out->to--;
    }
    close_marks(text, out);
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

/* Bytes of what parts words here; 0: it is of a word. */
static size_t gap_at(struct str words, size_t at)
{
    /* dashes, quotation marks and dots; brackets and stops of Chinese and
     * Japanese; their wide comma, colon, question mark */
    static const char *const gaps[] = {"\xe2\x80", "\xe3\x80", "\xef\xbc\x8c",
                                       "\xef\xbc\x9a", "\xef\xbc\x9f"};
    struct str rest = str_sub(words, at, words.len);

    if (!is_word_byte((unsigned char)words.s[at])) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
        if (rest.len >= 3 && str_starts(rest, str_of(gaps[i]))) {
            return 3;
        }
    }
    return 0;
}

/* The next word of `words` from `*at` on; of no length: there is none. */
static struct str next_word(struct str words, size_t *at)
{
    size_t from = *at;

    while (from < words.len && gap_at(words, from) > 0) {
        from += gap_at(words, from);
    }
    *at = from;
    while (*at < words.len && gap_at(words, *at) == 0) {
        (*at)++;
    }
    return str_sub(words, from, *at);
}

static bool is_word_said(struct str said, struct str word)
{
    if (word.len < LEAST_WORD) {
        return !isdigit((unsigned char)word.s[0]) ||
               str_ifind(said, word, 0) != SIZE_MAX;
    }
    return stands_in(said, word);
}

bool quote_is_said(struct str said, struct str words)
{
    size_t at = 0;

    for (struct str word = next_word(words, &at); word.len > 0;
         word = next_word(words, &at)) {
        if (!is_word_said(said, word)) {
            return false;
        }
    }
    return true;
}

/* Words that are looked at, more are left out. */
#define MAX_WORDS 64

struct part {
    struct str word;
    bool is_small; /* says nothing by itself */
    bool is_said;
};

/* Is it a small word of its language? */
static bool is_small(const struct tokens *tokens, struct str words,
                     struct str word)
{
    uint32_t from = (uint32_t)(word.s - words.s);

    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *t = &tokens->items[i];

        if (t->from == from && !(t->flags & TOKEN_PART)) {
            return (t->flags & TOKEN_STOP) != 0;
        }
    }
    return word.len < LEAST_WORD && !isdigit((unsigned char)word.s[0]);
}

/* A small word that nobody said ("not", "instead") turns what comes after it:
 * that goes with it. */
static void drop_turned(struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = i + 1;

        if (parts[i].is_said || !parts[i].is_small) {
            continue;
        }
        while (k < count && parts[k].is_small) {
            k++;
        }
        if (k < count) {
            parts[k].is_said = false;
        }
    }
}

/* Small words go with the word they hung on: those before one that is left
 * out, and those after it. */
static void drop_small(struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].is_said || parts[i].is_small) {
            continue;
        }
        for (size_t k = i; k > 0 && parts[k - 1].is_small; k--) {
            parts[k - 1].is_said = false;
        }
        for (size_t k = i + 1; k < count && parts[k].is_small; k++) {
            parts[k].is_said = false;
        }
    }
}

enum clew_status quote_keep_said(struct arena *arena, struct str said,
                                 struct str words, struct str *out)
{
    struct part parts[MAX_WORDS];
    struct tokens tokens = {0};
    size_t count = 0;
    size_t at = 0;
    struct buf kept;
    const struct part *last = NULL;

    if (tokens_of(arena, words, &tokens) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    for (struct str word = next_word(words, &at);
         word.len > 0 && count < MAX_WORDS; word = next_word(words, &at)) {
        parts[count++] = (struct part){word, is_small(&tokens, words, word),
                                       is_word_said(said, word)};
    }
    drop_turned(parts, count);
    drop_small(parts, count);
    buf_init(&kept, words.len * 2 + 2);
    for (size_t i = 0; i < count; i++) {
        const struct part *p = &parts[i];

        if (!p->is_said) {
            continue;
        }
        if (last && last + 1 == p) { /* with what stood between them */
            const char *end = last->word.s + last->word.len;

            buf_append(&kept, end, (size_t)(p->word.s - end));
        } else if (last) {
            buf_append_cstr(&kept, ", ");
        }
        buf_append_str(&kept, p->word);
        last = p;
    }
    *out = buf_status(&kept) == CLEW_OK ? arena_str(arena, buf_str(&kept))
                                        : (struct str){NULL, 0};
    buf_release(&kept);
    return out->s ? CLEW_OK : CLEW_NO_MEMORY;
}

static bool is_telling(const struct token *token)
{
    return !(token->flags & (TOKEN_STOP | TOKEN_CHAT | TOKEN_PART)) &&
           token->kind != TOKEN_PUNCT && token->kind != TOKEN_SYMBOL;
}

enum clew_status quote_meet(struct arena *arena, struct str a, struct str b,
                            bool *out)
{
    struct tokens of_a = {0};
    struct tokens of_b = {0};

    *out = false;
    if (tokens_of(arena, a, &of_a) != CLEW_OK ||
        tokens_of(arena, b, &of_b) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < of_a.count && !*out; i++) {
        for (size_t k = 0; k < of_b.count && !*out; k++) {
            *out = is_telling(&of_a.items[i]) && is_telling(&of_b.items[k]) &&
                   str_eq(of_a.items[i].folded, of_b.items[k].folded);
        }
    }
    return CLEW_OK;
}
