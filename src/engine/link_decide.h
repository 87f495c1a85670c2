/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_decide.h - which request a call continues, and on which branch.
 *
 * The priority order of spec/linking.md in one place. Works from a request's
 * keys; what is needed only seldom (all prefixes, the summary) is asked for
 * through link_sources, so that a live call and a rebuild decide alike.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_LINK_DECIDE_H
#define ENGINE_LINK_DECIDE_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/request.h"

#include <stdbool.h>

struct store_tx;

enum link_strategy {
    LINK_NONE,
    LINK_EXACT,
    LINK_SUMMARISATION,
    LINK_HASH_ONLY,
    LINK_GRANDPARENT,
    LINK_PREFIX,
    LINK_COMPACT,
    LINK_SUBTASK
};
#define LINK_STRATEGIES 8

const char *link_strategy_name(enum link_strategy strategy);

/* Asked only if nothing simpler decided. */
struct link_sources {
    void *arg;
    /* the keys of all prefixes of the messages, shortest first */
    enum clew_status (*prefixes)(void *arg, struct store_tx *tx,
                                 struct uuid **out_keys, size_t *out_count,
                                 struct clew_error *err);
    /* the digest of message `i` (from 0) alone, as a reply */
    enum clew_status (*alone)(void *arg, struct store_tx *tx, size_t i,
                              struct link_digest *out, struct clew_error *err);
    /* the needle of a compact continuation; s == NULL if it has none */
    enum clew_status (*needle)(void *arg, struct store_tx *tx,
                               struct str *out_needle, struct clew_error *err);
};

/* One look for the parent; kept for the trace. */
struct link_step {
    enum link_strategy strategy; /* what it decides if it finds something */
    const char *by;              /* static: what was looked for */
    bool is_found;
};
/* As many as there are looks, see find_parent(). */
#define LINK_MAX_STEPS 12

struct link_decision {
    enum link_strategy strategy;
    bool has_parent;
    bool has_twin;
    struct request parent;
    /* an earlier request of the same parent with just these messages */
    struct request twin;
    struct str branch;
    const char *branch_why; /* static */
    int64_t subtask_number; /* 0 unless it is a subtask */
    struct link_step steps[LINK_MAX_STEPS];
    size_t n_steps;
};

/* Write the decision into the request; without parent and twin its conversation
 * and branch stay as they are. */
void link_apply(const struct link_decision *decision, struct request *request);

enum clew_status link_decide(struct store_tx *tx, struct arena *arena,
                             const struct request *request,
                             const struct link_sources *sources,
                             struct link_decision *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
