/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.c - which function does which kind of task.
 */
#include "task/worker.h"

const struct task_handler task_handlers[] = {
    {NULL, NULL},
};
