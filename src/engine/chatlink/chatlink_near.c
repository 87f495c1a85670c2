/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_near.c - earlier chats by their words. See chatlink_near.h.
 */
#include "engine/chatlink/chatlink_near.h"

#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chatlink.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/core/engine.h"
#include "engine/read/reading.h"
#include "model/embed.h"

/* Of a beginning with more turns, most of them of tools, the rest is left. */
#define MAX_TURNS 64

/* The profile as it was with the turn `to_seq`; its state stays. */
static enum clew_status go_back(struct engine *engine, struct store_tx *tx,
                                struct arena *arena, int64_t to_seq,
                                struct chat_profile *profile,
                                struct clew_error *err)
{
    struct chat_profile then = {0};
    struct turn *turns = NULL;
    struct chat chat;
    size_t count = 0;
    enum clew_status status =
        chat_find(tx, arena, &profile->chat_id, &chat, err);

    if (status == CLEW_OK) {
        status = turn_list_line(tx, arena, &chat.id, chat.fork_seq, MAX_TURNS,
                                &turns, &count, err);
    }
    if (status == CLEW_OK &&
        chat_profile_init(&then, arena, &chat.id, profile->user_id,
                          profile->created_at_ms,
                          engine->embedder->dim) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    for (size_t i = 0; i < count && turns[i].seq <= to_seq && status == CLEW_OK;
         i++) {
        struct chatlink_turn seen;
        struct reading reading = {0};

        if (!chatlink_is_looked_at(&chat, &turns[i])) {
            continue;
        }
        status = reading_to_store(engine, arena, &turns[i], &reading, err);
        if (status == CLEW_OK) {
            status = chatlink_grow(engine, arena, &turns[i], &reading, &then,
                                   &seen, err);
        }
    }
    then.state = profile->state;
    *profile = then;
    return status;
}

enum clew_status chatlink_near_load(struct engine *engine, struct store_tx *tx,
                                    struct arena *arena,
                                    const struct uuid *chat_id, int64_t to_seq,
                                    struct chatlink_near *out,
                                    struct clew_error *err)
{
    struct chat_profile *earlier = NULL;
    size_t count = 0;
    enum clew_status status;

    *out = (struct chatlink_near){0};
    status = chat_profile_load(tx, arena, chat_id, &out->profile, err);
    if (status == CLEW_OK && to_seq < INT64_MAX) {
        status = go_back(engine, tx, arena, to_seq, &out->profile, err);
    }
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
