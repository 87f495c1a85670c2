/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.c - which function does which kind of task.
 */
#include "task/worker.h"

#include "engine/chain.h"

const struct task_handler task_handlers[] = {
    {"check_chain_dormancy", chain_check_dormancy},
    {"generate_session_summary", chain_summarise_session},
    {NULL, NULL},
};
