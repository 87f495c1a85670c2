/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - group commit: waiting writes share one transaction.
 *
 * There is no writer thread. The first caller to find nobody writing leads: it
 * takes all that wait, runs them one after the other, commits once, wakes them,
 * and hands over to the next that came meanwhile. A lone writer thus pays no
 * thread switch, and the busier the store, the larger the groups.
 *
 * A group is first run without savepoints, since nearly all succeed, or fail
 * before they changed anything, and savepoints cost statements and round trips.
 * If one fails later than that, nothing is kept and the same jobs are run
 * again, each in a savepoint. If that too fails as a whole (commit refused,
 * deadlock, connection lost before the commit was sent) they are run one by
 * one, so that each gets the status it deserves. If the connection is lost
 * during the commit the outcome is unknown: all get CLEW_UNAVAILABLE, none is
 * run again.
 *
 * No job is passed over: what a group had no time for comes next, alone.
 * Thread-safety: internally locked.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "store/driver.h"

#include <pthread.h>

/* Waiting writes per writer unless the options say otherwise; more are refused
 * with CLEW_BUSY. */
#define WRITER_MAX_WAITING 1024
/* Jobs that share one commit: bounds how long the first waits for the last. */
#define WRITER_MAX_GROUP 128
/* No further job is begun in a group that has run for so long. */
#define WRITER_GROUP_MS 500
/* A write that has waited so long, and behind one that was refused a lock, is
 * refused as well. */
#define WRITER_WAIT_MS 20000

struct job;

struct writer {
    const struct driver_ops *ops;
    struct driver *driver;
    int max_waiting;
    int64_t group_ns;
    int64_t wait_ns;
    int n_careful;            /* the leader's: groups to run with savepoints */
    struct conn *conn;        /* the leader's */
    int64_t retry_at_ns;      /* the leader's: no new connection before */
    struct clew_error reason; /* the leader's: why not */
    int64_t refused_ns;   /* the leader's: when others had a lock, 0 never */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t idle;
    struct job *first;
    struct job *last;
    int n_waiting;
    int n_left; /* the first so many are what the last group left */
    bool has_leader;
};

void writer_init(struct writer *writer, const struct driver_ops *ops,
                 struct driver *driver, const struct store_options *options);
/* Waits for what is under way. */
void writer_release(struct writer *writer);

int writer_waiting(struct writer *writer);

/* Run `fn` for `tenant` (0: the system) and return when it is durable. */
enum clew_status writer_run(struct writer *writer, int64_t tenant, store_fn fn,
                            void *arg, struct clew_error *err) CLEW_MUST_CHECK;

#endif
