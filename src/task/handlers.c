/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.c - which function does which kind of task.
 */
#include "task/worker.h"

#include "base/log.h"
#include "engine/capture/close.h"
#include "engine/capture/intent_ask.h"
#include "engine/chat/session.h"
#include "engine/chatlink/chatlink_assess.h"
#include "engine/capture/read_task.h"
#include "engine/capture/read_turn.h"
#include "engine/chatlink/chatlink_read.h"
#include "engine/chatlink/chatlink_tuning.h"
#include "engine/core/repack.h"
#include "engine/episode/compact.h"
#include "engine/episode/session_sum.h"
#include "engine/feed/reembed.h"
#include "engine/feed/vector_graph.h"
#include "engine/llmread/llmread.h"
#include "engine/proof/rebuild.h"
#include "engine/proof/rebuild_later.h"
#include "engine/proof/renew.h"
#include "engine/topic/chain.h"
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
    {CHAIN_REST_TASK, chain_check_dormancy},
    {EPISODE_COMPACT_TASK, compact_task},
    {SESSION_SUM_TASK, session_sum_task},
    {INTENT_ASK_TASK, intent_ask_task},
    {CHATLINK_ASSESS_TASK, chatlink_assess_task},
    {CHATLINK_READ_TASK, chatlink_read_task},
    {CHATLINK_TUNE_TASK, chatlink_tuning_task},
    {LLMREAD_TASK, llmread_task},
    {READ_TURN_TASK, read_turns},
    {REBUILD_TASK, rebuild_task},
    {SESSION_TIMEOUT_TASK, session_timeout_task},
    {REEMBED_TASK, reembed_task},
    {RENEW_TASK, renew_task},
    {REPACK_TASK, repack_task},
    {GIST_TASK, gist_later_task},
    {VECTOR_GRAPH_TASK, vector_graph_task},
    {NULL, NULL},
};
