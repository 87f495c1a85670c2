/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_tags.c - see key_tags.h.
 */
#include "engine/key/key_tags.h"

#include "base/alloc.h"
#include "base/limits.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS_NS 1000000LL
/* So many more keys make the list a second older: reading it is work. */
#define KEYS_A_SECOND 10000

struct key_tags {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t came;  /* a list was put */
    uint64_t *list;       /* ascending */
    size_t count;
    struct key_moment at;    /* of the list; now_ns 0: there was none yet */
    bool is_listing;         /* somebody reads another */
    struct timespec wait_to; /* for that, CLOCK_MONOTONIC */
};

struct key_tags *key_tags_new(void)
{
    struct key_tags *tags = alloc_zero(1, sizeof(*tags));
    pthread_condattr_t attr;

    if (tags) {
        (void)pthread_condattr_init(&attr); /* these cannot fail */
        (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        (void)pthread_mutex_init(&tags->lock, NULL);
        (void)pthread_cond_init(&tags->came, &attr);
        (void)pthread_condattr_destroy(&attr);
    }
    return tags;
}

void key_tags_free(struct key_tags *tags)
{
    if (!tags) {
        return;
    }
    (void)pthread_cond_destroy(&tags->came);
    (void)pthread_mutex_destroy(&tags->lock);
    alloc_free(tags->list);
    alloc_free(tags);
}

uint64_t key_tag(struct str id, const unsigned char hash[SHA256_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 running;
    uint64_t tag;

    sha256_init(&running);
    sha256_add_str(&running, id);
    sha256_add(&running, hash, SHA256_SIZE);
    sha256_get(&running, digest);
    memcpy(&tag, digest, sizeof(tag));
    return tag;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static bool has(const struct key_tags *tags, uint64_t tag)
{
    return tags->count > 0 &&
           bsearch(&tag, tags->list, tags->count, sizeof(tag), compare) != NULL;
}

static bool is_outdated(const struct key_tags *tags, struct key_moment at)
{
    int64_t age_ms = LIMIT_KEY_CACHE_MS;

    age_ms += (int64_t)tags->count * 1000 / KEYS_A_SECOND;
    return tags->at.now_ns == 0 || tags->at.change < at.change ||
           at.now_ns - tags->at.now_ns >= age_ms * MS_NS;
}

static void begin(struct key_tags *tags)
{
    tags->is_listing = true;
    (void)clock_gettime(CLOCK_MONOTONIC, &tags->wait_to); /* cannot fail */
    tags->wait_to.tv_nsec += LIMIT_KEY_LIST_WAIT_MS * MS_NS;
    tags->wait_to.tv_sec += tags->wait_to.tv_nsec / (1000 * MS_NS);
    tags->wait_to.tv_nsec %= 1000 * MS_NS;
}

enum key_tags_word key_tags_look(struct key_tags *tags, struct key_moment at,
                                 uint64_t tag)
{
    enum key_tags_word word = KEY_TAGS_NOT_LISTED;
    int rc = 0;

    (void)pthread_mutex_lock(&tags->lock);
    while (rc == 0 && !has(tags, tag) && is_outdated(tags, at) &&
           tags->is_listing) {
        rc = pthread_cond_timedwait(&tags->came, &tags->lock, &tags->wait_to);
    }
    if (has(tags, tag)) {
        word = KEY_TAGS_LISTED;
    } else if (is_outdated(tags, at) && !tags->is_listing) {
        begin(tags);
        word = KEY_TAGS_OUTDATED;
    }
    (void)pthread_mutex_unlock(&tags->lock);
    return word;
}

void key_tags_put(struct key_tags *tags, struct key_moment at, uint64_t *list,
                  size_t count)
{
    uint64_t *old = list;

    if (list) {
        qsort(list, count, sizeof(*list), compare);
    }
    (void)pthread_mutex_lock(&tags->lock);
    if (list) {
        old = tags->list;
        tags->list = list;
        tags->count = count;
    }
    tags->at = at;
    tags->is_listing = false;
    (void)pthread_cond_broadcast(&tags->came);
    (void)pthread_mutex_unlock(&tags->lock);
    alloc_free(old);
}
