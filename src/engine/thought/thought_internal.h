/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thought_internal.h - what thought.c (ask and tell) and thought_write.c
 * (store and reinforce) share. For these two files only.
 */
#ifndef ENGINE_THOUGHT_INTERNAL_H
#define ENGINE_THOUGHT_INTERNAL_H

#include "engine/ask/search.h"
#include "engine/core/work.h"
#include "engine/thought/thought.h"

/* One call on its way. */
struct thought_work {
    struct engine *engine;
    struct arena *arena;
    const struct thought_input *input;
    int64_t now_ms;
    struct search_result found;
    struct uuid new_id;
    const struct thought_source *similar; /* a near-duplicate found, or NULL */
    struct uuid refined_by; /* what had already refined the one refined now */
    bool is_stored;
    struct thought_result *out;
    struct batch_work batch;
};

static inline bool thought_is_refinement(const struct thought_input *input)
{
    return input->has_refines || !uuid_is_nil(&input->refines);
}

/* Told to replace something: stored whatever the text. */
static inline bool thought_is_explicit(const struct thought_input *input)
{
    return thought_is_refinement(input) || input->n_consolidates > 0;
}

static inline void thought_add_operation(struct thought_result *out,
                                         enum thought_operation operation)
{
    out->operations[out->n_operations++] = operation;
}
/*
 * The writing part, a store_fn on a struct thought_work: contribute, credit
 * earlier results, reinforce what was retrieved, note the agent.
 */
enum clew_status thought_write(struct store_tx *tx, void *arg,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* A store_fn: what it refines or consolidates exists and is not retracted, else
 * THOUGHT_NOT_FOUND. */
enum clew_status thought_check_sources(struct store_tx *tx, void *arg,
                                       struct clew_error *err) CLEW_MUST_CHECK;

#endif
