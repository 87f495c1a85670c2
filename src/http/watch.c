/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - deadlines of connections. See watch.h.
 */
#include "http/watch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "http/metrics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>

struct watch_entry {
    int fd;
    _Atomic int64_t deadline_ns;
    struct watch_entry *prev;
    struct watch_entry *next;
};

struct watch {
    pthread_t thread;
    pthread_mutex_t lock; /* guards the list and is_ending */
    pthread_cond_t ending;
    struct watch_entry *first;
    bool is_ending;
};

static void cut_off_late(struct watch *watch, int64_t now_ns)
{
    for (struct watch_entry *at = watch->first; at; at = at->next) {
        if (atomic_load(&at->deadline_ns) > now_ns) {
            continue;
        }
        /* Only wakes the connection's own thread, which then closes it. */
        (void)shutdown(at->fd, SHUT_RDWR);
        atomic_store(&at->deadline_ns, WATCH_NEVER);
        metrics_count(METRICS_TIMED_OUT);
    }
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

enum clew_status watch_new(struct watch **out_watch)
{
    struct watch *watch = alloc_zero(1, sizeof(*watch));
    pthread_condattr_t attr;

    if (!watch) {
        return CLEW_NO_MEMORY;
    }
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
    (void)pthread_mutex_lock(&watch->lock);
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

void watch_set(struct watch_entry *entry, int64_t deadline_ns)
{
    if (entry) {
        atomic_store(&entry->deadline_ns, deadline_ns);
    }
}
