/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts.c - a table in sets of a few, by hash. See verdicts.h.
 */
#include "engine/read/verdicts.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/sha256.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* Pairs that share a place; the one not used for longest makes room. */
#define WAYS 4
#define SETS (LIMIT_VERDICTS / WAYS)
#define KEY_BYTES 16
/* A promise, beside the verdicts of each enum reader_pair_kind. */
#define PROMISE 100

struct known {
    unsigned char key[KEY_BYTES];
    uint64_t used; /* when it was asked for, in calls; 0: nothing is here */
    struct reader_verdict verdict;
};

struct verdicts {
    pthread_mutex_t lock; /* guards what follows */
    uint64_t n_calls;
    uint64_t n_known;
    struct known known[SETS][WAYS];
};

struct verdicts *verdicts_new(void)
{
    struct verdicts *verdicts = alloc_zero(1, sizeof(*verdicts));

    if (verdicts) {
        (void)pthread_mutex_init(&verdicts->lock, NULL); /* cannot fail */
    }
    return verdicts;
}

void verdicts_free(struct verdicts *verdicts)
{
    if (verdicts) {
        (void)pthread_mutex_destroy(&verdicts->lock);
        alloc_free(verdicts);
    }
}

static void key_of(int64_t tenant, int kind, const struct reader_pair *pair,
                   unsigned char *out)
{
    int64_t head[] = {tenant, kind, (int64_t)pair->a.len};
    unsigned char digest[SHA256_SIZE];
    struct sha256 hash;

    sha256_init(&hash);
    sha256_add(&hash, head, sizeof(head));
    sha256_add_str(&hash, pair->a);
    sha256_add_str(&hash, pair->b);
    sha256_get(&hash, digest);
    memcpy(out, digest, KEY_BYTES);
}

static struct known *set_of(struct verdicts *verdicts, const unsigned char *key)
{
    uint32_t number;

    memcpy(&number, key, sizeof(number));
    return verdicts->known[number % SETS];
}

static bool find(struct verdicts *verdicts, const unsigned char *key,
                 struct reader_verdict *out)
{
    struct known *set = set_of(verdicts, key);
    bool is_known = false;

    (void)pthread_mutex_lock(&verdicts->lock);
    verdicts->n_calls++;
    for (size_t i = 0; i < WAYS && !is_known; i++) {
        is_known = set[i].used && memcmp(set[i].key, key, KEY_BYTES) == 0;
        if (is_known) {
            set[i].used = verdicts->n_calls;
            *out = set[i].verdict;
            verdicts->n_known++;
        }
    }
    (void)pthread_mutex_unlock(&verdicts->lock);
    return is_known;
}

/* Two who read the same pair at once leave it twice: harmless. */
static void keep(struct verdicts *verdicts, const unsigned char *key,
                 const struct reader_verdict *verdict)
{
    struct known *set = set_of(verdicts, key);
    struct known *oldest = set;

    (void)pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 1; i < WAYS; i++) {
        oldest = set[i].used < oldest->used ? &set[i] : oldest;
    }
    memcpy(oldest->key, key, KEY_BYTES);
    oldest->used = verdicts->n_calls;
    oldest->verdict = *verdict;
    (void)pthread_mutex_unlock(&verdicts->lock);
}

enum clew_status verdicts_compare(struct verdicts *verdicts,
                                  const struct reader *reader, int64_t tenant,
                                  enum reader_pair_kind kind,
                                  const struct reader_pair *pair,
                                  struct reader_verdict *out)
{
    unsigned char key[KEY_BYTES];
    struct arena arena;
    enum clew_status status;

    if (verdicts) {
        key_of(tenant, (int)kind, pair, key);
        if (find(verdicts, key, out)) {
            return CLEW_OK;
        }
    }
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status = reader_compare(reader, &arena, kind, pair, 1, out, NULL);
    arena_release(&arena);
    if (status == CLEW_OK && verdicts) {
        keep(verdicts, key, out);
    }
    return status;
}

enum clew_status verdicts_glance(struct verdicts *verdicts,
                                 const struct reader *reader,
                                 struct arena *arena, int64_t tenant,
                                 const struct reader_pair *pair,
                                 struct reader_glance *out)
{
    unsigned char key[KEY_BYTES];
    struct reader_verdict held = {0};
    enum clew_status status;

    *out = (struct reader_glance){0};
    if (verdicts) {
        key_of(tenant, PROMISE, pair, key);
        if (find(verdicts, key, &held)) {
            out->promise = held.p[0];
            return CLEW_OK;
        }
    }
    status = reader_glance(reader, arena, pair, out, NULL);
    if (status == CLEW_OK && verdicts) {
        held.p[0] = out->promise;
        keep(verdicts, key, &held);
    }
    return status;
}

enum clew_status verdicts_read_on(struct verdicts *verdicts,
                                  const struct reader *reader, int64_t tenant,
                                  const struct reader_pair *pair,
                                  const struct reader_glance *glance,
                                  struct reader_verdict *out)
{
    unsigned char key[KEY_BYTES];
    enum clew_status status;

    if (!glance->x) {
        return verdicts_compare(verdicts, reader, tenant, READER_ANSWER, pair,
                                out);
    }
    if (verdicts) {
        key_of(tenant, READER_ANSWER, pair, key);
        if (find(verdicts, key, out)) {
            return CLEW_OK;
        }
    }
    status = reader_read_on(reader, glance, out, NULL);
    if (status == CLEW_OK && verdicts) {
        keep(verdicts, key, out);
    }
    return status;
}

uint64_t verdicts_known(struct verdicts *verdicts)
{
    uint64_t n;

    (void)pthread_mutex_lock(&verdicts->lock);
    n = verdicts->n_known;
    (void)pthread_mutex_unlock(&verdicts->lock);
    return n;
}
