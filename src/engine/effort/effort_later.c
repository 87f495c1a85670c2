/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_later.c - a turn's word on efforts, once more. See effort_later.h.
 */
#include "engine/effort/effort_later.h"

#include "engine/chat/turn.h"
#include "engine/effort/effort.h"
#include "engine/understand/observation.h"

/* Has the turn ended an effort, or does it belong to one? */
static enum clew_status find_owner(const struct observation *o, bool *out_owned,
                                   bool *out_ended, struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct effort *efforts = NULL;
    size_t count = 0;
    enum clew_status status = effort_list(o->tx, o->arena, &turn->chat_id, true,
                                          &efforts, &count, err);

    *out_owned = false;
    *out_ended = false;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        if (efforts[i].last_seq >= turn->seq) {
            *out_owned = true;
            *out_ended = *out_ended || !efforts[i].is_open;
        }
    }
    return status;
}

/* Replies that came meanwhile go where the turn they answer went. */
static enum clew_status take_replies(struct observation *o,
                                     const struct effort_word *word,
                                     struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct effort *efforts = NULL;
    size_t count = 0;
    enum clew_status status = effort_list(o->tx, o->arena, &turn->chat_id,
                                          false, &efforts, &count, err);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct effort *effort = &efforts[i];

        if (effort->state != EFFORT_ACTIVE || !effort->is_open ||
            effort->last_seq != turn->seq) {
            continue;
        }
        for (size_t k = 0; status == CLEW_OK && k < word->n_replies; k++) {
            const struct turn *reply = &word->replies[k];

            if (reply->role == TURN_ASSISTANT) {
                status =
                    effort_own(o->tx, effort, reply->seq, reply->created_at_ms,
                               reply->token_count, err);
            }
        }
        break;
    }
    return status;
}

static enum clew_status move_later(struct observation *o,
                                   struct effort_word *word,
                                   struct clew_error *err)
{
    size_t n_before = o->work->updates->n_memories;
    bool is_owned;
    bool has_ended;
    enum clew_status status = find_owner(o, &is_owned, &has_ended, err);

    if (status != CLEW_OK || has_ended ||
        (is_owned && word->act == INTENT_REQUEST)) {
        return status;
    }
    if (intent_take(o->arena, &o->intent, word->act, word->confidence) !=
        CLEW_OK) {
        return clew_no_memory(err);
    }
    understand_act(o, word->act, word->confidence);
    if (select_opening(o->arena, &o->select, &o->opening) != CLEW_OK) {
        return clew_no_memory(err);
    }
    status = effort_observe(o->work, err);
    word->has_moved = o->work->updates->n_memories > n_before;
    return status == CLEW_OK && word->has_moved ? take_replies(o, word, err)
                                                : status;
}

enum clew_status effort_move_later(struct turn_work *work,
                                   struct effort_word *word,
                                   struct clew_error *err)
{
    enum clew_status status = understand_again(work, err);
    const struct observation *o = work->observation;

    if (status != CLEW_OK || !intent_is_unsure(&o->intent) ||
        o->intent.act == word->act ||
        (word->act != INTENT_REQUEST && word->act != INTENT_ACCEPT &&
         word->act != INTENT_REJECT)) {
        return status;
    }
    return move_later(work->observation, word, err);
}
