/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_cache.h - vectors read from the database before.
 *
 * A question reads the same sample of a tenant as the one before it, and often
 * the same users and chats. A vector belongs to one state of its document
 * (`change_seq`) and never changes, so nothing here grows old; what was not
 * used for long makes room. All of one dimension, of any tenant and model.
 * Thread-safety: internally locked.
 */
#ifndef ENGINE_VECTOR_CACHE_H
#define ENGINE_VECTOR_CACHE_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "recall/recall.h"

#include <stddef.h>
#include <stdint.h>

struct vector_cache;

/* Whose vectors are asked for. */
struct vector_owner {
    int64_t tenant;
    int64_t model; /* its number */
};

/* Room for about `bytes` of vectors; NULL if there is no memory. */
struct vector_cache *vector_cache_new(size_t dim, size_t bytes);
/* NULL is a no-op. */
void vector_cache_free(struct vector_cache *cache);

/*
 * The vectors of those keys that are here go to `out` (room for `count`, values
 * in the arena), the other keys to `out_missing` (the same). `*out_found` says
 * how many of the first there are.
 */
enum clew_status
vector_cache_get(struct vector_cache *cache, const struct vector_owner *owner,
                 const struct recall_far_key *keys, size_t count,
                 struct arena *arena, struct recall_far_vector *out,
                 size_t *out_found, struct uuid *out_missing) CLEW_MUST_CHECK;
void vector_cache_put(struct vector_cache *cache,
                      const struct vector_owner *owner,
                      const struct recall_far_vector *vectors, size_t count);

#endif
