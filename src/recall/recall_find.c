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
/* Of what was said at a time asked about the nearest so many, unless it is more
 * than this. */
#define N_IN_TIME 192u
#define MAX_IN_TIME 16384u

/* Mark the best by vectors, and set the cosines' moments. */
static enum clew_status find_by_vector(struct population *pop, size_t want,
                                       struct clew_error *err)
{
    struct best best;
    enum clew_status status = best_init(&best, pop, want, err);

    if (status == CLEW_OK) {
        status = recall_is_far(pop) ? recall_find_far(pop, &best, err)
                                    : recall_find_near(pop, &best, err);
    }
    if (status == CLEW_OK) {
        best_mark(&best, pop);
    }
    return status;
}

static enum clew_status find_by_gist(struct population *pop, size_t want,
                                     struct clew_error *err)
{
    struct best best;
    enum clew_status status = best_init(&best, pop, want, err);

    if (status == CLEW_OK) {
        recall_find_gists(pop, &best);
        best_mark(&best, pop);
    }
    return status;
}

/* Nothing to go by: the newest. */
static enum clew_status find_newest(struct population *pop, size_t want,
                                    struct clew_error *err)
{
    struct best best;
    enum clew_status status = best_init(&best, pop, want, err);

    for (size_t i = 0; i < pop->n_slices && status == CLEW_OK; i++) {
        const struct slice *slice = &pop->slices[i];

        for (uint32_t doc = slice->first; doc < slice->end; doc++) {
            float score = (float)slice->segment->times[doc];

            if (best_wants(&best, score, slice->segment, doc) &&
                population_allows(pop, slice, doc)) {
                best_add(&best, score, slice->base + doc - slice->first);
            }
        }
    }
    if (status == CLEW_OK) {
        best_mark(&best, pop);
    }
    return status;
}

/* Is it of a time asked about: said then, or, of what was drawn from talk,
 * about something then? */
static bool is_of_time(const struct population *pop, const struct segment *s,
                       uint32_t doc)
{
    const struct recall_query *query = pop->query;
    const struct index_range *dates = NULL;
    size_t n_dates =
        pop->kind == INDEX_TURN ? 0 : segment_dates(s, doc, &dates);

    for (size_t i = 0; i < query->n_ranges; i++) {
        const struct index_range *range = &query->ranges[i];

        if (s->times[doc] >= range->from_ms && s->times[doc] < range->to_ms) {
            return true;
        }
        for (size_t k = 0; k < n_dates; k++) {
            if (dates[k].from_ms < range->to_ms &&
                dates[k].to_ms > range->from_ms) {
                return true;
            }
        }
    }
    return false;
}

/* Call `best_add` for all of the time asked about; their number, at most
 * `limit` + 1. */
static size_t offer_in_time(struct population *pop, size_t limit,
                            struct best *best)
{
    size_t n = 0;

    for (size_t i = 0; i < pop->n_slices; i++) {
        const struct slice *slice = &pop->slices[i];
        const struct segment *s = slice->segment;
        bool has_vectors = pop->query->dim > 0 && !segment_is_bare(s);

        for (uint32_t doc = slice->first; doc < slice->end; doc++) {
            if (!is_of_time(pop, s, doc) ||
                !population_allows(pop, slice, doc)) {
                continue;
            }
            if (++n > limit) {
                return n;
            }
            if (best) {
                best_add(best,
                         has_vectors && s->forms[doc].scale > 0
                             ? recall_cosine(pop->query, s, doc)
                             : 0,
                         slice->base + doc - slice->first);
            }
        }
    }
    return n;
}

/* "What did I say two days ago?" holds no word of the answer, and little of its
 * meaning: what was said then is looked at whatever it says. Where that is very
 * much, a time alone finds nothing. */
static enum clew_status find_in_time(struct population *pop,
                                     struct clew_error *err)
{
    struct best best;
    enum clew_status status = CLEW_OK;

    if (pop->query->n_ranges == 0 ||
        offer_in_time(pop, MAX_IN_TIME, NULL) > MAX_IN_TIME) {
        return CLEW_OK;
    }
    status = best_init(&best, pop, N_IN_TIME, err);
    if (status == CLEW_OK) {
        (void)offer_in_time(pop, MAX_IN_TIME, &best);
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
    status = find_in_time(pop, err);
    if (status == CLEW_OK && pop->query->gist && pop->kind == INDEX_TURN) {
        status = find_by_gist(pop, n_vector, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (pop->n_terms > 0) {
        return recall_find_by_terms(pop, n_lexical, n_spread, err);
    }
    return pop->query->dim > 0 ? CLEW_OK : find_newest(pop, n_lexical, err);
}
