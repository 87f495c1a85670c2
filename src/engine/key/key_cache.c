/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_cache.c - see key_cache.h.
 *
 * Two small direct-mapped tables: what falls on a used place replaces it, so
 * memory is fixed whatever callers present.
 */
#include "engine/key/key_cache.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_GRANTS 256
#define N_TENANTS 64
#define TENANT_NAME_BYTES 64 /* longer names are looked up each time */

struct grant_slot {
    struct key_grant grant; /* id "" = empty */
    unsigned char hash[SHA256_SIZE];
};

struct tenant_slot {
    char name[TENANT_NAME_BYTES];
    size_t len; /* 0 = empty */
    int64_t tenant;
};

struct key_cache {
    char *path; /* of the file that counts changes */
    struct key_memory *memory;
    struct key_tags *tags;
    pthread_mutex_t lock; /* guards all below */
    uint64_t epoch;
    uint64_t change; /* goes up whenever keys changed, here or elsewhere */
    int64_t n_changes;
    int64_t until_ns;
    bool knows_any;
    bool any;
    struct grant_slot grants[N_GRANTS];
    struct tenant_slot tenants[N_TENANTS];
};

static char *path_of(const char *data_dir)
{
    static const char name[] = "/keys.changes";
    size_t len = strlen(data_dir);
    char *path = alloc_array(NULL, len + sizeof(name), 1);

    if (path) {
        memcpy(path, data_dir, len);
        memcpy(path + len, name, sizeof(name));
    }
    return path;
}

struct key_cache *key_cache_new(const char *data_dir)
{
    struct key_cache *cache = alloc_zero(1, sizeof(*cache));

    if (!cache) {
        return NULL;
    }
    pthread_mutex_init(&cache->lock, NULL);
    cache->path = path_of(data_dir);
    cache->memory = key_memory_new();
    cache->tags = key_tags_new();
    if (!cache->path || !cache->memory || !cache->tags) {
        key_cache_free(cache);
        return NULL;
    }
    return cache;
}

void key_cache_free(struct key_cache *cache)
{
    if (!cache) {
        return;
    }
    pthread_mutex_destroy(&cache->lock);
    alloc_free(cache->path);
    key_memory_free(cache->memory);
    key_tags_free(cache->tags);
    explicit_bzero(cache->grants, sizeof(cache->grants));
    alloc_free(cache);
}

/* Changes so far; 0 as long as there is no file. */
static int64_t count_changes(const struct key_cache *cache)
{
    struct stat info;

    return stat(cache->path, &info) == 0 ? (int64_t)info.st_size : 0;
}

static void drop(struct key_cache *cache)
{
    cache->epoch++;
    cache->knows_any = false;
    for (size_t i = 0; i < N_GRANTS; i++) {
        cache->grants[i].grant.id[0] = '\0';
    }
}

uint64_t key_cache_look(struct key_cache *cache)
{
    int64_t n_changes = count_changes(cache);
    int64_t now_ns = clock_mono_ns();
    uint64_t epoch;

    pthread_mutex_lock(&cache->lock);
    if (n_changes != cache->n_changes || now_ns >= cache->until_ns) {
        drop(cache);
        cache->change += n_changes != cache->n_changes;
        cache->n_changes = n_changes;
        cache->until_ns = now_ns + LIMIT_KEY_CACHE_MS * 1000000LL;
    }
    epoch = cache->epoch;
    pthread_mutex_unlock(&cache->lock);
    return epoch;
}

void key_cache_changed(struct key_cache *cache)
{
    int fd = open(cache->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    /* If this fails other processes know a little later, by time. */
    if (fd >= 0) {
        ssize_t n_written = write(fd, "k", 1);

        (void)n_written;
        (void)close(fd);
    }
    pthread_mutex_lock(&cache->lock);
    drop(cache);
    cache->change++;
    pthread_mutex_unlock(&cache->lock);
}

struct key_moment key_cache_moment(struct key_cache *cache)
{
    struct key_moment moment = {.now_ns = clock_mono_ns()};

    pthread_mutex_lock(&cache->lock);
    moment.change = cache->change;
    pthread_mutex_unlock(&cache->lock);
    return moment;
}

struct key_memory *key_cache_memory(struct key_cache *cache)
{
    return cache->memory;
}

struct key_tags *key_cache_tags(struct key_cache *cache)
{
    return cache->tags;
}

bool key_cache_get_any(struct key_cache *cache, bool *out_any)
{
    bool knows;

    pthread_mutex_lock(&cache->lock);
    knows = cache->knows_any;
    if (knows) {
        *out_any = cache->any;
    }
    pthread_mutex_unlock(&cache->lock);
    return knows;
}

void key_cache_put_any(struct key_cache *cache, uint64_t epoch, bool any)
{
    pthread_mutex_lock(&cache->lock);
    if (epoch == cache->epoch) {
        cache->knows_any = true;
        cache->any = any;
    }
    pthread_mutex_unlock(&cache->lock);
}

static size_t place_of(struct str name, size_t n_places)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < name.len; i++) {
        hash = (hash ^ (unsigned char)name.s[i]) * 16777619u;
    }
    return hash % n_places;
}

bool key_cache_get_grant(struct key_cache *cache, struct str id,
                         struct key_grant *out_grant,
                         unsigned char out_hash[SHA256_SIZE])
{
    const struct grant_slot *slot = &cache->grants[place_of(id, N_GRANTS)];
    bool is_there;

    pthread_mutex_lock(&cache->lock);
    is_there = slot->grant.id[0] != '\0' && str_eq(str_of(slot->grant.id), id);
    if (is_there) {
        *out_grant = slot->grant;
        memcpy(out_hash, slot->hash, SHA256_SIZE);
    }
    pthread_mutex_unlock(&cache->lock);
    return is_there;
}

void key_cache_put_grant(struct key_cache *cache, uint64_t epoch,
                         const struct key_grant *grant,
                         const unsigned char hash[SHA256_SIZE])
{
    struct grant_slot *slot =
        &cache->grants[place_of(str_of(grant->id), N_GRANTS)];

    pthread_mutex_lock(&cache->lock);
    if (epoch == cache->epoch) {
        slot->grant = *grant;
        memcpy(slot->hash, hash, SHA256_SIZE);
    }
    pthread_mutex_unlock(&cache->lock);
}

bool key_cache_get_tenant(struct key_cache *cache, struct str name,
                          int64_t *out_tenant)
{
    const struct tenant_slot *slot = &cache->tenants[place_of(name, N_TENANTS)];
    bool is_there;

    pthread_mutex_lock(&cache->lock);
    is_there =
        slot->len > 0 && str_eq((struct str){slot->name, slot->len}, name);
    if (is_there) {
        *out_tenant = slot->tenant;
    }
    pthread_mutex_unlock(&cache->lock);
    return is_there;
}

void key_cache_put_tenant(struct key_cache *cache, struct str name,
                          int64_t tenant)
{
    struct tenant_slot *slot = &cache->tenants[place_of(name, N_TENANTS)];

    if (name.len == 0 || name.len > TENANT_NAME_BYTES) {
        return;
    }
    pthread_mutex_lock(&cache->lock);
    memcpy(slot->name, name.s, name.len);
    slot->len = name.len;
    slot->tenant = tenant;
    pthread_mutex_unlock(&cache->lock);
}
