/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.c - the list of work at hand and those who take steps from it. See
 * crew.h.
 */
#include "base/crew.h"

#include "base/alloc.h"
#include "base/background.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

struct crew {
    pthread_mutex_t lock;  /* guards all below and the jobs in the list */
    pthread_cond_t work;   /* a job has steps, or the end */
    pthread_cond_t done;   /* a helper finished a step */
    struct crew_job *jobs; /* that have steps to take */
    pthread_t threads[CREW_MAX_HELPERS];
    const char *background; /* what helpers are called; NULL: they hurry */
    size_t n_wanted;
    size_t n_threads;
    bool has_started;
    bool is_closing;
};

static void leave_list(struct crew *crew, const struct crew_job *job)
{
    struct crew_job **at = &crew->jobs;

    while (*at && *at != job) {
        at = &(*at)->after;
    }
    if (*at) {
        *at = job->after;
    }
}

/* The next step of a job; its last one takes it from the list. */
static size_t take_step(struct crew *crew, struct crew_job *job)
{
    size_t step = job->next++;

    assert(step < job->n_steps); /* a job without steps is not listed */
    if (job->next == job->n_steps) {
        leave_list(crew, job);
    }
    return step;
}

static void *help(void *arg)
{
    struct crew *crew = arg;

    if (crew->background) {
        background_begin(crew->background);
    }
    (void)pthread_mutex_lock(&crew->lock);
    while (!crew->is_closing) {
        struct crew_job *job = crew->jobs;

        if (!job) {
            (void)pthread_cond_wait(&crew->work, &crew->lock);
            continue;
        }
        size_t step = take_step(crew, job);

        job->n_active++;
        (void)pthread_mutex_unlock(&crew->lock);
        job->fn(job->arg, step);
        (void)pthread_mutex_lock(&crew->lock);
        job->n_active--;
        (void)pthread_cond_broadcast(&crew->done);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* Once, with the lock held: as many as the system gives. */
static void start(struct crew *crew)
{
    crew->has_started = true;
    while (crew->n_threads < crew->n_wanted &&
           pthread_create(&crew->threads[crew->n_threads], NULL, help, crew) ==
               0) {
        crew->n_threads++;
    }
}

struct crew *crew_open(size_t n_helpers, const char *background)
{
    struct crew *crew = alloc_zero(1, sizeof(*crew));

    if (!crew) {
        return NULL;
    }
    crew->background = background;
    crew->n_wanted =
        n_helpers < CREW_MAX_HELPERS ? n_helpers : CREW_MAX_HELPERS;
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->work, NULL);
    (void)pthread_cond_init(&crew->done, NULL);
    return crew;
}

void crew_close(struct crew *crew)
{
    if (!crew) {
        return;
    }
    (void)pthread_mutex_lock(&crew->lock);
    crew->is_closing = true;
    (void)pthread_cond_broadcast(&crew->work);
    (void)pthread_mutex_unlock(&crew->lock);
    for (size_t i = 0; i < crew->n_threads; i++) {
        (void)pthread_join(crew->threads[i], NULL);
    }
    (void)pthread_cond_destroy(&crew->done);
    (void)pthread_cond_destroy(&crew->work);
    (void)pthread_mutex_destroy(&crew->lock);
    alloc_free(crew);
}

size_t crew_fitting(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    size_t helpers = n > 1 ? (size_t)n - 1 : 0;

    return helpers < CREW_MAX_HELPERS ? helpers : CREW_MAX_HELPERS;
}

size_t crew_size(const struct crew *crew)
{
    return crew ? crew->n_wanted + 1 : 1;
}

void crew_begin(struct crew *crew, struct crew_job *job, crew_fn fn, void *arg,
                size_t n_steps)
{
    *job = (struct crew_job){.fn = fn, .arg = arg, .n_steps = n_steps};
    if (!crew || n_steps == 0) {
        return;
    }
    (void)pthread_mutex_lock(&crew->lock);
    if (!crew->has_started) {
        start(crew);
    }
    job->after = crew->jobs;
    crew->jobs = job;
    (void)pthread_cond_broadcast(&crew->work);
    (void)pthread_mutex_unlock(&crew->lock);
}

void crew_end(struct crew *crew, struct crew_job *job)
{
    if (!crew) {
        for (; job->next < job->n_steps; job->next++) {
            job->fn(job->arg, job->next);
        }
        return;
    }
    (void)pthread_mutex_lock(&crew->lock);
    while (job->next < job->n_steps) {
        size_t step = take_step(crew, job);

        (void)pthread_mutex_unlock(&crew->lock);
        job->fn(job->arg, step);
        (void)pthread_mutex_lock(&crew->lock);
    }
    while (job->n_active > 0) {
        (void)pthread_cond_wait(&crew->done, &crew->lock);
    }
    (void)pthread_mutex_unlock(&crew->lock);
}

void crew_run(struct crew *crew, crew_fn fn, void *arg, size_t n_steps)
{
    struct crew_job job;

    /* one step is the caller's, whoever else is free */
    crew = n_steps < 2 ? NULL : crew;
    crew_begin(crew, &job, fn, arg, n_steps);
    crew_end(crew, &job);
}
