/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild_later.c - ask for a rebuild. See rebuild_later.h.
 */
#include "engine/proof/rebuild_later.h"

#include "base/config.h"
#include "engine/core/engine.h"
#include "engine/core/task.h"

/* Everything else goes first. */
#define PRIORITY (-10)

enum clew_status rebuild_later(struct engine *engine, struct store_tx *tx,
                               struct arena *arena, int64_t now_ms,
                               struct clew_error *err)
{
    struct task_new task = {.kind = REBUILD_TASK,
                            .unique_key = STR("tenant"),
                            .payload = STR("{}"),
                            .priority = PRIORITY,
                            .execute_at_ms = now_ms + REBUILD_DELAY_MS,
                            .now_ms = now_ms};

    if (engine->replay || !config_bool(engine->config, "rebuild.auto")) {
        return CLEW_OK;
    }
    return task_add(tx, arena, &task, err);
}
