/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repack.h - texts of stores from before they were packed (migration 0024,
 * chain updates 0028).
 *
 * Plain rows are read like packed ones, so nothing waits for this: a task per
 * tenant packs them, a page a transaction, oldest ids first. Broken off at any
 * point it goes on where it was, for what is packed does not come up again. The
 * database keeps the place that becomes free for what is written later.
 * Thread-safety: safe.
 */
#ifndef ENGINE_REPACK_H
#define ENGINE_REPACK_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

struct engine;
struct task;

#define REPACK_TASK "texts.pack"

/* Pack all that is plain in the task's tenant. */
enum clew_status repack_task(struct engine *engine, const struct task *task,
                             struct arena *arena,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Tenants with plain rows and no such task get one. When a server has started,
 * and now and then. */
enum clew_status repack_resume(struct engine *engine, struct arena *arena,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
