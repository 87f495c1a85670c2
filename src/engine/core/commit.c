/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.c - the end of a write. See commit.h.
 */
#include "engine/core/commit.h"

#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "index/index.h"

#include <assert.h>

enum clew_status commit_write(struct engine *engine, const struct scope *scope,
                              store_fn fn, void *arg,
                              const struct batch_work *batch,
                              struct clew_error *err)
{
    enum clew_status status = store_write(engine->store, scope, fn, arg, err);

    if (status == CLEW_OK) {
        commit_offer(engine, scope, batch);
    }
    return status;
}

void commit_offer(struct engine *engine, const struct scope *scope,
                  const struct batch_work *batch)
{
    /* other models' indexes read it when they are next looked at; on failure
     * so does this one */
    if (batch->n_docs > 0 && engine->indexes) {
        assert(batch->first_change > 0); /* every document took a number */
        clew_ignore(index_offer(engine->indexes, scope->tenant,
                                batch->first_change - 1, batch->end_change - 1,
                                batch->docs, batch->n_docs, NULL));
    }
}

bool commit_is_unread(struct engine *engine, const struct scope *scope)
{
    return !engine_observes(engine) &&
           !(engine->indexes &&
             index_takes_offers(engine->indexes, scope->tenant));
}
