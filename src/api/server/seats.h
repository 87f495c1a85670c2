/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seats.h - places that tenants share without anybody dividing them.
 *
 * Who asks for one gets it as long as they hold fewer than are free: the first
 * may have half of all, the next half of what is left, and there is always one
 * for somebody who has none, until the very last.
 * Thread-safety: internally locked.
 */
#ifndef API_SERVER_SEATS_H
#define API_SERVER_SEATS_H

#include "base/limits.h"
#include "clew/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seats {
    pthread_mutex_t lock; /* guards what follows */
    size_t n_taken;
    int64_t tenants[LIMIT_EVENT_STREAMS]; /* whose they are */
};

/* One of `n_seats`, which is LIMIT_EVENT_STREAMS at most; false if there is
 * none for this tenant. */
bool seats_take(struct seats *seats, size_t n_seats,
                int64_t tenant) CLEW_MUST_CHECK;
/* One that was taken. */
void seats_give(struct seats *seats, int64_t tenant);

#endif
