/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_outcome.c - what later turns say of a decision. See
 * chatlink_outcome.h.
 */
#include "engine/chatlink/chatlink_outcome.h"

#include "engine/chat/turn.h"
#include "engine/chatlink/chat_profile.h"
#include "engine/chatlink/chatlink.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/core/updates.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"

#include <string.h>

/* Turns after a decision that still tell how it went. */
#define OUTCOME_TURNS 8

/* The turn begins a topic of its own, without saying so. */
static bool begins_anew(const struct updates *updates)
{
    bool is_new = false;

    for (size_t i = 0; i < updates->n_chains; i++) {
        const struct chain_update *update = &updates->chains[i];

        if (strcmp(update->type, "create") != 0 &&
            strcmp(update->type, "branch") != 0) {
            return false;
        }
        is_new = true;
    }
    return is_new;
}

/* Does the turn share a telling word with a chat that was joined? */
static enum clew_status shares_word(struct turn_work *work,
                                    const struct chatlink_turn *turn,
                                    const struct uuid *chat_id, bool *out,
                                    struct clew_error *err)
{
    struct chat_profile other;
    enum clew_status status = chat_profile_load(
        work->batch->tx, work->batch->arena, chat_id, &other, err);

    *out = false;
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK; /* forgotten */
    }
    for (size_t i = 0; status == CLEW_OK && i < turn->n_terms && !*out; i++) {
        *out = chat_profile_find(&other, turn->terms[i].hash) != NULL;
    }
    return status;
}

/* What a turn says of the last decision: -1 nothing, 0 wrong, 1 right. */
static int judgement(const struct chat_profile *profile,
                     const struct chatlink_turn *turn, bool is_user)
{
    bool is_linked = profile->state == CHAT_PROFILE_LINKED;

    if (!is_user) {
        return -1;
    }
    if (is_linked) {
        if (profile->n_turns <= profile->decided_turns) {
            return -1; /* the deciding turn itself */
        }
        return !(turn->cues & (CHATLINK_REJECTS | CHATLINK_SHIFTS));
    }
    if (turn->cues & CHATLINK_RECALLS) {
        return profile->n_turns > 1 ? 0 : -1; /* the first one only points */
    }
    return profile->n_turns > CHATLINK_TURNS ? 1 : -1;
}

enum clew_status chatlink_outcome_infer(struct turn_work *work,
                                        struct chat_profile *profile,
                                        const struct chatlink_turn *turn,
                                        struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    int word = judgement(profile, turn, work->turn->role == TURN_USER);
    struct chatlink_decision *decisions = NULL;
    size_t count = 0;
    enum clew_status status = CLEW_OK;

    if (word < 0 || profile->state == CHAT_PROFILE_SETTLED ||
        profile->state == CHAT_PROFILE_TOLD ||
        profile->n_turns > CHATLINK_TURNS + OUTCOME_TURNS) {
        return CLEW_OK;
    }
    status = chatlink_decision_of_chat(
        batch->tx, batch->arena, &work->turn->chat_id, &decisions, &count, err);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        bool is_set;

        /* a link that was made settles the pairs that were not */
        if (chatlink_decision_is_link(&decisions[i]) !=
            (profile->state == CHAT_PROFILE_LINKED)) {
            continue;
        }
        status = chatlink_decision_judge(
            batch->tx, batch->arena, &decisions[i], word == 1, "inferred",
            work->turn->created_at_ms, &is_set, err);
    }
    profile->state = CHAT_PROFILE_SETTLED;
    return status;
}

enum clew_status chatlink_outcome_of_left(struct turn_work *work,
                                          struct chat_profile *earlier,
                                          size_t count, struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct chatlink_decision *decisions = NULL;
        size_t n = 0;

        if (earlier[i].state != CHAT_PROFILE_OPEN) {
            continue;
        }
        status = chatlink_decision_of_chat(
            batch->tx, batch->arena, &earlier[i].chat_id, &decisions, &n, err);
        for (size_t k = 0; k < n && status == CLEW_OK; k++) {
            bool is_set;

            if (!chatlink_decision_is_link(&decisions[k]) &&
                !decisions[k].outcome.s) {
                status = chatlink_decision_judge(
                    batch->tx, batch->arena, &decisions[k], true, "inferred",
                    work->turn->created_at_ms, &is_set, err);
            }
        }
    }
    return status;
}

/* Was it this turn that made the link seem right? */
static bool is_by_turn(const struct chatlink_decision *decision,
                       const struct turn *turn)
{
    return chatlink_decision_is_link(decision) && decision->outcome.s &&
           str_eq(decision->outcome, STR("correct")) &&
           str_eq(decision->outcome_by, STR("inferred")) &&
           decision->outcome_at_ms == turn->created_at_ms;
}

enum clew_status chatlink_left(struct turn_work *work, struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    struct chatlink_decision *decisions = NULL;
    struct chatlink_turn turn;
    size_t count = 0;
    enum clew_status status = CLEW_OK;

    if (work->turn->role != TURN_USER || !begins_anew(work->updates)) {
        return CLEW_OK;
    }
    if (chatlink_turn_of(batch->arena, &work->reading->text.analysis, &turn) !=
        CLEW_OK) {
        return clew_no_memory(err);
    }
    status = chatlink_decision_of_chat(
        batch->tx, batch->arena, &work->turn->chat_id, &decisions, &count, err);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        bool is_shared = true;

        if (is_by_turn(&decisions[i], work->turn)) {
            status = shares_word(work, &turn, &decisions[i].other_chat_id,
                                 &is_shared, err);
        }
        if (status == CLEW_OK && !is_shared) {
            status = chatlink_decision_unjudge(batch->tx, &decisions[i], err);
        }
    }
    return status;
}
