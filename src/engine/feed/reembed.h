/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reembed.h - vectors by the chosen model, made in the background.
 *
 * One task per tenant ("reembed") goes through its turns, memories and episodes
 * in the order of their changes, embeds them in batches and stores vectors
 * together with how far it has come, in one transaction a batch: whatever
 * interrupts it, it goes on after the last batch that was stored. When nothing
 * is left it brings the model's index up to date and says that the tenant is
 * ready. reembed_plan() adds the task wherever there is something new.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_REEMBED_H
#define ENGINE_REEMBED_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

struct engine;
struct scope;
struct task;

#define REEMBED_TASK "reembed"
/* Rows embedded and stored together. */
#define REEMBED_BATCH 64

struct reembed_lag {
    size_t n_added;    /* tasks made */
    int64_t n_unready; /* tenants the model does not serve yet */
};
/* Add tasks for tenants that have rows the chosen model has not embedded;
 * nothing if it is the shipped one. */
enum clew_status reembed_plan(struct engine *engine, struct reembed_lag *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Do such a task, or a part of it that takes some seconds: then the rest is a
 * task again. */
enum clew_status reembed_task(struct engine *engine, const struct task *task,
                              struct arena *arena,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* How far a model has come. */
struct reembed_progress {
    int64_t n_done;    /* rows with a vector of their present text */
    int64_t n_all;     /* turns, memories, episodes */
    int64_t n_tenants; /* with anything in them */
    int64_t n_ready;   /* of those: served by this model */
};
/* Of one tenant, or over all if `scope` is NULL. */
enum clew_status reembed_progress(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena, const char *model,
                                  struct reembed_progress *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Sums over tenants for /metrics: change numbers there are, and those the
 * chosen model has come to. Both 0 if that is the shipped one. */
enum clew_status reembed_changes(struct engine *engine, int64_t *out_all,
                                 int64_t *out_done,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Remove every vector of a model; its index is dropped with its folder. */
enum clew_status reembed_remove(struct engine *engine, struct arena *arena,
                                const char *model,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
