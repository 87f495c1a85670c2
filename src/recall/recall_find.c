/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_find.c - candidates: all of a few, or the best by vectors, by terms
 * and by time; without any of these the newest.
 */
#include "recall/recall_best.h"

/* So few documents are all scored. */
#define SCORE_ALL 1024u
/* Candidates by terms and by vectors, and the best by terms whose neighbours
 * become candidates: so many for each item wanted, and at least ... */
#define LEXICAL_EACH 4u
#define N_LEXICAL 128u
#define VECTOR_EACH 3u
#define N_VECTOR 96u
#define SPREAD_EACH 2u
#define N_SPREAD 32u

/* Mark the best by vectors, and set the cosines' moments. */
static enum clew_status find_by_vector(struct population *pop, size_t want,
                                       struct clew_error *err)
{
    struct best best;
    enum clew_status status = best_init(&best, pop->arena, want, err);

    if (status == CLEW_OK) {
        status = recall_is_far(pop) ? recall_find_far(pop, &best, err)
                                    : recall_find_near(pop, &best, err);
    }
    if (status == CLEW_OK) {
        best_mark(&best, pop);
    }
    return status;
}

/* Nothing to go by: the newest. */
static enum clew_status find_newest(struct population *pop, size_t want,
                                    struct clew_error *err)
{
    struct best best;
    enum clew_status status = best_init(&best, pop->arena, want, err);

    for (size_t i = 0; i < pop->n_slices && status == CLEW_OK; i++) {
        const struct slice *slice = &pop->slices[i];

        for (uint32_t doc = slice->first; doc < slice->end; doc++) {
            float score = (float)slice->segment->times[doc];

            if (score >= best.floor && population_allows(pop, slice, doc)) {
                best_add(&best, score, slice->base + doc - slice->first);
            }
        }
    }
    if (status == CLEW_OK) {
        best_mark(&best, pop);
    }
    return status;
}

static void mark_all(struct population *pop)
{
    for (size_t i = 0; i < pop->n_slices; i++) {
        const struct slice *slice = &pop->slices[i];

        for (uint32_t doc = slice->first; doc < slice->end; doc++) {
            if (population_allows(pop, slice, doc)) {
                mark_set(pop->candidates, slice->base + doc - slice->first);
            }
        }
    }
}

static size_t at_least(size_t count, size_t least)
{
    return count > least ? count : least;
}

enum clew_status recall_find(struct population *pop, size_t limit,
                             struct clew_error *err)
{
    size_t n_lexical = at_least(limit * LEXICAL_EACH, N_LEXICAL);
    size_t n_vector = at_least(limit * VECTOR_EACH, N_VECTOR);
    size_t n_spread = at_least(limit * SPREAD_EACH, N_SPREAD);
    enum clew_status status = CLEW_OK;

    if (pop->query->dim > 0) {
        status = find_by_vector(pop, n_vector, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (pop->n_live <= SCORE_ALL) {
        mark_all(pop);
        return CLEW_OK;
    }
    if (pop->n_terms > 0) {
        return recall_find_by_terms(pop, n_lexical, n_spread, err);
    }
    return pop->query->dim > 0 ? CLEW_OK : find_newest(pop, n_lexical, err);
}
