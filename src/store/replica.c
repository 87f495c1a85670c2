/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica.c - reads from a server that follows the primary. See replica.h.
 *
 * Whoever comes while the primary is being asked waits for the next question,
 * not for this one, which may have been answered before its own last write was;
 * all who wait share it.
 */
#include "store/replica.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* How often a replica that is behind is asked again, and after how long: the
 * time a commit takes to get there. */
#define MAX_ASKS 4
#define ASK_PAUSE_NS 1000000L
/* How long one that stays behind, or cannot be used at all, is left alone. */
#define BEHIND_NS 50000000LL
#define DOWN_NS 1000000000LL

enum outcome { TAKEN, BEHIND, DOWN };

struct replica {
    const struct driver_ops *ops;
    struct driver *primary;
    struct driver *driver;
    struct pool pool;
    _Atomic int64_t not_before_ns;
    _Atomic int64_t n_by[DOWN + 1]; /* reads, by outcome */
    atomic_bool is_down;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t asked;
    struct conn *asker; /* whoever set is_asking has it */
    bool is_asking;
    uint64_t n_begun;
    uint64_t n_done;
    bool is_known; /* of the last question */
    struct position floor;
};

enum clew_status replica_open(const struct driver_ops *ops,
                              const struct store_options *options,
                              struct driver *primary,
                              struct replica **out_replica,
                              struct clew_error *err)
{
    struct store_options own = *options;
    struct replica *replica = alloc_zero(1, sizeof(*replica));
    enum clew_status status;

    if (!replica) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open the store");
    }
    own.location = options->read_location;
    own.is_replica = true;
    replica->ops = ops;
    replica->primary = primary;
    pool_init(&replica->pool, ops);
    pthread_mutex_init(&replica->lock, NULL);
    pthread_cond_init(&replica->asked, NULL);
    status = ops->open(&own, &replica->driver, err);
    if (status != CLEW_OK) {
        replica_close(replica);
        return status;
    }
    pool_set(&replica->pool, replica->driver,
             ops->max_readers(replica->driver));
    *out_replica = replica;
    return CLEW_OK;
}

void replica_close(struct replica *replica)
{
    if (!replica) {
        return;
    }
    pool_release(&replica->pool);
    if (replica->asker) {
        replica->ops->conn_close(replica->asker);
    }
    if (replica->driver) {
        replica->ops->close(replica->driver);
    }
    pthread_cond_destroy(&replica->asked);
    pthread_mutex_destroy(&replica->lock);
    alloc_free(replica);
}

/* Ask the primary; called by the one who set is_asking. */
static bool ask_primary(struct replica *replica, struct position *out)
{
    const struct driver_ops *ops = replica->ops;
    struct clew_error ignored;

    if (replica->asker && !ops->is_alive(replica->asker)) {
        ops->conn_close(replica->asker);
        replica->asker = NULL;
    }
    if (!replica->asker && ops->conn_open(replica->primary, CONN_WRITER,
                                          &replica->asker, &ignored)) {
        replica->asker = NULL;
        return false;
    }
    if (ops->position(replica->asker, out, &ignored) != CLEW_OK) {
        ops->conn_close(replica->asker);
        replica->asker = NULL;
        return false;
    }
    return !out->is_standby;
}

/* How far the primary is, asked after this was called. */
static bool find_floor(struct replica *replica, struct position *out)
{
    uint64_t mine;
    bool is_known;

    pthread_mutex_lock(&replica->lock);
    mine = replica->n_begun + 1;
    while (replica->n_done < mine) {
        struct position floor = {0};

        if (replica->is_asking) {
            pthread_cond_wait(&replica->asked, &replica->lock);
            continue;
        }
        replica->is_asking = true;
        replica->n_begun++;
        pthread_mutex_unlock(&replica->lock);
        is_known = ask_primary(replica, &floor);
        pthread_mutex_lock(&replica->lock);
        replica->is_asking = false;
        replica->n_done = replica->n_begun;
        replica->is_known = is_known;
        replica->floor = floor;
        pthread_cond_broadcast(&replica->asked);
    }
    *out = replica->floor;
    is_known = replica->is_known;
    pthread_mutex_unlock(&replica->lock);
    return is_known;
}

static bool covers(const struct position *seen, const struct position *floor)
{
    return seen->timeline >= floor->timeline && seen->at >= floor->at;
}

/* A replica of this database, and ours to read? Promoted, it no longer follows;
 * of another server or database its positions mean nothing. */
static bool is_ours(const struct position *seen, const struct position *floor)
{
    return seen->is_standby && seen->can_read &&
           seen->system == floor->system && seen->database == floor->database;
}

static void leave_alone(struct replica *replica, bool is_down)
{
    atomic_store(&replica->not_before_ns,
                 clock_mono_ns() + (is_down ? DOWN_NS : BEHIND_NS));
    atomic_store(&replica->is_down, is_down);
}

/* Is the server behind this connection as far as the floor, now or soon? */
static bool catches_up(struct replica *replica, struct pooled *lent,
                       const struct position *floor, bool *out_down)
{
    static const struct timespec pause = {.tv_nsec = ASK_PAUSE_NS};
    struct clew_error ignored;

    for (int i = 0; i < MAX_ASKS; i++) {
        if (covers(&lent->seen, floor)) {
            return true;
        }
        if (i > 1) {
            (void)nanosleep(&pause, NULL); /* shorter is fine */
        }
        if (replica->ops->position(lent->conn, &lent->seen, &ignored) !=
                CLEW_OK ||
            !is_ours(&lent->seen, floor)) {
            replica->ops->conn_close(lent->conn);
            lent->conn = NULL;
            *out_down = true;
            return false;
        }
    }
    return covers(&lent->seen, floor);
}

static enum outcome try_take(struct replica *replica, struct pooled *out)
{
    struct clew_error ignored;
    struct position floor;
    struct pooled lent = {0};
    enum clew_status status;
    bool is_down = false;

    if (atomic_load(&replica->not_before_ns) > clock_mono_ns()) {
        return atomic_load(&replica->is_down) ? DOWN : BEHIND;
    }
    status = pool_take(&replica->pool, 0, &lent, &ignored);
    if (status == CLEW_BUSY) {
        return BEHIND; /* with its answers */
    }
    if (status != CLEW_OK) {
        leave_alone(replica, true);
        return DOWN;
    }
    if (find_floor(replica, &floor) &&
        catches_up(replica, &lent, &floor, &is_down)) {
        atomic_store(&replica->is_down, false);
        *out = lent;
        return TAKEN;
    }
    leave_alone(replica, is_down);
    pool_give(&replica->pool, &lent);
    return is_down ? DOWN : BEHIND;
}

bool replica_take(struct replica *replica, struct pooled *out)
{
    enum outcome outcome = try_take(replica, out);

    atomic_fetch_add(&replica->n_by[outcome], 1);
    return outcome == TAKEN;
}

void replica_give(struct replica *replica, struct pooled *lent)
{
    pool_give(&replica->pool, lent);
}

void replica_count(struct replica *replica, struct store_replica *out)
{
    struct pooled lent = {0};
    enum outcome outcome = try_take(replica, &lent);

    if (outcome == TAKEN) {
        pool_give(&replica->pool, &lent);
    }
    *out =
        (struct store_replica){.is_used = true,
                               .is_down = outcome == DOWN,
                               .is_behind = outcome != TAKEN,
                               .n_reads = atomic_load(&replica->n_by[TAKEN]),
                               .n_behind = atomic_load(&replica->n_by[BEHIND]),
                               .n_down = atomic_load(&replica->n_by[DOWN])};
}
