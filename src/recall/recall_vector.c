/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_vector.c - candidates by vectors.
 *
 * Few documents are compared in full. Of many, a sample tells how cosines are
 * spread and how far signs differ; then three sieves, each finer and on fewer:
 *
 *   signs   all documents: how many sign bits differ from the query's
 *   planes  one in PASS_PART: the query with 4 bits a dimension
 *   int8    the best N_SHORTLIST
 *
 * The sample is drawn by what documents say and when, so the answer does not
 * depend on how they lie in segments, nor on ids.
 */
#include "recall/recall_best.h"

#include "vec/vec.h"

#include <math.h>
#include <string.h>

/* One in so many passes the first sieve, and at least so many altogether. */
#define PASS_PART 16u
#define PASS_LEAST 4096u
/* What the sign bits let through to the int8 comparison. */
#define N_SHORTLIST 1024u
/* ... and one in so many of more: the nearest lie closer together. */
#define SHORTLIST_PART 512u
/* Fewer than this say nothing about all. */
#define SAMPLE_LEAST 64u
#define SCAN_ROWS 1024u
/* Rows that passed the first sieve are compared so many at a time. */
#define PASS_ROWS 64u
/* Vectors asked for ahead of their use: they lie far apart. */
#define AHEAD 8u

static float cosine_of(const struct recall_query *query, int32_t dot,
                       const struct vec_form *form)
{
    return query->bias + form->bias + (float)dot * query->scale * form->scale;
}

void recall_scan_full(const struct population *pop, const struct slice *slice,
                      struct best *best, struct moments *m)
{
    const struct recall_query *query = pop->query;
    const struct segment *s = slice->segment;
    int32_t out[SCAN_ROWS];

    for (uint32_t at = slice->first; at < slice->end; at += SCAN_ROWS) {
        uint32_t n = slice->end - at < SCAN_ROWS ? slice->end - at : SCAN_ROWS;

        query->ops->scan_i8(query->vector, s->vectors + at * query->dim, n,
                            query->dim, out);
        for (uint32_t i = 0; i < n; i++) {
            const struct vec_form *form = &s->forms[at + i];
            float cosine = cosine_of(query, out[i], form);

            if (form->scale <= 0 || segment_is_removed(s, at + i)) {
                continue;
            }
            moments_add(m, cosine);
            if (best_wants(best, cosine, s, at + i) &&
                population_allows(pop, slice, at + i)) {
                best_add(best, cosine, slice->base + at - slice->first + i);
            }
        }
    }
}

static void find_full(struct population *pop, struct best *best)
{
    struct moments m = {0};

    for (size_t i = 0; i < pop->n_slices; i++) {
        recall_scan_full(pop, &pop->slices[i], best, &m);
    }
    recall_set_moments(pop, &m);
}

/* What the sample says. */
struct sample {
    struct moments moments;
    uint32_t *counts; /* allowed documents by how many signs differ */
    size_t n_seen;
    size_t n_allowed;
};

/* One document of the sample. */
static void sample_doc(const struct population *pop, const struct slice *slice,
                       uint32_t doc, struct sample *out)
{
    const struct recall_query *query = pop->query;
    const struct segment *s = slice->segment;
    size_t words = VEC_BIT_BYTES(query->dim) / 8;

    if (s->forms[doc].scale <= 0 || segment_is_removed(s, doc)) {
        return;
    }
    moments_add(&out->moments, recall_cosine(query, s, doc));
    out->n_seen++;
    if (population_allows(pop, slice, doc)) {
        const uint64_t *bits = s->bits + doc * words;

        out->counts[vec_differ(query->signs, bits, words)]++;
        out->n_allowed++;
    }
}

static void sample_slice(const struct population *pop,
                         const struct slice *slice, uint32_t bound,
                         struct sample *out)
{
    const struct segment_sample *at;
    const struct segment_sample *end;
    size_t words = VEC_BIT_BYTES(pop->query->dim) / 8;
    uint32_t waiting[AHEAD]; /* their vectors are on the way */
    size_t n = 0;

    segment_find_sample(slice->segment, slice->first, slice->end, &at, &end);
    for (; at < end; at++) {
        if (at->hash > bound || at->doc >= slice->end) {
            continue;
        }
        if (n >= AHEAD) {
            sample_doc(pop, slice, waiting[n % AHEAD], out);
        }
        waiting[n++ % AHEAD] = at->doc;
        recall_prefetch(pop->query, slice->segment, at->doc);
        __builtin_prefetch(slice->segment->bits + at->doc * words);
    }
    for (size_t i = n > AHEAD ? n - AHEAD : 0; i < n; i++) {
        sample_doc(pop, slice, waiting[i % AHEAD], out);
    }
}

/* So many signs may differ for a document to pass the first sieve. */
static uint32_t bound_of(const struct population *pop, const struct sample *s)
{
    /* how many documents the request allows, about */
    double n = (double)pop->n_live * (double)s->n_allowed /
               (double)(s->n_seen ? s->n_seen : 1);
    double part = 1.0 / PASS_PART;
    size_t left;
    size_t i = 0;

    part = n * part < PASS_LEAST ? PASS_LEAST / (n + 1) : part;
    if (s->n_allowed < SAMPLE_LEAST || part >= 1) {
        return UINT32_MAX;
    }
    left = (size_t)(part * (double)s->n_allowed) + 1;
    while (i < pop->query->dim && s->counts[i] < left) {
        left -= s->counts[i++];
    }
    return (uint32_t)i;
}

uint32_t recall_sample_bound(const struct population *pop)
{
    double part = (double)RECALL_SAMPLE * SAMPLE_EVERY / (double)pop->n_live;

    return part < 1 ? (uint32_t)(part * UINT32_MAX) : UINT32_MAX;
}

static enum clew_status read_sample(struct population *pop, uint32_t *out_bound,
                                    struct clew_error *err)
{
    uint32_t bound = recall_sample_bound(pop);
    struct sample sample = {
        .counts = arena_zero(pop->arena, VEC_BIT_BYTES(pop->query->dim) * 8 + 1,
                             sizeof(*sample.counts))};

    if (!sample.counts) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not search");
    }
    for (size_t i = 0; i < pop->n_slices; i++) {
        sample_slice(pop, &pop->slices[i], bound, &sample);
    }
    recall_set_moments(pop, &sample.moments);
    *out_bound = bound_of(pop, &sample);
    return CLEW_OK;
}

/* The sieves of sign bits over one slice. */
struct sieve {
    const struct population *pop;
    const struct slice *slice;
    uint32_t bound;
    size_t words;
    uint64_t *rows; /* PASS_ROWS that passed, side by side */
    struct best *best;
};

/* The shipped model's rows are copied without a call. */
static inline void copy_row(uint64_t *to, const uint64_t *from, size_t words)
{
    if (words == 4) {
        memcpy(to, from, 4 * sizeof(*to));
    } else {
        memcpy(to, from, words * sizeof(*to));
    }
}

static void sieve_planes(const struct sieve *sieve, const uint32_t *docs,
                         size_t n)
{
    const struct recall_query *query = sieve->pop->query;
    const struct segment *s = sieve->slice->segment;
    int32_t out[PASS_ROWS];

    for (size_t i = 0; i < n; i++) {
        copy_row(sieve->rows + i * sieve->words,
                 s->bits + docs[i] * sieve->words, sieve->words);
    }
    query->ops->scan_bits(query->planes, sieve->rows, n, sieve->words, out);
    for (size_t i = 0; i < n; i++) {
        const struct vec_form *form = &s->forms[docs[i]];
        /* the query over set bits less over those that are not, in cosine */
        float dot = (float)(2 * out[i] - query->planes_sum) * query->step;
        float score = form->bias + dot * form->sign;

        if (form->scale > 0 && best_wants(sieve->best, score, s, docs[i]) &&
            population_allows(sieve->pop, sieve->slice, docs[i])) {
            best_add(sieve->best, score,
                     sieve->slice->base + docs[i] - sieve->slice->first);
        }
    }
}

static void sieve_slice(const struct sieve *sieve)
{
    const struct recall_query *query = sieve->pop->query;
    const struct slice *slice = sieve->slice;
    const struct segment *s = slice->segment;
    uint64_t near[SCAN_ROWS / 64];
    uint32_t docs[SCAN_ROWS];

    for (uint32_t at = slice->first; at < slice->end; at += SCAN_ROWS) {
        uint32_t n = slice->end - at < SCAN_ROWS ? slice->end - at : SCAN_ROWS;
        size_t n_passed = 0;

        query->ops->scan_signs(query->signs, s->bits + at * sieve->words, n,
                               sieve->words, sieve->bound, near);
        for (uint32_t w = 0; w < (n + 63) / 64; w++) {
            for (uint64_t left = near[w]; left; left &= left - 1) {
                uint32_t doc = at + w * 64 + (uint32_t)__builtin_ctzll(left);

                __builtin_prefetch(&s->forms[doc]);
                docs[n_passed++] = doc;
            }
        }
        for (size_t i = 0; i < n_passed; i += PASS_ROWS) {
            sieve_planes(sieve, docs + i,
                         n_passed - i < PASS_ROWS ? n_passed - i : PASS_ROWS);
        }
    }
}

/*
 * The cosines of a shortlist; the best of them. In order of position, so that
 * the pages of the vectors are walked through once: the marks, which nobody
 * uses yet, sort the shortlist.
 */
static void rerank(const struct population *pop, struct best *shortlist,
                   struct best *best)
{
    const struct recall_query *query = pop->query;
    size_t slice = 0;
    size_t position;
    size_t n = 0;

    for (size_t i = 0; i < shortlist->count; i++) {
        mark_set(pop->marks, position_of_key(shortlist->keys[i]));
    }
    FOR_EACH_MARK(pop, pop->marks, position)
    {
        shortlist->keys[n++] = position;
    }
    for (size_t i = 0, later = 0; i < n; i++) {
        const struct slice *at;
        uint32_t doc;
        float cosine;

        if (i + AHEAD < n) {
            later = slice_from(pop, later, shortlist->keys[i + AHEAD]);
            recall_prefetch(
                query, pop->slices[later].segment,
                doc_at(&pop->slices[later], shortlist->keys[i + AHEAD]));
        }
        slice = slice_from(pop, slice, shortlist->keys[i]);
        at = &pop->slices[slice];
        doc = doc_at(at, shortlist->keys[i]);
        cosine = recall_cosine(query, at->segment, doc);
        if (best_wants(best, cosine, at->segment, doc)) {
            best_add(best, cosine, shortlist->keys[i]);
        }
    }
}

static size_t n_shortlist(const struct population *pop, size_t want)
{
    size_t n = pop->n_live / SHORTLIST_PART;

    n = n > N_SHORTLIST ? n : N_SHORTLIST;
    return want * 2 > n ? want * 2 : n;
}

static enum clew_status find_sieved(struct population *pop, struct best *best,
                                    struct clew_error *err)
{
    size_t words = VEC_BIT_BYTES(pop->query->dim) / 8;
    struct sieve sieve = {.pop = pop, .words = words};
    struct best shortlist;
    enum clew_status status =
        best_init(&shortlist, pop, n_shortlist(pop, best->want), err);

    if (status == CLEW_OK) {
        status = read_sample(pop, &sieve.bound, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    sieve.rows =
        arena_alloc(pop->arena, PASS_ROWS * words * sizeof(*sieve.rows));
    if (!sieve.rows) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not search");
    }
    sieve.best = &shortlist;
    for (size_t i = 0; i < pop->n_slices; i++) {
        sieve.slice = &pop->slices[i];
        sieve_slice(&sieve);
    }
    best_cut(&shortlist);
    if (shortlist.count > 0) {
        rerank(pop, &shortlist, best);
    }
    return CLEW_OK;
}

enum clew_status recall_find_near(struct population *pop, struct best *best,
                                  struct clew_error *err)
{
    if (pop->n_live <= RECALL_FULL_SCAN) {
        find_full(pop, best);
        return CLEW_OK;
    }
    return find_sieved(pop, best, err);
}
