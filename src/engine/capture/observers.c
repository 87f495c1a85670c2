/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observers.c - the table of observers. See observers.h.
 */
#include "engine/capture/observers.h"

#include "engine/chatlink/chatlink.h"
#include "engine/core/observer.h"
#include "engine/effort/effort.h"
#include "engine/episode/episode.h"
#include "engine/keep/keep.h"
#include "engine/llmread/llmread.h"
#include "engine/topic/chain.h"
#include "engine/understand/chat_name.h"
#include "engine/understand/gist_keep.h"
#include "engine/understand/intent_later.h"
#include "engine/understand/observation.h"

#include <stdbool.h>
#include <stddef.h>

/* In the order they see a turn; docs/decisions/0013 says why this one. */
static const struct observer observers[] = {
    {.name = "sessions",
     .turn = chain_leave,
     .session_ended = chain_session_ended},
    {.name = "understanding",
     .is_reader = true,
     .foresee = understand_turn,
     .turn = understand_turn},
    {.name = "gists", .is_reader = true, .turn = gist_keep},
    {.name = "names", .is_reader = true, .turn = chat_name_observe},
    {.name = "topics",
     .is_reader = true,
     .foresee = chain_foresee,
     .ahead = chain_ahead,
     .turn = chain_observe,
     .batch_end = chain_finish},
    {.name = "link outcomes", .is_reader = true, .turn = chatlink_left},
    {.name = "efforts",
     .is_reader = true,
     .foresee = effort_foresee,
     .turn = effort_observe},
    {.name = "keep",
     .is_reader = true,
     .foresee = keep_foresee,
     .turn = keep_observe},
    {.name = "agents", .is_reader = true, .turn = agents_observe},
    {.name = "later", .is_reader = true, .turn = intent_later},
    {.name = "language model", .is_reader = true, .turn = llmread_later},
    {.name = "episodes",
     .turn = episode_observe,
     .session_ended = episode_end_session,
     .chat_ended = episode_end_chat},
    {.name = "chat links",
     .ahead = chatlink_ahead,
     .turn = chatlink_observe,
     .batch_end = chatlink_finish},
};
#define N_OBSERVERS (sizeof(observers) / sizeof(observers[0]))

/* Let one kind of observers look at a turn. */
static enum clew_status look(struct turn_work *work, bool as_readers,
                             struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < N_OBSERVERS && status == CLEW_OK; i++) {
        if (observers[i].ahead && observers[i].is_reader == as_readers) {
            status = observers[i].ahead(work, err);
        }
    }
    for (size_t i = 0; i < N_OBSERVERS && status == CLEW_OK; i++) {
        if (observers[i].turn && observers[i].is_reader == as_readers) {
            status = observers[i].turn(work, err);
        }
    }
    return status;
}

enum clew_status observers_turn(struct turn_work *work, struct clew_error *err)
{
    return look(work, false, err);
}

enum clew_status observers_read(struct turn_work *work, struct clew_error *err)
{
    return look(work, true, err);
}

enum clew_status observers_foresee(struct turn_work *work,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < N_OBSERVERS && status == CLEW_OK; i++) {
        if (observers[i].foresee) {
            status = observers[i].foresee(work, err);
        }
    }
    return status;
}

enum clew_status observers_batch_end(struct batch_work *batch,
                                     struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < N_OBSERVERS && status == CLEW_OK; i++) {
        if (observers[i].batch_end) {
            status = observers[i].batch_end(batch, err);
        }
    }
    return status;
}

enum clew_status observers_session_ended(struct store_tx *tx,
                                         struct arena *arena,
                                         const struct session *session,
                                         int64_t now_ms, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < N_OBSERVERS && status == CLEW_OK; i++) {
        if (observers[i].session_ended) {
            status =
                observers[i].session_ended(tx, arena, session, now_ms, err);
        }
    }
    return status;
}

enum clew_status observers_chat_ended(struct store_tx *tx, struct arena *arena,
                                      const struct uuid *chat_id,
                                      int64_t now_ms, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < N_OBSERVERS && status == CLEW_OK; i++) {
        if (observers[i].chat_ended) {
            status = observers[i].chat_ended(tx, arena, chat_id, now_ms, err);
        }
    }
    return status;
}
