/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_task.h - turns that wait are read in the background (read_turn.h), and
 * those that cannot be read are given up.
 *
 * What fails, fails the task, which is tried again later: the turn then comes
 * first. From the second time on a try is counted before it is made, so that a
 * turn that ends its process is counted too; what the store's own troubles
 * spoil is no try. After READ_TASK_TRIES of them the turn is given up: it stays
 * stored and can be found, a failed task names it, and those after it are read.
 * read_task_anew() tries once more.
 * Thread-safety: safe.
 */
#ifndef ENGINE_READ_TASK_H
#define ENGINE_READ_TASK_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

struct engine;
struct task;

/* Tries after the first one. */
#define READ_TASK_TRIES 3

/* Read all that waits in the task's tenant. `*out_given_up` (also where it
 * fails) is how many turns were given up meanwhile. */
enum clew_status read_task(struct engine *engine, const struct task *task,
                           struct arena *arena, size_t *out_given_up,
                           struct clew_error *err) CLEW_MUST_CHECK;

/* Read what was given up in this tenant. What cannot be read this time either
 * is left as it is; the store's own troubles end it. */
struct read_task_again {
    int64_t n_read;
    int64_t n_left;
};
enum clew_status read_task_anew(struct engine *engine,
                                const struct scope *scope,
                                struct read_task_again *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* How many turns wait and how many were given up, and how many chats wait to be
 * held against earlier ones, in all tenants, each counted up to
 * READ_TASK_COUNTED. */
#define READ_TASK_COUNTED 100000
struct read_task_counts {
    int64_t n_waiting;
    int64_t n_given_up;
    int64_t n_chats;
};
enum clew_status read_task_count(struct engine *engine,
                                 struct read_task_counts *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Turns that a process left unread, with no task that would come for them, get
 * one. When a server starts, and now and then. */
enum clew_status read_task_resume(struct engine *engine, struct arena *arena,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
