/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_gist.c - candidates by what the reader made of turns.
 *
 * A gist says what a turn says in its talk, where its words alone may share
 * nothing with the question. They are few bytes each and lie side by side in
 * the order of their documents, so all that are in reach are compared.
 */
#include "recall/recall_best.h"

#include "model/reader.h"
#include "vec/vec.h"

/* Gists compared at a time. */
#define SCAN_ROWS 512u
/* Of two in whole steps. */
#define GIST_UNIT (1.0f / (READER_GIST_STEPS * (float)READER_GIST_STEPS))

static bool has_gists(const struct recall_query *query, const struct segment *s)
{
    return query->gist && s->head->n_gists > 0 &&
           s->head->gists == query->gists;
}

/* Compare the gists of `n` documents; `rows` follow each other. */
static void compare(const struct population *pop, const struct slice *slice,
                    const uint32_t *docs, const int8_t *rows, size_t n,
                    struct best *best)
{
    int32_t out[SCAN_ROWS];

    vec_ops()->scan_i8(pop->query->gist, rows, n, INDEX_GIST_DIM, out);
    for (size_t i = 0; i < n; i++) {
        float cosine = (float)out[i] * GIST_UNIT;

        if (best_wants(best, cosine, slice->segment, docs[i]) &&
            population_allows(pop, slice, docs[i])) {
            best_add(best, cosine, slice->base + docs[i] - slice->first);
        }
    }
}

static void scan_slice(const struct population *pop, const struct slice *slice,
                       struct best *best)
{
    const struct segment *s = slice->segment;
    uint32_t docs[SCAN_ROWS];
    const int8_t *first = NULL;
    size_t n = 0;

    for (uint32_t doc = slice->first; doc < slice->end; doc++) {
        const int8_t *gist = segment_gist_of(s, doc);

        if (!gist) {
            continue;
        }
        /* they lie in order; a damaged file may say otherwise */
        if (n == SCAN_ROWS || (n > 0 && gist != first + n * INDEX_GIST_DIM)) {
            compare(pop, slice, docs, first, n, best);
            n = 0;
        }
        first = n == 0 ? gist : first;
        docs[n++] = doc;
    }
    if (n > 0) {
        compare(pop, slice, docs, first, n, best);
    }
}

void recall_find_gists(const struct population *pop, struct best *best)
{
    for (size_t i = 0; i < pop->n_slices; i++) {
        if (has_gists(pop->query, pop->slices[i].segment)) {
            scan_slice(pop, &pop->slices[i], best);
        }
    }
}

float recall_gist_cosine(const struct recall_query *query,
                         const struct segment *s, uint32_t doc)
{
    const int8_t *gist = has_gists(query, s) ? segment_gist_of(s, doc) : NULL;

    return gist ? GIST_UNIT * (float)vec_ops()->dot_i8(query->gist, gist,
                                                       INDEX_GIST_DIM)
                : 0;
}
