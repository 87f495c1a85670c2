/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_memory.h - keys the store confirmed lately, for when it cannot be asked.
 *
 * Calls through the proxy go on while the store is down, for whom the store
 * was known to let in. Each entry says when, and after how many changes of
 * keys, the store confirmed it; an entry that a change or too long a time
 * (LIMIT_KEY_OUTAGE_MS) has overtaken is worth nothing, and what is not known
 * is refused by the caller. Entries are sealed with a secret of the process:
 * bytes that merely look like an entry are none. Their number is fixed; the
 * one unused for longest makes room.
 * Thread-safety: internally locked.
 */
#ifndef ENGINE_KEY_MEMORY_H
#define ENGINE_KEY_MEMORY_H

#include "base/sha256.h"
#include "base/str.h"
#include "engine/key/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys known at once: 20 KiB. */
#define KEY_MEMORY_SIZE 128

struct key_memory;

/* When something was known: `change` counts changes of keys, `now_ns` is
 * clock_mono_ns(). */
struct key_moment {
    uint64_t change;
    int64_t now_ns;
};

/* NULL without memory. */
struct key_memory *key_memory_new(void);
void key_memory_free(struct key_memory *memory);

/* The store has just said so. */
void key_memory_put(struct key_memory *memory, struct key_moment at,
                    const struct key_grant *grant,
                    const unsigned char hash[SHA256_SIZE]);
void key_memory_put_any(struct key_memory *memory, struct key_moment at,
                        bool any);
/* The store has just said that there is no such valid key. */
void key_memory_forget(struct key_memory *memory, struct str id);

/* False if it is not known. */
bool key_memory_get(struct key_memory *memory, struct key_moment at,
                    struct str id, struct key_grant *out_grant,
                    unsigned char out_hash[SHA256_SIZE]);
/* Once there was a key, that stays known: keys are revoked, not removed. */
bool key_memory_get_any(struct key_memory *memory, struct key_moment at,
                        bool *out_any);

/* The next ids to confirm, at most `cap`; all have their turn. */
size_t key_memory_list(struct key_memory *memory, size_t cap,
                       char out_ids[][KEY_ID_SIZE]);
/* They were confirmed; how often that was so. */
void key_memory_count(struct key_memory *memory);
int64_t key_memory_counted(struct key_memory *memory);

#endif
