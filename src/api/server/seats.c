/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seats.c - see seats.h.
 */
#include "api/server/seats.h"

#include <assert.h>

static size_t count(const struct seats *seats, int64_t tenant)
{
    size_t n = 0;

    for (size_t i = 0; i < seats->n_taken; i++) {
        n += seats->tenants[i] == tenant;
    }
    return n;
}

bool seats_take(struct seats *seats, size_t n_seats, int64_t tenant)
{
    bool is_free;

    assert(n_seats <= LIMIT_EVENT_STREAMS);
    (void)pthread_mutex_lock(&seats->lock);
    is_free = seats->n_taken < n_seats &&
              count(seats, tenant) < n_seats - seats->n_taken;
    if (is_free) {
        seats->tenants[seats->n_taken++] = tenant;
    }
    (void)pthread_mutex_unlock(&seats->lock);
    return is_free;
}

void seats_give(struct seats *seats, int64_t tenant)
{
    (void)pthread_mutex_lock(&seats->lock);
    for (size_t i = 0; i < seats->n_taken; i++) {
        if (seats->tenants[i] == tenant) {
            seats->tenants[i] = seats->tenants[--seats->n_taken];
            break;
        }
    }
    (void)pthread_mutex_unlock(&seats->lock);
}
