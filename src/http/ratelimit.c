/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratelimit.c - token buckets in a set-associative table. See ratelimit.h.
 *
 * A bucket is one number, as in the generic cell rate algorithm: the time at
 * which it is full again. A request moves that time one interval further; it
 * may lie at most one burst ahead of now.
 */
#include "http/ratelimit.h"

#include "base/alloc.h"
#include "base/rand.h"

#include <pthread.h>

/* 512 sets of 8 buckets: 4,096 keys active at once, 64 KiB. */
#define N_SETS 512
#define N_WAYS 8
#define N_LOCKS 16
#define MINUTE_NS (60LL * 1000 * 1000 * 1000)

struct bucket {
    uint64_t key; /* hash; 0 = never used */
    int64_t full_at_ns;
};

struct ratelimit {
    int64_t interval_ns; /* between two requests on average; 0 = no limit */
    int64_t ahead_ns;    /* how far a bucket may run ahead: the burst */
    uint64_t salt;       /* so that no caller can aim at another's set */
    pthread_mutex_t
        locks[N_LOCKS]; /* lock i guards sets with set % N_LOCKS == i */
    struct bucket buckets[N_SETS][N_WAYS];
};

enum clew_status ratelimit_new(int64_t per_minute, int64_t burst,
                               struct ratelimit **out_limit)
{
    struct ratelimit *limit = alloc_zero(1, sizeof(*limit));

    if (!limit) {
        return CLEW_NO_MEMORY;
    }
    if (per_minute > 0) {
        limit->interval_ns = MINUTE_NS / per_minute;
        limit->interval_ns += limit->interval_ns == 0;
        limit->ahead_ns = limit->interval_ns * (burst > 0 ? burst : 1);
    }
    rand_bytes(&limit->salt, sizeof(limit->salt));
    for (int i = 0; i < N_LOCKS; i++) {
        (void)pthread_mutex_init(&limit->locks[i], NULL); /* cannot fail */
    }
    *out_limit = limit;
    return CLEW_OK;
}

void ratelimit_free(struct ratelimit *limit)
{
    if (!limit) {
        return;
    }
    for (int i = 0; i < N_LOCKS; i++) {
        (void)pthread_mutex_destroy(&limit->locks[i]); /* nobody holds it */
    }
    alloc_free(limit);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 32);
}

/* The key's bucket in its set, or the one it may take over. */
static struct bucket *bucket_of(struct bucket *set, uint64_t key)
{
    struct bucket *oldest = &set[0];

    for (int i = 0; i < N_WAYS; i++) {
        if (set[i].key == key) {
            return &set[i];
        }
        if (set[i].full_at_ns < oldest->full_at_ns) {
            oldest = &set[i];
        }
    }
    *oldest = (struct bucket){.key = key};
    return oldest;
}

/* Is there one left for `key`? It is taken then, unless `is_look`. */
static bool try_take(struct ratelimit *limit, struct str key, int64_t now_ns,
                     bool is_look, int64_t *out_wait_ms)
{
    uint64_t hash;
    size_t set;
    struct bucket *bucket;
    int64_t next_ns;
    int64_t over_ns;

    if (!limit || limit->interval_ns == 0) {
        return true;
    }
    hash = mix(str_hash(key) ^ limit->salt) | 1;
    set = (size_t)(hash >> 8) % N_SETS;
    (void)pthread_mutex_lock(&limit->locks[set % N_LOCKS]);
    bucket = bucket_of(limit->buckets[set], hash);
    next_ns = bucket->full_at_ns > now_ns ? bucket->full_at_ns : now_ns;
    next_ns += limit->interval_ns;
    over_ns = next_ns - now_ns - limit->ahead_ns;
    if (over_ns <= 0 && !is_look) {
        bucket->full_at_ns = next_ns;
    }
    (void)pthread_mutex_unlock(&limit->locks[set % N_LOCKS]);
    if (over_ns > 0) {
        *out_wait_ms = over_ns / 1000000 + 1;
    }
    return over_ns <= 0;
}

bool ratelimit_take(struct ratelimit *limit, struct str key, int64_t now_ns,
                    int64_t *out_wait_ms)
{
    return try_take(limit, key, now_ns, false, out_wait_ms);
}

bool ratelimit_is_empty(struct ratelimit *limit, struct str key, int64_t now_ns,
                        int64_t *out_wait_ms)
{
    return !try_take(limit, key, now_ns, true, out_wait_ms);
}
