/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missed.h - which tenants were offered documents in vain, and how many.
 *
 * A handful at a time, as imports are: further tenants are not counted, and
 * their indexes catch up when somebody asks.
 * Thread-safety: internally locked.
 */
#ifndef INDEX_MISSED_H
#define INDEX_MISSED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MISSED_MAX_TENANTS 64

struct missed {
    pthread_mutex_t lock; /* guards the rest */
    struct missed_place {
        int64_t tenant;
        size_t n_docs; /* 0: the place is free */
    } places[MISSED_MAX_TENANTS];
};

void missed_init(struct missed *missed);
void missed_release(struct missed *missed);
void missed_add(struct missed *missed, int64_t tenant, size_t n_docs);
/* Take a tenant that missed `at_least` documents; false if there is none. */
bool missed_take(struct missed *missed, size_t at_least, int64_t *out_tenant);

#endif
