/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undo.c - retract what came from one source. See undo.h.
 */
#include "engine/thought/undo.h"

#include "base/clock.h"
#include "engine/core/action.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/memory/lineage.h"
#include "engine/memory/memory.h"
#include "store/db.h"

DB_SQL(SELECT_FROM,
       "SELECT id FROM memories WHERE tenant = $1 AND created_at >= $3"
       " AND (agent_id = $2 OR key_id = $2) AND retracted_at IS NULL"
       " ORDER BY created_at, id LIMIT $4");

struct undo {
    struct engine *engine;
    struct arena *arena;
    const struct undo_input *input;
    int64_t now_ms;
    struct rows_list ids;
    struct batch_work batch;
};

static enum clew_status retract(struct undo *undo, const struct uuid *id,
                                struct clew_error *err)
{
    struct memory memory;
    enum clew_status status =
        memory_find(undo->batch.tx, undo->arena, id, &memory, err);

    return status == CLEW_OK
               ? lineage_take_back(&undo->batch, &memory, undo->now_ms,
                                   undo->now_ms, err)
               : status;
}

static enum clew_status note_undo(struct store_tx *tx, const struct undo *undo,
                                  struct clew_error *err)
{
    struct action_new action = {
        .kind = ACTION_UNDO, .detail = json_object(), .at_ms = undo->now_ms};

    if (!json_set_str(action.detail, "from", undo->input->from) ||
        !json_set_int(action.detail, "since", undo->input->since_ms)) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

static enum clew_status do_undo(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct undo *undo = arg;
    const struct undo_input *input = undo->input;
    const struct uuid *ids;
    enum clew_status status;

    /* it may run again: start afresh */
    undo->batch = (struct batch_work){
        .engine = undo->engine, .tx = tx, .arena = undo->arena};
    undo->ids = (struct rows_list){
        .arena = undo->arena, .size = sizeof(struct uuid), .fn = rows_id};
    status = rows_add(tx, &undo->ids, &SELECT_FROM,
                      DB_ARGS(db_text(input->from), db_int(input->since_ms),
                              db_int(UNDO_MAX + 1)),
                      err);
    ids = undo->ids.items;
    for (size_t i = 0; status == CLEW_OK && !input->is_dry_run &&
                       i < undo->ids.count && i < UNDO_MAX;
         i++) {
        status = retract(undo, &ids[i], err);
    }
    if (status == CLEW_OK && !input->is_dry_run && undo->ids.count > 0) {
        status = note_undo(tx, undo, err);
    }
    return status;
}

enum clew_status undo_run(struct engine *engine, const struct scope *scope,
                          struct arena *arena, const struct undo_input *input,
                          struct uuid **out_ids, size_t *out_count,
                          bool *out_more, struct clew_error *err)
{
    struct undo undo = {.engine = engine,
                        .arena = arena,
                        .input = input,
                        .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status =
        input->is_dry_run
            ? store_read(engine->store, scope, do_undo, &undo, err)
            : commit_write(engine, scope, do_undo, &undo, &undo.batch, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out_more = undo.ids.count > UNDO_MAX;
    *out_count = *out_more ? UNDO_MAX : undo.ids.count;
    *out_ids = undo.ids.items;
    return CLEW_OK;
}
