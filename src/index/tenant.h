/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenant.h - one tenant's index: its list of segments and how it changes.
 *
 * Files come first in the list, then segments in memory. New documents become a
 * small segment; equal sizes are merged, so that there are only ever a few.
 * Private to index/.
 * Thread-safety: call with `lock` held, except tenant_merge(), which takes it.
 */
#ifndef INDEX_TENANT_H
#define INDEX_TENANT_H

#include "index/manifest.h"

#include <pthread.h>

/* Documents in memory that are written to a file when there is time. */
#define TENANT_FLUSH_DOCS 16384u

/* What all tenants share; immutable while the set is open, but for the lock. */
struct tenant_home {
    const char *dir; /* NULL = memory only */
    struct segment_kind kind;
    struct index_source source;
    int lock_fd; /* of <dir>/lock, -1 */
    atomic_bool is_writer;
};

struct tenant {
    int64_t id;
    struct tenant_home *home;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t idle;  /* signalled when is_merging ends */
    bool is_loaded;
    bool is_merging;
    uint64_t generation; /* counts drops; a merge of an older one is void */
    int64_t through;
    int64_t saved_through;
    int64_t far_through; /* up to here vectors are kept elsewhere */
    uint64_t next_file_id;
    uint64_t merge_file_id;
    struct segment **segments;
    size_t count;
    size_t cap;
    size_t n_files;
    uint64_t n_rebuilds;
    size_t scrub_at; /* the file index_scrub() reads next */
    /* the set's, guarded by its lock */
    uint64_t charged_bytes;
    uint64_t used_at;
};

enum clew_status tenant_new(struct tenant_home *home, int64_t id,
                            struct tenant **out,
                            struct clew_error *err) CLEW_MUST_CHECK;
void tenant_free(struct tenant *tenant);

/* Load the files, if any are good. */
enum clew_status tenant_load(struct tenant *tenant,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Was what is loaded read from the tables that are there now? (prove.c) */
enum clew_status tenant_prove(const struct tenant *tenant, bool *out_same,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Forget what is loaded; files stay. */
void tenant_unload(struct tenant *tenant);

/* Add documents and take out what they replace; all changes up to `through`. */
enum clew_status tenant_apply(struct tenant *tenant,
                              const struct index_doc *docs, size_t count,
                              int64_t through,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Read from the source up to `latest`. */
enum clew_status tenant_catch_up(struct tenant *tenant, int64_t latest,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Write memory to a file and save the manifest; nothing if it may not. What
 * cannot be written stays in memory, so the result may be ignored. */
enum clew_status tenant_flush(struct tenant *tenant, struct clew_error *err);
enum clew_status tenant_purge(struct tenant *tenant,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Everything gone, files too. */
void tenant_drop(struct tenant *tenant);
/* Are the heads of all files in place? What is mapped may be damaged later. */
bool tenant_has_heads(const struct tenant *tenant);
/* The file to read whole now, with a reference: one that was not yet or, if
 * `again`, the next of them all. NULL if there is none. */
struct segment *tenant_scrub_next(struct tenant *tenant, bool again);
/* One merge of files; takes the lock itself and lets go of it meanwhile. */
enum clew_status tenant_merge(struct tenant *tenant, bool *out_more,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* True if this process may write files: it has, or now gets, the lock. */
bool tenant_may_write(struct tenant *tenant);
/* A path for a new segment file, in a folder that exists. */
enum clew_status tenant_new_path(struct tenant *tenant, uint64_t *out_id,
                                 char out[MANIFEST_PATH_BYTES],
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Make the files in the list the live ones. */
enum clew_status tenant_save(struct tenant *tenant,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* How files are written from these segments: without vectors where those of
 * all documents are kept elsewhere. */
struct segment_kind tenant_kind_of(const struct tenant *tenant,
                                   struct segment *const *segments, size_t n);
/* True if a segment's vectors are here and also kept elsewhere. */
bool tenant_can_strip(const struct tenant *tenant, struct segment *segment);

size_t tenant_memory_docs(const struct tenant *tenant);
uint64_t tenant_heap_bytes(const struct tenant *tenant);
uint64_t tenant_mapped_bytes(const struct tenant *tenant);

#endif
