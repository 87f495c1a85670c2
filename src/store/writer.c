/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.c - group commit. See writer.h.
 */
#include "store/writer.h"

#include "base/clock.h"
#include "base/rand.h"

#include <string.h>
#include <time.h>

/* Runs of one job that meets deadlocks or lost connections. */
#define MAX_TRIES 6
/* After this long it is not run again: somebody waits for an answer. */
#define MAX_TRYING_NS 20000000000LL
/* After a failed connect, others fail at once for this long. */
#define CONNECT_PAUSE_NS 250000000LL

struct job {
    struct job *next;
    store_fn fn;
    void *arg;
    int64_t tenant;
    enum clew_status status;
    struct clew_error error;
    pthread_cond_t wake;
    bool is_done;
    bool must_lead;
};

static void drop_conn(struct writer *w)
{
    if (w->conn) {
        w->ops->conn_close(w->conn);
        w->conn = NULL;
    }
}

static enum clew_status ensure_conn(struct writer *w)
{
    enum clew_status status;

    if (w->conn && w->ops->is_alive(w->conn)) {
        return CLEW_OK;
    }
    drop_conn(w);
    if (w->retry_at_ns > clock_mono_ns()) {
        return w->reason.status;
    }
    status = w->ops->conn_open(w->driver, CONN_WRITER, &w->conn, &w->reason);
    if (status != CLEW_OK) {
        w->conn = NULL;
        w->reason.status = status;
        w->retry_at_ns = clock_mono_ns() + CONNECT_PAUSE_NS;
    }
    return status;
}

static void fail_all(struct job *const *jobs, size_t n, enum clew_status status,
                     const struct clew_error *why)
{
    for (size_t i = 0; i < n; i++) {
        if (jobs[i]->status == CLEW_OK) {
            jobs[i]->status = status;
            jobs[i]->error = *why;
        }
    }
}

/* Run one job inside the open transaction. */
static void run_job(struct writer *w, struct job *job, bool has_savepoint)
{
    struct store_tx tx = {.ops = w->ops,
                          .conn = w->conn,
                          .tenant = job->tenant,
                          .is_write = true};
    struct clew_error ignored;

    job->status =
        w->ops->enter(w->conn, job->tenant, has_savepoint, &job->error);
    if (job->status != CLEW_OK) {
        return;
    }
    job->status = job->fn(&tx, job->arg, &job->error);
    if (tx.status != CLEW_OK) {
        job->status = tx.status;
        job->error = tx.error;
    } else if (job->status == CLEW_OK && tx.n_open > 0) {
        job->status =
            clew_fail(&job->error, CLEW_INTERNAL, "a query was left open");
    }
    if (!has_savepoint) {
        return;
    }
    if (job->status == CLEW_OK) {
        job->status = w->ops->leave(w->conn, true, &job->error);
    }
    if (job->status != CLEW_OK && w->ops->state(w->conn) == CONN_READY) {
        (void)w->ops->leave(w->conn, false, &ignored); /* state() tells */
    }
}

/* May the same job succeed in a fresh transaction? */
static bool is_transient(enum conn_state state, enum clew_status status)
{
    return state == CONN_CUT || state == CONN_LOST ||
           (state == CONN_TX_LOST && status == CLEW_BUSY);
}

static bool commit_group(struct writer *w, struct job *const *jobs, size_t n)
{
    struct clew_error why;
    enum clew_status status = w->ops->commit(w->conn, &why);
    enum conn_state state;

    if (status == CLEW_OK) {
        return true;
    }
    state = w->ops->state(w->conn);
    if (state == CONN_LOST) {
        /* It may or may not have happened, so it is not done again. */
        fail_all(jobs, n, CLEW_UNAVAILABLE, &why);
        drop_conn(w);
        return true;
    }
    w->ops->rollback(w->conn);
    if (n == 1) {
        jobs[0]->status = status;
        jobs[0]->error = why;
    }
    return n == 1 && !is_transient(state, status);
}

/* One transaction. False: nothing was kept and it is worth another try. */
static bool try_group(struct writer *w, struct job *const *jobs, size_t n)
{
    struct clew_error why;
    enum clew_status status = w->ops->begin(w->conn, true, &why);
    bool has_any = false;

    if (status != CLEW_OK) {
        bool is_again = is_transient(w->ops->state(w->conn), CLEW_OK);

        for (size_t i = 0; i < n; i++) {
            jobs[i]->status = CLEW_OK;
        }
        fail_all(jobs, n, status, &why);
        return !is_again;
    }
    for (size_t i = 0; i < n; i++) {
        run_job(w, jobs[i], n > 1);
        if (w->ops->state(w->conn) != CONN_READY) {
            bool is_again =
                n > 1 || is_transient(w->ops->state(w->conn), jobs[i]->status);
            w->ops->rollback(w->conn);
            return !is_again;
        }
        has_any = has_any || jobs[i]->status == CLEW_OK;
    }
    if (!has_any) {
        w->ops->rollback(w->conn);
        return true;
    }
    return commit_group(w, jobs, n);
}

static void pause_before(int tries)
{
    int64_t ns = (int64_t)rand_below(2000000) << tries;
    struct timespec pause = {.tv_nsec = (long)ns};

    (void)nanosleep(&pause, NULL); /* shorter is fine */
}

static void run_alone(struct writer *w, struct job *job)
{
    int64_t until_ns = clock_mono_ns() + MAX_TRYING_NS;

    for (int tries = 0; tries < MAX_TRIES; tries++) {
        enum clew_status status;

        if (tries > 0 && clock_mono_ns() > until_ns) {
            return; /* with the status of the last try */
        }
        if (tries > 0) {
            pause_before(tries);
        }
        status = ensure_conn(w);
        if (status != CLEW_OK) {
            job->status = status;
            job->error = w->reason;
            return;
        }
        if (try_group(w, &job, 1)) {
            return;
        }
    }
}

/* By tenant, else in order of arrival: all processes lock tenants in one
 * order, so that groups do not deadlock. */
static void sort_jobs(struct job **jobs, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct job *job = jobs[i];
        size_t at = i;

        for (; at > 0 && jobs[at - 1]->tenant > job->tenant; at--) {
            jobs[at] = jobs[at - 1];
        }
        jobs[at] = job;
    }
}

static void run_group(struct writer *w, struct job **jobs, size_t n)
{
    if (n > 1) {
        enum clew_status status = ensure_conn(w);

        if (status != CLEW_OK) {
            fail_all(jobs, n, status, &w->reason);
            return;
        }
        sort_jobs(jobs, n);
        if (try_group(w, jobs, n)) {
            return;
        }
    }
    for (size_t i = 0; i < n; i++) {
        run_alone(w, jobs[i]);
    }
}

/* Take up to a group's worth from the queue. Called with the lock held. */
static size_t take_jobs(struct writer *w, struct job *jobs[WRITER_MAX_GROUP])
{
    size_t n = 0;

    while (w->first && n < WRITER_MAX_GROUP) {
        jobs[n++] = w->first;
        w->first = w->first->next;
        w->n_waiting--;
    }
    if (!w->first) {
        w->last = NULL;
    }
    return n;
}

/* Called with the lock held, and returns with it held. */
static void lead(struct writer *w, struct job *own)
{
    struct job *jobs[WRITER_MAX_GROUP];
    size_t n = take_jobs(w, jobs);

    pthread_mutex_unlock(&w->lock);
    run_group(w, jobs, n);
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < n; i++) {
        jobs[i]->is_done = true;
        if (jobs[i] != own) {
            pthread_cond_signal(&jobs[i]->wake);
        }
    }
    if (w->first) {
        w->first->must_lead = true;
        pthread_cond_signal(&w->first->wake);
    } else {
        w->has_leader = false;
        pthread_cond_broadcast(&w->idle);
    }
}

static void append(struct writer *w, struct job *job)
{
    if (w->last) {
        w->last->next = job;
    } else {
        w->first = job;
    }
    w->last = job;
    w->n_waiting++;
}

void writer_init(struct writer *writer, const struct driver_ops *ops,
                 struct driver *driver, int max_waiting)
{
    memset(writer, 0, sizeof(*writer));
    writer->ops = ops;
    writer->driver = driver;
    writer->max_waiting = max_waiting > 0 ? max_waiting : WRITER_MAX_WAITING;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->idle, NULL);
}

void writer_release(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    while (writer->has_leader) {
        pthread_cond_wait(&writer->idle, &writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    drop_conn(writer);
    pthread_cond_destroy(&writer->idle);
    pthread_mutex_destroy(&writer->lock);
}

int writer_waiting(struct writer *writer)
{
    int n;

    pthread_mutex_lock(&writer->lock);
    n = writer->n_waiting;
    pthread_mutex_unlock(&writer->lock);
    return n;
}

enum clew_status writer_run(struct writer *writer, int64_t tenant, store_fn fn,
                            void *arg, struct clew_error *err)
{
    struct job job = {.fn = fn, .arg = arg, .tenant = tenant};

    pthread_mutex_lock(&writer->lock);
    if (writer->n_waiting >= writer->max_waiting) {
        pthread_mutex_unlock(&writer->lock);
        return clew_fail(err, CLEW_BUSY, "too many writes are waiting");
    }
    pthread_cond_init(&job.wake, NULL);
    append(writer, &job);
    if (!writer->has_leader) {
        writer->has_leader = true;
        job.must_lead = true;
    }
    while (!job.is_done && !job.must_lead) {
        pthread_cond_wait(&job.wake, &writer->lock);
    }
    if (!job.is_done) {
        lead(writer, &job);
    }
    pthread_mutex_unlock(&writer->lock);
    pthread_cond_destroy(&job.wake);
    if (job.status != CLEW_OK && err) {
        *err = job.error;
        err->status = job.status;
    }
    return job.status;
}
