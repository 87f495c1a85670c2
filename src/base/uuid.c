/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uuid.c - UUID version 7. See uuid.h.
 */
#include "base/uuid.h"

#include "base/rand.h"
#include "base/sha256.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct uuid last; /* guarded by `lock`: the newest id handed out */

static void stamp(struct uuid *id, int64_t time_ms)
{
    uint64_t ms = time_ms > 0 ? (uint64_t)time_ms : 0;

    for (int i = 0; i < 6; i++) {
        id->b[i] = (uint8_t)(ms >> (40 - 8 * i));
    }
    id->b[6] = (uint8_t)(0x70 | (id->b[6] & 0x0f));
    id->b[8] = (uint8_t)(0x80 | (id->b[8] & 0x3f));
}

/* The 62 low bits plus one, keeping the variant: order within a millisecond. */
static void increment(struct uuid *id)
{
    for (int i = 15; i > 8; i--) {
        if (++id->b[i] != 0) {
            return;
        }
    }
    id->b[8] = (uint8_t)(0x80 | ((id->b[8] + 1) & 0x3f));
}

struct uuid uuid_new(int64_t time_ms)
{
    struct uuid id;

    rand_bytes(id.b, sizeof(id.b));
    stamp(&id, time_ms);
    pthread_mutex_lock(&lock);
    if (memcmp(id.b, last.b, 6) == 0) {
        id = last;
        increment(&id);
    }
    last = id;
    pthread_mutex_unlock(&lock);
    return id;
}

struct uuid uuid_derive(int64_t time_ms, const struct uuid *source,
                        const char *kind, uint64_t n)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 hash;
    struct uuid id;

    sha256_init(&hash);
    sha256_add(&hash, source->b, sizeof(source->b));
    sha256_add(&hash, kind, strlen(kind) + 1);
    sha256_add(&hash, &n, sizeof(n));
    sha256_get(&hash, digest);
    memcpy(id.b, digest, sizeof(id.b));
    stamp(&id, time_ms);
    return id;
}

bool uuid_eq(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

bool uuid_is_nil(const struct uuid *id)
{
    static const struct uuid nil;

    return uuid_eq(id, &nil);
}

const struct uuid *uuid_or_null(const struct uuid *id)
{
    return uuid_is_nil(id) ? NULL : id;
}

int uuid_cmp(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a->b, b->b, sizeof(a->b));
}

void uuid_format(const struct uuid *id, char out[UUID_TEXT_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    char *at = out;

    for (size_t i = 0; i < sizeof(id->b); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *at++ = '-';
        }
        *at++ = hex[id->b[i] >> 4];
        *at++ = hex[id->b[i] & 15];
    }
    *at = '\0';
}

bool uuid_parse(struct str text, struct uuid *out_id)
{
    char hex[32];
    size_t n = 0;
    struct uuid id;

    if (text.len != 36) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash != (text.s[i] == '-')) {
            return false;
        }
        if (!is_dash) {
            hex[n++] = text.s[i];
        }
    }
    if (!hex_parse((struct str){hex, n}, id.b, sizeof(id.b))) {
        return false;
    }
    *out_id = id;
    return true;
}
