/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_words.c - the words an effort is known by. See effort_words.h.
 */
#include "talk/effort_words.h"

#include <stdlib.h>
#include <string.h>

/* Of a turn before, this much is compared. */
#define COMPARE_BYTES 2000u
/* Shorter words say little. */
#define MIN_LETTERS 3

/* Words that name any trouble or work, so no effort in particular. */
static bool is_vague(struct str stem)
{
    static const char vague[][8] = {
        "bug",  "issu",   "problem", "error", "thing", "fix",   "debug", "help",
        "work", "tri",    "task",    "back",  "one",   "thank", "stuff", "let",
        "get",  "solv",   "happen",  "still", "now",   "look",  "want",  "need",
        "use",  "effort", "topic",   "go",    "make",  "do",    "ok",    "yes",
    };

    for (size_t i = 0;
         i < sizeof(vague) / sizeof(vague[0]) && stem.len < sizeof(vague[0]);
         i++) {
        /* a zero after as many bytes: it is no longer than the stem */
        if (stem.len > 0 && vague[i][0] == stem.s[0] &&
            vague[i][stem.len] == '\0' &&
            memcmp(vague[i], stem.s, stem.len) == 0) {
            return true;
        }
    }
    return stem.len < 2;
}

static bool is_telling(const struct token *token)
{
    struct str stem = token->stem;

    if ((token->flags & (TOKEN_STOP | TOKEN_CHAT)) || stem.len == 0) {
        return false;
    }
    switch ((enum token_kind)token->kind) {
    case TOKEN_WORD:
        return (stem.len >= MIN_LETTERS || (unsigned char)stem.s[0] >= 0x80 ||
                (token->flags & TOKEN_ALL_CAPS)) &&
               !is_vague(stem);
    case TOKEN_CODE:
    case TOKEN_NUMBER:
        return stem.len >= 2 && !is_vague(stem);
    case TOKEN_BIGRAM:
        return !(token->flags & TOKEN_PART);
    case TOKEN_SYMBOL:
    case TOKEN_PUNCT:
        return false;
    }
    return false;
}

static int by_bytes(const void *a, const void *b)
{
    const struct str *x = a;
    const struct str *y = b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->s, y->s, len);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

enum clew_status effort_words_in(struct arena *arena,
                                 const struct tokens *tokens,
                                 struct effort_words *out)
{
    struct str *stems =
        arena_alloc(arena, (tokens->count + 1) * sizeof(*stems));
    size_t n = 0;
    size_t kept = 0;

    if (!stems) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        if (is_telling(&tokens->items[i])) {
            stems[n++] = tokens->items[i].stem;
        }
    }
    qsort(stems, n, sizeof(*stems), by_bytes);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || !str_eq(stems[kept - 1], stems[i])) {
            stems[kept++] = stems[i];
        }
    }
    *out = (struct effort_words){stems, kept};
    return CLEW_OK;
}

enum clew_status effort_words_of(struct arena *arena, struct str text,
                                 struct effort_words *out)
{
    struct tokens tokens;
    enum clew_status status =
        tokens_of(arena, str_sub(text, 0, COMPARE_BYTES), &tokens);

    return status == CLEW_OK ? effort_words_in(arena, &tokens, out) : status;
}

size_t effort_words_shared(const struct effort_words *a,
                           const struct effort_words *b)
{
    size_t n = 0;
    size_t i = 0;
    size_t k = 0;

    while (i < a->count && k < b->count) {
        int order = by_bytes(&a->stems[i], &b->stems[k]);

        n += order == 0;
        i += order <= 0;
        k += order >= 0;
    }
    return n;
}

enum clew_status effort_words_meet(struct arena *arena, struct str a,
                                   struct str b, bool *out)
{
    struct effort_words of_a;
    struct effort_words of_b;
    enum clew_status status = effort_words_of(arena, a, &of_a);

    if (status == CLEW_OK) {
        status = effort_words_of(arena, b, &of_b);
    }
    *out = status == CLEW_OK && effort_words_shared(&of_a, &of_b) > 0;
    return status;
}
