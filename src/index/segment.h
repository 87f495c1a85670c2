/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - an immutable part of an index, in memory or mapped from a file.
 *
 * One format for both: a header, columns with one entry per document, tables of
 * users and chats, postings, terms. Documents are ordered by kind, user, chat
 * and seq: a user's turns are one stretch, a turn's neighbours lie beside it.
 * The only thing that changes is the set of removed documents, kept beside the
 * bytes and only ever added to.
 *
 * Opening checks the header and the tables; columns are checked where they are
 * read. No byte pattern makes a reader leave the segment. Little-endian only.
 * Thread-safety: shared, counted; removing is atomic.
 */
#ifndef INDEX_SEGMENT_H
#define INDEX_SEGMENT_H

#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "index/index.h"
#include "index/postings.h"
#include "vec/vec.h"

#include <stdatomic.h>

#define SEGMENT_MAGIC "CLEWSEG"
#define SEGMENT_VERSION 8u

/* Who a document belongs to: the start of the SHA-256 of the user id. */
struct user_key {
    uint8_t b[16];
};
struct user_key user_key_of(struct str user);

enum segment_part {
    PART_USERS,    /* struct segment_user, by kind and key */
    PART_CHATS,    /* struct segment_chat, by kind, user and id */
    PART_CHAT_IDS, /* u32 chat numbers, by id */
    PART_DOCS,     /* struct segment_doc */
    PART_TIMES,    /* i64 created_at_ms */
    PART_LENGTHS,  /* u8 length_code() */
    PART_FLAGS,    /* u8 enum index_flags */
    PART_DATES,    /* struct index_range */
    PART_MARKS,    /* struct segment_marks, one for 64 documents */
    PART_SPEAKERS, /* u64 hash of the name, of documents that have one */
    PART_IDS,      /* u32 document numbers, by id */
    PART_VECTORS,  /* i8, dim per document */
    PART_FORMS,    /* struct vec_form */
    PART_BITS,     /* VEC_BIT_BYTES(dim) per document */
    PART_HALVES,   /* struct segment_half, of documents that have them */
    PART_FIRSTS,   /* i8, dim per half */
    PART_GISTS,    /* i8, INDEX_GIST_DIM per document that has one */
    PART_SAMPLE,   /* struct segment_sample, by document */
    PART_POSTINGS, /* lists, then POSTINGS_PAD bytes */
    PART_TERMS,    /* struct segment_term, by hash */
    PART_BUCKETS,  /* u32: first term whose hash starts with these bits */
    N_PARTS
};

struct segment_user {
    struct user_key key;
    uint32_t kind;
    uint32_t first_doc;
    uint32_t end_doc;
    uint32_t first_chat;
    uint32_t end_chat;
    uint32_t unused;
    uint64_t length_sum; /* content tokens */
};

struct segment_chat {
    struct uuid id;
    uint32_t user; /* number in PART_USERS */
    uint32_t first_doc;
    uint32_t end_doc;
    uint32_t unused;
    uint64_t length_sum; /* content tokens */
};

/* What most documents have is in their own row; its dates end where those of
 * the next begin. */
struct segment_doc {
    struct uuid id;
    int64_t change_seq;
    uint32_t seq;
    uint32_t chat; /* number in PART_CHATS */
    uint32_t length;
    uint32_t first_date;
};
#define SEGMENT_MAX_SEQ UINT32_MAX

/* What few documents have: which of 64 have it, and how many before them. */
enum segment_mark { MARK_HALF, MARK_GIST, MARK_SPEAKER, N_MARKS };
struct segment_marks {
    uint64_t have[N_MARKS];
    uint32_t before[N_MARKS];
    uint32_t unused;
};

/*
 * A longer text is found by its halves too. The vector of the first is kept,
 * that of the second is about whole * the text's less first * the first's:
 * vectors of texts add up.
 */
struct segment_half {
    struct vec_form form; /* of the first */
    float whole;
    float first;
};

/*
 * One of SAMPLE_EVERY documents, drawn by what it says and when (build.c): not
 * by how documents lie in segments, nor by ids, which are others in another
 * store. Those with a hash below a bound are a smaller sample.
 */
struct segment_sample {
    uint32_t doc;
    uint32_t hash;
};
#define SAMPLE_EVERY 16u

#define SEGMENT_PLACE_BITS 36
#define SEGMENT_COUNT_BITS 28
#define SEGMENT_MAX_PLACE ((UINT64_C(1) << SEGMENT_PLACE_BITS) - 1)
#define SEGMENT_MAX_COUNT ((UINT64_C(1) << SEGMENT_COUNT_BITS) - 1)
/* Documents of a segment: each may have a word. */
#define SEGMENT_MAX_DOCS SEGMENT_MAX_COUNT
struct segment_term {
    uint64_t hash;
    uint64_t offset : SEGMENT_PLACE_BITS; /* in PART_POSTINGS */
    uint64_t count : SEGMENT_COUNT_BITS;  /* documents */
};

struct segment_header {
    char magic[8];
    uint32_t version;
    uint32_t dim;
    uint64_t model; /* hash of the model id */
    uint32_t analyser;
    uint32_t n_docs;
    uint32_t n_users;
    uint32_t n_chats;
    uint32_t n_terms;
    uint32_t n_dates;
    uint32_t n_sample;
    uint32_t bucket_bits;
    uint32_t n_halves;
    uint32_t n_gists;
    uint32_t n_speakers;
    uint32_t kind_end[INDEX_KINDS]; /* documents of kind k end here */
    uint64_t gists;    /* hash of what made the gists; 0 = there are none */
    int64_t newest_ms; /* the latest of PART_TIMES */
    struct {
        uint64_t offset;
        uint64_t size;
    } parts[N_PARTS];
    uint64_t body_sum;   /* checksum() of everything after the header */
    uint64_t header_sum; /* of the header up to here */
};

struct segment {
    atomic_uint refs;
    const uint8_t *base;
    size_t size;
    bool is_mapped;
    bool is_checked;  /* its body was read and was right; under the tenant's
                         lock */
    uint64_t file_id; /* name of its file, 0 while only in memory */
    struct segment_header own_head; /* what is mapped may change its mind */
    const struct segment_header *head;
    const struct segment_user *users;
    const struct segment_chat *chats;
    const uint32_t *chat_ids;
    const struct segment_doc *docs;
    const int64_t *times;
    const uint8_t *lengths;
    const uint8_t *flags;
    const struct index_range *dates;
    const struct segment_marks *marks;
    const uint64_t *speakers;
    const uint32_t *ids;
    const int8_t *vectors;
    const struct vec_form *forms;
    const uint64_t *bits;
    const struct segment_half *halves;
    const int8_t *firsts;
    const int8_t *gists;
    const struct segment_sample *sample;
    const uint8_t *postings;
    const struct segment_term *terms;
    const uint32_t *buckets;
    _Atomic uint64_t *removed; /* one bit per document */
    atomic_uint n_removed;
    uint32_t n_removed_saved; /* as the manifest has it; the writer's */
    uint64_t removed_file;    /* generation of its .gone file, 0 = none */
    /* the latest change_seq of its documents; -1 until it is asked for */
    _Atomic int64_t newest_change;
};

/* What a file must match to be used. */
struct segment_kind {
    uint64_t model;
    uint32_t dim;
    uint32_t analyser;
    uint64_t gists;      /* see index_options; others are fit too */
    const float *centre; /* taken off vectors; NULL = the origin */
    bool can_be_bare;    /* a segment may be without vectors: dim 0 */
};

/*
 * Make a segment of bytes from alloc_bytes() (is_mapped false) or mmap(); it
 * takes ownership of them on success. CLEW_CORRUPT if they are no segment.
 */
enum clew_status segment_open(const uint8_t *base, size_t size, bool is_mapped,
                              const struct segment_kind *kind,
                              struct segment **out_segment,
                              struct clew_error *err) CLEW_MUST_CHECK;
struct segment *segment_ref(struct segment *segment);
/* The last one frees or unmaps. NULL is a no-op. */
void segment_unref(struct segment *segment);

/* CLEW_CORRUPT unless the checksum of the body is right. */
enum clew_status segment_check(const struct segment *segment,
                               struct clew_error *err) CLEW_MUST_CHECK;

static inline bool segment_is_removed(const struct segment *segment,
                                      uint32_t doc)
{
    return atomic_load_explicit(&segment->removed[doc / 64],
                                memory_order_relaxed) >>
               (doc % 64) &
           1;
}
/* The same of the 64 documents from `doc` on, a multiple of 64: a bit each. */
static inline uint64_t segment_removed_64(const struct segment *segment,
                                          uint32_t doc)
{
    return atomic_load_explicit(&segment->removed[doc / 64],
                                memory_order_relaxed);
}
/* True if the vectors of its documents are kept elsewhere. */
static inline bool segment_is_bare(const struct segment *segment)
{
    return segment->head->dim == 0;
}
/* The latest change number of its documents; the first call reads them all. */
int64_t segment_newest_change(struct segment *segment);
/* True if it was there until now. */
bool segment_remove(struct segment *segment, uint32_t doc);

/* The document with this id, or false. Finds removed ones too. */
bool segment_find_id(const struct segment *segment, const struct uuid *id,
                     uint32_t *out_doc);
/* Was this document drawn? Its hash, if so. */
bool segment_has_drawn(const struct segment *segment, uint32_t doc,
                       uint32_t *out_hash);
/* The documents drawn from `first` to `end`: pointers into the sample. */
void segment_find_sample(const struct segment *segment, uint32_t first,
                         uint32_t end, const struct segment_sample **out_first,
                         const struct segment_sample **out_end);
bool segment_find_term(const struct segment *segment, uint64_t hash,
                       struct postings *out_list);
/* The stretch of a user's documents of a kind; empty if there are none. */
const struct segment_user *segment_find_user(const struct segment *segment,
                                             enum index_kind kind,
                                             const struct user_key *key);
/* The chat of a kind, or NULL; the user is known or any. */
const struct segment_chat *segment_find_chat(const struct segment *segment,
                                             enum index_kind kind,
                                             const struct segment_user *user,
                                             const struct uuid *id);
/* The chat of a document, or NULL if the segment is damaged. */
const struct segment_chat *segment_chat_of(const struct segment *segment,
                                           uint32_t doc);
/* The first document of a kind, and the one after its last. */
uint32_t segment_kind_first(const struct segment *segment,
                            enum index_kind kind);
uint32_t segment_kind_end(const struct segment *segment, enum index_kind kind);
enum index_kind segment_kind_of(const struct segment *segment, uint32_t doc);
/* Dates a document mentions; the count comes back. */
size_t segment_dates(const struct segment *segment, uint32_t doc,
                     const struct index_range **out_dates);

/* The halves of a document, NULL if it has none; the first one's values. */
const struct segment_half *segment_half_of(const struct segment *segment,
                                           uint32_t doc,
                                           const int8_t **out_first);

/* The gist of a document, NULL if it has none. */
const int8_t *segment_gist_of(const struct segment *segment, uint32_t doc);

/* The hash of the name of who said it, 0 if it has none. */
uint64_t segment_speaker_of(const struct segment *segment, uint32_t doc);

/* A length in one byte: exact to 63, then in steps of about 3 %. */
uint8_t length_code(uint32_t length);
/* The lengths that the 256 codes stand for. */
const float *length_table(void);

/* Is the file's head still what it was? A cheap look at every view, as what is
 * mapped may be zeroed under way. */
bool segment_has_head(const struct segment *segment);
/* A fast 64-bit checksum: finds damage, not forgery. */
uint64_t checksum(const uint8_t *bytes, size_t len);

#endif
