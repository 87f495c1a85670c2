/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - connections to one server, lent and given back.
 *
 * Opened when one is needed, at most `max` of them. Internal to store/.
 * Thread-safety: internally locked; what is lent belongs to the borrower.
 */
#ifndef STORE_POOL_H
#define STORE_POOL_H

#include "store/driver.h"

#include <pthread.h>

#define POOL_MAX 64

/* A connection, and how far its server was when it was last asked (replica.h;
 * servers only go forward). */
struct pooled {
    struct conn *conn; /* NULL: gone */
    struct position seen;
};

struct pool {
    const struct driver_ops *ops;
    struct driver *driver;
    int max;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t freed;
    struct pooled idle[POOL_MAX];
    int n_idle;
    int n_open; /* idle and lent */
};

/* How many are of use: `wanted`, or if 0 one for each processor, since who
 * reads keeps one busy; at least 4, for some of them wait, and at most 16. */
int pool_fitting(int wanted);

void pool_init(struct pool *pool, const struct driver_ops *ops);
/* Give it its server; before that nothing can be taken. */
void pool_set(struct pool *pool, struct driver *driver, int max);
/* Waits until all that was lent is back, then closes. */
void pool_release(struct pool *pool);

/* A usable connection. CLEW_BUSY if none is free within `wait_s` seconds. */
enum clew_status pool_take(struct pool *pool, int wait_s, struct pooled *out,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Give it back; one that cannot be used again is closed. */
void pool_give(struct pool *pool, struct pooled *lent);

#endif
