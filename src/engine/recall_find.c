/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_find.c - candidates: by terms, by vectors, by time.
 *
 * Vectors are compared by their sign bits when there are many, and in full for
 * the best of those. Terms and time are in recall_terms.c.
 */
#include "engine/recall_best.h"

#include "vec/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
/* What the sign bits let through to the int8 comparison. */
#define N_SHORTLIST 512u
/* Above this many documents the sign bits find a shortlist first. */
#define FULL_SCAN 4096u
#define SCAN_ROWS 1024u
/* Scores that are passed over together if none is good enough. */
#define GROUP 16
/* Documents whose cosines give the mean when not all are computed. */
#define N_SAMPLE 256u

/* Mean and deviation of the cosines, from sums over live documents. */
struct moments {
    double sum;
    double squares;
    size_t count;
};

static void set_moments(struct population *pop, const struct moments *m,
                        double factor)
{
    double n = m->count ? (double)m->count : 1;
    double mean = m->sum / n;
    double variance = m->squares / n - mean * mean;

    pop->cosine_mean = (float)(mean * factor);
    pop->cosine_std = (float)(sqrt(variance > 0 ? variance : 0) * factor);
    pop->cosine_std = pop->cosine_std < 0.02f ? 0.02f : pop->cosine_std;
}

/* `values` has room up to a whole group. */
static void add_moments(struct moments *m, int32_t *values, size_t n)
{
    int64_t sum = 0;
    int64_t squares = 0;

    memset(values + n, 0, GROUP * sizeof(*values));
    for (size_t i = 0; i < n; i += GROUP) {
        for (int k = 0; k < GROUP; k++) {
            sum += values[i + (size_t)k];
            squares += (int64_t)values[i + (size_t)k] * values[i + (size_t)k];
        }
    }
    m->sum += (double)sum;
    m->squares += (double)squares;
    m->count += n;
}

static bool is_any_over(const int32_t *values, float floor)
{
    /* values are whole and far from the ends of their type */
    int32_t least = floor > -1e9f ? (int32_t)floor : INT32_MIN;
    int any = 0;

    for (int i = 0; i < GROUP; i++) {
        any |= values[i] > least;
    }
    return any;
}

static void scan_bits(const struct population *pop, const struct slice *slice,
                      struct best *best, struct moments *m)
{
    const struct recall_query *query = pop->query;
    const struct segment *s = slice->segment;
    size_t words = VEC_BIT_BYTES(query->dim) / 8;
    int32_t out[SCAN_ROWS + GROUP];

    for (uint32_t at = slice->first; at < slice->end; at += SCAN_ROWS) {
        uint32_t n = slice->end - at < SCAN_ROWS ? slice->end - at : SCAN_ROWS;

        vec_ops()->scan_bits(query->planes, s->bits + at * words, n, words,
                             out);
        add_moments(m, out, n);
        memset(out + n, 0x80, GROUP * sizeof(*out)); /* below any floor */
        for (uint32_t i = 0; i < n; i++) {
            if (i % GROUP == 0 && !is_any_over(out + i, best->floor)) {
                i += GROUP - 1;
                continue;
            }
            if ((float)out[i] > best->floor && s->scales[at + i] > 0 &&
                population_allows(pop, slice, at + i)) {
                best_add(best, (float)out[i],
                         slice->base + at - slice->first + i);
            }
        }
    }
}

static void scan_full(const struct population *pop, const struct slice *slice,
                      struct best *best, struct moments *m)
{
    const struct recall_query *query = pop->query;
    const struct segment *s = slice->segment;
    int32_t out[SCAN_ROWS];

    for (uint32_t at = slice->first; at < slice->end; at += SCAN_ROWS) {
        uint32_t n = slice->end - at < SCAN_ROWS ? slice->end - at : SCAN_ROWS;

        vec_ops()->scan_i8(query->vector, s->vectors + at * query->dim, n,
                           query->dim, out);
        for (uint32_t i = 0; i < n; i++) {
            float cosine = (float)out[i] * s->scales[at + i] * query->scale;

            if (s->scales[at + i] <= 0 || segment_is_removed(s, at + i)) {
                continue;
            }
            m->sum += (double)cosine;
            m->squares += (double)cosine * (double)cosine;
            m->count++;
            if (cosine > best->floor && population_allows(pop, slice, at + i)) {
                best_add(best, cosine, slice->base + at - slice->first + i);
            }
        }
    }
}

/*
 * What a sign-bit score is in cosine: the signs of a random unit vector are
 * worth sqrt(pi / 2 dim) each, and a set bit adds twice.
 */
static double bit_factor(const struct recall_query *query)
{
    double squares = 0;
    int max = 1;

    for (size_t i = 0; i < query->dim; i++) {
        int value = abs(query->vector[i]);

        squares += (double)value * value;
        max = value > max ? value : max;
    }
    return squares > 0 ? 2 * sqrt(M_PI / (2 * (double)query->dim)) * max /
                             (7 * sqrt(squares))
                       : 0;
}

/* The mean cosine of some documents: a shift equal for all of a kind. */
static float sample_mean(const struct population *pop)
{
    const struct recall_query *query = pop->query;
    float sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < N_SAMPLE; i++) {
        size_t position = pop->size / N_SAMPLE * i;
        const struct slice *slice =
            &pop->slices[population_slice_of(pop, position)];
        size_t doc = slice->first + (position - slice->base);
        const struct segment *s = slice->segment;

        if (s->scales[doc] > 0) {
            sum += (float)vec_ops()->dot_i8(query->vector,
                                            s->vectors + doc * query->dim,
                                            query->dim) *
                   s->scales[doc] * query->scale;
            n++;
        }
    }
    return n ? sum / (float)n : 0;
}

/* The cosines of a shortlist; the best of them. */
static void rerank(const struct population *pop, const struct best *shortlist,
                   struct best *best)
{
    const struct recall_query *query = pop->query;

    for (size_t i = 0; i < shortlist->count; i++) {
        size_t position = position_of_key(shortlist->keys[i]);
        const struct slice *slice =
            &pop->slices[population_slice_of(pop, position)];
        size_t doc = slice->first + (position - slice->base);
        const struct segment *s = slice->segment;
        float cosine = (float)vec_ops()->dot_i8(query->vector,
                                                s->vectors + doc * query->dim,
                                                query->dim) *
                       s->scales[doc];

        if (cosine > best->floor) {
            best_add(best, cosine, position);
        }
    }
}

static enum clew_status find_by_vector(struct population *pop, size_t want,
                                       struct clew_error *err)
{
    size_t n_shortlist = want > N_SHORTLIST / 2 ? want * 2 : N_SHORTLIST;
    struct moments m = {0};
    struct best shortlist;
    struct best best;
    enum clew_status status = best_init(&best, pop->arena, want, err);
    bool is_full = pop->n_live <= FULL_SCAN;

    if (status == CLEW_OK) {
        status = best_init(&shortlist, pop->arena, n_shortlist, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = 0; i < pop->n_slices; i++) {
        if (is_full) {
            scan_full(pop, &pop->slices[i], &best, &m);
        } else {
            scan_bits(pop, &pop->slices[i], &shortlist, &m);
        }
    }
    set_moments(pop, &m, is_full ? 1 : bit_factor(pop->query));
    if (!is_full) {
        pop->cosine_mean = sample_mean(pop);
        best_cut(&shortlist);
        rerank(pop, &shortlist, &best);
    }
    best_mark(&best, pop);
    return CLEW_OK;
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
