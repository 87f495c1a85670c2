/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo.h - a few turns to look at in a new store.
 */
#ifndef CLI_DEMO_H
#define CLI_DEMO_H

#include "clew/attr.h"
#include "clew/status.h"

struct engine;

/*
 * Post the turns of docs/demo.jsonl, which travel inside the program, to tenant
 * "default" as any client would. They carry external ids: loading them again
 * changes nothing.
 */
enum clew_status demo_load(struct engine *engine,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
