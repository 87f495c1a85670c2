/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_terms.c - the postings and terms of a segment being built.
 */
#include "index/build_internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* So many triples are sorted in buckets by the first bits of their hashes. */
#define BUCKETS_FROM 1024u
#define BUCKET_BITS 11
#define FEW_TRIPLES 24u
/* Terms looked through for one, at most on average: two lines of the cache. */
#define TERMS_A_BUCKET 8u

static int compare_triples(const void *a, const void *b)
{
    const struct triple *x = a;
    const struct triple *y = b;

    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    return x->posting.doc < y->posting.doc ? -1
                                           : x->posting.doc > y->posting.doc;
}

/* Few triples: in place, and none moves that is in order already. */
static void sort_few(struct triple *triples, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct triple t = triples[i];
        size_t k = i;

        for (; k > 0 && triples[k - 1].hash > t.hash; k--) {
            triples[k] = triples[k - 1];
        }
        triples[k] = t;
    }
}

/*
 * By hash, and by document where hashes are equal, as they come. Hashes are
 * evenly spread: their first bits leave a few in each bucket, but for words
 * that many documents have.
 */
static bool sort_triples(struct input *in)
{
    size_t ends[1 << BUCKET_BITS] = {0};
    size_t first = 0;
    struct triple *from = in->triples;
    struct triple *to;

    if (in->n_triples < BUCKETS_FROM) {
        qsort(from, in->n_triples, sizeof(*from), compare_triples);
        return true;
    }
    to = alloc_array(NULL, in->n_triples + 1, sizeof(*to));
    if (!to) {
        return false;
    }
    for (size_t i = 0; i < in->n_triples; i++) {
        ends[from[i].hash >> (64 - BUCKET_BITS)]++;
    }
    for (size_t i = 0; i < 1 << BUCKET_BITS; i++) {
        size_t count = ends[i];

        ends[i] = first; /* becomes the end as it is filled */
        first += count;
    }
    for (size_t i = 0; i < in->n_triples; i++) {
        to[ends[from[i].hash >> (64 - BUCKET_BITS)]++] = from[i];
    }
    first = 0;
    for (size_t i = 0; i < 1 << BUCKET_BITS; i++) {
        size_t count = ends[i] - first;

        if (count > FEW_TRIPLES) {
            qsort(to + first, count, sizeof(*to), compare_triples);
        } else {
            sort_few(to + first, count);
        }
        first = ends[i];
    }
    alloc_free(from);
    in->triples = to;
    return true;
}

enum clew_status build_triples(struct build *b, struct clew_error *err)
{
    struct input *in = &b->in;
    size_t total = 0;

    for (size_t i = 0; i < b->n_rows; i++) {
        total += in->docs[b->rows[i].doc]->n_terms;
    }
    in->triples = alloc_array(NULL, total + 1, sizeof(*in->triples));
    in->postings = alloc_array(NULL, b->n_rows + 1, sizeof(*in->postings));
    if (!in->triples || !in->postings) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not build a segment");
    }
    for (size_t i = 0; i < b->n_rows; i++) {
        const struct index_doc *doc = in->docs[b->rows[i].doc];

        for (size_t k = 0; k < doc->n_terms; k++) {
            struct triple *t = &in->triples[in->n_triples];
            uint32_t tf2 = doc->terms[k].tf2;

            t->hash = doc->terms[k].hash;
            t->posting.doc = (uint32_t)i;
            t->posting.tf2 = tf2 < POSTINGS_MAX_TF ? tf2 : POSTINGS_MAX_TF;
            in->n_triples += tf2 > 0;
        }
    }
    return sort_triples(in)
               ? CLEW_OK
               : clew_fail(err, CLEW_NO_MEMORY, "could not build a segment");
}

static bool next_of_triples(struct input *in, uint64_t *out_hash,
                            size_t *out_count)
{
    size_t n = 0;

    if (in->at == in->n_triples) {
        return false;
    }
    *out_hash = in->triples[in->at].hash;
    while (in->at < in->n_triples && in->triples[in->at].hash == *out_hash) {
        in->postings[n++] = in->triples[in->at++].posting;
    }
    *out_count = n;
    return true;
}

/* Merge the sorted runs [0, middle) and [middle, count) of in->postings. */
static void merge_runs(struct input *in, size_t middle, size_t count)
{
    struct posting *a = in->postings;
    size_t i = 0;
    size_t j = middle;
    size_t n = 0;

    if (middle == 0 || middle == count || a[middle - 1].doc < a[middle].doc) {
        return;
    }
    while (i < middle || j < count) {
        bool first = j == count || (i < middle && a[i].doc < a[j].doc);

        in->spare[n++] = first ? a[i++] : a[j++];
    }
    in->postings = in->spare;
    in->spare = a;
}

/* Add one segment's postings of a term, renumbered, without the removed. */
static size_t add_list(struct input *in, size_t source, uint32_t term, size_t n)
{
    const struct segment *s = in->segments[source];
    struct postings list;
    struct postings_block block;
    size_t first = n;

    if (!segment_find_term(s, s->terms[term].hash, &list)) {
        return n;
    }
    for (uint32_t i = 0; i < postings_n_blocks(&list); i++) {
        postings_read(&list, i, &block);
        for (uint32_t k = 0; k < block.count && n < in->cap_postings; k++) {
            uint32_t doc = in->map[source][block.docs[k]];

            if (doc != UINT32_MAX) {
                in->postings[n].doc = doc;
                in->postings[n++].tf2 = block.tf2[k];
            }
        }
    }
    merge_runs(in, first, n);
    return n;
}

static bool next_of_segments(struct input *in, uint64_t *out_hash,
                             size_t *out_count)
{
    size_t n = 0;

    while (n == 0) {
        uint64_t hash = 0;
        bool any = false;

        for (size_t s = 0; s < in->n_segments; s++) {
            const struct segment *segment = in->segments[s];
            uint32_t at = in->term_at[s];

            if (at < segment->head->n_terms &&
                (!any || segment->terms[at].hash < hash)) {
                hash = segment->terms[at].hash;
                any = true;
            }
        }
        if (!any) {
            return false;
        }
        for (size_t s = 0; s < in->n_segments; s++) {
            const struct segment *segment = in->segments[s];
            uint32_t at = in->term_at[s];

            if (at < segment->head->n_terms &&
                segment->terms[at].hash == hash) {
                n = add_list(in, s, at, n);
                in->term_at[s]++;
            }
        }
        *out_hash = hash;
    }
    *out_count = n;
    return true;
}

static enum clew_status write_list(struct build *b, uint64_t hash, size_t count,
                                   struct clew_error *err)
{
    size_t offset = b->out.len - b->offsets[PART_POSTINGS];
    enum clew_status status;

    if (offset > SEGMENT_MAX_PLACE || count > SEGMENT_MAX_COUNT) {
        return clew_fail(err, CLEW_TOO_LARGE, "too large for a segment");
    }
    if (b->n_terms == b->cap_terms) {
        size_t cap = b->cap_terms ? b->cap_terms * 2 : 64;
        struct segment_term *terms = alloc_array(b->terms, cap, sizeof(*terms));

        if (!terms) {
            return clew_fail(err, CLEW_NO_MEMORY, "could not build a segment");
        }
        b->terms = terms;
        b->cap_terms = cap;
    }
    status = region_reserve(&b->out, count * POSTINGS_MAX_BYTES, err);
    if (status != CLEW_OK) {
        return status;
    }
    b->terms[b->n_terms++] =
        (struct segment_term){.hash = hash,
                              .offset = offset & SEGMENT_MAX_PLACE,
                              .count = count & SEGMENT_MAX_COUNT};
    b->out.len += postings_write(b->out.base + b->out.len, b->in.postings,
                                 count, (uint32_t)b->n_rows);
    return CLEW_OK;
}

enum clew_status build_postings(struct build *b, struct clew_error *err)
{
    enum clew_status status =
        region_add(&b->out, 0, &b->offsets[PART_POSTINGS], err);
    uint64_t hash;
    size_t count;

    while (status == CLEW_OK &&
           (b->in.docs ? next_of_triples(&b->in, &hash, &count)
                       : next_of_segments(&b->in, &hash, &count))) {
        status = write_list(b, hash, count, err);
    }
    if (status == CLEW_OK) {
        status = region_reserve(&b->out, POSTINGS_PAD, err);
    }
    if (status == CLEW_OK) {
        memset(b->out.base + b->out.len, 0, POSTINGS_PAD);
        b->out.len += POSTINGS_PAD;
        b->sizes[PART_POSTINGS] = b->out.len - b->offsets[PART_POSTINGS];
    }
    return status;
}

uint32_t build_bucket_bits(size_t n_terms)
{
    uint32_t bits = 0;

    while (bits < 22 && ((size_t)TERMS_A_BUCKET << bits) < n_terms) {
        bits++;
    }
    return bits;
}

enum clew_status build_terms(struct build *b, uint32_t bits,
                             struct clew_error *err)
{
    size_t n_buckets = (size_t)1 << bits;
    enum clew_status status;
    uint32_t *buckets;
    size_t at = 0;

    b->sizes[PART_TERMS] = b->n_terms * sizeof(*b->terms);
    b->sizes[PART_BUCKETS] = (n_buckets + 1) * sizeof(uint32_t);
    for (int i = PART_TERMS; i <= PART_BUCKETS; i++) {
        status = region_add(&b->out, b->sizes[i], &b->offsets[i], err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    if (b->n_terms) {
        memcpy(build_part(b, PART_TERMS), b->terms, b->sizes[PART_TERMS]);
    }
    buckets = build_part(b, PART_BUCKETS);
    for (size_t i = 0; i < n_buckets; i++) {
        while (at < b->n_terms && bits &&
               b->terms[at].hash >> (64 - bits) < i) {
            at++;
        }
        buckets[i] = (uint32_t)at;
    }
    buckets[n_buckets] = (uint32_t)b->n_terms;
    return CLEW_OK;
}
