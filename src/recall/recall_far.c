/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_far.c - candidates and cosines by vectors that are not in the index.
 *
 * Where a database keeps the vectors (vector_graph.h), segments are without
 * them: candidates come from its index, the vectors of all that is scored come
 * over in the index's own form, and are compared by the same code. What was
 * written last still has its vectors here. Few documents are read whole, so
 * that narrow requests are answered exactly; of many, a sample gives mean and
 * deviation: the documents recall_vector.c would draw.
 */
#include "recall/recall_best.h"

#include <string.h>

/* Vectors read at one time. */
#define READ_ROWS 4096u

struct far_entry {
    struct uuid id; /* nil: free */
    int64_t change_seq;
    float cosine;
    float rough;   /* as a scan has it: without the query's finer half */
    float nearest; /* the cosine, or that of a half that is nearer */
};

/* What was read, by id: open addressing. */
struct far_table {
    struct far_entry *entries;
    size_t count;
    size_t cap; /* a power of two */
};

static struct far_entry *entry_of(const struct far_table *table,
                                  const struct uuid *id)
{
    uint64_t hash;
    size_t at;

    memcpy(&hash, id->b + 8, sizeof(hash)); /* the random half */
    at = (size_t)(hash * 0x9e3779b97f4a7c15ull >> 20) & (table->cap - 1);
    while (!uuid_is_nil(&table->entries[at].id) &&
           !uuid_eq(&table->entries[at].id, id)) {
        at = (at + 1) & (table->cap - 1);
    }
    return &table->entries[at];
}

/* Room for `more`, at most half full. */
static enum clew_status reserve(struct population *pop, size_t more,
                                struct clew_error *err)
{
    struct far_table *old = pop->far;
    struct far_table *table;
    size_t need = (old ? old->count : 0) + more;

    if (old && need * 2 <= old->cap) {
        return CLEW_OK;
    }
    table = arena_zero(pop->arena, 1, sizeof(*table));
    if (table) {
        table->cap = 1024;
        while (table->cap < need * 2) {
            table->cap *= 2;
        }
        table->entries =
            arena_zero(pop->arena, table->cap, sizeof(*table->entries));
    }
    if (!table || !table->entries) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; old && i < old->cap; i++) {
        if (!uuid_is_nil(&old->entries[i].id)) {
            *entry_of(table, &old->entries[i].id) = old->entries[i];
            table->count++;
        }
    }
    pop->far = table;
    return CLEW_OK;
}

static float rough_of(const struct recall_query *query,
                      const struct recall_far_vector *vector)
{
    int32_t dot = query->ops->dot_i8(query->vector, vector->values, query->dim);

    return query->bias + vector->form.bias +
           (float)dot * query->scale * vector->form.scale;
}

static enum clew_status add_vectors(struct population *pop,
                                    const struct recall_far_vector *vectors,
                                    size_t count, struct clew_error *err)
{
    enum clew_status status = reserve(pop, count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct far_entry *entry = entry_of(pop->far, &vectors[i].id);

        pop->far->count += uuid_is_nil(&entry->id);
        entry->id = vectors[i].id;
        entry->change_seq = vectors[i].change_seq;
        entry->cosine =
            recall_cosine_by(pop->query, vectors[i].values, &vectors[i].form);
        entry->rough = rough_of(pop->query, &vectors[i]);
        entry->nearest = recall_nearest(pop->query, vectors[i].half,
                                        vectors[i].first, entry->cosine);
    }
    return status;
}

/* What was read of a document, or NULL. */
static const struct far_entry *entry_of_doc(const struct population *pop,
                                            const struct segment *s,
                                            uint32_t doc)
{
    const struct far_entry *entry =
        pop->far ? entry_of(pop->far, &s->docs[doc].id) : NULL;

    return entry && !uuid_is_nil(&entry->id) &&
                   entry->change_seq == s->docs[doc].change_seq
               ? entry
               : NULL;
}

bool recall_far_cosine(const struct population *pop, const struct segment *s,
                       uint32_t doc, float *out_cosine, float *out_nearest)
{
    const struct far_entry *entry = entry_of_doc(pop, s, doc);

    if (!entry) {
        return false;
    }
    *out_cosine = entry->cosine;
    if (out_nearest) {
        *out_nearest = entry->nearest;
    }
    return true;
}

bool recall_is_far(const struct population *pop)
{
    for (size_t i = 0; i < pop->n_slices; i++) {
        if (segment_is_bare(pop->slices[i].segment)) {
            return true;
        }
    }
    return false;
}

/* --- reading ------------------------------------------------------------- */

/* Documents whose vectors are to be read. */
struct wanted {
    struct recall_far_key *keys;
    size_t count;
    size_t cap;
};

static enum clew_status want_doc(struct population *pop, struct wanted *wanted,
                                 const struct segment *s, uint32_t doc,
                                 struct clew_error *err)
{
    struct recall_far_key *grown = arena_grow(
        pop->arena, wanted->keys, wanted->count, &wanted->cap, sizeof(*grown));

    if (!grown) {
        return clew_no_memory(err);
    }
    wanted->keys = grown;
    grown[wanted->count++] =
        (struct recall_far_key){s->docs[doc].id, s->docs[doc].change_seq};
    return CLEW_OK;
}

static enum clew_status read_wanted(struct population *pop,
                                    const struct wanted *wanted,
                                    struct clew_error *err)
{
    const struct recall_far *far = pop->query->request->far;
    enum clew_status status = CLEW_OK;

    for (size_t at = 0; far && at < wanted->count && status == CLEW_OK;
         at += READ_ROWS) {
        struct recall_far_vector *vectors = NULL;
        size_t n =
            wanted->count - at < READ_ROWS ? wanted->count - at : READ_ROWS;
        size_t count = 0;

        status = far->read(far->arg, pop->arena, wanted->keys + at, n, &vectors,
                           &count, err);
        if (status == CLEW_OK) {
            status = add_vectors(pop, vectors, count, err);
        }
    }
    return status;
}

enum clew_status recall_read_far(struct population *pop, struct clew_error *err)
{
    struct wanted wanted = {0};
    enum clew_status status = CLEW_OK;
    float unused;

    if (pop->query->dim == 0 || !recall_is_far(pop)) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < pop->n_slots && status == CLEW_OK; i++) {
        const struct slot *slot = &pop->slots[i];
        const struct segment *s = pop->slices[slot->slice].segment;

        if (segment_is_bare(s) &&
            !recall_far_cosine(pop, s, slot->doc, &unused, NULL)) {
            status = want_doc(pop, &wanted, s, slot->doc, err);
        }
    }
    return status == CLEW_OK ? read_wanted(pop, &wanted, err) : status;
}

/* --- few: all of them ---------------------------------------------------- */

/* Is this a document whose vector is to be compared? `is_strict`: only where
 * the request may see it. */
static bool is_asked(const struct population *pop, const struct slice *slice,
                     uint32_t doc, bool is_strict)
{
    return is_strict ? population_allows(pop, slice, doc)
                     : !segment_is_removed(slice->segment, doc);
}

/* As recall_scan_full() does. */
static void compare_slice(const struct population *pop,
                          const struct slice *slice, bool is_strict,
                          struct best *best, struct moments *m)
{
    for (uint32_t doc = slice->first; doc < slice->end; doc++) {
        const struct far_entry *entry =
            is_asked(pop, slice, doc, is_strict)
                ? entry_of_doc(pop, slice->segment, doc)
                : NULL;

        if (!entry) {
            continue;
        }
        moments_add(m, entry->rough);
        if (best_wants(best, entry->rough, slice->segment, doc) &&
            population_allows(pop, slice, doc)) {
            best_add(best, entry->rough, slice->base + doc - slice->first);
        }
    }
}

/* Compare all that is not in the index; the sums of the cosines come back. */
static enum clew_status compare_all(struct population *pop, bool is_strict,
                                    struct best *best, struct moments *m,
                                    struct clew_error *err)
{
    struct wanted wanted = {0};
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < pop->n_slices; i++) {
        const struct slice *slice = &pop->slices[i];

        for (uint32_t doc = slice->first; segment_is_bare(slice->segment) &&
                                          doc < slice->end && status == CLEW_OK;
             doc++) {
            if (is_asked(pop, slice, doc, is_strict)) {
                status = want_doc(pop, &wanted, slice->segment, doc, err);
            }
        }
    }
    if (status == CLEW_OK) {
        status = read_wanted(pop, &wanted, err);
    }
    for (size_t i = 0; i < pop->n_slices && status == CLEW_OK; i++) {
        if (segment_is_bare(pop->slices[i].segment)) {
            compare_slice(pop, &pop->slices[i], is_strict, best, m);
        }
    }
    return status;
}

/* --- many: a sample, and the nearest ------------------------------------- */

/* What is done with each document drawn. */
typedef enum clew_status (*sample_fn)(struct population *pop,
                                      const struct segment *s, uint32_t doc,
                                      void *arg, struct clew_error *err);

static enum clew_status each_drawn(struct population *pop, sample_fn fn,
                                   void *arg, struct clew_error *err)
{
    uint32_t bound = recall_sample_bound(pop);
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < pop->n_slices; i++) {
        const struct slice *slice = &pop->slices[i];
        const struct segment_sample *at;
        const struct segment_sample *end;

        segment_find_sample(slice->segment, slice->first, slice->end, &at,
                            &end);
        for (; at < end && status == CLEW_OK; at++) {
            if (at->hash <= bound && at->doc < slice->end &&
                !segment_is_removed(slice->segment, at->doc)) {
                status = fn(pop, slice->segment, at->doc, arg, err);
            }
        }
    }
    return status;
}

static enum clew_status want_drawn(struct population *pop,
                                   const struct segment *s, uint32_t doc,
                                   void *arg, struct clew_error *err)
{
    return segment_is_bare(s) ? want_doc(pop, arg, s, doc, err) : CLEW_OK;
}

static enum clew_status add_drawn(struct population *pop,
                                  const struct segment *s, uint32_t doc,
                                  void *arg, struct clew_error *err)
{
    float cosine;

    (void)err;
    if (segment_is_bare(s)) {
        if (recall_far_cosine(pop, s, doc, &cosine, NULL)) {
            moments_add(arg, cosine);
        }
    } else if (s->forms[doc].scale > 0) {
        moments_add(arg, recall_cosine(pop->query, s, doc));
    }
    return CLEW_OK;
}

static enum clew_status read_sample(struct population *pop,
                                    struct clew_error *err)
{
    struct wanted wanted = {0};
    struct moments m = {0};
    enum clew_status status = each_drawn(pop, want_drawn, &wanted, err);

    if (status == CLEW_OK) {
        status = read_wanted(pop, &wanted, err);
    }
    if (status == CLEW_OK) {
        status = each_drawn(pop, add_drawn, &m, err);
    }
    if (status == CLEW_OK) {
        recall_set_moments(pop, &m);
    }
    return status;
}

/* Documents the request may see. */
static size_t count_allowed(const struct population *pop)
{
    size_t n = 0;

    if (!pop->has_times) {
        return pop->n_live;
    }
    for (size_t i = 0; i < pop->n_slices; i++) {
        const struct slice *slice = &pop->slices[i];

        for (uint32_t doc = slice->first; doc < slice->end; doc++) {
            n += population_allows(pop, slice, doc);
        }
    }
    return n;
}

/* Make a candidate of what was found, if it is in reach. */
static void add_found(const struct population *pop,
                      const struct recall_far_vector *found, struct best *best)
{
    for (size_t i = 0; i < pop->n_slices; i++) {
        const struct slice *slice = &pop->slices[i];
        uint32_t doc;
        float cosine;

        if (segment_is_bare(slice->segment) &&
            segment_find_id(slice->segment, &found->id, &doc) &&
            doc >= slice->first && doc < slice->end &&
            population_allows(pop, slice, doc) &&
            recall_far_cosine(pop, slice->segment, doc, &cosine, NULL)) {
            best_add(best, cosine, slice->base + doc - slice->first);
            return;
        }
    }
}

static enum clew_status find_nearest(struct population *pop, size_t n_allowed,
                                     struct best *best, struct clew_error *err)
{
    const struct recall_request *request = pop->query->request;
    struct recall_far_query query = {.kind = pop->kind,
                                     .vector = pop->query->floats,
                                     .dim = pop->query->dim,
                                     .want = best->want,
                                     .user = request->user,
                                     .lines = request->lines,
                                     .n_lines = request->n_lines,
                                     .since_ms = request->since_ms,
                                     .until_ms = request->until_ms,
                                     .at_ms = recall_sight_ms(request),
                                     .n_reach = n_allowed,
                                     .n_all = pop->query->n_bare[pop->kind]};
    struct recall_far_vector *found = NULL;
    size_t count = 0;
    enum clew_status status;

    if (!request->far) {
        return CLEW_OK;
    }
    status = request->far->find(request->far->arg, pop->arena, &query, &found,
                                &count, err);
    if (status == CLEW_OK) {
        status = add_vectors(pop, found, count, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        add_found(pop, &found[i], best);
    }
    return status;
}

enum clew_status recall_find_far(struct population *pop, struct best *best,
                                 struct clew_error *err)
{
    struct moments all = {0};
    struct moments unused = {0};
    bool is_few = pop->n_live <= RECALL_FULL_SCAN;
    size_t n_allowed = count_allowed(pop);
    enum clew_status status;

    if (is_few) {
        status = compare_all(pop, false, best, &all, err);
    } else {
        status = read_sample(pop, err);
        if (status == CLEW_OK && n_allowed <= RECALL_FULL_SCAN) {
            status = compare_all(pop, true, best, &unused, err);
        } else if (status == CLEW_OK) {
            status = find_nearest(pop, n_allowed, best, err);
        }
    }
    for (size_t i = 0; i < pop->n_slices && status == CLEW_OK; i++) {
        if (!segment_is_bare(pop->slices[i].segment)) {
            recall_scan_full(pop, &pop->slices[i], best,
                             is_few ? &all : &unused);
        }
    }
    if (is_few) {
        recall_set_moments(pop, &all);
    }
    return status;
}
