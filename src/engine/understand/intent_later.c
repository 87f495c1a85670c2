/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_later.c - ask for a model's word on a turn. See intent_later.h.
 */
#include "engine/understand/intent_later.h"

#include "base/clock.h"
#include "base/config.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/task.h"
#include "engine/understand/observation.h"

/* A history that is brought in asks nothing. */
#define LIVE_MS CLOCK_DAY_MS

enum clew_status intent_later(struct turn_work *work, struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    const struct turn *turn = work->turn;
    const struct intent *intent;
    struct task_new task = {.kind = INTENT_ASK_TASK,
                            .priority = 20,
                            .execute_at_ms = turn->stored_at_ms,
                            .now_ms = turn->stored_at_ms};

    if (!work->observation) {
        return CLEW_OK;
    }
    intent = &work->observation->intent;
    if (!batch->engine->llm || turn->role != TURN_USER || turn->name.len > 0 ||
        !intent_is_unsure(intent) || (intent->flags & INTENT_HOLD) ||
        turn->stored_at_ms - turn->created_at_ms > LIVE_MS ||
        !config_bool(batch->engine->config, "llm.intent")) {
        return CLEW_OK;
    }
    return task_add_about(batch->tx, batch->arena, &task, "chat_id",
                          &turn->chat_id, err);
}
