/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - deadlines of connections. See watch.h.
 */
#include "http/watch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/metrics.h"

#include <linux/sockios.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#define PARKED_NS (LIMIT_PARKED_MS * 1000000LL)
/* A newcomer, and who was just answered, may take so long to begin before the
 * place is anybody's: the next request may be on its way. */
#define GREET_NS (150 * 1000000LL)

/* What has been cut off is told so often at most. */
#define TELL_EVERY_NS (10 * 1000000000LL)

/* What a connection is at, in the order in which places are taken from them. */
enum at { AT_REST, AT_UPLOAD, AT_ANSWER, AT_WORK, N_AT };

struct watch_entry {
    int fd;
    bool is_cut; /* guarded by the watch's lock */
    _Atomic enum at at;
    int64_t since_ns;    /* both are the connection's thread's */
    int64_t patience_ns; /* left with a client that takes no answer */
    int64_t most_patience_ns;
    int n_unsent; /* of an answer; the watch's thread's */
    _Atomic int64_t deadline_ns;
    _Atomic int64_t due_ns; /* from then on others may have its place */
    struct watch_entry *prev;
    struct watch_entry *next;
};

struct watch {
    pthread_t thread;
    size_t crowd;
    int64_t patience_ns;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ending;
    struct watch_entry *first;
    size_t n_open;      /* entries that were not cut off */
    size_t n_cut[N_AT]; /* since it was told */
    int64_t told_ns;
    bool is_ending;
};

/* What so many bytes may take; an hour is enough for any. */
static int64_t time_for(size_t n_bytes, size_t per_s)
{
    return n_bytes / per_s < 3600
               ? (int64_t)n_bytes * 1000000000 / (int64_t)per_s
               : 3600 * 1000000000LL;
}

/* As much more patience, but never more than there was at first. */
static int64_t more_patience(const struct watch_entry *entry, int64_t left_ns,
                             int64_t more_ns)
{
    int64_t most_ns = entry->most_patience_ns;

    return left_ns >= most_ns || more_ns >= most_ns - left_ns
               ? most_ns
               : left_ns + more_ns;
}

/*
 * What a client took since this was last asked buys it time. The kernel says so
 * by what it still holds: it wakes whoever sends only when much of that is
 * gone. If the connection's own thread sets other times meanwhile, those hold.
 */
static void look_at_answer(struct watch_entry *entry, int64_t now_ns)
{
    int64_t deadline_ns = atomic_load(&entry->deadline_ns);
    int64_t due_ns = atomic_load(&entry->due_ns);
    int before = entry->n_unsent;
    size_t n_taken;

    if (atomic_load(&entry->at) != AT_ANSWER || deadline_ns == WATCH_NEVER ||
        ioctl(entry->fd, SIOCOUTQ, &entry->n_unsent) != 0 ||
        entry->n_unsent >= before) {
        return;
    }
    n_taken = (size_t)(before - entry->n_unsent);
    (void)atomic_compare_exchange_strong(
        &entry->deadline_ns, &deadline_ns,
        now_ns + more_patience(entry, deadline_ns - now_ns,
                               time_for(n_taken, LIMIT_ANSWER_BYTES_PER_S)));
    if (n_taken >= LIMIT_UPLOAD_BYTES_PER_S) {
        (void)atomic_compare_exchange_strong(&entry->due_ns, &due_ns,
                                             now_ns + PARKED_NS);
    }
}

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
        look_at_answer(at, now_ns);
        if (atomic_load(&at->deadline_ns) <= now_ns) {
            enum at was = atomic_load(&at->at);

            cut_off(watch, at);
            /* that silence ends a connection is no news */
            watch->n_cut[was] += was != AT_REST;
        }
    }
}

/* Does `a` go before `b`? */
static bool is_sooner(const struct watch_entry *a, const struct watch_entry *b)
{
    enum at at = atomic_load(&a->at);
    enum at other = atomic_load(&b->at);

    return at != other ? at < other
                       : atomic_load(&a->due_ns) <= atomic_load(&b->due_ns);
}

/* Has it said something that its own thread has not come to? Then it does not
 * rest, however long that thread waits for a processor. */
static bool has_asked(const struct watch_entry *entry)
{
    int n_unread = 0;

    return atomic_load(&entry->at) == AT_REST &&
           ioctl(entry->fd, SIOCINQ, &n_unread) == 0 && n_unread > 0;
}

/* Cut off the one whose place is due: who rests before who is at something, and
 * whoever has been due for longest. */
static bool cut_off_due(struct watch *watch, bool only_uploads, int64_t now_ns)
{
    struct watch_entry *oldest = NULL;

    for (struct watch_entry *at = watch->first; at; at = at->next) {
        if (!at->is_cut && atomic_load(&at->due_ns) <= now_ns &&
            (!only_uploads || atomic_load(&at->at) == AT_UPLOAD) &&
            (!oldest || is_sooner(at, oldest)) && !has_asked(at)) {
            oldest = at;
        }
    }
    if (oldest) {
        watch->n_cut[atomic_load(&oldest->at)]++;
        cut_off(watch, oldest);
    }
    return oldest != NULL;
}

/* What was cut off since it was last told. The lock is let go meanwhile. */
static void tell(struct watch *watch, int64_t now_ns)
{
    size_t n[N_AT];
    size_t sum = 0;

    for (size_t i = 0; i < N_AT; i++) {
        n[i] = watch->n_cut[i];
        sum += n[i];
    }
    if (sum == 0 || now_ns - watch->told_ns < TELL_EVERY_NS) {
        return;
    }
    memset(watch->n_cut, 0, sizeof(watch->n_cut));
    watch->told_ns = now_ns;
    (void)pthread_mutex_unlock(&watch->lock);
    log_event(LOG_WARN, "http", "cut",
              "slow_answers=%zu slow_uploads=%zu resting=%zu gone=%zu",
              n[AT_ANSWER], n[AT_UPLOAD], n[AT_REST], n[AT_WORK]);
    (void)pthread_mutex_lock(&watch->lock);
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
        tell(watch, clock_mono_ns());
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return NULL;
}

enum clew_status watch_new(size_t crowd, int64_t patience_ms,
                           struct watch **out_watch)
{
    struct watch *watch = alloc_zero(1, sizeof(*watch));
    pthread_condattr_t attr;

    if (!watch) {
        return CLEW_NO_MEMORY;
    }
    watch->crowd = crowd;
    watch->patience_ns = patience_ms * 1000000;
    watch->told_ns = INT64_MIN / 2;
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
    entry->since_ns = clock_mono_ns();
    entry->patience_ns = watch->patience_ns;
    entry->most_patience_ns = watch->patience_ns;
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

static void set(struct watch_entry *entry, enum at at, int64_t deadline_ns,
                int64_t due_ns)
{
    int64_t now_ns = clock_mono_ns();

    if (!entry) {
        return;
    }
    if (atomic_load(&entry->at) == AT_ANSWER) {
        entry->patience_ns =
            more_patience(entry, atomic_load(&entry->deadline_ns) - now_ns, 0);
    } else {
        entry->patience_ns =
            more_patience(entry, entry->patience_ns, now_ns - entry->since_ns);
    }
    entry->since_ns = now_ns;
    atomic_store(&entry->due_ns, due_ns);
    atomic_store(&entry->deadline_ns, deadline_ns);
    atomic_store(&entry->at, at);
}

void watch_busy(struct watch_entry *entry, int64_t deadline_ns)
{
    set(entry, AT_WORK, deadline_ns, WATCH_NEVER);
}

void watch_yield(struct watch_entry *entry)
{
    if (entry && atomic_load(&entry->due_ns) == WATCH_NEVER) {
        atomic_store(&entry->due_ns, clock_mono_ns());
    }
}

void watch_wait(struct watch_entry *entry, int64_t deadline_ns)
{
    set(entry, AT_REST, deadline_ns, clock_mono_ns() + GREET_NS);
}

void watch_upload(struct watch_entry *entry, int64_t deadline_ns)
{
    set(entry, AT_UPLOAD, deadline_ns, clock_mono_ns() + PARKED_NS);
}

void watch_answer(struct watch_entry *entry, size_t n_bytes)
{
    int64_t now_ns = clock_mono_ns();

    if (entry) {
        set(entry, AT_WORK, WATCH_NEVER, WATCH_NEVER);
        set(entry, AT_ANSWER,
            now_ns + more_patience(entry, entry->patience_ns,
                                   time_for(n_bytes, LIMIT_ANSWER_BYTES_PER_S)),
            now_ns + PARKED_NS);
    }
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
    due_ns = atomic_load(&entry->due_ns) +
             time_for(n_bytes, LIMIT_UPLOAD_BYTES_PER_S);
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
