/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_decide.h - which request a call continues, and on which branch.
 *
 * The priority order of spec/linking.md in one place. Works from a request's
 * keys; what is needed only seldom (all prefixes, the summary) is asked for
 * through call_sources, so that a live call and a rebuild decide alike.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_CALL_DECIDE_H
#define ENGINE_CALL_DECIDE_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/request.h"

#include <stdbool.h>

struct store_tx;

enum call_strategy {
    CALL_NONE,
    CALL_EXACT,
    CALL_SUMMARISATION,
    CALL_HASH_ONLY,
    CALL_GRANDPARENT,
    CALL_PREFIX,
    CALL_COMPACT,
    CALL_SUBTASK
};
#define CALL_STRATEGIES 8

const char *call_strategy_name(enum call_strategy strategy);

/* Asked only if nothing simpler decided. */
struct call_sources {
    void *arg;
    /* the keys of all prefixes of the messages, shortest first */
    enum clew_status (*prefixes)(void *arg, struct store_tx *tx,
                                 struct uuid **out_keys, size_t *out_count,
                                 struct clew_error *err);
    /* the digest of message `i` (from 0) alone, as a reply */
    enum clew_status (*alone)(void *arg, struct store_tx *tx, size_t i,
                              struct call_digest *out, struct clew_error *err);
    /* the needle of a compact continuation; s == NULL if it has none */
    enum clew_status (*needle)(void *arg, struct store_tx *tx,
                               struct str *out_needle, struct clew_error *err);
};

/* One look for the parent; kept for the trace. */
struct call_step {
    enum call_strategy strategy; /* what it decides if it finds something */
    const char *by;              /* static: what was looked for */
    bool is_found;
};
/* As many as there are looks, see find_parent(). */
#define CALL_MAX_STEPS 12

struct call_decision {
    enum call_strategy strategy;
    bool has_parent;
    bool has_twin;
    struct request parent;
    /* an earlier request of the same parent with just these messages */
    struct request twin;
    struct str branch;
    const char *branch_why; /* static */
    int64_t subtask_number; /* 0 unless it is a subtask */
    struct call_step steps[CALL_MAX_STEPS];
    size_t n_steps;
};

/* Write the decision into the request; without parent and twin its conversation
 * and branch stay as they are. */
void call_apply(const struct call_decision *decision, struct request *request);

enum clew_status call_decide(struct store_tx *tx, struct arena *arena,
                             const struct request *request,
                             const struct call_sources *sources,
                             struct call_decision *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
