/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenant_merge.c - merge a tenant's files in the background.
 *
 * The inputs stay in use while they are merged, without the tenant's lock; what
 * is removed from them meanwhile is removed from the result before it takes
 * their place.
 */
#include "index/build.h"
#include "index/tenant.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files of about the same size that are merged into one. */
#define MERGE_FILES 4u
/* More files than this are merged whatever their size. */
#define MAX_FILES 24u

/* Those without vectors apart from the others: the two are never merged. */
static int compare_sizes(const void *a, const void *b)
{
    const struct segment *x = *(struct segment *const *)a;
    const struct segment *y = *(struct segment *const *)b;

    if (segment_is_bare(x) != segment_is_bare(y)) {
        return segment_is_bare(x) ? -1 : 1;
    }
    return x->head->n_docs < y->head->n_docs
               ? -1
               : x->head->n_docs > y->head->n_docs;
}

/*
 * Which files to merge next: MERGE_FILES of about one size (the largest not
 * above the sum of the others), or one that is more than a third removed or
 * whose vectors are no longer needed here. They are moved to the end of the
 * files; how many comes back.
 */
static size_t choose(struct tenant *t)
{
    size_t n = t->n_files;

    if (n == 0) {
        return 0; /* there may be no array yet */
    }
    qsort((void *)t->segments, n, sizeof(*t->segments), compare_sizes);
    for (size_t i = 0; i < n; i++) {
        struct segment *s = t->segments[i];

        if (atomic_load(&s->n_removed) > s->head->n_docs / 3 ||
            tenant_can_strip(t, s)) {
            t->segments[i] = t->segments[n - 1];
            t->segments[n - 1] = s;
            return 1;
        }
    }
    for (size_t i = 0; i + MERGE_FILES <= n; i++) {
        struct segment *set[MERGE_FILES];
        uint64_t others = 0;

        memcpy((void *)set, (void *)(t->segments + i), sizeof(set));
        for (size_t k = 0; k + 1 < MERGE_FILES; k++) {
            others += set[k]->head->n_docs;
        }
        if (segment_is_bare(set[0]) != segment_is_bare(set[MERGE_FILES - 1])) {
            continue;
        }
        if (others + set[MERGE_FILES - 1]->head->n_docs > SEGMENT_MAX_DOCS) {
            continue;
        }
        if (set[MERGE_FILES - 1]->head->n_docs <= others || n > MAX_FILES) {
            memmove((void *)(t->segments + i),
                    (void *)(t->segments + i + MERGE_FILES),
                    (n - i - MERGE_FILES) * sizeof(*t->segments));
            memcpy((void *)(t->segments + n - MERGE_FILES), (void *)set,
                   sizeof(set));
            return MERGE_FILES;
        }
    }
    return 0;
}

/* What was removed from the inputs while they were being merged. */
static void replay_removals(struct segment *merged, struct segment **inputs,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct segment *s = inputs[i];

        for (uint32_t doc = 0; merged && doc < s->head->n_docs; doc++) {
            uint32_t there;

            if (segment_is_removed(s, doc) &&
                segment_find_id(merged, &s->docs[doc].id, &there) &&
                merged->docs[there].change_seq == s->docs[doc].change_seq) {
                (void)segment_remove(merged, there);
            }
        }
    }
}

/* Put the merged segment in the place of its inputs, if they are all there. */
static enum clew_status install(struct tenant *t, struct segment **inputs,
                                size_t n, struct segment *merged,
                                struct clew_error *err)
{
    size_t kept = 0;

    replay_removals(merged, inputs, n);
    for (size_t i = 0; i < t->count; i++) {
        bool is_input = false;

        for (size_t k = 0; k < n; k++) {
            is_input = is_input || t->segments[i] == inputs[k];
        }
        if (is_input) {
            segment_unref(t->segments[i]);
            t->n_files--;
        } else {
            t->segments[kept++] = t->segments[i];
        }
    }
    t->count = kept;
    if (merged) {
        memmove((void *)(t->segments + t->n_files + 1),
                (void *)(t->segments + t->n_files),
                (t->count - t->n_files) * sizeof(*t->segments));
        t->segments[t->n_files++] = merged;
        t->count++;
    }
    return tenant_save(t, err);
}

enum clew_status tenant_merge(struct tenant *tenant, bool *out_more,
                              struct clew_error *err)
{
    struct segment *inputs[MERGE_FILES];
    char path[MANIFEST_PATH_BYTES];
    struct segment *merged = NULL;
    enum clew_status status = CLEW_OK;
    struct segment_kind kind;
    uint64_t generation;
    uint64_t id = 0;
    size_t n = 0;

    *out_more = false;
    (void)pthread_mutex_lock(&tenant->lock);
    if (tenant->is_loaded && !tenant->is_merging && tenant_may_write(tenant)) {
        n = choose(tenant);
    }
    if (n > 0) {
        status = tenant_new_path(tenant, &id, path, err);
    }
    if (n == 0 || status != CLEW_OK) {
        (void)pthread_mutex_unlock(&tenant->lock);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        inputs[i] = segment_ref(tenant->segments[tenant->n_files - n + i]);
    }
    kind = tenant_kind_of(tenant, inputs, n);
    tenant->is_merging = true;
    tenant->merge_file_id = id;
    generation = tenant->generation;
    (void)pthread_mutex_unlock(&tenant->lock);

    status = build_merge(&kind, inputs, n, path, &merged, err);

    (void)pthread_mutex_lock(&tenant->lock);
    tenant->is_merging = false;
    (void)pthread_cond_broadcast(&tenant->idle);
    if (status == CLEW_OK && generation == tenant->generation) {
        if (merged) {
            merged->file_id = id;
        }
        status = install(tenant, inputs, n, merged, err);
        *out_more = status == CLEW_OK;
    } else {
        segment_unref(merged);
        (void)unlink(path); /* swept with the next save otherwise */
    }
    (void)pthread_mutex_unlock(&tenant->lock);
    for (size_t i = 0; i < n; i++) {
        segment_unref(inputs[i]);
    }
    return status;
}
