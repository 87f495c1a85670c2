/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc.c - count a text's terms, add the speaker, take over the dates.
 */
#include "index/doc.h"

#include <stdlib.h>

/* In halves: a word said once, and the name of who speaks. */
#define TF_WORD 2u
#define TF_SPEAKER 3u
/* A document is its first so many terms: nobody is found by the end of a
 * book, and one turn must not outweigh a whole index. */
#define MAX_TERMS 65536u
/* About thirty words: a shorter text speaks of one thing. */
#define HALVES_FROM_BYTES 160u
#define FEW_TERMS 64u

static int compare_terms(const void *a, const void *b)
{
    const struct index_term *x = a;
    const struct index_term *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* A turn has few terms: in place, without a call for each comparison. */
static void sort_few(struct index_term *terms, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct index_term term = terms[i];
        size_t k = i;

        for (; k > 0 && terms[k - 1].hash > term.hash; k--) {
            terms[k] = terms[k - 1];
        }
        terms[k] = term;
    }
}

/* Sort by hash and add up equal ones; how many are left. */
static size_t fold_terms(struct index_term *terms, size_t count)
{
    size_t n = 0;

    if (count <= FEW_TERMS) {
        sort_few(terms, count);
    } else {
        qsort(terms, count, sizeof(*terms), compare_terms);
    }
    for (size_t i = 0; i < count; i++) {
        if (n > 0 && terms[n - 1].hash == terms[i].hash) {
            terms[n - 1].tf2 += terms[i].tf2;
        } else {
            terms[n++] = terms[i];
        }
    }
    return n;
}

static enum clew_status speaker_terms(struct arena *arena, struct str speaker,
                                      struct str **out, size_t *out_count)
{
    struct tokens tokens;
    enum clew_status status = tokens_of(arena, speaker, &tokens);

    return status == CLEW_OK ? terms_of(arena, &tokens, out, out_count)
                             : status;
}

static enum clew_status add_dates(struct arena *arena,
                                  const struct analysis *analysis,
                                  struct index_doc *out)
{
    size_t n = analysis->n_dates < INDEX_MAX_RANGES ? analysis->n_dates
                                                    : INDEX_MAX_RANGES;
    struct index_range *dates = arena_zero(arena, n + 1, sizeof(*dates));

    if (!dates) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        dates[i].from_ms = analysis->dates[i].from_ms;
        dates[i].to_ms = analysis->dates[i].to_ms;
    }
    out->dates = dates;
    out->n_dates = n;
    return CLEW_OK;
}

/* What an answer may consist of. Dates have a column of their own. */
static uint32_t flag_of(enum entity_kind kind)
{
    switch (kind) {
    case ENTITY_DATE:
        return 0;
    case ENTITY_AMOUNT:
    case ENTITY_NUMBER:
        return INDEX_NUMBERS;
    case ENTITY_PERSON:
    case ENTITY_PLACE:
    case ENTITY_ORGANISATION:
    case ENTITY_PRODUCT:
    case ENTITY_PROJECT:
    case ENTITY_FILE:
    case ENTITY_URL:
    case ENTITY_EMAIL:
    case ENTITY_NAME:
        return INDEX_NAMES;
    }
    return 0;
}

static uint32_t flags_of(const struct analysis *analysis, struct str speaker,
                         size_t n_words)
{
    uint32_t flags = n_words == 0 ? INDEX_NO_CONTENT : 0;

    flags |= speaker.len > 0 ? INDEX_NAMED : 0;
    for (size_t i = 0; i < analysis->n_entities; i++) {
        flags |= flag_of(analysis->entities[i].kind);
    }
    for (size_t i = 0; i < analysis->n_sentences; i++) {
        if (analysis->sentences[i].is_question) {
            flags |= INDEX_QUESTION;
        }
    }
    return flags;
}

enum clew_status doc_fill(struct arena *arena, const struct analysis *analysis,
                          struct str speaker, struct index_doc *out,
                          struct clew_error *err)
{
    struct str *words = NULL;
    struct str *names = NULL;
    size_t n_words = 0;
    size_t n_names = 0;
    struct index_term *terms;
    enum clew_status status =
        terms_of(arena, &analysis->tokens, &words, &n_words);

    if (status == CLEW_OK && speaker.len > 0) {
        status = speaker_terms(arena, speaker, &names, &n_names);
    }
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not index a text");
    }
    n_words = n_words < MAX_TERMS ? n_words : MAX_TERMS;
    terms = arena_zero(arena, n_words + n_names + 1, sizeof(*terms));
    if (!terms || add_dates(arena, analysis, out) != CLEW_OK) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not index a text");
    }
    for (size_t i = 0; i < n_words; i++) {
        terms[i].hash = index_term_hash(words[i]);
        terms[i].tf2 = TF_WORD;
    }
    for (size_t i = 0; i < n_names; i++) {
        terms[n_words + i].hash = index_term_hash(names[i]);
        terms[n_words + i].tf2 = TF_SPEAKER;
    }
    out->speaker = n_names ? terms[n_words].hash : 0;
    out->n_terms = fold_terms(terms, n_words + n_names);
    out->terms = terms;
    out->length = (uint32_t)n_words;
    out->flags |= flags_of(analysis, speaker, n_words);
    return CLEW_OK;
}

size_t doc_middle(const struct analysis *analysis, struct str speaker)
{
    size_t middle = analysis->text.len / 2;
    size_t best = 0;
    size_t best_off = middle;

    if (speaker.len > 0 || analysis->text.len < HALVES_FROM_BYTES) {
        return 0;
    }
    for (size_t i = 1; i < analysis->n_sentences; i++) {
        size_t from = analysis->sentences[i].span.from;
        size_t off = from > middle ? from - middle : middle - from;

        if (off < best_off) {
            best = from;
            best_off = off;
        }
    }
    return best;
}
