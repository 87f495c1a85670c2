/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_terms.c - candidates by terms and by time.
 *
 * Terms are taken rarest first, until as many postings would be read as can
 * matter; what is left (the common terms) only tells candidates apart and is
 * looked up for them alone. A document whose neighbours match is a candidate
 * too.
 */
#include "recall/recall_best.h"

#include <float.h>

/* Candidates by time, if a date is asked about. */
#define N_TIME 192u
/* Postings read before common terms are left to the candidates. */
#define POSTINGS_BUDGET 400000u
/* Documents whose scores by terms are added up at a time. */
#define WINDOW_DOCS 4096u
/* Scores that are passed over together if none is good enough. */
#define GROUP 16

/* Where a reader of one term's postings in one slice is. */
struct cursor {
    const struct postings *list;
    float weight;
    uint32_t next; /* block to read */
    uint32_t at;   /* in the block read */
    struct postings_block block;
};

/* Read on until there is a document from `doc` on; false at the end. */
static bool cursor_reach(struct cursor *cursor, uint32_t doc)
{
    while (true) {
        while (cursor->at < cursor->block.count) {
            if (cursor->block.docs[cursor->at] >= doc) {
                return true;
            }
            cursor->at++;
        }
        if (cursor->next >= postings_n_blocks(cursor->list)) {
            return false;
        }
        postings_read(cursor->list, cursor->next++, &cursor->block);
        cursor->at = 0;
        if (cursor->block.count == 0) {
            return false; /* damaged */
        }
    }
}

/* Add the term's weight to the documents from `first` to `end`. */
static void cursor_add(struct cursor *cursor, struct population *pop,
                       const uint8_t *lengths, uint32_t first, uint32_t end,
                       float *scores)
{
    const struct postings_block *block = &cursor->block;

    while (cursor_reach(cursor, first) && block->docs[cursor->at] < end) {
        uint32_t i = cursor->at;

        for (; i < block->count && block->docs[i] < end; i++) {
            uint32_t doc = block->docs[i];

            scores[doc - first] +=
                cursor->weight *
                population_saturation(pop, block->tf2[i])[lengths[doc]];
        }
        cursor->at = i;
    }
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

/* What is found by terms. */
struct by_terms {
    struct best best;
    struct best in_time; /* of those said when asked about */
    struct cursor *cursors;
    size_t n_terms; /* that are read for all documents */
    float scores[WINDOW_DOCS];
};

static bool is_any_of(const float *scores, float floor)
{
    int any = 0;

    for (int i = 0; i < GROUP; i++) {
        any |= scores[i] >= floor;
    }
    return any;
}

/* Offer the documents from `first` on whose score is above 0. */
static void collect(const struct population *pop, const struct slice *slice,
                    uint32_t first, uint32_t end, struct by_terms *found)
{
    const struct segment *s = slice->segment;
    bool has_dates = pop->query->n_ranges > 0;
    size_t base = slice->base + first - slice->first;

    for (uint32_t i = 0; i < end - first; i++) {
        float floor = has_dates || found->best.floor < FLT_MIN
                          ? FLT_MIN
                          : found->best.floor;
        float score = found->scores[i];

        if (i % GROUP == 0 && !is_any_of(found->scores + i, floor)) {
            i += GROUP - 1;
            continue;
        }
        if (score < floor || !population_allows(pop, slice, first + i)) {
            continue;
        }
        if (best_wants(&found->best, score, s, first + i)) {
            best_add(&found->best, score, base + i);
        }
        if (has_dates && is_in_time(pop, s->times[first + i]) &&
            best_wants(&found->in_time, score, s, first + i)) {
            best_add(&found->in_time, score, base + i);
        }
    }
}

/*
 * A slice a window at a time, all terms together: the scores stay in the
 * nearest cache, and stretches without any of the terms are passed over.
 */
static void read_slice(struct population *pop, size_t number,
                       struct by_terms *found)
{
    const struct slice *slice = &pop->slices[number];
    uint32_t first = slice->first;

    for (size_t t = 0; t < found->n_terms; t++) {
        struct cursor *cursor = &found->cursors[t];

        cursor->list = &pop->terms[t].lists[number];
        cursor->weight = pop->terms[t].weight;
        cursor->next = postings_seek(cursor->list, slice->first);
        cursor->at = 0;
        cursor->block.count = 0;
    }
    while (first < slice->end) {
        uint32_t next = slice->end;
        uint32_t end;

        for (size_t t = 0; t < found->n_terms; t++) {
            struct cursor *cursor = &found->cursors[t];

            if (cursor_reach(cursor, first)) {
                uint32_t doc = cursor->block.docs[cursor->at];

                next = doc < next ? doc : next;
            }
        }
        first = next;
        end =
            slice->end - first < WINDOW_DOCS ? slice->end : first + WINDOW_DOCS;
        memset(found->scores, 0, /* whole groups are looked at */
               (end - first + GROUP - 1) / GROUP * GROUP *
                   sizeof(*found->scores));
        for (size_t t = 0; t < found->n_terms; t++) {
            cursor_add(&found->cursors[t], pop, slice->segment->lengths, first,
                       end, found->scores);
        }
        collect(pop, slice, first, end, found);
        first = end;
    }
}

/* The rarest terms, until as many postings as can matter. */
static size_t count_terms(const struct population *pop)
{
    uint64_t n_read = 0;
    size_t n = 0;

    while (n < pop->n_terms &&
           (n == 0 || n_read + pop->terms[n].count <= POSTINGS_BUDGET)) {
        n_read += pop->terms[n++].count;
    }
    return n;
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

enum clew_status recall_find_by_terms(struct population *pop, size_t want,
                                      size_t n_spread, struct clew_error *err)
{
    struct by_terms *found = arena_alloc(pop->arena, sizeof(*found));
    enum clew_status status;

    if (!found) {
        return clew_no_memory(err);
    }
    found->n_terms = count_terms(pop);
    found->cursors =
        arena_alloc(pop->arena, found->n_terms * sizeof(*found->cursors));
    status = found->cursors ? best_init(&found->best, pop, want, err)
                            : clew_no_memory(err);
    if (status == CLEW_OK) {
        status = best_init(&found->in_time, pop, N_TIME, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = 0; i < pop->n_slices; i++) {
        read_slice(pop, i, found);
    }
    best_mark(&found->best, pop);
    best_mark(&found->in_time, pop);
    if (pop->kind == INDEX_TURN) {
        spread(pop, &found->best, n_spread);
    }
    return CLEW_OK;
}
