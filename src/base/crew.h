/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - a few threads that share the steps of one piece of work.
 *
 * Who calls crew_run() works himself; helpers that are free join in. So a
 * caller never waits for a helper to become free, and many callers at once
 * are no more threads than the crew has. Helpers start with the first work
 * that has use for them; a crew that could start none still does the work.
 * Thread-safety: internally locked; crew_close() when nobody runs.
 */
#ifndef BASE_CREW_H
#define BASE_CREW_H

#include <stddef.h>

struct crew;

/* The most helpers of one crew. */
#define CREW_MAX_HELPERS 7

/* Step `step` of the work; called once for each, in any order and thread. */
typedef void (*crew_fn)(void *arg, size_t step);

/* `n_helpers` beside the caller, CREW_MAX_HELPERS at most; NULL without
 * memory. Starts no thread yet. With `background` they do what nobody waits
 * for, and are shown as that (background.h). */
struct crew *crew_open(size_t n_helpers, const char *background);
/* Ends the helpers; NULL is nothing. */
void crew_close(struct crew *crew);
/* Helpers that fit this machine: one for each processor but the caller's. */
size_t crew_fitting(void);

/* Who takes steps, at most: the helpers and the caller. */
size_t crew_size(const struct crew *crew);

/* Do steps 0 to n_steps - 1 and return when all are done. A NULL crew is the
 * caller alone. */
void crew_run(struct crew *crew, crew_fn fn, void *arg, size_t n_steps);

/*
 * The same in two parts: between them helpers work and the caller does
 * something else. The second does what is left, and must come before the job
 * or what its steps use goes.
 */
struct crew_job {
    crew_fn fn;
    void *arg;
    size_t n_steps;
    size_t next;     /* step to take */
    size_t n_active; /* steps that helpers are at */
    struct crew_job *after;
};
void crew_begin(struct crew *crew, struct crew_job *job, crew_fn fn, void *arg,
                size_t n_steps);
void crew_end(struct crew *crew, struct crew_job *job);

#endif
