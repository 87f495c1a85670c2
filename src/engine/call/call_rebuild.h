/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_rebuild.h - decide all links again, in the order the calls were made.
 *
 * Needed when calls were stored out of order, or when the rules got better.
 * Turns stay where they are: a chat that turns out to continue another keeps
 * its own copy of what they share. Works in small transactions and remembers
 * how far it came, so it can be broken off and taken up again; running it twice
 * changes nothing.
 * Thread-safety: safe; calls may be captured meanwhile.
 */
#ifndef ENGINE_CALL_REBUILD_H
#define ENGINE_CALL_REBUILD_H

#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/call_decide.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct call_rebuild_report {
    int64_t n_total;
    int64_t n_done;
    int64_t n_changed;
    int64_t n_by[CALL_STRATEGIES]; /* by enum call_strategy */
    bool is_resumed;               /* an earlier run had been broken off */
    bool is_done;                  /* there are no more */
};

/* Called after each transaction; false breaks off. */
typedef bool (*call_rebuild_fn)(void *arg,
                                const struct call_rebuild_report *report);

enum clew_status call_rebuild(struct engine *engine, const struct scope *scope,
                              call_rebuild_fn progress, void *arg,
                              struct call_rebuild_report *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
