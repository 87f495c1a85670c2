/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.c - group commit. See writer.h.
 */
#include "store/writer.h"

#include "base/clock.h"
#include "base/rand.h"
#include "store/changes.h"

#include <assert.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

/* Runs of one job that meets deadlocks or lost connections. */
#define MAX_TRIES 6
/* After this long it is not run again: somebody waits for an answer. */
#define MAX_TRYING_NS 20000000000LL
/* After a failed connect, others fail at once for this long. */
#define CONNECT_PAUSE_NS 250000000LL
/* After a group that had to be run again, so many get savepoints at once. */
#define CAREFUL_GROUPS 16

struct job {
    struct job *next;
    store_fn fn;
    void *arg;
    int64_t tenant;
    int64_t queued_ns;
    enum clew_status status;
    struct clew_error error;
    /* Posted to by the leader: the job is done, or else it must lead. */
    sem_t wake;
    bool is_done; /* set before the post */
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

/* Jobs that share a transaction. */
struct group {
    struct job **jobs;
    size_t n;
    bool has_savepoints;
    int64_t tenant; /* whose numbers those below are; -1 before the first job */
    struct changes changes;
};

static void reset(struct group *group)
{
    for (size_t i = 0; i < group->n; i++) {
        group->jobs[i]->status = CLEW_OK;
    }
}

/* All but those that failed by themselves. */
static void fail_all(struct group *group, enum clew_status status,
                     const struct clew_error *why)
{
    for (size_t i = 0; i < group->n; i++) {
        if (group->jobs[i]->status == CLEW_OK) {
            group->jobs[i]->status = status;
            group->jobs[i]->error = *why;
        }
    }
}

static struct store_tx tx_of(struct writer *w, struct group *group)
{
    return (struct store_tx){.ops = w->ops,
                             .conn = w->conn,
                             .tenant = group->tenant,
                             .is_write = true,
                             .changes = &group->changes};
}

/* A lock that was not let go in time, unlike a deadlock, leaves the connection
 * as it was. */
static void note_refusal(struct writer *w, enum clew_status status)
{
    if (status == CLEW_BUSY && w->ops->state(w->conn) == CONN_READY) {
        w->refused_ns = clock_mono_ns();
    }
}

/* The part of one tenant ends: its row gets its last change number. */
static enum clew_status end_tenant(struct writer *w, struct group *group,
                                   struct clew_error *why)
{
    struct store_tx tx = tx_of(w, group);
    enum clew_status status = changes_store(&tx, why);

    group->tenant = -1;
    group->changes = (struct changes){0};
    return status;
}

/* Run one job inside the open transaction. False if it failed and left traces,
 * which only the end of the transaction can undo. */
static bool run_job(struct writer *w, struct group *group, struct job *job)
{
    struct changes before = group->changes;
    struct store_tx tx = tx_of(w, group);
    struct clew_error ignored;

    assert(job->tenant == group->tenant); /* whose change numbers these are */
    job->status =
        w->ops->enter(w->conn, job->tenant, group->has_savepoints, &job->error);
    if (job->status != CLEW_OK) {
        return false;
    }
    job->status = job->fn(&tx, job->arg, &job->error);
    if (tx.status != CLEW_OK) {
        job->status = tx.status;
        job->error = tx.error;
    } else if (job->status == CLEW_OK && tx.n_open > 0) {
        job->status =
            clew_fail(&job->error, CLEW_INTERNAL, "a query was left open");
    }
    if (job->status == CLEW_OK && group->has_savepoints) {
        job->status = w->ops->leave(w->conn, true, &job->error);
    }
    if (job->status == CLEW_OK) {
        return true;
    }
    group->changes = before;
    note_refusal(w, job->status);
    if (!group->has_savepoints) {
        return tx.status == CLEW_OK && tx.n_open == 0 && !tx.has_written;
    }
    return w->ops->state(w->conn) == CONN_READY &&
           w->ops->leave(w->conn, false, &ignored) == CLEW_OK;
}

/* May the same job succeed in a fresh transaction? */
static bool is_transient(enum conn_state state, enum clew_status status)
{
    return state == CONN_CUT || state == CONN_LOST ||
           (state == CONN_TX_LOST && status == CLEW_BUSY);
}

static bool commit_group(struct writer *w, struct group *group)
{
    struct clew_error why;
    enum clew_status status = end_tenant(w, group, &why);
    bool is_sent = status == CLEW_OK;
    enum conn_state state;

    if (is_sent) {
        status = w->ops->commit(w->conn, &why);
    }
    if (status == CLEW_OK) {
        return true;
    }
    state = w->ops->state(w->conn);
    if (is_sent && state == CONN_LOST) {
        /* It may or may not have happened, so it is not done again. */
        fail_all(group, CLEW_UNAVAILABLE, &why);
        drop_conn(w);
        return true;
    }
    note_refusal(w, status);
    w->ops->rollback(w->conn);
    if (group->n == 1) {
        group->jobs[0]->status = status;
        group->jobs[0]->error = why;
    }
    return group->n == 1 && !is_transient(state, status);
}

/* Run the jobs one after the other. False if the transaction is of no use any
 * more. */
static bool run_jobs(struct writer *w, struct group *group)
{
    int64_t until_ns = clock_mono_ns() + w->group_ns;
    struct clew_error ignored;

    for (size_t i = 0; i < group->n; i++) {
        struct job *job = group->jobs[i];

        if (i > 0 && clock_mono_ns() > until_ns) {
            group->n = i; /* those are long enough; the others come next */
            break;
        }
        if (group->tenant != job->tenant) {
            if (group->tenant >= 0 &&
                end_tenant(w, group, &ignored) != CLEW_OK) {
                return false;
            }
            group->tenant = job->tenant;
        }
        if (!run_job(w, group, job)) {
            return false;
        }
    }
    return true;
}

/* One transaction. False: nothing was kept and it is worth another try. */
static bool try_group(struct writer *w, struct group *group)
{
    struct clew_error why;
    enum clew_status status = w->ops->begin(w->conn, true, &why);
    bool has_any = false;

    assert(group->n > 0); /* else there is nothing to begin for */
    reset(group);
    group->tenant = -1;
    group->changes = (struct changes){0};
    if (status != CLEW_OK) {
        fail_all(group, status, &why);
        return !is_transient(w->ops->state(w->conn), CLEW_OK);
    }
    if (!run_jobs(w, group)) {
        bool is_again = group->n > 1 || is_transient(w->ops->state(w->conn),
                                                     group->jobs[0]->status);
        w->ops->rollback(w->conn);
        return !is_again;
    }
    for (size_t i = 0; i < group->n; i++) {
        has_any = has_any || group->jobs[i]->status == CLEW_OK;
    }
    if (!has_any) {
        w->ops->rollback(w->conn);
        return true;
    }
    return commit_group(w, group);
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
    struct group group = {.jobs = &job, .n = 1};

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
        if (try_group(w, &group)) {
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

/* True: each job has its status. */
static bool run_together(struct writer *w, struct group *group,
                         bool has_savepoints)
{
    enum clew_status status = ensure_conn(w);

    group->has_savepoints = has_savepoints;
    if (status != CLEW_OK) {
        reset(group);
        fail_all(group, status, &w->reason);
        return true;
    }
    return try_group(w, group);
}

/* Each write waits for a lock until it is refused; behind a lock that stays
 * taken the tenth would wait ten times as long, so it is not even tried. */
static bool refuse_late(struct writer *w, struct job *job)
{
    if (w->refused_ns <= job->queued_ns ||
        clock_mono_ns() - job->queued_ns <= w->wait_ns) {
        return false;
    }
    job->status = clew_fail(&job->error, CLEW_BUSY,
                            "others had the store locked for too long");
    return true;
}

/* Bring those that are refused to the front; how many. */
static size_t refuse_all_late(struct writer *w, struct job **jobs, size_t n)
{
    size_t n_late = 0;

    for (size_t i = 0; i < n; i++) {
        struct job *job = jobs[i];

        if (refuse_late(w, job)) {
            memmove(&jobs[n_late + 1], &jobs[n_late],
                    (i - n_late) * sizeof(struct job *));
            jobs[n_late++] = job;
        }
    }
    return n_late;
}

/* Run the first jobs, as many as there is time for; how many. */
static size_t run_group(struct writer *w, struct job **jobs, size_t n)
{
    struct group group = {.jobs = jobs, .n = n};

    if (n > 1) {
        sort_jobs(jobs, n);
        if (w->n_careful > 0) {
            w->n_careful--;
        } else if (run_together(w, &group, false)) {
            return group.n;
        } else {
            w->n_careful = CAREFUL_GROUPS;
        }
        if (run_together(w, &group, true)) {
            return group.n;
        }
    }
    for (size_t i = 0; i < group.n; i++) {
        if (!refuse_late(w, jobs[i])) {
            run_alone(w, jobs[i]);
        }
    }
    return group.n;
}

/* Take up to a group's worth from the queue; if some were left over from the
 * last group, only those. Called with the lock held. */
static size_t take_jobs(struct writer *w, struct job *jobs[WRITER_MAX_GROUP])
{
    int max = w->n_left > 0 ? w->n_left : WRITER_MAX_GROUP;
    int n = 0;

    while (w->first && n < max) {
        jobs[n++] = w->first;
        w->first = w->first->next;
    }
    if (!w->first) {
        w->last = NULL;
    }
    w->n_waiting -= n;
    w->n_left = 0;
    return (size_t)n;
}

/* Put what there was no time for back in front. Called with the lock held. */
static void put_back(struct writer *w, struct job *const *jobs, size_t n)
{
    for (size_t i = n; i > 0; i--) {
        jobs[i - 1]->next = w->first;
        w->first = jobs[i - 1];
        w->last = w->last ? w->last : jobs[i - 1];
    }
    w->n_waiting += (int)n;
    w->n_left = (int)n;
}

static void wait_for_leader(struct job *job)
{
    while (sem_wait(&job->wake) != 0) {
        /* a signal came */
    }
}

/* Run a group; then another leads, or nobody. The next leader is woken first,
 * since all who wait behind it wait for it, and nobody under the lock, which
 * it takes at once. A job woken up may be gone. */
static void lead(struct writer *w, struct job *own)
{
    struct job *jobs[WRITER_MAX_GROUP];
    struct job *next;
    size_t n_done;
    size_t n;

    pthread_mutex_lock(&w->lock);
    n = take_jobs(w, jobs);
    pthread_mutex_unlock(&w->lock);
    n_done = refuse_all_late(w, jobs, n);
    if (n_done < n) {
        n_done += run_group(w, jobs + n_done, n - n_done);
    }
    pthread_mutex_lock(&w->lock);
    put_back(w, jobs + n_done, n - n_done);
    next = w->first;
    if (!next) {
        w->has_leader = false;
        pthread_cond_broadcast(&w->idle);
    }
    pthread_mutex_unlock(&w->lock);
    if (next) {
        (void)sem_post(&next->wake); /* at most one post is open: no overflow */
    }
    for (size_t i = 0; i < n_done; i++) {
        jobs[i]->is_done = true;
        if (jobs[i] != own) {
            (void)sem_post(&jobs[i]->wake);
        }
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
                 struct driver *driver, const struct store_options *options)
{
    memset(writer, 0, sizeof(*writer));
    writer->ops = ops;
    writer->driver = driver;
    writer->max_waiting =
        options->max_waiting > 0 ? options->max_waiting : WRITER_MAX_WAITING;
    writer->group_ns =
        (options->group_ms > 0 ? options->group_ms : WRITER_GROUP_MS) *
        1000000LL;
    writer->wait_ns =
        (options->wait_ms > 0 ? options->wait_ms : WRITER_WAIT_MS) * 1000000LL;
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
    struct job job = {
        .fn = fn, .arg = arg, .tenant = tenant, .queued_ns = clock_mono_ns()};
    bool is_leader;

    pthread_mutex_lock(&writer->lock);
    if (writer->n_waiting >= writer->max_waiting) {
        pthread_mutex_unlock(&writer->lock);
        return clew_fail(err, CLEW_BUSY, "too many writes are waiting");
    }
    (void)sem_init(&job.wake, 0, 0); /* cannot fail for 0 */
    append(writer, &job);
    is_leader = !writer->has_leader;
    writer->has_leader = true;
    pthread_mutex_unlock(&writer->lock);
    if (!is_leader) {
        wait_for_leader(&job);
    }
    while (!job.is_done) {
        lead(writer, &job);
        if (!job.is_done) { /* there was no time for it */
            wait_for_leader(&job);
        }
    }
    (void)sem_destroy(&job.wake);
    if (job.status != CLEW_OK && err) {
        *err = job.error;
        err->status = job.status;
    }
    return job.status;
}
