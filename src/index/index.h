/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - what can be found: one search index per tenant, derived data.
 *
 * A document is a turn, a memory or an episode with its terms, vector and the
 * dates it mentions. Documents come from the tables in the order of their
 * change number: pushed right after a commit (index_offer), or pulled through
 * struct index_source by whoever looks (index_view_open), so that what was
 * written is found at once, also when another process wrote it.
 *
 * An index is a list of immutable segments: small ones in memory, large ones in
 * files below the index folder. Readers hold a view (a counted reference to
 * the list); one writer at a time makes a new list. Files are written whole,
 * synced and renamed; a manifest names the live ones. Whatever is missing,
 * damaged, or made by another model or analyser is dropped and read again from
 * the source. Only the process that holds the folder's lock writes files;
 * others read its files and keep their own tail in memory.
 *
 * The index holds hashes of terms, never text. It knows nothing of rows: it
 * answers with ids.
 * Thread-safety: a struct index_set is internally locked; a view belongs to one
 * thread.
 */
#ifndef INDEX_INDEX_H
#define INDEX_INDEX_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum index_kind { INDEX_TURN, INDEX_MEMORY, INDEX_EPISODE };
#define INDEX_KINDS 3

enum index_flags {
    INDEX_QUESTION = 1 << 0,     /* the text asks */
    INDEX_BY_USER = 1 << 1,      /* role user */
    INDEX_BY_ASSISTANT = 1 << 2, /* role assistant */
    INDEX_NAMED = 1 << 3,        /* the speaker has a name */
    INDEX_NO_CONTENT = 1 << 4,   /* no words of its own: "ok", "thanks!" */
    INDEX_NAMES = 1 << 5,        /* the text names someone or something */
    INDEX_NUMBERS = 1 << 6       /* it gives a number or an amount */
};

/* A term of a document: its hash and how often, in halves (a word said once
 * is 2, so that a speaker's name can weigh 3). */
struct index_term {
    uint64_t hash;
    uint32_t tf2;
};

/* A stretch of time a text speaks of: [from, to). */
struct index_range {
    int64_t from_ms;
    int64_t to_ms;
};
/* Ranges kept per document; further ones are ignored. */
#define INDEX_MAX_RANGES 4

/* Values of a gist: where a turn lies among turns, in whole steps (see
 * model/reader.h). The product of two is how near they are. */
#define INDEX_GIST_DIM 64

/* One document, or the news that one is gone. Everything is borrowed. */
struct index_doc {
    enum index_kind kind;
    bool is_removed; /* a tombstone: only kind, id and change_seq count */
    struct uuid id;  /* an id known already replaces the older document */
    struct uuid chat;
    struct str user;
    int64_t seq; /* order inside the chat, up to SEGMENT_MAX_SEQ */
    int64_t created_at_ms;
    int64_t change_seq;
    uint32_t flags;   /* enum index_flags */
    uint32_t length;  /* content tokens */
    uint64_t speaker; /* index_term_hash() of the speaker's name, or 0 */
    const struct index_term *terms; /* any order, no hash twice */
    size_t n_terms;
    const float *vector; /* normalised, dim floats; NULL if there is none */
    /* of the two halves of a longer text, 2 * dim floats; NULL if it has
     * none: what is said in half a text is found by that half */
    const float *halves;
    /* INDEX_GIST_DIM values by the set's `gists`; NULL if there are none */
    const int8_t *gist;
    const struct index_range *dates;
    size_t n_dates;
};

/* Hash of a term (a stem, folded). */
uint64_t index_term_hash(struct str term);

/*
 * What an index says of the tables it was read from, and what they say to it:
 * `ids` are the newest turns and memories in it, `is_known` if each is in the
 * tables or was removed from them; `last` are the last ones that the tables
 * have up to `through`, all of which must be in it.
 */
#define INDEX_PROOF_IDS 64
struct index_proof {
    int64_t through;
    struct uuid ids[INDEX_PROOF_IDS];
    size_t n_ids;
    bool is_known;
    struct uuid last[INDEX_PROOF_IDS];
    size_t n_last;
};

/* Where documents come from: implemented by the engine over the store. */
struct index_source {
    void *arg;
    /* The tenant's latest change number; one cheap read. */
    enum clew_status (*latest)(void *arg, int64_t tenant, int64_t *out_change,
                               struct clew_error *err);
    /*
     * The documents and tombstones with change numbers above `after`, in
     * order, at most about `max` of them, in the arena. `*out_through` is the
     * number up to which this is complete (> after, unless nothing is left).
     */
    enum clew_status (*load)(void *arg, int64_t tenant, int64_t after,
                             size_t max, struct arena *arena,
                             struct index_doc **out_docs, size_t *out_count,
                             int64_t *out_through, struct clew_error *err);
    /* Fill in what the tables say; NULL: nobody can. */
    enum clew_status (*prove)(void *arg, int64_t tenant,
                              struct index_proof *proof,
                              struct clew_error *err);
};

struct index_options {
    const char *dir;   /* folder for files; NULL = memory only */
    size_t ram_bytes;  /* ceiling over all tenants; 0 = 1 GiB */
    const char *model; /* id of the vectors' model; another one rebuilds */
    size_t dim;        /* of the vectors; 0 = no vectors */
    /* About where the model's vectors lie, dim floats: they are kept by what
     * sets them apart from it. NULL = the origin. Another one rebuilds. */
    const float *centre;
    uint32_t analyser; /* version of the text analysis */
    /* Hash of what makes the gists; 0 = nothing does. Gists by another are not
     * looked at, and go when their files are merged. */
    uint64_t gists;
    /* Which store the documents come from: files made from another are read
     * again from the source. 0 = not known. */
    uint64_t store;
    /* Vectors may be kept elsewhere (index_set_far). Files without them are
     * read again from the source where this is not set. */
    bool can_be_bare;
    struct index_source source;
};

struct index_set;
struct index_view;

/* Open; tenants are loaded when first asked for. */
enum clew_status index_set_open(const struct index_options *options,
                                struct index_set **out_set,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Writes what is only in memory, then frees. No view may be open. */
void index_set_close(struct index_set *set);

/*
 * Add what was just committed: all searchable changes in (after, through].
 * Applied only if the tenant is loaded and has everything up to `after`;
 * otherwise nothing happens and the next view catches up. A failure (memory)
 * leaves the index as it was and is no reason to fail the write.
 */
enum clew_status index_offer(struct index_set *set, int64_t tenant,
                             int64_t after, int64_t through,
                             const struct index_doc *docs, size_t count,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* False if an offer now would be in vain: nobody has looked at this tenant's
 * index since it was opened, or it was dropped to save memory. */
bool index_takes_offers(struct index_set *set, int64_t tenant);

/*
 * Load and bring up to date one tenant that was offered INDEX_MISSED_DOCS
 * documents or more in vain, so that whoever asks first need not wait until a
 * whole import is read; nothing if there is none. For a background worker, or
 * between the steps of an import. Tenants dropped to save memory stay so.
 */
#define INDEX_MISSED_DOCS 256
enum clew_status index_catch_up(struct index_set *set,
                                struct clew_error *err) CLEW_MUST_CHECK;

/*
 * A snapshot of the tenant's index that holds at least everything committed
 * before the call. Close it with index_view_close(); NULL is a no-op there.
 */
enum clew_status index_view_open(struct index_set *set, int64_t tenant,
                                 struct index_view **out_view,
                                 struct clew_error *err) CLEW_MUST_CHECK;
void index_view_close(struct index_view *view);

/* The newest change number among documents whose vectors are kept elsewhere, 0
 * if there are none. */
int64_t index_view_bare(const struct index_view *view);

/* What a view holds; reads every document. */
struct index_count {
    int64_t through; /* change number covered */
    uint64_t n_docs[INDEX_KINDS];
    uint64_t n_vectors; /* documents that have one here */
    uint64_t n_bare;    /* documents whose vectors are kept elsewhere */
};
void index_view_count(const struct index_view *view, struct index_count *out);

/*
 * Somebody else keeps the vectors of the tenant's documents up to the change
 * number `through` and can be asked for them: index_maintain() and flushing
 * leave those out of the files they write. The number only ever grows; nothing
 * happens if the set was opened without `can_be_bare`.
 */
void index_set_far(struct index_set *set, int64_t tenant, int64_t through);

/* Another ceiling from now on; 0 = 1 GiB. */
void index_set_limit(struct index_set *set, size_t ram_bytes);
/* Ids of the tenants loaded now, at most `max`; how many were written. */
size_t index_set_loaded(struct index_set *set, int64_t *out_tenants,
                        size_t max);

/* Write the tenant's memory part to files (if this process may write). */
enum clew_status index_flush(struct index_set *set, int64_t tenant,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* One step of merging what has grown; `*out_more` if another is due. For a
 * background worker; readers are not held up. */
enum clew_status index_maintain(struct index_set *set, int64_t tenant,
                                bool *out_more,
                                struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Remove every byte of forgotten documents from the files: rewrites each
 * segment that holds one. Call after the tombstones are committed.
 */
enum clew_status index_purge(struct index_set *set, int64_t tenant,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Forget everything about a tenant's index; it is rebuilt from the source. */
enum clew_status index_drop(struct index_set *set, int64_t tenant,
                            struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Read one of a tenant's files and compare its checksum: one that was not read
 * whole yet or, if `again`, the next of them all. A damaged one is dropped with
 * its index, which the next view makes again from the source.
 */
enum clew_status index_scrub(struct index_set *set, int64_t tenant, bool again,
                             bool *out_damaged,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Read all of a tenant's files; CLEW_CORRUPT if a checksum or an order is
 * broken. */
enum clew_status index_verify(struct index_set *set, int64_t tenant,
                              struct clew_error *err) CLEW_MUST_CHECK;

struct index_stats {
    int64_t through; /* change number covered */
    uint64_t n_docs; /* live documents */
    uint64_t n_removed;
    uint64_t n_bare; /* documents, removed ones too, without vectors here */
    uint64_t n_segments;
    uint64_t n_files;
    uint64_t heap_bytes;
    uint64_t mapped_bytes;
    uint64_t n_rebuilds; /* times the files were no good and read again */
};
/* Of one loaded tenant; CLEW_NOT_FOUND if it is not loaded. */
enum clew_status index_stats_get(struct index_set *set, int64_t tenant,
                                 struct index_stats *out_stats) CLEW_MUST_CHECK;
/* Heap and mapped bytes over all loaded tenants, and how many are loaded. */
void index_set_usage(struct index_set *set, uint64_t *out_bytes,
                     uint64_t *out_tenants);

#endif
