/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_internal.h - a segment while it is being built.
 *
 * build.c puts rows in order and writes columns, build_terms.c the postings.
 */
#ifndef INDEX_BUILD_INTERNAL_H
#define INDEX_BUILD_INTERNAL_H

#include "index/region.h"
#include "index/segment.h"

/* A document to be written: its place in the order, and where it is from. */
struct row {
    const struct user_key *user;
    const struct uuid *chat;
    const struct uuid *id;
    int64_t seq;
    uint32_t kind;
    uint32_t source; /* number of the segment; 0 for documents */
    uint32_t doc;
};

/* One term of one document, for building from documents. */
struct triple {
    uint64_t hash;
    struct posting posting;
};

struct input {
    const struct index_doc *const *docs; /* NULL when merging */
    struct user_key *keys;               /* of docs */
    struct segment *const *segments;
    size_t n_segments;
    struct triple *triples;
    size_t n_triples;
    size_t at;         /* next triple */
    uint32_t **map;    /* per segment: old document to new, UINT32_MAX = gone */
    uint32_t *term_at; /* per segment: next term */
    struct posting *postings; /* of the current term */
    struct posting *spare;
    size_t cap_postings;
};

struct build {
    const struct segment_kind *kind;
    struct input in;
    struct row *rows;
    size_t n_rows;
    struct region out;
    struct segment_term *terms;
    size_t n_terms;
    size_t cap_terms;
    size_t offsets[N_PARTS];
    size_t sizes[N_PARTS];
    uint32_t n_users;
    uint32_t n_chats;
    uint32_t n_dates;
    uint32_t n_halves;
    uint32_t n_gists;
    uint32_t n_speakers;
    uint64_t gists; /* what made those that are kept */
    uint32_t n_sample;
};

/* Where a part begins; moves when the region grows. */
static inline void *build_part(struct build *b, enum segment_part which)
{
    return b->out.base + b->offsets[which];
}

/* All terms of all documents, sorted; for building from documents. */
enum clew_status build_triples(struct build *b,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Write PART_POSTINGS, and fill b->terms. */
enum clew_status build_postings(struct build *b,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* How many bits of a hash choose the bucket: some six terms each. */
uint32_t build_bucket_bits(size_t n_terms);
/* Write PART_TERMS and PART_BUCKETS. */
enum clew_status build_terms(struct build *b, uint32_t bits,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
