/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_memory.c - see key_memory.h.
 */
#include "engine/key/key_memory.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "base/rand.h"

#include <pthread.h>
#include <string.h>

#define SEAL_BLOCK 64 /* of SHA-256, for HMAC */

struct known {
    struct key_grant grant; /* id "" = empty */
    unsigned char hash[SHA256_SIZE];
    struct key_moment at;
    int64_t used_ns; /* not sealed: it only says who makes room */
    unsigned char seal[SHA256_SIZE];
};

struct key_memory {
    unsigned char secret[SHA256_SIZE];
    pthread_mutex_t lock; /* guards all below */
    struct known keys[KEY_MEMORY_SIZE];
    struct known none; /* "no key was ever made", as a key without an id */
    bool knows_any;    /* some key was made */
    size_t next;       /* place where key_memory_list() goes on */
    int64_t n_confirmations;
};

struct key_memory *key_memory_new(void)
{
    struct key_memory *memory = alloc_zero(1, sizeof(*memory));

    if (memory) {
        rand_bytes(memory->secret, sizeof(memory->secret));
        (void)pthread_mutex_init(&memory->lock, NULL); /* cannot fail */
    }
    return memory;
}

void key_memory_free(struct key_memory *memory)
{
    if (!memory) {
        return;
    }
    (void)pthread_mutex_destroy(&memory->lock);
    alloc_free_secret(memory, sizeof(*memory));
}

static void add_number(struct sha256 *hash, uint64_t number)
{
    sha256_add(hash, &number, sizeof(number));
}

/* HMAC-SHA256 of all that an entry says. */
static void seal_of(const struct key_memory *memory, const struct known *known,
                    unsigned char out[SHA256_SIZE])
{
    unsigned char pad[SEAL_BLOCK];
    struct sha256 hash;

    for (int round = 0; round < 2; round++) {
        memset(pad, round ? 0x5c : 0x36, sizeof(pad));
        for (size_t i = 0; i < sizeof(memory->secret); i++) {
            pad[i] ^= memory->secret[i];
        }
        sha256_init(&hash);
        sha256_add(&hash, pad, sizeof(pad));
        if (round == 0) {
            sha256_add(&hash, known->grant.id, sizeof(known->grant.id));
            add_number(&hash, (uint64_t)known->grant.scope.tenant);
            add_number(&hash, (uint64_t)known->grant.role);
            sha256_add(&hash, known->hash, sizeof(known->hash));
            add_number(&hash, known->at.change);
            add_number(&hash, (uint64_t)known->at.now_ns);
        } else {
            sha256_add(&hash, out, SHA256_SIZE);
        }
        sha256_get(&hash, out);
    }
    explicit_bzero(pad, sizeof(pad));
}

static bool holds(const struct key_memory *memory, const struct known *known,
                  struct key_moment at)
{
    unsigned char seal[SHA256_SIZE];

    if (known->at.change != at.change || known->at.now_ns == 0 ||
        at.now_ns - known->at.now_ns > LIMIT_KEY_OUTAGE_MS * 1000000LL) {
        return false;
    }
    seal_of(memory, known, seal);
    return sha256_equal(seal, known->seal);
}

/* Its place, or NULL. */
static struct known *find(struct key_memory *memory, struct str id)
{
    for (size_t i = 0; i < KEY_MEMORY_SIZE; i++) {
        struct known *known = &memory->keys[i];

        if (known->grant.id[0] && str_eq(str_of(known->grant.id), id)) {
            return known;
        }
    }
    return NULL;
}

/* An empty place, or that of the one unused for longest. */
static struct known *make_room(struct key_memory *memory)
{
    struct known *oldest = &memory->keys[0];

    for (size_t i = 0; i < KEY_MEMORY_SIZE; i++) {
        struct known *known = &memory->keys[i];

        if (!known->grant.id[0]) {
            return known;
        }
        if (known->used_ns < oldest->used_ns) {
            oldest = known;
        }
    }
    return oldest;
}

void key_memory_put(struct key_memory *memory, struct key_moment at,
                    const struct key_grant *grant,
                    const unsigned char hash[SHA256_SIZE])
{
    struct known *known;

    (void)pthread_mutex_lock(&memory->lock);
    known = find(memory, str_of(grant->id));
    if (!known) {
        known = make_room(memory);
        *known = (struct known){.used_ns = at.now_ns};
    }
    /* byte by byte: what follows the id's end is sealed too */
    memset(&known->grant, 0, sizeof(known->grant));
    memcpy(known->grant.id, grant->id, strlen(grant->id));
    known->grant.scope = grant->scope;
    known->grant.role = grant->role;
    memcpy(known->hash, hash, SHA256_SIZE);
    known->at = at;
    seal_of(memory, known, known->seal);
    memory->knows_any = true;
    (void)pthread_mutex_unlock(&memory->lock);
}

void key_memory_put_any(struct key_memory *memory, struct key_moment at,
                        bool any)
{
    (void)pthread_mutex_lock(&memory->lock);
    memory->knows_any = memory->knows_any || any;
    memory->none = (struct known){0};
    if (!any) {
        memory->none.at = at;
        seal_of(memory, &memory->none, memory->none.seal);
    }
    (void)pthread_mutex_unlock(&memory->lock);
}

void key_memory_forget(struct key_memory *memory, struct str id)
{
    struct known *known;

    (void)pthread_mutex_lock(&memory->lock);
    known = find(memory, id);
    if (known) {
        explicit_bzero(known, sizeof(*known));
    }
    (void)pthread_mutex_unlock(&memory->lock);
}

bool key_memory_get(struct key_memory *memory, struct key_moment at,
                    struct str id, struct key_grant *out_grant,
                    unsigned char out_hash[SHA256_SIZE])
{
    struct known *known;
    bool is_known;

    (void)pthread_mutex_lock(&memory->lock);
    known = find(memory, id);
    is_known = known && holds(memory, known, at);
    if (is_known) {
        known->used_ns = at.now_ns;
        *out_grant = known->grant;
        memcpy(out_hash, known->hash, SHA256_SIZE);
    }
    (void)pthread_mutex_unlock(&memory->lock);
    return is_known;
}

bool key_memory_get_any(struct key_memory *memory, struct key_moment at,
                        bool *out_any)
{
    bool is_known;

    (void)pthread_mutex_lock(&memory->lock);
    is_known = memory->knows_any || holds(memory, &memory->none, at);
    if (is_known) {
        *out_any = memory->knows_any;
    }
    (void)pthread_mutex_unlock(&memory->lock);
    return is_known;
}

size_t key_memory_list(struct key_memory *memory, size_t cap,
                       char out_ids[][KEY_ID_SIZE])
{
    size_t count = 0;

    (void)pthread_mutex_lock(&memory->lock);
    for (size_t seen = 0; seen < KEY_MEMORY_SIZE && count < cap; seen++) {
        const struct known *known = &memory->keys[memory->next];

        memory->next = (memory->next + 1) % KEY_MEMORY_SIZE;
        if (known->grant.id[0]) {
            memcpy(out_ids[count++], known->grant.id, KEY_ID_SIZE);
        }
    }
    (void)pthread_mutex_unlock(&memory->lock);
    return count;
}

void key_memory_count(struct key_memory *memory)
{
    (void)pthread_mutex_lock(&memory->lock);
    memory->n_confirmations++;
    (void)pthread_mutex_unlock(&memory->lock);
}

int64_t key_memory_counted(struct key_memory *memory)
{
    int64_t count;

    (void)pthread_mutex_lock(&memory->lock);
    count = memory->n_confirmations;
    (void)pthread_mutex_unlock(&memory->lock);
    return count;
}
