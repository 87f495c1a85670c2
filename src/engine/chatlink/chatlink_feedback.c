/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_feedback.c - a person's word on a link. See chatlink_feedback.h.
 */
#include "engine/chatlink/chatlink_feedback.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/chatlink/chatlink.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/core/action.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *id;
    bool is_correct;
    int64_t now_ms;
    struct batch_work batch;
    struct chatlink_decision decision;
};

static enum clew_status note(struct store_tx *tx, const struct work *work,
                             struct clew_error *err)
{
    struct action_new action = {.kind = ACTION_LINK_FEEDBACK,
                                .subject = work->id,
                                .detail = json_object(),
                                .at_ms = work->now_ms};

    if (!json_set_bool(action.detail, "is_correct", work->is_correct)) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

static enum clew_status do_feedback(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    struct work *work = arg;
    struct chatlink_decision before;
    bool is_set;
    enum clew_status status =
        chatlink_decision_find(tx, work->arena, work->id, &before, err);

    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
    if (status == CLEW_OK) {
        status =
            chatlink_decision_judge(tx, work->arena, &before, work->is_correct,
                                    "feedback", work->now_ms, &is_set, err);
    }
    if (status == CLEW_OK) {
        status = note(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = chatlink_decision_find(tx, work->arena, work->id,
                                        &work->decision, err);
    }
    return status == CLEW_OK ? chatlink_apply(&work->batch, &work->decision,
                                              chatlink_decision_stands(&before),
                                              work->now_ms, err)
                             : status;
}

enum clew_status
chatlink_feedback(struct engine *engine, const struct scope *scope,
                  struct arena *arena, const struct uuid *id, bool is_correct,
                  struct chatlink_decision *out, struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .arena = arena,
                        .id = id,
                        .is_correct = is_correct,
                        .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status =
        commit_write(engine, scope, do_feedback, &work, &work.batch, err);

    if (status == CLEW_OK) {
        *out = work.decision;
    }
    return status;
}
