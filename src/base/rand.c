/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rand.c - random bytes. See rand.h.
 */
#include "base/rand.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t seeded_state; /* guarded by `lock`; 0 = use the system */

/* splitmix64: the next value of the seeded sequence. */
static uint64_t next_seeded(void)
{
    uint64_t z = (seeded_state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void system_bytes(unsigned char *out, size_t len)
{
    while (len > 0) {
        size_t part = len < 256 ? len : 256;
        ssize_t got = getrandom(out, part, 0);

        if (got < 0 && errno != EINTR) {
            abort(); /* no randomness, no safe way on */
        }
        if (got > 0) {
            out += got;
            len -= (size_t)got;
        }
    }
}

void rand_bytes(void *out, size_t len)
{
    unsigned char *at = out;

    pthread_mutex_lock(&lock);
    if (seeded_state == 0) {
        pthread_mutex_unlock(&lock);
        system_bytes(at, len);
        return;
    }
    while (len > 0) {
        uint64_t value = next_seeded();
        size_t part = len < sizeof(value) ? len : sizeof(value);

        memcpy(at, &value, part);
        at += part;
        len -= part;
    }
    pthread_mutex_unlock(&lock);
}

uint64_t rand_below(uint64_t n)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t value;

    do {
        rand_bytes(&value, sizeof(value));
    } while (value >= limit);
    return value % n;
}

void rand_seed(uint64_t seed)
{
    pthread_mutex_lock(&lock);
    seeded_state = seed;
    pthread_mutex_unlock(&lock);
}
