/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_hand.c - memories that a person writes. See memory_hand.h.
 */
#include "engine/thought/memory_hand.h"

#include "base/clock.h"
#include "engine/core/action.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/forgotten.h"
#include "engine/core/work.h"
#include "engine/memory/lineage.h"

#include <math.h>

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct memory_hand *input;
    struct uuid id;
    int64_t now_ms;
    struct memory_view view;
    struct batch_work batch;
};

/* What a correction takes over. */
static enum clew_status inherit(const struct work *work, struct memory *memory,
                                struct clew_error *err)
{
    const struct memory_hand *input = work->input;
    struct memory old;
    enum clew_status status =
        memory_find(work->batch.tx, work->arena, &input->corrects, &old, err);

    if (status == CLEW_OK && old.retracted_at_ms != 0) {
        /* of what was replaced the lineage forks, as when an agent refines */
        status = lineage_must_hold(&work->batch, &old, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    memory->user_id = old.user_id;
    memory->type = input->type.s ? input->type : old.type;
    memory->tags = input->tags.s ? input->tags : old.tags;
    memory->pinned_at_ms = old.pinned_at_ms ? work->now_ms : 0;
    memory->chat_id = old.chat_id;
    memory->lineage = MEMORY_REFINEMENT;
    memory->weight =
        fmax(MEMORY_WEIGHT_START, 0.5 * memory_weight_at(&old, work->now_ms));
    return str_eq(old.type, STR("effort"))
               ? clew_fail_field(err, "summary",
                                 "an effort is resolved or abandoned, not "
                                 "corrected")
               : CLEW_OK;
}

static enum clew_status note(struct store_tx *tx, const struct work *work,
                             struct clew_error *err)
{
    struct action_new action = {
        .kind = ACTION_THOUGHT, .made = &work->id, .at_ms = work->now_ms};

    return action_add(tx, &action, err);
}

/* Pinning is done to it, so that a replay does it too. */
static enum clew_status note_pin(struct store_tx *tx, const struct work *work,
                                 struct clew_error *err)
{
    struct action_new action = {.kind = ACTION_MEMORY_ACT,
                                .subject = &work->id,
                                .detail = json_object(),
                                .at_ms = work->now_ms};

    if (!action.detail || !json_set_bool(action.detail, "is_pinned", true)) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

static enum clew_status do_write(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    const struct memory_hand *input = work->input;
    bool is_correction = !uuid_is_nil(&input->corrects);
    struct memory memory = {.id = work->id,
                            .user_id = input->user_id,
                            .type = input->type.s ? input->type : STR("fact"),
                            .status = STR("active"),
                            .summary = input->summary,
                            .tags = input->tags.s ? input->tags : STR(""),
                            .origin = STR("person"),
                            .key_id = input->key_id,
                            .weight = MEMORY_WEIGHT_START,
                            .weight_at_ms = work->now_ms,
                            .created_at_ms = work->now_ms,
                            .updated_at_ms = work->now_ms};
    enum clew_status status;

    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
    status = is_correction ? inherit(work, &memory, err)
                           : forgotten_refuse(tx, work->arena, input->user_id,
                                              input->sent_at_ms, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (str_eq(memory.type, STR("effort"))) {
        return clew_fail_field(err, "type",
                               "an effort is opened: POST "
                               "/api/v1/efforts");
    }
    if (input->is_pinned) {
        memory.pinned_at_ms = *input->is_pinned ? work->now_ms : 0;
    }
    memory.is_instruction = memory_reads_like_instruction(input->summary);
    status = memory_insert(&work->batch, &memory, NULL, 0, &input->corrects,
                           is_correction ? 1 : 0, err);
    if (status == CLEW_OK) {
        status = note(tx, work, err);
    }
    if (status == CLEW_OK && memory.pinned_at_ms) {
        status = note_pin(tx, work, err);
    }
    return status == CLEW_OK ? memory_view_read(tx, work->engine, work->arena,
                                                &work->id, &work->view, err)
                             : status;
}

enum clew_status
memory_hand_write(struct engine *engine, const struct scope *scope,
                  struct arena *arena, const struct memory_hand *input,
                  struct memory_view *out, struct clew_error *err)
{
    int64_t now_ms = clock_now_ms(engine->clock);
    struct work work = {.engine = engine,
                        .arena = arena,
                        .input = input,
                        .id = action_new_id(engine, now_ms),
                        .now_ms = now_ms};
    enum clew_status status =
        commit_write(engine, scope, do_write, &work, &work.batch, err);

    if (status == CLEW_OK) {
        *out = work.view;
    }
    return status;
}
