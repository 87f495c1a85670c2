/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.c - which function does which kind of task.
 */
#include "task/worker.h"

#include "engine/chain.h"
#include "engine/chatlink_assess.h"
#include "engine/compact.h"
#include "engine/intent_ask.h"
#include "engine/link_tuning.h"
#include "engine/rebuild.h"
#include "engine/reembed.h"
#include "engine/vector_graph.h"

const struct task_handler task_handlers[] = {
    {"check_chain_dormancy", chain_check_dormancy},
    {"episode.compact", compact_task},
    {"generate_session_summary", chain_summarise_session},
    {INTENT_ASK_TASK, intent_ask_task},
    {"link.assess", chatlink_assess_task},
    {"link.tune", link_tuning_task},
    {REBUILD_TASK, rebuild_task},
    {REEMBED_TASK, reembed_task},
    {VECTOR_GRAPH_TASK, vector_graph_task},
    {NULL, NULL},
};
