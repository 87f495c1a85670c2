/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenant.c - load, feed, flush, merge and purge one tenant's index.
 */
#include "index/tenant.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "index/build.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Documents read from the source at a time. */
#define LOAD_DOCS 2000u
/* Memory for one such batch. */
#define LOAD_ARENA_BYTES (1024u * 1024 * 1024)

enum clew_status tenant_new(struct tenant_home *home, int64_t id,
                            struct tenant **out, struct clew_error *err)
{
    struct tenant *t = alloc_zero(1, sizeof(*t));

    if (!t) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open an index");
    }
    t->home = home;
    t->id = id;
    t->next_file_id = 1;
    (void)pthread_mutex_init(&t->lock, NULL); /* cannot fail on Linux */
    (void)pthread_cond_init(&t->idle, NULL);
    *out = t;
    return CLEW_OK;
}

void tenant_free(struct tenant *tenant)
{
    if (!tenant) {
        return;
    }
    tenant_unload(tenant);
    (void)pthread_mutex_destroy(&tenant->lock);
    (void)pthread_cond_destroy(&tenant->idle);
    alloc_free(tenant);
}

static bool dir_of(const struct tenant *t, char out[MANIFEST_PATH_BYTES])
{
    int n;

    if (!t->home->dir) {
        return false;
    }
    n = snprintf(out, MANIFEST_PATH_BYTES, "%s/%" PRId64, t->home->dir, t->id);
    return n > 0 && n < MANIFEST_PATH_BYTES - 64;
}

bool tenant_may_write(struct tenant *t)
{
    struct tenant_home *home = t->home;

    if (!home->dir) {
        return false;
    }
    if (!atomic_load(&home->is_writer) && home->lock_fd >= 0 &&
        flock(home->lock_fd, LOCK_EX | LOCK_NB) == 0) {
        atomic_store(&home->is_writer, true);
    }
    return atomic_load(&home->is_writer);
}

bool tenant_can_strip(const struct tenant *tenant, struct segment *segment)
{
    return tenant->home->kind.can_be_bare && tenant->far_through > 0 &&
           !segment_is_bare(segment) &&
           segment_newest_change(segment) <= tenant->far_through;
}

struct segment_kind tenant_kind_of(const struct tenant *tenant,
                                   struct segment *const *segments, size_t n)
{
    struct segment_kind kind = tenant->home->kind;
    bool is_bare = kind.can_be_bare;

    for (size_t i = 0; i < n && is_bare; i++) {
        is_bare = segment_is_bare(segments[i]) ||
                  tenant_can_strip(tenant, segments[i]);
    }
    kind.dim = is_bare ? 0 : kind.dim;
    return kind;
}

size_t tenant_memory_docs(const struct tenant *tenant)
{
    size_t total = 0;

    for (size_t i = tenant->n_files; i < tenant->count; i++) {
        total += tenant->segments[i]->head->n_docs;
    }
    return total;
}

uint64_t tenant_heap_bytes(const struct tenant *tenant)
{
    uint64_t total = sizeof(*tenant);

    for (size_t i = 0; i < tenant->count; i++) {
        const struct segment *s = tenant->segments[i];

        total += sizeof(*s) + s->head->n_docs / 8 + 8;
        total += s->is_mapped ? 0 : s->size;
    }
    return total;
}

uint64_t tenant_mapped_bytes(const struct tenant *tenant)
{
    uint64_t total = 0;

    for (size_t i = 0; i < tenant->count; i++) {
        total += tenant->segments[i]->is_mapped ? tenant->segments[i]->size : 0;
    }
    return total;
}

void tenant_unload(struct tenant *tenant)
{
    for (size_t i = 0; i < tenant->count; i++) {
        segment_unref(tenant->segments[i]);
    }
    alloc_free((void *)tenant->segments);
    tenant->segments = NULL;
    tenant->count = 0;
    tenant->cap = 0;
    tenant->n_files = 0;
    tenant->through = 0;
    tenant->saved_through = 0;
    tenant->is_loaded = false;
    tenant->generation++;
}

enum clew_status tenant_load(struct tenant *tenant, struct clew_error *err)
{
    char dir[MANIFEST_PATH_BYTES];
    struct manifest m = {0};
    enum clew_status status = CLEW_NOT_FOUND;

    /* a writer may sweep files away between reading the manifest and opening
     * them: look again before giving up */
    for (int i = 0; i < 3 && dir_of(tenant, dir); i++) {
        status = manifest_load(dir, &tenant->home->kind, &m, err);
        if (status != CLEW_CORRUPT || tenant_may_write(tenant)) {
            break;
        }
    }
    if (status == CLEW_NO_MEMORY) {
        return status;
    }
    tenant_unload(tenant);
    tenant->is_loaded = true;
    if (status == CLEW_CORRUPT) {
        tenant->n_rebuilds++;
        if (tenant_may_write(tenant)) {
            manifest_clear(dir);
        }
    }
    if (status == CLEW_OK) {
        tenant->segments = m.segments;
        tenant->count = m.count;
        tenant->cap = m.count;
        tenant->n_files = m.count;
        tenant->through = m.through;
        tenant->saved_through = m.through;
        tenant->next_file_id = m.next_file_id;
    }
    return CLEW_OK;
}

static enum clew_status reserve(struct tenant *t, size_t more,
                                struct clew_error *err)
{
    struct segment **segments;
    size_t cap = t->count + more + 8;

    if (t->count + more <= t->cap) {
        return CLEW_OK;
    }
    segments = alloc_array((void *)t->segments, cap, sizeof(*segments));
    if (!segments) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not grow an index");
    }
    t->segments = segments;
    t->cap = cap;
    return CLEW_OK;
}

/* Replace the last `n` segments by one (NULL: by nothing). */
static void replace_last(struct tenant *t, size_t n, struct segment *merged)
{
    for (size_t i = t->count - n; i < t->count; i++) {
        segment_unref(t->segments[i]);
    }
    t->count -= n;
    if (merged) {
        t->segments[t->count++] = merged;
    }
}

/* Merge small segments at the end of the list until sizes halve. */
static void fold_memory(struct tenant *t)
{
    for (;;) {
        size_t n = 1;
        size_t docs;
        struct segment *merged;

        if (t->count - t->n_files < 2) {
            return;
        }
        docs = t->segments[t->count - 1]->head->n_docs;
        while (n < t->count - t->n_files &&
               t->segments[t->count - 1 - n]->head->n_docs <= 2 * docs) {
            docs += t->segments[t->count - 1 - n]->head->n_docs;
            n++;
        }
        /* failing to merge only costs speed */
        if (n < 2 || build_merge(&t->home->kind, t->segments + t->count - n, n,
                                 NULL, &merged, NULL) != CLEW_OK) {
            return;
        }
        replace_last(t, n, merged);
    }
}

static int compare_doc_refs(const void *a, const void *b)
{
    const struct index_doc *x = *(const struct index_doc *const *)a;
    const struct index_doc *y = *(const struct index_doc *const *)b;
    int order = uuid_cmp(&x->id, &y->id);

    return order ? order
                 : (x->change_seq < y->change_seq
                        ? -1
                        : x->change_seq > y->change_seq);
}

/* Keep only the last word on each id; the live ones first. */
static size_t latest_of(const struct index_doc **refs, size_t count,
                        size_t *out_live)
{
    size_t n = 0;
    size_t live = 0;

    qsort((void *)refs, count, sizeof(*refs), compare_doc_refs);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || !uuid_eq(&refs[i]->id, &refs[i + 1]->id)) {
            refs[n++] = refs[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!refs[i]->is_removed) {
            const struct index_doc *swap = refs[live];

            refs[live++] = refs[i];
            refs[i] = swap;
        }
    }
    *out_live = live;
    return n;
}

/* Take the ids out of every segment there is. */
static void remove_old(struct tenant *t, const struct index_doc *const *refs,
                       size_t count)
{
    for (size_t s = 0; s < t->count; s++) {
        for (size_t i = 0; i < count; i++) {
            uint32_t doc;

            if (segment_find_id(t->segments[s], &refs[i]->id, &doc)) {
                (void)segment_remove(t->segments[s], doc);
            }
        }
    }
}

enum clew_status tenant_apply(struct tenant *tenant,
                              const struct index_doc *docs, size_t count,
                              int64_t through, struct clew_error *err)
{
    const struct index_doc **refs = NULL;
    struct segment *segment = NULL;
    enum clew_status status;
    size_t n_live;
    size_t n;

    if (count == 0) {
        tenant->through = through;
        return CLEW_OK;
    }
    status = reserve(tenant, 1, err);
    if (status != CLEW_OK) {
        return status;
    }
    refs = alloc_array(NULL, count, sizeof(*refs));
    if (!refs) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not add to an index");
    }
    for (size_t i = 0; i < count; i++) {
        refs[i] = &docs[i];
    }
    n = latest_of(refs, count, &n_live);
    status = build_docs(&tenant->home->kind, refs, n_live, &segment, err);
    if (status == CLEW_OK) {
        remove_old(tenant, refs, n);
        if (segment) {
            tenant->segments[tenant->count++] = segment;
        }
        tenant->through = through;
        fold_memory(tenant);
    }
    alloc_free((void *)refs);
    return status;
}

/* A reader's own tail has grown: take the writer's files if they are newer. */
static enum clew_status follow_writer(struct tenant *t, struct clew_error *err)
{
    char dir[MANIFEST_PATH_BYTES];

    if (tenant_may_write(t) || !dir_of(t, dir) ||
        manifest_peek(dir, &t->home->kind) <= t->saved_through) {
        return CLEW_OK;
    }
    return tenant_load(t, err);
}

enum clew_status tenant_catch_up(struct tenant *tenant, int64_t latest,
                                 struct clew_error *err)
{
    const struct index_source *source = &tenant->home->source;
    enum clew_status status = CLEW_OK;
    struct arena arena;

    arena_init(&arena, LOAD_ARENA_BYTES);
    while (status == CLEW_OK && tenant->through < latest) {
        struct index_doc *docs = NULL;
        size_t count = 0;
        int64_t through = tenant->through;

        arena_clear(&arena);
        status = source->load(source->arg, tenant->id, tenant->through,
                              LOAD_DOCS, &arena, &docs, &count, &through, err);
        if (status != CLEW_OK) {
            break;
        }
        if (through <= tenant->through) {
            through = latest; /* nothing is left */
        }
        status = tenant_apply(tenant, docs, count, through, err);
        if (status == CLEW_OK &&
            tenant_memory_docs(tenant) >= TENANT_FLUSH_DOCS) {
            status = tenant_may_write(tenant) ? tenant_flush(tenant, NULL)
                                              : follow_writer(tenant, err);
            /* a full disk must not stop the search */
            status = status == CLEW_UNAVAILABLE ? CLEW_OK : status;
        }
    }
    arena_release(&arena);
    return status;
}

enum clew_status tenant_save(struct tenant *t, struct clew_error *err)
{
    char dir[MANIFEST_PATH_BYTES];
    struct manifest m = {.through = t->saved_through,
                         .next_file_id = t->next_file_id,
                         .keep_file_id = t->is_merging ? t->merge_file_id : 0,
                         .segments = t->segments,
                         .count = t->n_files};

    if (!dir_of(t, dir)) {
        return clew_fail(err, CLEW_INTERNAL, "index folder name too long");
    }
    return manifest_save(dir, &t->home->kind, &m, err);
}

enum clew_status tenant_new_path(struct tenant *t, uint64_t *out_id,
                                 char out[MANIFEST_PATH_BYTES],
                                 struct clew_error *err)
{
    char dir[MANIFEST_PATH_BYTES];

    if (!dir_of(t, dir) || !manifest_segment_path(dir, t->next_file_id, out)) {
        return clew_fail(err, CLEW_INTERNAL, "index folder name too long");
    }
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not make an index folder: %s", strerror(errno));
    }
    *out_id = t->next_file_id++;
    return CLEW_OK;
}

static bool has_unsaved_removals(const struct tenant *t)
{
    for (size_t i = 0; i < t->n_files; i++) {
        if (t->segments[i]->n_removed_saved !=
            atomic_load(&t->segments[i]->n_removed)) {
            return true;
        }
    }
    return false;
}

enum clew_status tenant_flush(struct tenant *tenant, struct clew_error *err)
{
    char path[MANIFEST_PATH_BYTES];
    struct segment *merged = NULL;
    size_t n = tenant->count - tenant->n_files;
    enum clew_status status = CLEW_OK;
    int64_t saved = tenant->saved_through;
    uint64_t id;

    if (!tenant_may_write(tenant) ||
        (n == 0 && tenant->through == tenant->saved_through &&
         !has_unsaved_removals(tenant))) {
        return CLEW_OK;
    }
    status = tenant_new_path(tenant, &id, path, err);
    if (status == CLEW_OK && n > 0) {
        struct segment_kind kind =
            tenant_kind_of(tenant, tenant->segments + tenant->n_files, n);

        status = build_merge(&kind, tenant->segments + tenant->n_files, n, path,
                             &merged, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    replace_last(tenant, n, merged);
    if (merged) {
        merged->file_id = id;
        tenant->n_files++;
    }
    tenant->saved_through = tenant->through;
    status = tenant_save(tenant, err);
    if (status != CLEW_OK) {
        /* the file stays mapped and is named by the next save */
        tenant->saved_through = saved;
    }
    return status;
}

void tenant_drop(struct tenant *tenant)
{
    char dir[MANIFEST_PATH_BYTES];

    tenant_unload(tenant);
    tenant->far_through = 0; /* it may have been of another store */
    if (tenant_may_write(tenant) && dir_of(tenant, dir)) {
        manifest_clear(dir);
    }
}

bool tenant_has_heads(const struct tenant *tenant)
{
    for (size_t i = 0; i < tenant->n_files; i++) {
        if (!segment_has_head(tenant->segments[i])) {
            return false;
        }
    }
    return true;
}

struct segment *tenant_scrub_next(struct tenant *tenant, bool again)
{
    for (size_t i = 0; i < tenant->n_files; i++) {
        if (!tenant->segments[i]->is_checked) {
            return segment_ref(tenant->segments[i]);
        }
    }
    if (!again || tenant->n_files == 0) {
        return NULL;
    }
    tenant->scrub_at = (tenant->scrub_at + 1) % tenant->n_files;
    return segment_ref(tenant->segments[tenant->scrub_at]);
}

static enum clew_status rewrite(struct tenant *t, size_t i,
                                struct clew_error *err)
{
    char path[MANIFEST_PATH_BYTES];
    bool is_file = i < t->n_files;
    struct segment *clean = NULL;
    uint64_t id = 0;
    enum clew_status status =
        is_file ? tenant_new_path(t, &id, path, err) : CLEW_OK;

    if (status == CLEW_OK) {
        struct segment_kind kind =
            is_file ? tenant_kind_of(t, t->segments + i, 1) : t->home->kind;

        status = build_merge(&kind, t->segments + i, 1, is_file ? path : NULL,
                             &clean, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    segment_unref(t->segments[i]);
    t->segments[i] = clean;
    if (clean) {
        clean->file_id = id;
        return CLEW_OK;
    }
    memmove(t->segments + i, t->segments + i + 1,
            (t->count - i - 1) * sizeof(*t->segments));
    t->count--;
    t->n_files -= is_file;
    return CLEW_OK;
}

enum clew_status tenant_purge(struct tenant *tenant, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    bool has_rewritten = false;

    while (tenant->is_merging) {
        (void)pthread_cond_wait(&tenant->idle, &tenant->lock);
    }
    for (size_t i = tenant->count; i-- > 0 && status == CLEW_OK;) {
        if (atomic_load(&tenant->segments[i]->n_removed) > 0 &&
            (i >= tenant->n_files || tenant_may_write(tenant))) {
            has_rewritten = has_rewritten || i < tenant->n_files;
            status = rewrite(tenant, i, err);
        }
    }
    if (status == CLEW_OK && has_rewritten) {
        status = tenant_save(tenant, err);
    }
    return status;
}
