/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_cache.h - what the store says of keys and tenants, for a moment.
 *
 * Every request asks who is calling. The answers (is there any key, what does
 * this key id allow, which tenant has this name) are kept here, so that a
 * request does not begin with two reads of the store.
 *
 * Nothing here outlives a change: whoever makes or revokes a key, in whatever
 * process on the same data folder, lengthens the file "keys.changes" by a
 * byte after the commit, and every look at the cache compares its length.
 * Clew processes on other machines (PostgreSQL) do not see that file: for them
 * what is kept is dropped after LIMIT_KEY_CACHE_MS. Only positive answers about
 * a key are kept; its secret is compared at every request, against the hash.
 *
 * To fill it: note the epoch of key_cache_look(), read the store, then put with
 * that epoch. A put that a change has overtaken is dropped.
 * Thread-safety: internally locked.
 */
#ifndef ENGINE_KEY_CACHE_H
#define ENGINE_KEY_CACHE_H

#include "base/sha256.h"
#include "base/str.h"
#include "clew/attr.h"
#include "engine/key/key.h"
#include "engine/key/key_memory.h"
#include "engine/key/key_tags.h"

#include <stdbool.h>
#include <stdint.h>

struct key_cache;

/* NULL without memory. `data_dir` is copied. */
struct key_cache *key_cache_new(const char *data_dir);
void key_cache_free(struct key_cache *cache);

/* Drop what is outdated; the epoch that a later put must name. */
uint64_t key_cache_look(struct key_cache *cache);
/* A key was made or revoked, and that is committed. */
void key_cache_changed(struct key_cache *cache);

/* Now, and how often keys had changed at the last look. */
struct key_moment key_cache_moment(struct key_cache *cache);
/* What outlives the moment, for outages. */
struct key_memory *key_cache_memory(struct key_cache *cache);
/* Which are right, for whom has sent too many that are not. */
struct key_tags *key_cache_tags(struct key_cache *cache);

/* Each get is false if the answer is not known. */
bool key_cache_get_any(struct key_cache *cache, bool *out_any);
void key_cache_put_any(struct key_cache *cache, uint64_t epoch, bool any);
bool key_cache_get_grant(struct key_cache *cache, struct str id,
                         struct key_grant *out_grant,
                         unsigned char out_hash[SHA256_SIZE]);
void key_cache_put_grant(struct key_cache *cache, uint64_t epoch,
                         const struct key_grant *grant,
                         const unsigned char hash[SHA256_SIZE]);
/* Tenants are never removed nor renamed: these stay. */
bool key_cache_get_tenant(struct key_cache *cache, struct str name,
                          int64_t *out_tenant);
void key_cache_put_tenant(struct key_cache *cache, struct str name,
                          int64_t tenant);

#endif
