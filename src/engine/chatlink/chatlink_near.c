/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_near.c - earlier chats by their words. See chatlink_near.h.
 */
#include "engine/chatlink/chatlink_near.h"

#include "engine/chatlink/chatlink_decision.h"
#include "engine/core/engine.h"
#include "model/embed.h"

enum clew_status chatlink_near_load(struct engine *engine, struct store_tx *tx,
                                    struct arena *arena,
                                    const struct uuid *chat_id,
                                    struct chatlink_near *out,
                                    struct clew_error *err)
{
    struct chat_profile *earlier = NULL;
    size_t count = 0;
    enum clew_status status;

    *out = (struct chatlink_near){0};
    status = chat_profile_load(tx, arena, chat_id, &out->profile, err);
    if (status == CLEW_OK) {
        out->profile.centre = engine->embedder->centre;
        status = chat_profile_candidates(tx, arena, &out->profile, &earlier,
                                         &count, err);
    }
    if (status == CLEW_OK) {
        status = chatlink_decision_group(tx, arena, earlier, count, err);
    }
    if (status == CLEW_OK) {
        status = chatlink_tuning_current(tx, engine, arena, &out->tuning, err);
    }
    if (status != CLEW_OK || count == 0) {
        return status;
    }
    return chatlink_score(arena, &out->profile, earlier, count,
                          &out->tuning.weights, &out->scores) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}
