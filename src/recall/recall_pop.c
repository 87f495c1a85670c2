/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_pop.c - the documents in reach of a recall, and their statistics.
 *
 * In reach are the documents of one kind of a user, of some chats, or of the
 * whole tenant: a few stretches of segments. Statistics are of the live
 * documents in reach, so they do not depend on how these lie in segments.
 */
#include "recall/recall_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* BM25 of a turn: saturation and length. */
#define K1 0.98f
#define B 0.33f
/* Rarity counts with this power: what is asked about is mostly the rare. */
#define RARITY_POWER 2.0f
/* What the words of dates weigh where nothing else of the question is known:
 * "two" of "two days ago" finds nothing. */
#define ONLY_DATES 0.4f
struct slices {
    struct slice *items;
    size_t count;
    size_t cap;
    double length_sum;
};

static enum clew_status add_slice(struct population *pop, struct slices *all,
                                  const struct segment *segment, uint32_t first,
                                  uint32_t end, struct clew_error *err)
{
    struct slice *items;

    if (first >= end) {
        return CLEW_OK;
    }
    items = arena_grow(pop->arena, all->items, all->count, &all->cap,
                       sizeof(*items));
    if (!items) {
        return clew_no_memory(err);
    }
    all->items = items;
    items[all->count++] = (struct slice){segment, first, end, pop->size, 0};
    pop->size += end - first;
    return CLEW_OK;
}

/* The end of a chat's documents with seq up to `max_seq`. */
static uint32_t end_of_line(const struct segment *s,
                            const struct segment_chat *chat, int64_t max_seq)
{
    uint32_t low = chat->first_doc;
    uint32_t high = chat->end_doc;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->docs[middle].seq <= max_seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static enum clew_status add_lines(struct population *pop, struct slices *all,
                                  const struct segment *s,
                                  const struct segment_user *user,
                                  struct clew_error *err)
{
    const struct recall_request *request = pop->query->request;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < request->n_lines && status == CLEW_OK; i++) {
        const struct recall_line *line = &request->lines[i];
        const struct segment_chat *chat =
            segment_find_chat(s, pop->kind, user, &line->chat);

        if (chat) {
            uint32_t end = end_of_line(s, chat, line->max_seq);

            for (uint32_t d = chat->first_doc; d < end; d++) {
                all->length_sum += s->docs[d].length;
            }
            status = add_slice(pop, all, s, chat->first_doc, end, err);
        }
    }
    return status;
}

static enum clew_status add_kind(struct population *pop, struct slices *all,
                                 const struct segment *s,
                                 struct clew_error *err)
{
    for (uint32_t u = 0; u < s->head->n_users; u++) {
        if (s->users[u].kind == (uint32_t)pop->kind) {
            all->length_sum += (double)s->users[u].length_sum;
        }
    }
    return add_slice(pop, all, s, segment_kind_first(s, pop->kind),
                     segment_kind_end(s, pop->kind), err);
}

static enum clew_status find_slices(struct population *pop, struct slices *all,
                                    const struct index_view *view,
                                    struct clew_error *err)
{
    const struct recall_request *request = pop->query->request;
    struct user_key key = user_key_of(request->user);
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < view->count && status == CLEW_OK; i++) {
        const struct segment *s = view->segments[i];
        const struct segment_user *user = NULL;

        if (request->user.len > 0) {
            user = segment_find_user(s, pop->kind, &key);
            if (!user) {
                continue;
            }
        }
        if (request->n_lines > 0) {
            status = add_lines(pop, all, s, user, err);
        } else if (user) {
            all->length_sum += (double)user->length_sum;
            status =
                add_slice(pop, all, s, user->first_doc, user->end_doc, err);
        } else {
            status = add_kind(pop, all, s, err);
        }
    }
    return status;
}

/* The first removed document from `doc` on; the slice's end if there is none.
 */
static uint32_t next_removed(const struct slice *slice, uint32_t doc)
{
    while (doc < slice->end) {
        uint64_t left = atomic_load_explicit(&slice->segment->removed[doc / 64],
                                             memory_order_relaxed) >>
                        (doc % 64);

        if (left) {
            doc += (uint32_t)__builtin_ctzll(left);
            break;
        }
        doc = (doc / 64 + 1) * 64;
    }
    return doc < slice->end ? doc : slice->end;
}

/* Take removed documents out of the totals. */
static void count_live(struct population *pop, double *length_sum)
{
    pop->n_live = pop->size;
    for (size_t i = 0; i < pop->n_slices; i++) {
        struct slice *slice = &pop->slices[i];
        uint32_t doc = slice->end;

        if (atomic_load(&slice->segment->n_removed) > 0) {
            doc = next_removed(slice, slice->first);
        }
        for (; doc < slice->end; doc = next_removed(slice, doc + 1)) {
            slice->n_removed++;
            *length_sum -= slice->segment->docs[doc].length;
        }
        pop->n_live -= slice->n_removed;
    }
}

/* Removed documents of a slice that have the term: only blocks that may hold
 * one are read. */
static uint64_t count_removed(const struct slice *slice,
                              const struct postings *list)
{
    struct postings_block block = {.count = 0};
    uint32_t doc = next_removed(slice, slice->first);
    uint64_t count = 0;
    uint32_t at = 0;

    while (doc < slice->end) {
        if (block.count == 0 || block.docs[block.count - 1] < doc) {
            postings_read(list, postings_seek(list, doc), &block);
            at = 0;
            if (block.count == 0) {
                break; /* past the last, or damaged */
            }
        }
        while (at + 1 < block.count && block.docs[at] < doc) {
            at++;
        }
        if (block.docs[at] > doc) {
            doc = next_removed(slice, block.docs[at]);
        } else {
            count += block.docs[at] == doc;
            doc = next_removed(slice, doc + 1);
        }
    }
    return count;
}

/* Live documents of a slice that have the term. */
static uint64_t count_in_slice(const struct slice *slice,
                               const struct postings *list)
{
    uint64_t count = list->count;

    if (slice->first > 0 || slice->end < slice->segment->head->n_docs) {
        count =
            postings_rank(list, slice->end) - postings_rank(list, slice->first);
    }
    return slice->n_removed > 0 && count > 0
               ? count - count_removed(slice, list)
               : count;
}

uint64_t population_count(const struct population *pop, uint64_t hash)
{
    uint64_t count = 0;

    for (size_t i = 0; i < pop->n_slices; i++) {
        struct postings list;

        if (segment_find_term(pop->slices[i].segment, hash, &list)) {
            count += count_in_slice(&pop->slices[i], &list);
        }
    }
    return count;
}

static int compare_terms(const void *a, const void *b)
{
    const struct recall_term *x = a;
    const struct recall_term *y = b;

    if (x->count != y->count) {
        return x->count < y->count ? -1 : 1;
    }
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static enum clew_status find_terms(struct population *pop,
                                   struct clew_error *err)
{
    const struct recall_query *query = pop->query;
    float total = 0;
    size_t n_others = 0; /* than words of dates */

    pop->terms =
        arena_zero(pop->arena, query->n_terms + 1, sizeof(*pop->terms));
    for (size_t t = 0; pop->terms && t < query->n_terms; t++) {
        struct recall_term *term = &pop->terms[pop->n_terms];

        term->hash = query->hashes[t];
        term->weight = query->weights[t];
        term->count = 0;
        term->lists =
            arena_zero(pop->arena, pop->n_slices + 1, sizeof(*term->lists));
        if (!term->lists) {
            return clew_no_memory(err);
        }
        for (size_t i = 0; i < pop->n_slices; i++) {
            if (segment_find_term(pop->slices[i].segment, term->hash,
                                  &term->lists[i])) {
                term->count += count_in_slice(&pop->slices[i], &term->lists[i]);
            }
        }
        query->is_known[t] |= term->count > 0;
        pop->n_terms += term->count > 0;
        n_others += term->count > 0 && !query->is_dated[t];
    }
    if (!pop->terms) {
        return clew_no_memory(err);
    }
    qsort(pop->terms, pop->n_terms, sizeof(*pop->terms), compare_terms);
    pop->n_terms = pop->n_terms < RECALL_TERMS ? pop->n_terms : RECALL_TERMS;
    for (size_t t = 0; t < pop->n_terms; t++) {
        float count = (float)pop->terms[t].count;
        float rest = (float)pop->n_live - count;
        float rarity = logf(1 + (rest + 0.5f) / (count + 0.5f));

        pop->terms[t].weight *= powf(rarity, RARITY_POWER);
        total += pop->terms[t].weight;
    }
    total = n_others > 0 ? total : total / ONLY_DATES;
    for (size_t t = 0; t < pop->n_terms; t++) {
        pop->terms[t].weight /= total;
    }
    return CLEW_OK;
}

static enum clew_status prepare_saturation(struct population *pop,
                                           struct clew_error *err)
{
    size_t n_rows = RECALL_MAX_TF + 1;

    pop->saturation =
        arena_alloc(pop->arena, n_rows * sizeof(*pop->saturation));
    pop->length_norm = arena_alloc(pop->arena, 256 * sizeof(*pop->length_norm));
    if (!pop->saturation || !pop->length_norm) {
        return clew_no_memory(err);
    }
    for (int code = 0; code < 256; code++) {
        float length = pop->lengths[code] / pop->avg_length;

        pop->length_norm[code] = K1 * (1 - B + B * length);
    }
    return CLEW_OK;
}

/* Few counts ever occur: rows are made when they are asked for. */
void population_saturate(struct population *pop, unsigned tf2)
{
    const float *restrict norm = pop->length_norm;
    float *restrict row = pop->saturation[tf2];
    float tf = (float)tf2 / 2;

    if (tf2 == 0) {
        memset(row, 0, sizeof(pop->saturation[0]));
    } else {
        for (int code = 0; code < 256; code++) {
            row[code] = tf / (tf + norm[code]) * (1 + K1);
        }
    }
    pop->saturated |= 1u << tf2;
}

/* Does the request leave out documents by when they were made? */
static bool has_times(const struct population *pop)
{
    const struct recall_request *request = pop->query->request;
    bool is_bound =
        request->since_ms != INT64_MIN || request->until_ms != INT64_MAX;

    for (size_t i = 0; i < pop->n_slices; i++) {
        const struct segment *s = pop->slices[i].segment;

        is_bound = is_bound || s->head->newest_ms > recall_sight_ms(request);
    }
    return is_bound;
}

enum clew_status population_init(struct population *pop, struct arena *arena,
                                 const struct index_view *view,
                                 const struct recall_query *query,
                                 enum index_kind kind, struct clew_error *err)
{
    struct slices all = {0};
    enum clew_status status;
    size_t words;

    memset(pop, 0, sizeof(*pop));
    pop->arena = arena;
    pop->query = query;
    pop->kind = kind;
    pop->lengths = length_table();
    status = find_slices(pop, &all, view, err);
    pop->slices = all.items;
    pop->n_slices = all.count;
    pop->has_times = has_times(pop);
    if (status != CLEW_OK || pop->size == 0) {
        return status;
    }
    count_live(pop, &all.length_sum);
    pop->avg_length =
        pop->n_live ? (float)(all.length_sum / (double)pop->n_live) : 1;
    pop->avg_length = pop->avg_length < 1 ? 1 : pop->avg_length;
    words = (pop->size + 63) / 64 + 1;
    pop->marks = arena_zero(arena, words, sizeof(uint64_t));
    pop->candidates = arena_zero(arena, words, sizeof(uint64_t));
    pop->ranks = arena_zero(arena, words, sizeof(uint32_t));
    if (!pop->marks || !pop->candidates || !pop->ranks) {
        return clew_no_memory(err);
    }
    status = find_terms(pop, err);
    return status == CLEW_OK ? prepare_saturation(pop, err) : status;
}

size_t population_slice_of(const struct population *pop, size_t position)
{
    size_t low = 0;
    size_t high = pop->n_slices;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (pop->slices[middle].base <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The order of turns inside a chat. */
static int compare_places(const struct segment *a, uint32_t i,
                          const struct segment *b, uint32_t j)
{
    if (a->docs[i].seq != b->docs[j].seq) {
        return a->docs[i].seq < b->docs[j].seq ? -1 : 1;
    }
    return uuid_cmp(&a->docs[i].id, &b->docs[j].id);
}

/* Past the tombstones a reader may see what was said by `at`. */
static bool is_visible(const struct population *pop, const struct segment *s,
                       uint32_t doc)
{
    return !segment_is_removed(s, doc) &&
           (!pop->has_times ||
            s->times[doc] <= recall_sight_ms(pop->query->request));
}

/* The nearest visible document of a run before (step -1) or after (+1) one of
 * its own; false if there is none. */
static inline bool nearest_in(const struct population *pop,
                              const struct run *run, int step, uint32_t *doc)
{
    const struct segment *s = pop->slices[run->slice].segment;
    uint32_t at = *doc;

    while (step < 0 ? at > run->first : at + 1 < run->end) {
        at += (uint32_t)step;
        if (is_visible(pop, s, at)) {
            *doc = at;
            return true;
        }
    }
    return false;
}

/* The same for the place of a document `doc` of another segment `s`. */
static bool nearest(const struct population *pop, const struct run *run,
                    const struct segment *s, uint32_t doc, int step,
                    uint32_t *out)
{
    const struct segment *other = pop->slices[run->slice].segment;
    uint32_t low = run->first;
    uint32_t high = run->end;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (compare_places(other, middle, s, doc) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    /* low: the first at or after the place */
    if (step > 0 && low < run->end && is_visible(pop, other, low)) {
        *out = low;
        return true;
    }
    *out = low;
    return nearest_in(pop, run, step, out);
}

/* One step along the chat over all its runs; false at its end. */
static bool walk(const struct population *pop, int step, size_t *slice,
                 uint32_t *doc)
{
    const struct run *runs = pop->runs;
    const struct segment *from = pop->slices[*slice].segment;
    const struct segment *best = NULL;
    size_t best_slice = 0;
    uint32_t best_doc = 0;

    for (size_t i = 0; i < pop->n_runs; i++) {
        const struct segment *s = pop->slices[runs[i].slice].segment;
        uint32_t found = *doc;

        if ((s == from ? nearest_in(pop, &runs[i], step, &found)
                       : nearest(pop, &runs[i], from, *doc, step, &found)) &&
            (!best || compare_places(s, found, best, best_doc) * step < 0)) {
            best = s;
            best_slice = runs[i].slice;
            best_doc = found;
        }
    }
    if (best) {
        *slice = best_slice;
        *doc = best_doc;
    }
    return best != NULL;
}

/* Where the chat of a document is, in all slices. */
static void find_runs(struct population *pop, size_t slice,
                      const struct segment_chat *chat)
{
    const struct segment *s = pop->slices[slice].segment;
    struct run *runs = pop->runs;
    size_t n = 1;

    runs[0] = (struct run){slice, chat->first_doc, chat->end_doc};
    for (size_t i = 0; i < pop->n_slices && n < RECALL_RUNS; i++) {
        const struct segment *other = pop->slices[i].segment;
        const struct segment_user *user;
        const struct segment_chat *there;

        if (other == s) {
            continue;
        }
        user = segment_find_user(other, pop->kind, &s->users[chat->user].key);
        there =
            user ? segment_find_chat(other, pop->kind, user, &chat->id) : NULL;
        /* a segment has a slice for each chat that is asked for */
        if (there && there->first_doc < pop->slices[i].end &&
            there->end_doc > pop->slices[i].first) {
            runs[n++] = (struct run){i, there->first_doc, there->end_doc};
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct slice *reach = &pop->slices[runs[i].slice];

        runs[i].first =
            runs[i].first < reach->first ? reach->first : runs[i].first;
        runs[i].end = runs[i].end > reach->end ? reach->end : runs[i].end;
    }
    pop->n_runs = n;
}

/* The runs of a document's chat; false if it has none. */
static bool runs_of(struct population *pop, size_t slice, uint32_t doc)
{
    const struct run *run = &pop->runs[0];
    const struct segment_chat *chat;

    if (pop->n_runs > 0 && run->slice == slice && doc >= run->first &&
        doc < run->end) {
        return true;
    }
    chat = segment_chat_of(pop->slices[slice].segment, doc);
    if (chat) {
        find_runs(pop, slice, chat);
    }
    return chat != NULL;
}

void population_neighbours(struct population *pop, size_t slice, uint32_t doc,
                           size_t out[RECALL_WINDOW])
{
    bool has_chat = runs_of(pop, slice, doc);

    for (int side = 0; side < 2; side++) {
        size_t at_slice = slice;
        uint32_t at = doc;
        bool is_there = has_chat;

        for (int k = 0; k < RECALL_WINDOW / 2; k++) {
            int step = side ? 1 : -1;

            if (is_there) { /* most chats are one run */
                is_there = pop->n_runs == 1
                               ? nearest_in(pop, &pop->runs[0], step, &at)
                               : walk(pop, step, &at_slice, &at);
            }
            out[2 * k + side] = is_there ? pop->slices[at_slice].base + at -
                                               pop->slices[at_slice].first
                                         : SIZE_MAX;
        }
    }
}
