/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.c - tokens to spoken words; phrases among them. See said.h.
 */
#include "talk/said.h"

#include <string.h>

static bool is_spoken(const struct token *token)
{
    return !(token->flags & TOKEN_PART) && token->kind != TOKEN_PUNCT &&
           token->kind != TOKEN_SYMBOL;
}

/* Without its apostrophes; s == NULL on OOM. */
static struct str plain(struct arena *arena, struct str word)
{
    char *copy;
    size_t len = 0;

    if (!word.len || !memchr(word.s, '\'', word.len)) {
        return word;
    }
    copy = arena_alloc(arena, word.len);
    for (size_t i = 0; copy && i < word.len; i++) {
        if (word.s[i] != '\'') {
            copy[len++] = word.s[i];
        }
    }
    return (struct str){copy, len};
}

/* Is this the tail of a contraction that was written apart: "what ' s"? */
static bool is_tail(const struct tokens *tokens, size_t i)
{
    static const char *const tails[] = {"s",  "t",  "re", "m",
                                        "ll", "ve", "d",  NULL};
    const struct token *mark;

    if (i < 2) {
        return false;
    }
    mark = &tokens->items[i - 1];
    if (mark->kind != TOKEN_PUNCT || mark->folded.len != 1 ||
        mark->folded.s[0] != '\'') {
        return false;
    }
    for (size_t k = 0; tails[k]; k++) {
        if (str_eq(tokens->items[i].folded, str_of(tails[k]))) {
            return true;
        }
    }
    return false;
}

static bool add_word(struct arena *arena, const struct analysis *analysis,
                     size_t token, size_t sentence, struct said *out)
{
    const struct tokens *tokens = &analysis->tokens;
    struct said_word *word = &out->words[out->count];

    if (out->count > 0 && is_tail(tokens, token)) {
        struct said_word *before = word - 1;

        before->text = str_of(
            arena_printf(arena, "%.*s%.*s", (int)before->text.len,
                         before->text.s, (int)tokens->items[token].folded.len,
                         tokens->items[token].folded.s));
        return before->text.s != NULL;
    }
    word->text = plain(arena, tokens->items[token].folded);
    word->token = (uint32_t)token;
    word->sentence = (uint32_t)sentence;
    out->count++;
    return word->text.s != NULL;
}

bool said_read(struct arena *arena, const struct analysis *analysis,
               size_t first, size_t end, struct said *out)
{
    const struct sentence *sentences = analysis->sentences;
    size_t from = sentences[first].span.first_token;
    size_t to = sentences[end - 1].span.end_token;

    size_t room = to - from < (size_t)2 * SAID_WINDOW ? to - from
                                                      : (size_t)2 * SAID_WINDOW;

    out->count = 0;
    out->words = arena_zero(arena, room + 1, sizeof(*out->words));
    if (!out->words) {
        return false;
    }
    for (size_t s = first; s < end; s++) {
        const struct span *span = &sentences[s].span;

        for (size_t i = span->first_token;
             !sentences[s].is_code && i < span->end_token; i++) {
            bool is_near = i < from + SAID_WINDOW || i + SAID_WINDOW >= to;

            if (is_near && is_spoken(&analysis->tokens.items[i]) &&
                !add_word(arena, analysis, i, s, out)) {
                return false;
            }
        }
    }
    return true;
}

/* Order a word against the first word of a phrase, by bytes. */
static int cmp_first(struct str word, const char *phrase)
{
    for (size_t i = 0; i < word.len; i++) {
        unsigned char a = (unsigned char)word.s[i];
        unsigned char b = (unsigned char)phrase[i];

        if (b == '\0' || b == ' ') {
            return 1;
        }
        if (a != b) {
            return a < b ? -1 : 1;
        }
    }
    return phrase[word.len] == '\0' || phrase[word.len] == ' ' ? 0 : -1;
}

size_t phrase_find(const struct phrase *table, size_t count, struct str word)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (cmp_first(word, table[mid].text) > 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

bool phrase_begins(const struct phrase *phrase, struct str word)
{
    return cmp_first(word, phrase->text) == 0;
}

size_t phrase_match(const struct phrase *phrase, const struct said *said,
                    size_t at)
{
    struct str rest = str_of(phrase->text);
    struct str part;
    size_t i = at;

    while (str_split(&rest, ' ', &part)) {
        if (i >= said->count ||
            said->words[i].sentence != said->words[at].sentence ||
            !(str_eq(part, STR("*")) || str_eq(said->words[i].text, part))) {
            return 0;
        }
        i++;
    }
    return i - at;
}

bool said_is_any(struct str word, const char *list)
{
    struct str rest = str_of(list);
    struct str part;

    while (str_split(&rest, ' ', &part)) {
        if (str_eq(word, part)) {
            return true;
        }
    }
    return false;
}
