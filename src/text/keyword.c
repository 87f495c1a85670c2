/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyword.c - the telling words of a text, by rarity. See analysis.h.
 */
#include "text/analysis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words shorter than this say little. */
#define MIN_LETTERS 3
/* A pair of Han characters is not in the background: rare, but not that rare.
 */
#define BIGRAM_IDF 6.0f

struct slot {
    uint64_t hash;
    uint32_t index; /* of the keyword, plus one; 0 = free */
};

struct scored {
    float score;
    uint32_t index;
};

float text_idf(struct str stem)
{
    struct lex_word word;

    if (!lexicon_find(stem, str_hash(stem), &word)) {
        return lexicon_max_idf();
    }
    return word.stem_idf;
}

static bool is_candidate(const struct token *token)
{
    if (token->flags & (TOKEN_STOP | TOKEN_CHAT)) {
        return false;
    }
    if (token->kind == TOKEN_BIGRAM) {
        return !(token->flags & TOKEN_PART);
    }
    if (token->kind == TOKEN_CODE) {
        return token->folded.len >= 2;
    }
    return token->kind == TOKEN_WORD &&
           (token->stem.len >= MIN_LETTERS ||
            (unsigned char)token->stem.s[0] >= 0x80 ||
            (token->flags & TOKEN_ALL_CAPS && token->stem.len >= 2));
}

static void fill(const struct token *token, struct keyword *keyword)
{
    struct lex_word word;

    keyword->stem = token->stem;
    keyword->word = token->folded;
    keyword->count = 1;
    keyword->is_noun = true;
    keyword->idf = lexicon_max_idf();
    if (token->kind == TOKEN_BIGRAM) {
        keyword->idf = BIGRAM_IDF;
    } else if (token->kind == TOKEN_WORD && token_lookup(token, &word)) {
        keyword->idf = word.idf;
        keyword->is_noun = !(word.flags & LEX_TAGGED) || word.noun >= 128;
    }
}

static void add(struct analysis *analysis, struct slot *slots, size_t mask,
                const struct token *token)
{
    uint64_t hash = str_hash(token->stem);
    size_t i = hash & mask;

    for (; slots[i].index; i = (i + 1) & mask) {
        struct keyword *keyword = &analysis->keywords[slots[i].index - 1];

        if (slots[i].hash == hash && str_eq(keyword->stem, token->stem)) {
            if (keyword->count < UINT16_MAX) {
                keyword->count++;
            }
            return;
        }
    }
    fill(token, &analysis->keywords[analysis->n_keywords++]);
    slots[i] = (struct slot){hash, (uint32_t)analysis->n_keywords};
}

static int by_score(const void *a, const void *b)
{
    const struct scored *x = a;
    const struct scored *y = b;

    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool sort_keywords(struct arena *arena, struct analysis *analysis)
{
    size_t n = analysis->n_keywords;
    struct scored *order = arena_alloc(arena, (n + 1) * sizeof(*order));
    struct keyword *sorted = arena_alloc(arena, (n + 1) * sizeof(*sorted));

    if (!order || !sorted) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct keyword *keyword = &analysis->keywords[i];
        float times =
            keyword->count == 1 ? 1.0f : 1.0f + logf((float)keyword->count);

        order[i] = (struct scored){times * keyword->idf, (uint32_t)i};
    }
    qsort(order, n, sizeof(*order), by_score);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = analysis->keywords[order[i].index];
    }
    analysis->keywords = sorted;
    return true;
}

bool keywords_of(struct arena *arena, struct analysis *analysis)
{
    const struct tokens *tokens = &analysis->tokens;
    size_t n = 0;
    size_t size = 16;
    struct slot *slots;

    for (size_t i = 0; i < tokens->count; i++) {
        n += is_candidate(&tokens->items[i]);
    }
    while (size < 2 * n) {
        size *= 2;
    }
    slots = arena_zero(arena, size, sizeof(*slots));
    analysis->keywords =
        arena_alloc(arena, (n + 1) * sizeof(*analysis->keywords));
    if (!slots || !analysis->keywords) {
        return false;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        if (is_candidate(&tokens->items[i])) {
            add(analysis, slots, size - 1, &tokens->items[i]);
        }
    }
    return sort_keywords(arena, analysis);
}
