/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - connections to one server, lent and given back. See pool.h.
 */
#include "store/pool.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FEWEST 4
#define MOST 16

int pool_fitting(int wanted)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    if (wanted > 0) {
        return wanted;
    }
    return n < FEWEST ? FEWEST : n > MOST ? MOST : (int)n;
}

void pool_init(struct pool *pool, const struct driver_ops *ops)
{
    pthread_condattr_t attributes;

    memset(pool, 0, sizeof(*pool));
    pool->ops = ops;
    pthread_mutex_init(&pool->lock, NULL);
    /* a clock that is set must neither end a wait nor stretch it */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->freed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void pool_set(struct pool *pool, struct driver *driver, int max)
{
    pool->driver = driver;
    pool->max = max < 1 ? 1 : max > POOL_MAX ? POOL_MAX : max;
}

void pool_release(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->n_idle < pool->n_open) {
        pthread_cond_wait(&pool->freed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->n_idle; i++) {
        pool->ops->conn_close(pool->idle[i].conn);
    }
    pthread_cond_destroy(&pool->freed);
    pthread_mutex_destroy(&pool->lock);
}

static enum clew_status wait_for_slot(struct pool *pool, int wait_s,
                                      struct clew_error *err)
{
    struct timespec deadline;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline); /* cannot fail */
    deadline.tv_sec += wait_s;
    while (pool->n_idle == 0 && pool->n_open >= pool->max) {
        if (pthread_cond_timedwait(&pool->freed, &pool->lock, &deadline) ==
            ETIMEDOUT) {
            return clew_fail(err, CLEW_BUSY, "too many reads at once");
        }
    }
    return CLEW_OK;
}

static void give_slot(struct pool *pool, const struct pooled *lent)
{
    pthread_mutex_lock(&pool->lock);
    if (lent->conn) {
        pool->idle[pool->n_idle++] = *lent;
    } else {
        pool->n_open--;
    }
    /* pool_release() may wait beside the readers. */
    pthread_cond_broadcast(&pool->freed);
    pthread_mutex_unlock(&pool->lock);
}

enum clew_status pool_take(struct pool *pool, int wait_s, struct pooled *out,
                           struct clew_error *err)
{
    struct pooled lent = {0};
    enum clew_status status;

    pthread_mutex_lock(&pool->lock);
    status = wait_for_slot(pool, wait_s, err);
    if (status == CLEW_OK && pool->n_idle > 0) {
        lent = pool->idle[--pool->n_idle];
    } else if (status == CLEW_OK) {
        pool->n_open++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (status != CLEW_OK) {
        return status;
    }
    if (lent.conn && !pool->ops->is_alive(lent.conn)) {
        pool->ops->conn_close(lent.conn);
        lent = (struct pooled){0};
    }
    if (!lent.conn) {
        status =
            pool->ops->conn_open(pool->driver, CONN_READER, &lent.conn, err);
    }
    if (status != CLEW_OK) {
        lent.conn = NULL;
        give_slot(pool, &lent);
        return status;
    }
    *out = lent;
    return CLEW_OK;
}

void pool_give(struct pool *pool, struct pooled *lent)
{
    if (lent->conn && pool->ops->state(lent->conn) != CONN_READY) {
        pool->ops->conn_close(lent->conn);
        lent->conn = NULL;
    }
    give_slot(pool, lent);
    lent->conn = NULL;
}
