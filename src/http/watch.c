/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - deadlines of connections. See watch.h.
 */
#include "http/watch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "http/metrics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>

#define PARKED_NS (LIMIT_PARKED_MS * 1000000LL)
/* A newcomer, and who was just answered, may take so long to begin before the
 * place is anybody's: the next request may be on its way. */
#define GREET_NS (150 * 1000000LL)

struct watch_entry {
    int fd;
    bool is_cut; /* guarded by the watch's lock */
    atomic_bool is_uploading;
    _Atomic int64_t deadline_ns;
    _Atomic int64_t due_ns; /* from then on others may have its place */
    struct watch_entry *prev;
    struct watch_entry *next;
};

struct watch {
    pthread_t thread;
    size_t crowd;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ending;
    struct watch_entry *first;
    size_t n_open; /* entries that were not cut off */
    bool is_ending;
};

static void cut_off(struct watch *watch, struct watch_entry *entry)
{
    /* Only wakes the connection's own thread, which then closes it. */
    (void)shutdown(entry->fd, SHUT_RDWR);
    atomic_store(&entry->deadline_ns, WATCH_NEVER);
    watch->n_open -= !entry->is_cut;
    entry->is_cut = true;
    metrics_count(METRICS_TIMED_OUT);
}

static void cut_off_late(struct watch *watch, int64_t now_ns)
{
    for (struct watch_entry *at = watch->first; at; at = at->next) {
        if (atomic_load(&at->deadline_ns) <= now_ns) {
            cut_off(watch, at);
        }
    }
}

/* Cut off the one whose place is due for longest. */
static bool cut_off_due(struct watch *watch, bool only_uploads, int64_t now_ns)
{
    struct watch_entry *oldest = NULL;

    for (struct watch_entry *at = watch->first; at; at = at->next) {
        if (!at->is_cut && atomic_load(&at->due_ns) <= now_ns &&
            (!only_uploads || atomic_load(&at->is_uploading)) &&
            (!oldest ||
             atomic_load(&at->due_ns) <= atomic_load(&oldest->due_ns))) {
            oldest = at;
        }
    }
    if (oldest) {
        cut_off(watch, oldest);
    }
    return oldest != NULL;
}

static void *run(void *arg)
{
    struct watch *watch = arg;

    (void)pthread_mutex_lock(&watch->lock);
    while (!watch->is_ending) {
        struct timespec until;

        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1;
        (void)pthread_cond_timedwait(&watch->ending, &watch->lock, &until);
        cut_off_late(watch, clock_mono_ns());
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return NULL;
}

enum clew_status watch_new(size_t crowd, struct watch **out_watch)
{
    struct watch *watch = alloc_zero(1, sizeof(*watch));
    pthread_condattr_t attr;

    if (!watch) {
        return CLEW_NO_MEMORY;
    }
    watch->crowd = crowd;
    (void)pthread_mutex_init(&watch->lock, NULL); /* none of these can fail */
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watch->ending, &attr);
    (void)pthread_condattr_destroy(&attr);
    if (pthread_create(&watch->thread, NULL, run, watch) != 0) {
        (void)pthread_cond_destroy(&watch->ending);
        (void)pthread_mutex_destroy(&watch->lock);
        alloc_free(watch);
        return CLEW_UNAVAILABLE;
    }
    (void)pthread_setname_np(watch->thread, "clew-watch"); /* only a name */
    *out_watch = watch;
    return CLEW_OK;
}

void watch_free(struct watch *watch)
{
    if (!watch) {
        return;
    }
    (void)pthread_mutex_lock(&watch->lock);
    watch->is_ending = true;
    (void)pthread_cond_signal(&watch->ending);
    (void)pthread_mutex_unlock(&watch->lock);
    (void)pthread_join(watch->thread, NULL); /* it returns nothing */
    (void)pthread_cond_destroy(&watch->ending);
    (void)pthread_mutex_destroy(&watch->lock);
    alloc_free(watch);
}

struct watch_entry *watch_add(struct watch *watch, int fd, int64_t deadline_ns)
{
    struct watch_entry *entry = alloc_zero(1, sizeof(*entry));

    if (!entry) {
        return NULL;
    }
    entry->fd = fd;
    atomic_init(&entry->deadline_ns, deadline_ns);
    atomic_init(&entry->due_ns, clock_mono_ns() + GREET_NS);
    (void)pthread_mutex_lock(&watch->lock);
    if (++watch->n_open > watch->crowd) {
        /* not this one: it is not in the list yet */
        (void)cut_off_due(watch, false, clock_mono_ns());
    }
    entry->next = watch->first;
    if (watch->first) {
        watch->first->prev = entry;
    }
    watch->first = entry;
    (void)pthread_mutex_unlock(&watch->lock);
    return entry;
}

void watch_remove(struct watch *watch, struct watch_entry *entry)
{
    if (!entry) {
        return;
    }
    (void)pthread_mutex_lock(&watch->lock);
    watch->n_open -= !entry->is_cut;
    if (entry->prev) {
        entry->prev->next = entry->next;
    } else {
        watch->first = entry->next;
    }
    if (entry->next) {
        entry->next->prev = entry->prev;
    }
    (void)pthread_mutex_unlock(&watch->lock);
    alloc_free(entry);
}

static void set(struct watch_entry *entry, int64_t deadline_ns, int64_t due_ns,
                bool is_uploading)
{
    if (entry) {
        atomic_store(&entry->due_ns, due_ns);
        atomic_store(&entry->deadline_ns, deadline_ns);
        atomic_store(&entry->is_uploading, is_uploading);
    }
}

void watch_busy(struct watch_entry *entry, int64_t deadline_ns)
{
    set(entry, deadline_ns, WATCH_NEVER, false);
}

void watch_yield(struct watch_entry *entry)
{
    if (entry && atomic_load(&entry->due_ns) == WATCH_NEVER) {
        atomic_store(&entry->due_ns, clock_mono_ns());
    }
}

void watch_wait(struct watch_entry *entry, int64_t deadline_ns)
{
    set(entry, deadline_ns, clock_mono_ns() + GREET_NS, false);
}

void watch_upload(struct watch_entry *entry, int64_t deadline_ns)
{
    set(entry, deadline_ns, clock_mono_ns() + PARKED_NS, true);
}

/* A leaky bucket: bytes buy time, but never more than PARKED_NS ahead. */
void watch_progress(struct watch_entry *entry, size_t n_bytes)
{
    int64_t ahead_ns;
    int64_t due_ns;

    if (!entry) {
        return;
    }
    ahead_ns = clock_mono_ns() + PARKED_NS;
    due_ns = atomic_load(&entry->due_ns);
    if (n_bytes < LIMIT_UPLOAD_BYTES_PER_S * (size_t)LIMIT_PARKED_MS / 1000) {
        due_ns += (int64_t)n_bytes * 1000000000 / LIMIT_UPLOAD_BYTES_PER_S;
    } else {
        due_ns = ahead_ns;
    }
    atomic_store(&entry->due_ns, due_ns < ahead_ns ? due_ns : ahead_ns);
}

static bool cut_one(struct watch *watch, bool only_uploads)
{
    bool is_cut;

    (void)pthread_mutex_lock(&watch->lock);
    is_cut = cut_off_due(watch, only_uploads, clock_mono_ns());
    (void)pthread_mutex_unlock(&watch->lock);
    return is_cut;
}

bool watch_cut_parked(struct watch *watch)
{
    return cut_one(watch, true);
}

bool watch_cut_waiting(struct watch *watch)
{
    return cut_one(watch, false);
}
