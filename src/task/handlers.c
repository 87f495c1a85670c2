/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.c - which function does which kind of task. Those that a replay of
 * the log runs as well are rows of rebuild_handlers.
 */
#include "task/worker.h"

#include "base/log.h"
#include "engine/capture/read_task.h"
#include "engine/capture/read_turn.h"
#include "engine/core/repack.h"
#include "engine/feed/reembed.h"
#include "engine/feed/vector_graph.h"
#include "engine/llmread/llmread.h"
#include "engine/proof/forget_scrub.h"
#include "engine/proof/rebuild.h"
#include "engine/proof/rebuild_later.h"
#include "engine/proof/renew.h"
#include "engine/understand/gist_later.h"

/* Turns that cannot be read are nobody's failure but their own: say so. */
static enum clew_status read_turns(struct engine *engine,
                                   const struct task *task, struct arena *arena,
                                   struct clew_error *err)
{
    size_t n_given_up = 0;
    enum clew_status status = read_task(engine, task, arena, &n_given_up, err);

    if (n_given_up > 0) {
        log_event(LOG_ERROR, "task", "given_up", "kind=%.*s turns=%zu tries=%d",
                  (int)task->kind.len, task->kind.s, n_given_up,
                  READ_TASK_TRIES + 1);
    }
    return status;
}

const struct task_handler task_handlers[] = {
    {FORGET_SCRUB_TASK, forget_scrub_task},
    {LLMREAD_TASK, llmread_task},
    {READ_TURN_TASK, read_turns},
    {REBUILD_TASK, rebuild_task},
    {REEMBED_TASK, reembed_task},
    {RENEW_TASK, renew_task},
    {REPACK_TASK, repack_task},
    {GIST_TASK, gist_later_task},
    {VECTOR_GRAPH_TASK, vector_graph_task},
    {NULL, NULL},
};
