/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gist_later.h - gists of turns that were read before there were any.
 *
 * A task a tenant, which migration 0032 asks for, walks the turns in the order
 * of the log. Each does a page and leaves the next to another, which begins
 * where it ended: broken off at any point it goes on there. The reader is asked
 * before the writer is taken. Thread-safety: safe.
 */
#ifndef ENGINE_GIST_LATER_H
#define ENGINE_GIST_LATER_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

struct engine;
struct task;

#define GIST_TASK "turns.gist"

/* Make the gists of a page of turns, and ask for the next. */
enum clew_status gist_later_task(struct engine *engine, const struct task *task,
                                 struct arena *arena,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
