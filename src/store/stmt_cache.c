/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stmt_cache.c - lookup and eviction of prepared statements. See the header.
 */
#include "store/stmt_cache.h"

static struct stmt_slot *set_of(struct stmt_cache *cache,
                                const struct db_sql *sql)
{
    uint64_t hash = (uint64_t)(uintptr_t)sql * 0x9E3779B97F4A7C15u;

    return cache->slots[(hash >> 32) % STMT_CACHE_SETS];
}

struct stmt_slot *stmt_cache_find(struct stmt_cache *cache,
                                  const struct db_sql *sql)
{
    struct stmt_slot *set = set_of(cache, sql);

    for (int i = 0; i < STMT_CACHE_WAYS; i++) {
        if (set[i].sql == sql && set[i].stmt) {
            set[i].used_at = ++cache->clock;
            return &set[i];
        }
    }
    return NULL;
}

struct stmt_slot *stmt_cache_room(struct stmt_cache *cache,
                                  const struct db_sql *sql)
{
    struct stmt_slot *set = set_of(cache, sql);
    struct stmt_slot *best = NULL;

    for (int i = 0; i < STMT_CACHE_WAYS; i++) {
        if (!set[i].stmt) {
            best = &set[i];
            break;
        }
        if (!set[i].is_busy && (!best || set[i].used_at < best->used_at)) {
            best = &set[i];
        }
    }
    if (best) {
        best->used_at = ++cache->clock;
    }
    return best;
}
