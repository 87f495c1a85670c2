/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget_scrub.h - after a forget: the bytes go from the files, too.
 *
 * The rows are gone with the transaction that forgets; their bytes are still in
 * segments of the index, in the store's log and in free pages. The forget
 * itself takes them out before it answers. A task that is added with it does so
 * where that process was killed meanwhile, or a reader held the bytes up.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_FORGET_SCRUB_H
#define ENGINE_FORGET_SCRUB_H

#include "engine/core/task.h"

#define FORGET_SCRUB_TASK "scrub"
/* By then whoever forgets is done, or never will be. */
#define FORGET_SCRUB_DELAY_MS (20 * 1000LL)

/* Add the task of the forget with this receipt. */
enum clew_status forget_scrub_later(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *receipt_id,
                                    int64_t now_ms,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Take the bytes out, and the task with them. CLEW_BUSY if somebody held some
 * of them up: the task stays.
 */
enum clew_status forget_scrub(struct engine *engine, const struct scope *scope,
                              const struct uuid *receipt_id,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* A task_fn. */
enum clew_status forget_scrub_task(struct engine *engine,
                                   const struct task *task, struct arena *arena,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
