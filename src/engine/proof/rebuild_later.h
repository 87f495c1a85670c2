/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild_later.h - a rebuild (rebuild.h) that waits its turn as a task.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_REBUILD_LATER_H
#define ENGINE_REBUILD_LATER_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdint.h>

struct engine;
struct store_tx;

/*
 * The task "rebuild": asked for by a forget, so that nothing derived goes on
 * following from what is gone, and by an import, which brings no tasks along.
 * It waits a while, so that one serves for all that happens in between; nothing
 * is asked for if the setting rebuild.auto is off.
 */
#define REBUILD_TASK "rebuild"
#define REBUILD_DELAY_MS (10 * 60 * 1000LL)
enum clew_status rebuild_later(struct engine *engine, struct store_tx *tx,
                               struct arena *arena, int64_t now_ms,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
