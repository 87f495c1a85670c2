/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots_loose.c - may a newer sentence concern the same as an older one?
 *
 * Both are told by the speaker, share rare words, and differ in a number, a
 * day or a month, or the newer says that something changed. Right about half
 * of the time, so it may only suggest.
 */
#include "engine/slots.h"

#include "engine/extract_internal.h"
#include "text/analysis.h"

#include <string.h>

/* Shared words it takes at least, however rare. */
#define MIN_SHARED 2

#define FIRST_PERSON "i i'm i've i'd i'll my me we we're we've our us mine"
#define CHANGE                                                                 \
    "now new changed switched moved since longer instead just anymore "        \
    "currently lately recently started stopped finally upgraded increased "    \
    "reduced updated"
#define DAYS                                                                   \
    "monday tuesday wednesday thursday friday saturday sunday january "        \
    "february march april june july august september october november "        \
    "december"

struct side {
    struct intent_pieces pieces;
    struct str *terms;
    size_t n_terms;
};

static bool has_any(const struct intent_pieces *pieces, const char *list)
{
    for (size_t i = 0; i < pieces->count; i++) {
        if (words_have(pieces->items[i].words, 0, pieces->items[i].n_words,
                       list)) {
            return true;
        }
    }
    return false;
}

static bool read_side(struct arena *arena, struct str text, struct side *out)
{
    struct tokens tokens;

    return intent_split(arena, text, &out->pieces) == CLEW_OK &&
           out->pieces.count > 0 &&
           tokens_of(arena, text, &tokens) == CLEW_OK &&
           terms_of(arena, &tokens, &out->terms, &out->n_terms) == CLEW_OK &&
           has_any(&out->pieces, FIRST_PERSON);
}

static bool holds(const struct side *side, struct str term)
{
    for (size_t i = 0; i < side->n_terms; i++) {
        if (str_eq(side->terms[i], term)) {
            return true;
        }
    }
    return false;
}

static bool is_value(const struct intent_word *word)
{
    return (word->s[0] >= '0' && word->s[0] <= '9') || word_any(word, DAYS);
}

/* A number or a day in one that the other does not have, both having some. */
static bool differs(const struct side *a, const struct side *b)
{
    size_t n_other = 0;
    bool is_new = false;

    for (size_t i = 0; i < b->pieces.count; i++) {
        for (size_t k = 0; k < b->pieces.items[i].n_words; k++) {
            n_other += is_value(&b->pieces.items[i].words[k]);
        }
    }
    for (size_t i = 0; i < a->pieces.count; i++) {
        for (size_t k = 0; k < a->pieces.items[i].n_words; k++) {
            const struct intent_word *word = &a->pieces.items[i].words[k];

            if (is_value(word) && !has_any(&b->pieces, word->s)) {
                is_new = true;
            }
        }
    }
    return is_new && n_other > 0;
}

bool slot_suggests(struct arena *arena, struct str older, struct str newer)
{
    struct side a;
    struct side b;
    double sum = 0;
    size_t n_shared = 0;

    if (!read_side(arena, older, &a) || !read_side(arena, newer, &b)) {
        return false;
    }
    for (size_t i = 0; i < b.n_terms; i++) {
        bool is_repeat = false;

        for (size_t k = 0; k < i && !is_repeat; k++) {
            is_repeat = str_eq(b.terms[k], b.terms[i]);
        }
        if (!is_repeat && holds(&a, b.terms[i])) {
            n_shared++;
            sum += (double)text_idf(b.terms[i]);
        }
    }
    return n_shared >= MIN_SHARED && sum >= SLOT_LOOSE_IDF &&
           (differs(&b, &a) || has_any(&b.pieces, CHANGE));
}
