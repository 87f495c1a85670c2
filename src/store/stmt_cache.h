/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stmt_cache.h - the prepared statements of one connection.
 *
 * Set-associative: a statement's address picks a set, the least recently used
 * of its ways gives room. So the memory of a connection is bounded however
 * many statements the program has. The cache does not own what it holds.
 * Thread-safety: none; as its connection.
 */
#ifndef STORE_STMT_CACHE_H
#define STORE_STMT_CACHE_H

#include "store/db.h"

#define STMT_CACHE_SETS 32
#define STMT_CACHE_WAYS 8

struct stmt_slot {
    const struct db_sql *sql; /* NULL: never used */
    void *stmt;               /* NULL: empty */
    uint64_t used_at;
    bool is_busy; /* in use: may not be evicted or shared */
};

struct stmt_cache {
    struct stmt_slot slots[STMT_CACHE_SETS][STMT_CACHE_WAYS];
    uint64_t clock;
};

/* The filled slot of this statement, or NULL. */
struct stmt_slot *stmt_cache_find(struct stmt_cache *cache,
                                  const struct db_sql *sql);
/*
 * A slot to put this statement in, or NULL if all of its set are busy. If its
 * `stmt` is not NULL the caller releases that first.
 */
struct stmt_slot *stmt_cache_room(struct stmt_cache *cache,
                                  const struct db_sql *sql);

#endif
