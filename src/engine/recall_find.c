/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_find.c - candidates: by terms, by vectors, by time.
 *
 * Terms are taken rarest first and added up per document, until as many
 * postings have been read as can matter; what is left (the common terms) only
 * tells candidates apart and is looked up for them alone. Vectors are compared
 * by their sign bits when there are many, and in full for the best of those.
 * A document whose neighbours match is a candidate too.
 */
#include "engine/recall_internal.h"

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
/* Candidates by time, if a date is asked about. */
#define N_TIME 192u
/* What the sign bits let through to the int8 comparison. */
#define N_SHORTLIST 512u
/* Postings read before common terms are left to the candidates. */
#define POSTINGS_BUDGET 400000u
/* Above this many documents the sign bits find a shortlist first. */
#define FULL_SCAN 4096u
#define SCAN_ROWS 1024u
/* Documents whose cosines give the mean when not all are computed. */
#define N_SAMPLE 256u

static enum clew_status out_of_memory(struct clew_error *err)
{
    return clew_fail(err, CLEW_NO_MEMORY, "could not search");
}

/*
 * The best `want` of a stream: twice that is kept, then cut back. A key is the
 * score and, for equal scores, the lower position: the larger is the better.
 */
struct best {
    uint64_t *keys;
    size_t count;
    size_t want;
    float floor; /* not above this: not among the best */
};

/* Floats in the order of their bits, negative ones below. */
static inline uint64_t key_of(float score, size_t position)
{
    uint32_t bits;

    memcpy(&bits, &score, sizeof(bits));
    bits = bits >> 31 ? ~bits : bits | 0x80000000u;
    return (uint64_t)bits << 32 | (uint32_t) ~(uint32_t)position;
}

static inline float score_of_key(uint64_t key)
{
    uint32_t bits = (uint32_t)(key >> 32);
    float score;

    bits = bits >> 31 ? bits & 0x7fffffffu : ~bits;
    memcpy(&score, &bits, sizeof(score));
    return score;
}

static inline size_t position_of_key(uint64_t key)
{
    return (uint32_t) ~(uint32_t)key;
}

static enum clew_status best_init(struct best *best, struct arena *arena,
                                  size_t want, struct clew_error *err)
{
    best->keys = arena_alloc(arena, want * 2 * sizeof(*best->keys));
    best->count = 0;
    best->want = want;
    best->floor = -INFINITY;
    return best->keys ? CLEW_OK : out_of_memory(err);
}

/* Move the best `want` to the front (quickselect). */
static void select_best(uint64_t *a, ptrdiff_t count, ptrdiff_t want)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = count - 1;

    while (low < high) {
        uint64_t pivot = a[low + (high - low) / 2];
        ptrdiff_t i = low;
        ptrdiff_t j = high;

        while (i <= j) {
            while (a[i] > pivot) {
                i++;
            }
            while (a[j] < pivot) {
                j--;
            }
            if (i <= j) {
                uint64_t swap = a[i];

                a[i++] = a[j];
                a[j--] = swap;
            }
        }
        if (want <= j) {
            high = j;
        } else if (want >= i) {
            low = i;
        } else {
            return;
        }
    }
}

static void best_cut(struct best *best)
{
    uint64_t least = UINT64_MAX;

    if (best->count <= best->want) {
        return;
    }
    select_best(best->keys, (ptrdiff_t)best->count, (ptrdiff_t)best->want);
    best->count = best->want;
    for (size_t i = 0; i < best->count; i++) {
        least = best->keys[i] < least ? best->keys[i] : least;
    }
    best->floor = score_of_key(least);
}

static inline void best_add(struct best *best, float score, size_t position)
{
    best->keys[best->count++] = key_of(score, position);
    if (best->count == best->want * 2) {
        best_cut(best);
    }
}

/* Add one term's weight to the documents of one slice. */
static size_t add_postings(const struct population *pop, size_t slice,
                           const struct recall_term *term, float *scores)
{
    const struct slice *reach = &pop->slices[slice];
    const struct postings *list = &term->lists[slice];
    const uint8_t *lengths = reach->segment->lengths;
    float *out = scores + reach->base;
    struct postings_block block;
    size_t n = 0;

    if (list->count == 0) {
        return 0;
    }
    for (uint32_t b = postings_seek(list, reach->first);
         b < postings_n_blocks(list); b++) {
        postings_read(list, b, &block);
        if (block.count == 0 || block.docs[0] >= reach->end) {
            break;
        }
        for (uint32_t i = 0; i < block.count; i++) {
            uint32_t doc = block.docs[i];
            uint8_t tf2 =
                block.tf2[i] < RECALL_MAX_TF ? block.tf2[i] : RECALL_MAX_TF;

            if (doc >= reach->first && doc < reach->end) {
                out[doc - reach->first] +=
                    term->weight * pop->saturation[tf2][lengths[doc]];
            }
        }
        n += block.count;
    }
    return n;
}

/* The dates asked about: said then, or in the week after. */
static bool is_in_time(const struct population *pop, int64_t time)
{
    const struct recall_query *query = pop->query;

    for (size_t i = 0; i < query->n_ranges; i++) {
        if (time >= query->ranges[i].from_ms &&
            time < query->ranges[i].to_ms + 7 * 86400000LL) {
            return true;
        }
    }
    return false;
}

static void add_hits(struct population *pop, struct best *best)
{
    best_cut(best);
    for (size_t i = 0; i < best->count; i++) {
        mark_set(pop->candidates, position_of_key(best->keys[i]));
    }
}

/* Offer every document of a slice whose score is above 0. */
static void collect(const struct population *pop, const struct slice *slice,
                    const float *scores, struct best *best,
                    struct best *in_time)
{
    bool has_dates = pop->query->n_ranges > 0;

    for (uint32_t i = 0; i < slice->end - slice->first; i++) {
        float score = scores[slice->base + i];
        uint32_t doc = slice->first + i;

        if (score <= 0 || (score <= best->floor && !has_dates)) {
            continue;
        }
        if (!population_allows(pop, slice, doc)) {
            continue;
        }
        if (score > best->floor) {
            best_add(best, score, slice->base + i);
        }
        if (has_dates && score > in_time->floor &&
            is_in_time(pop, slice->segment->times[doc])) {
            best_add(in_time, score, slice->base + i);
        }
    }
}

/* The turns around the best `want` become candidates. */
static void spread(struct population *pop, struct best *best, size_t want)
{
    best->want = want < best->want ? want : best->want;
    best_cut(best);
    for (size_t i = 0; i < best->count; i++) {
        size_t position = position_of_key(best->keys[i]);
        size_t slice = population_slice_of(pop, position);
        const struct slice *reach = &pop->slices[slice];
        size_t around[RECALL_WINDOW];

        population_neighbours(pop, slice,
                              reach->first + (uint32_t)(position - reach->base),
                              around);
        for (int k = 0; k < RECALL_WINDOW; k++) {
            if (around[k] != SIZE_MAX) {
                mark_set(pop->candidates, around[k]);
            }
        }
    }
}

static enum clew_status find_by_terms(struct population *pop, size_t want,
                                      size_t n_spread, struct clew_error *err)
{
    struct best best;
    struct best in_time;
    enum clew_status status = best_init(&best, pop->arena, want, err);
    float *scores = arena_zero(pop->arena, pop->size, sizeof(*scores));
    size_t n_read = 0;

    if (status == CLEW_OK) {
        status = best_init(&in_time, pop->arena, N_TIME, err);
    }
    if (status != CLEW_OK || !scores) {
        return out_of_memory(err);
    }
    for (size_t t = 0; t < pop->n_terms; t++) {
        if (n_read > 0 && n_read + pop->terms[t].count > POSTINGS_BUDGET) {
            break;
        }
        for (size_t i = 0; i < pop->n_slices; i++) {
            n_read += add_postings(pop, i, &pop->terms[t], scores);
        }
    }
    for (size_t i = 0; i < pop->n_slices; i++) {
        collect(pop, &pop->slices[i], scores, &best, &in_time);
    }
    add_hits(pop, &best);
    add_hits(pop, &in_time);
    if (pop->kind != INDEX_TURN) {
        return CLEW_OK;
    }
    spread(pop, &best, n_spread);
    return CLEW_OK;
}

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

static void scan_bits(const struct population *pop, const struct slice *slice,
                      struct best *best, struct moments *m)
{
    const struct recall_query *query = pop->query;
    const struct segment *s = slice->segment;
    size_t words = VEC_BIT_BYTES(query->dim) / 8;
    int32_t out[SCAN_ROWS];

    for (uint32_t at = slice->first; at < slice->end; at += SCAN_ROWS) {
        uint32_t n = slice->end - at < SCAN_ROWS ? slice->end - at : SCAN_ROWS;
        int64_t sum = 0;
        int64_t squares = 0;

        vec_ops()->scan_bits(query->planes, s->bits + at * words, n, words,
                             out);
        for (uint32_t i = 0; i < n; i++) {
            sum += out[i];
            squares += (int64_t)out[i] * out[i];
            if ((float)out[i] > best->floor && s->scales[at + i] > 0 &&
                population_allows(pop, slice, at + i)) {
                best_add(best, (float)out[i],
                         slice->base + at - slice->first + i);
            }
        }
        m->sum += (double)sum;
        m->squares += (double)squares;
        m->count += n;
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
    add_hits(pop, &best);
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
        add_hits(pop, &best);
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
        return find_by_terms(pop, n_lexical, n_spread, err);
    }
    return pop->query->dim > 0 ? CLEW_OK : find_newest(pop, n_lexical, err);
}
