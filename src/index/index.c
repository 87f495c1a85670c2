/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c - the set of tenants' indexes: find, feed, bound in memory.
 *
 * Locks: the set's lock guards the table and the accounts and is only held for
 * moments; a tenant's lock guards that tenant. A thread that holds a tenant's
 * lock may take the set's, never the other way round.
 */
#include "index/index.h"

#include "base/alloc.h"
#include "index/missed.h"
#include "index/tenant.h"
#include "index/view.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_RAM_BYTES ((size_t)1 << 30)

struct index_set {
    struct tenant_home home;
    char *dir;
    float *centre;
    size_t ram_bytes;
    pthread_mutex_t lock;    /* guards the rest */
    struct tenant **tenants; /* hash table by id, open addressing */
    size_t n_tenants;
    size_t cap_tenants; /* power of two */
    uint64_t charged_bytes;
    uint64_t freed_bytes; /* of heap since it was last given back */
    uint64_t clock;       /* counts uses */
    struct missed missed; /* has a lock of its own */
};

uint64_t index_term_hash(struct str term)
{
    uint64_t hash = str_hash(term);

    /* spread the low entropy of short terms over the top bits (buckets) */
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93ull;
    hash ^= hash >> 32;
    return hash;
}

static void open_lock(struct index_set *set)
{
    char path[MANIFEST_PATH_BYTES];
    int n = snprintf(path, sizeof(path), "%s/lock", set->dir);

    if (n > 0 && n < (int)sizeof(path)) {
        set->home.lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    if (set->home.lock_fd >= 0 &&
        flock(set->home.lock_fd, LOCK_EX | LOCK_NB) == 0) {
        atomic_store(&set->home.is_writer, true);
    }
}

/* The model with its centre. */
static uint64_t model_hash(const struct index_options *options)
{
    struct str centre = {(const char *)options->centre,
                         options->dim * sizeof(*options->centre)};
    uint64_t hash = index_term_hash(str_of(options->model));

    return options->centre ? hash ^ index_term_hash(centre) : hash;
}

enum clew_status index_set_open(const struct index_options *options,
                                struct index_set **out_set,
                                struct clew_error *err)
{
    struct index_set *set = alloc_zero(1, sizeof(*set));

    if (!set) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open the index");
    }
    (void)pthread_mutex_init(&set->lock, NULL); /* cannot fail on Linux */
    missed_init(&set->missed);
    set->home.lock_fd = -1;
    set->home.source = options->source;
    set->home.kind.dim = (uint32_t)options->dim;
    set->home.kind.model = model_hash(options) ^ options->store;
    set->home.kind.analyser = options->analyser;
    set->home.kind.gists = options->gists;
    set->home.kind.can_be_bare = options->can_be_bare && options->dim > 0;
    set->ram_bytes =
        options->ram_bytes ? options->ram_bytes : DEFAULT_RAM_BYTES;
    set->cap_tenants = 64;
    set->tenants = alloc_zero(set->cap_tenants, sizeof(*set->tenants));
    set->dir = options->dir ? alloc_string(options->dir) : NULL;
    if (options->centre) {
        set->centre = alloc_array(NULL, options->dim, sizeof(*set->centre));
        set->home.kind.centre = set->centre;
    }
    if (!set->tenants || (options->dir && !set->dir) ||
        (options->centre && !set->centre)) {
        index_set_close(set);
        return clew_fail(err, CLEW_NO_MEMORY, "could not open the index");
    }
    if (options->centre) {
        memcpy(set->centre, options->centre,
               options->dim * sizeof(*set->centre));
    }
    set->home.dir = set->dir;
    if (set->dir && mkdir(set->dir, 0700) != 0 && errno != EEXIST) {
        int reason = errno;

        index_set_close(set);
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not make the index folder: %s",
                         strerror(reason));
    }
    if (set->dir) {
        open_lock(set);
    }
    *out_set = set;
    return CLEW_OK;
}

void index_set_close(struct index_set *set)
{
    if (!set) {
        return;
    }
    for (size_t i = 0; set->tenants && i < set->cap_tenants; i++) {
        struct tenant *t = set->tenants[i];

        if (t && t->is_loaded) {
            (void)pthread_mutex_lock(&t->lock);
            clew_ignore(tenant_flush(t, NULL)); /* else it is read again */
            (void)pthread_mutex_unlock(&t->lock);
        }
        tenant_free(t);
    }
    alloc_free((void *)set->tenants);
    alloc_free(set->dir);
    alloc_free(set->centre);
    if (set->home.lock_fd >= 0) {
        (void)close(set->home.lock_fd); /* lets go of the lock */
    }
    (void)pthread_mutex_destroy(&set->lock);
    missed_release(&set->missed);
    alloc_free(set);
}

static size_t slot_of(struct tenant **table, size_t cap, int64_t id)
{
    size_t i = (size_t)((uint64_t)id * 0x9e3779b97f4a7c15ull >> 20) & (cap - 1);

    while (table[i] && table[i]->id != id) {
        i = (i + 1) & (cap - 1);
    }
    return i;
}

static enum clew_status grow_table(struct index_set *set,
                                   struct clew_error *err)
{
    size_t cap = set->cap_tenants * 2;
    struct tenant **table;

    if (set->n_tenants * 2 < set->cap_tenants) {
        return CLEW_OK;
    }
    table = alloc_zero(cap, sizeof(*table));
    if (!table) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open an index");
    }
    for (size_t i = 0; i < set->cap_tenants; i++) {
        if (set->tenants[i]) {
            table[slot_of(table, cap, set->tenants[i]->id)] = set->tenants[i];
        }
    }
    alloc_free((void *)set->tenants);
    set->tenants = table;
    set->cap_tenants = cap;
    return CLEW_OK;
}

/* The tenant's entry, made if `make`; NULL in *out if it is not there. */
static enum clew_status find_tenant(struct index_set *set, int64_t id,
                                    bool make, struct tenant **out,
                                    struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    size_t slot;

    (void)pthread_mutex_lock(&set->lock);
    slot = slot_of(set->tenants, set->cap_tenants, id);
    if (!set->tenants[slot] && make) {
        status = grow_table(set, err);
        slot = slot_of(set->tenants, set->cap_tenants, id);
        if (status == CLEW_OK) {
            status = tenant_new(&set->home, id, &set->tenants[slot], err);
        }
        set->n_tenants += status == CLEW_OK;
    }
    *out = status == CLEW_OK ? set->tenants[slot] : NULL;
    if (*out) {
        (*out)->used_at = ++set->clock;
    }
    (void)pthread_mutex_unlock(&set->lock);
    return status;
}

/* Bring the account of a tenant (whose lock is held) up to date. */
static void charge(struct index_set *set, struct tenant *t)
{
    uint64_t bytes =
        t->is_loaded ? tenant_heap_bytes(t) + tenant_mapped_bytes(t) : 0;

    (void)pthread_mutex_lock(&set->lock);
    set->charged_bytes += bytes - t->charged_bytes;
    t->charged_bytes = bytes;
    (void)pthread_mutex_unlock(&set->lock);
}

/* The least recently used loaded tenant but `keep`, if over the ceiling. */
static struct tenant *victim_of(struct index_set *set,
                                const struct tenant *keep, uint64_t after)
{
    struct tenant *victim = NULL;

    (void)pthread_mutex_lock(&set->lock);
    for (size_t i = 0;
         set->charged_bytes > set->ram_bytes && i < set->cap_tenants; i++) {
        struct tenant *t = set->tenants[i];

        if (t && t != keep && t->charged_bytes > 0 && t->used_at > after &&
            (!victim || t->used_at < victim->used_at)) {
            victim = t;
        }
    }
    (void)pthread_mutex_unlock(&set->lock);
    return victim;
}

/*
 * What is freed in pieces stays with the process: twice the ceiling was seen.
 * So give it back to the system, now and then since that takes a millisecond.
 */
static void give_back(struct index_set *set, uint64_t freed_bytes)
{
    bool is_due;

    (void)pthread_mutex_lock(&set->lock);
    set->freed_bytes += freed_bytes;
    is_due = set->freed_bytes > set->ram_bytes / 8;
    set->freed_bytes = is_due ? 0 : set->freed_bytes;
    (void)pthread_mutex_unlock(&set->lock);
#ifdef __GLIBC__
    if (is_due) {
        (void)malloc_trim(0); /* says whether it had anything to give */
    }
#else
    (void)is_due;
#endif
}

/* Unload others until all fits; busy ones are passed over. */
static void evict(struct index_set *set, const struct tenant *keep)
{
    uint64_t after = 0;
    uint64_t freed = 0;

    for (;;) {
        struct tenant *t = victim_of(set, keep, after);

        if (!t) {
            break;
        }
        after = t->used_at;
        if (pthread_mutex_trylock(&t->lock) != 0) {
            continue;
        }
        if (!t->is_merging) {
            freed += tenant_heap_bytes(t);
            clew_ignore(tenant_flush(t, NULL)); /* else it is read again */
            tenant_unload(t);
            charge(set, t);
        }
        (void)pthread_mutex_unlock(&t->lock);
    }
    if (freed > 0) {
        give_back(set, freed);
    }
}

enum clew_status index_offer(struct index_set *set, int64_t tenant,
                             int64_t after, int64_t through,
                             const struct index_doc *docs, size_t count,
                             struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    struct tenant *t = NULL;
    bool is_missed;

    assert(through >= after); /* an index never goes back */
    (void)find_tenant(set, tenant, false, &t, err); /* makes nothing */
    if (!t) {
        missed_add(&set->missed, tenant, count);
        return CLEW_OK;
    }
    (void)pthread_mutex_lock(&t->lock);
    is_missed = t->is_loaded && t->through < after;
    if (t->is_loaded && t->through == after) {
        status = tenant_apply(t, docs, count, through, err);
        /* without a background worker memory must not grow for ever */
        if (status == CLEW_OK &&
            tenant_memory_docs(t) >= 4 * TENANT_FLUSH_DOCS) {
            clew_ignore(tenant_flush(t, NULL));
        }
        charge(set, t);
    }
    (void)pthread_mutex_unlock(&t->lock);
    if (is_missed) {
        missed_add(&set->missed, tenant, count);
    }
    evict(set, t);
    return status;
}

bool index_takes_offers(struct index_set *set, int64_t tenant)
{
    struct tenant *t = NULL;
    bool is_loaded = false;

    (void)find_tenant(set, tenant, false, &t, NULL); /* makes nothing */
    if (t) {
        (void)pthread_mutex_lock(&t->lock);
        is_loaded = t->is_loaded;
        (void)pthread_mutex_unlock(&t->lock);
    }
    return is_loaded;
}

static enum clew_status copy_view(const struct tenant *t,
                                  struct index_view **out_view,
                                  struct clew_error *err)
{
    struct index_view *view = alloc_zero(1, sizeof(*view));

    if (view) {
        view->segments =
            alloc_array(NULL, t->count + 1, sizeof(struct segment *));
    }
    if (!view || !view->segments) {
        alloc_free(view);
        return clew_fail(err, CLEW_NO_MEMORY, "could not read an index");
    }
    for (size_t i = 0; i < t->count; i++) {
        view->segments[i] = segment_ref(t->segments[i]);
    }
    view->count = t->count;
    view->dim = t->home->kind.dim;
    view->gists = t->home->kind.gists;
    view->centre = t->home->kind.centre;
    view->through = t->through;
    *out_view = view;
    return CLEW_OK;
}

/* Load if needed and read from the source up to what is committed now. */
static enum clew_status bring_up(struct index_set *set, struct tenant *t,
                                 int64_t latest, struct clew_error *err)
{
    bool is_new = !t->is_loaded;
    bool is_same = true;
    enum clew_status status = is_new ? tenant_load(t, err) : CLEW_OK;

    if (status == CLEW_OK && is_new) {
        status = tenant_prove(t, &is_same, err);
    }
    /* files of a store that was restored from a backup run ahead of it, or did
     * when it was */
    if (status == CLEW_OK && is_new && (t->through > latest || !is_same)) {
        tenant_drop(t);
        t->n_rebuilds++;
        t->is_loaded = true;
    }
    if (status == CLEW_OK && t->through < latest) {
        status = tenant_catch_up(t, latest, err);
        is_new = true;
    }
    if (is_new) {
        charge(set, t);
    }
    return status;
}

/* Forget files that are no good; the next view reads the source. */
static void give_up(struct index_set *set, struct tenant *t)
{
    tenant_drop(t);
    t->n_rebuilds++;
    charge(set, t);
}

enum clew_status index_view_open(struct index_set *set, int64_t tenant,
                                 struct index_view **out_view,
                                 struct clew_error *err)
{
    const struct index_source *source = &set->home.source;
    struct tenant *t = NULL;
    int64_t latest = 0;
    enum clew_status status = source->latest(source->arg, tenant, &latest, err);

    if (status == CLEW_OK) {
        status = find_tenant(set, tenant, true, &t, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&t->lock);
    status = bring_up(set, t, latest, err);
    if (status == CLEW_OK && !tenant_has_heads(t)) {
        give_up(set, t);
        status = bring_up(set, t, latest, err);
    }
    if (status == CLEW_OK) {
        status = copy_view(t, out_view, err);
    }
    (void)pthread_mutex_unlock(&t->lock);
    evict(set, t);
    return status;
}

void index_view_close(struct index_view *view)
{
    if (!view) {
        return;
    }
    for (size_t i = 0; i < view->count; i++) {
        segment_unref(view->segments[i]);
    }
    alloc_free((void *)view->segments);
    alloc_free(view);
}

enum clew_status index_catch_up(struct index_set *set, struct clew_error *err)
{
    struct index_view *view = NULL;
    int64_t tenant = 0;
    enum clew_status status = CLEW_OK;

    if (missed_take(&set->missed, INDEX_MISSED_DOCS, &tenant)) {
        status = index_view_open(set, tenant, &view, err);
        index_view_close(view);
    }
    return status;
}

void index_set_far(struct index_set *set, int64_t tenant, int64_t through)
{
    struct tenant *t = NULL;

    (void)find_tenant(set, tenant, false, &t, NULL); /* makes nothing */
    if (t) {
        (void)pthread_mutex_lock(&t->lock);
        t->far_through = through > t->far_through ? through : t->far_through;
        (void)pthread_mutex_unlock(&t->lock);
    }
}

void index_set_limit(struct index_set *set, size_t ram_bytes)
{
    (void)pthread_mutex_lock(&set->lock);
    set->ram_bytes = ram_bytes ? ram_bytes : DEFAULT_RAM_BYTES;
    (void)pthread_mutex_unlock(&set->lock);
}

size_t index_set_loaded(struct index_set *set, int64_t *out_tenants, size_t max)
{
    size_t n = 0;

    (void)pthread_mutex_lock(&set->lock);
    for (size_t i = 0; i < set->cap_tenants && n < max; i++) {
        if (set->tenants[i] && set->tenants[i]->charged_bytes > 0) {
            out_tenants[n++] = set->tenants[i]->id;
        }
    }
    (void)pthread_mutex_unlock(&set->lock);
    return n;
}

enum clew_status index_flush(struct index_set *set, int64_t tenant,
                             struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    struct tenant *t = NULL;

    (void)find_tenant(set, tenant, false, &t, err); /* makes nothing */
    if (!t) {
        return CLEW_OK;
    }
    (void)pthread_mutex_lock(&t->lock);
    if (t->is_loaded) {
        status = tenant_flush(t, err);
        charge(set, t);
    }
    (void)pthread_mutex_unlock(&t->lock);
    return status;
}

enum clew_status index_maintain(struct index_set *set, int64_t tenant,
                                bool *out_more, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    struct tenant *t = NULL;
    bool is_due;

    *out_more = false;
    (void)find_tenant(set, tenant, false, &t, err); /* makes nothing */
    if (!t) {
        return CLEW_OK;
    }
    (void)pthread_mutex_lock(&t->lock);
    is_due = t->is_loaded && tenant_memory_docs(t) >= TENANT_FLUSH_DOCS;
    (void)pthread_mutex_unlock(&t->lock);
    if (is_due) {
        status = index_flush(set, tenant, err);
    }
    if (status == CLEW_OK) {
        status = tenant_merge(t, out_more, err);
    }
    (void)pthread_mutex_lock(&t->lock);
    charge(set, t);
    (void)pthread_mutex_unlock(&t->lock);
    return status;
}

enum clew_status index_purge(struct index_set *set, int64_t tenant,
                             struct clew_error *err)
{
    struct index_view *view = NULL;
    struct tenant *t = NULL;
    /* opening a view reads the tombstones */
    enum clew_status status = index_view_open(set, tenant, &view, err);

    index_view_close(view);
    if (status == CLEW_OK) {
        status = find_tenant(set, tenant, true, &t, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&t->lock);
    if (t->is_loaded) {
        status = tenant_purge(t, err);
        charge(set, t);
    }
    (void)pthread_mutex_unlock(&t->lock);
    return status;
}

enum clew_status index_drop(struct index_set *set, int64_t tenant,
                            struct clew_error *err)
{
    struct tenant *t = NULL;
    enum clew_status status = find_tenant(set, tenant, true, &t, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&t->lock);
    tenant_drop(t);
    charge(set, t);
    (void)pthread_mutex_unlock(&t->lock);
    return CLEW_OK;
}

enum clew_status index_scrub(struct index_set *set, int64_t tenant, bool again,
                             bool *out_damaged, struct clew_error *err)
{
    struct segment *segment;
    struct tenant *t = NULL;
    uint64_t generation;
    bool is_good;

    *out_damaged = false;
    (void)find_tenant(set, tenant, false, &t, err); /* makes nothing */
    if (!t) {
        return CLEW_OK;
    }
    (void)pthread_mutex_lock(&t->lock);
    segment = t->is_loaded ? tenant_scrub_next(t, again) : NULL;
    generation = t->generation;
    (void)pthread_mutex_unlock(&t->lock);
    if (!segment) {
        return CLEW_OK;
    }
    is_good =
        segment_has_head(segment) && segment_check(segment, NULL) == CLEW_OK;
    (void)pthread_mutex_lock(&t->lock);
    segment->is_checked = true;
    if (!is_good && generation == t->generation) {
        give_up(set, t);
        *out_damaged = true;
    }
    (void)pthread_mutex_unlock(&t->lock);
    segment_unref(segment);
    return CLEW_OK;
}

enum clew_status index_verify(struct index_set *set, int64_t tenant,
                              struct clew_error *err)
{
    struct index_view *view = NULL;
    enum clew_status status = index_view_open(set, tenant, &view, err);

    for (size_t i = 0; status == CLEW_OK && i < view->count; i++) {
        status = segment_check(view->segments[i], err);
    }
    index_view_close(view);
    return status;
}

enum clew_status index_stats_get(struct index_set *set, int64_t tenant,
                                 struct index_stats *out_stats)
{
    struct index_stats stats = {0};
    struct tenant *t = NULL;

    (void)find_tenant(set, tenant, false, &t, NULL); /* makes nothing */
    if (!t) {
        return CLEW_NOT_FOUND;
    }
    (void)pthread_mutex_lock(&t->lock);
    bool is_loaded = t->is_loaded;

    stats.through = t->through;
    stats.n_segments = t->count;
    stats.n_files = t->n_files;
    stats.heap_bytes = tenant_heap_bytes(t);
    stats.mapped_bytes = tenant_mapped_bytes(t);
    stats.n_rebuilds = t->n_rebuilds;
    for (size_t i = 0; i < t->count; i++) {
        uint32_t removed = atomic_load(&t->segments[i]->n_removed);

        stats.n_removed += removed;
        stats.n_bare +=
            segment_is_bare(t->segments[i]) ? t->segments[i]->head->n_docs : 0;
        stats.n_docs += t->segments[i]->head->n_docs - removed;
    }
    (void)pthread_mutex_unlock(&t->lock);
    if (!is_loaded) {
        return CLEW_NOT_FOUND;
    }
    *out_stats = stats;
    return CLEW_OK;
}

void index_set_usage(struct index_set *set, uint64_t *out_bytes,
                     uint64_t *out_tenants)
{
    (void)pthread_mutex_lock(&set->lock);
    *out_bytes = set->charged_bytes;
    *out_tenants = 0;
    for (size_t i = 0; i < set->cap_tenants; i++) {
        *out_tenants += set->tenants[i] && set->tenants[i]->charged_bytes > 0;
    }
    (void)pthread_mutex_unlock(&set->lock);
}
