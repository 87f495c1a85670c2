/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_cache.c - a table of small rows; in a full row the least lately used
 * goes. See vector_cache.h.
 */
#include "engine/feed/vector_cache.h"

#include "base/alloc.h"
#include "index/segment.h"

#include <pthread.h>
#include <string.h>

/* Places an id may be in. */
#define WAYS 8u

struct place {
    struct vector_owner owner; /* tenant 0: free */
    struct uuid id;
    int64_t change_seq;
    struct vec_form form;
    struct segment_half half;
    bool has_half;
    uint32_t used_at;
};

struct vector_cache {
    size_t dim;
    size_t n_rows; /* of WAYS places */
    struct place *places;
    int8_t *values;       /* dim of each place, and dim of its first half */
    uint32_t clock;       /* counts uses */
    pthread_mutex_t lock; /* guards all but dim and n_rows */
};

struct vector_cache *vector_cache_new(size_t dim, size_t bytes)
{
    struct vector_cache *cache = alloc_zero(1, sizeof(*cache));
    size_t row = WAYS * (sizeof(struct place) + 2 * dim);

    if (!cache) {
        return NULL;
    }
    (void)pthread_mutex_init(&cache->lock, NULL); /* cannot fail on Linux */
    cache->dim = dim;
    cache->n_rows = bytes / row > 0 ? bytes / row : 1;
    cache->places = alloc_zero(cache->n_rows * WAYS, sizeof(*cache->places));
    cache->values = alloc_zero(cache->n_rows * WAYS, 2 * dim);
    if (!cache->places || !cache->values) {
        vector_cache_free(cache);
        return NULL;
    }
    return cache;
}

void vector_cache_free(struct vector_cache *cache)
{
    if (!cache) {
        return;
    }
    (void)pthread_mutex_destroy(&cache->lock);
    alloc_free(cache->places);
    alloc_free(cache->values);
    alloc_free(cache);
}

static size_t row_of(const struct vector_cache *cache, const struct uuid *id)
{
    uint64_t hash;

    memcpy(&hash, id->b + 8, sizeof(hash)); /* the random half */
    return (size_t)(hash * 0x9e3779b97f4a7c15ull >> 16) % cache->n_rows * WAYS;
}

/* The place of this vector, or SIZE_MAX. */
static size_t find(const struct vector_cache *cache,
                   const struct vector_owner *owner, const struct uuid *id,
                   int64_t change_seq)
{
    size_t first = row_of(cache, id);

    for (size_t i = first; i < first + WAYS; i++) {
        const struct place *place = &cache->places[i];

        if (place->owner.tenant == owner->tenant &&
            place->owner.model == owner->model &&
            place->change_seq == change_seq && uuid_eq(&place->id, id)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Room for what is copied out. */
struct copies {
    int8_t *values; /* 2 * dim for each */
    struct segment_half *halves;
};

static void copy_out(const struct vector_cache *cache, size_t at,
                     const struct copies *copies, size_t n,
                     struct recall_far_vector *out)
{
    const struct place *place = &cache->places[at];
    size_t size = 2 * cache->dim;
    int8_t *values = copies->values + n * size;

    memcpy(values, cache->values + at * size, size);
    *out = (struct recall_far_vector){.id = place->id,
                                      .change_seq = place->change_seq,
                                      .values = values,
                                      .dim = cache->dim,
                                      .form = place->form};
    if (place->has_half) {
        copies->halves[n] = place->half;
        out->half = &copies->halves[n];
        out->first = values + cache->dim;
    }
}

enum clew_status vector_cache_get(struct vector_cache *cache,
                                  const struct vector_owner *owner,
                                  const struct recall_far_key *keys,
                                  size_t count, struct arena *arena,
                                  struct recall_far_vector *out,
                                  size_t *out_found, struct uuid *out_missing)
{
    struct copies copies = {
        .values = arena_alloc(arena, count * 2 * cache->dim + 1),
        .halves = arena_alloc(arena, (count + 1) * sizeof(*copies.halves))};
    size_t found = 0;

    if (!copies.values || !copies.halves) {
        return CLEW_NO_MEMORY;
    }
    (void)pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < count; i++) {
        size_t at = find(cache, owner, &keys[i].id, keys[i].change_seq);

        if (at == SIZE_MAX) {
            out_missing[i - found] = keys[i].id;
            continue;
        }
        cache->places[at].used_at = ++cache->clock;
        copy_out(cache, at, &copies, found, &out[found]);
        found++;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    *out_found = found;
    return CLEW_OK;
}

/* A free place of the row, or the one used longest ago. */
static size_t make_room(const struct vector_cache *cache, size_t first)
{
    size_t oldest = first;

    for (size_t i = first; i < first + WAYS; i++) {
        if (cache->places[i].owner.tenant == 0) {
            return i;
        }
        /* ages, so that the counter may wrap */
        if (cache->clock - cache->places[i].used_at >
            cache->clock - cache->places[oldest].used_at) {
            oldest = i;
        }
    }
    return oldest;
}

static void copy_in(struct vector_cache *cache, size_t at,
                    const struct recall_far_vector *vector)
{
    int8_t *values = cache->values + at * 2 * cache->dim;

    memcpy(values, vector->values, cache->dim);
    if (vector->half) {
        cache->places[at].has_half = true;
        cache->places[at].half = *vector->half;
        memcpy(values + cache->dim, vector->first, cache->dim);
    }
}

void vector_cache_put(struct vector_cache *cache,
                      const struct vector_owner *owner,
                      const struct recall_far_vector *vectors, size_t count)
{
    (void)pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < count; i++) {
        const struct recall_far_vector *vector = &vectors[i];
        size_t at = find(cache, owner, &vector->id, vector->change_seq);

        if (at == SIZE_MAX && vector->dim == cache->dim) {
            at = make_room(cache, row_of(cache, &vector->id));
            cache->places[at] = (struct place){.owner = *owner,
                                               .id = vector->id,
                                               .change_seq = vector->change_seq,
                                               .form = vector->form,
                                               .used_at = ++cache->clock};
            copy_in(cache, at, vector);
        }
    }
    (void)pthread_mutex_unlock(&cache->lock);
}
