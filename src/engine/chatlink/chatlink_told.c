/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_told.c - a language model's word on earlier chats. See
 * chatlink_told.h.
 */
#include "engine/chatlink/chatlink_told.h"

#include "base/json.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chatlink.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_near.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"

#include <stdlib.h>

/* Of those shown, so many by their words alone. */
#define NEAREST 5

/* --- which chats -----------------------------------------------------------
 */

static void add(struct uuid *list, size_t *count, size_t most,
                const struct uuid *id)
{
    for (size_t i = 0; i < *count; i++) {
        if (uuid_eq(&list[i], id)) {
            return;
        }
    }
    if (*count < most) {
        list[(*count)++] = *id;
    }
}

static int latest_first(const void *a, const void *b)
{
    const struct chat_profile *left =
        ((const struct chatlink_candidate *)a)->profile;
    const struct chat_profile *right =
        ((const struct chatlink_candidate *)b)->profile;

    if (left->last_at_ms != right->last_at_ms) {
        return left->last_at_ms > right->last_at_ms ? -1 : 1;
    }
    return -uuid_cmp(&left->chat_id, &right->chat_id);
}

enum clew_status chatlink_told_near(struct engine *engine, struct store_tx *tx,
                                    struct arena *arena,
                                    const struct uuid *chat_id,
                                    struct uuid *out, size_t *out_count,
                                    struct clew_error *err)
{
    struct chatlink_decision *decisions = NULL;
    size_t n_decisions = 0;
    size_t n_near;
    struct chatlink_near near;
    struct chat chat;
    enum clew_status status = chat_find(tx, arena, chat_id, &chat, err);

    *out_count = 0;
    if (status != CLEW_OK || !uuid_is_nil(&chat.parent_id)) {
        return status;
    }
    status =
        chatlink_near_load(engine, tx, arena, chat_id, INT64_MAX, &near, err);
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK;
    }
    if (status == CLEW_OK) {
        status = chatlink_decision_of_chat(tx, arena, chat_id, &decisions,
                                           &n_decisions, err);
    }
    if (status != CLEW_OK || near.scores.count == 0) {
        return status;
    }
    for (size_t i = 0; i < n_decisions; i++) {
        if (chatlink_decision_is_link(&decisions[i])) {
            add(out, out_count, CHATLINK_TOLD_CHATS,
                &decisions[i].other_chat_id);
        }
    }
    n_near = *out_count > NEAREST ? *out_count : NEAREST;
    for (size_t i = 0; i < near.scores.count; i++) {
        add(out, out_count, n_near, &near.scores.items[i].profile->chat_id);
    }
    qsort(near.scores.items, near.scores.count, sizeof(*near.scores.items),
          latest_first);
    for (size_t i = 0; i < near.scores.count; i++) {
        add(out, out_count, CHATLINK_TOLD_CHATS,
            &near.scores.items[i].profile->chat_id);
    }
    return CLEW_OK;
}

/* --- what was said of them -------------------------------------------------
 */

struct telling {
    struct batch_work *batch;
    const struct chatlink_telling *all;
    struct chat chat;
    struct chatlink_near near;
    struct chatlink_told_counts *counts;
};

static json_t *form_said(const struct telling *t,
                         const struct chatlink_told *told)
{
    json_t *out = json_object();

    if (json_set_bool(out, "related", told->is_link) &&
        json_set_score(out, "confidence", (double)t->all->confidence) &&
        json_set_cstr(out, "purpose", "read") &&
        (!t->all->model.s || json_set_str(out, "model", t->all->model)) &&
        (told->quote.len == 0 || json_set_str(out, "quote", told->quote))) {
        return out;
    }
    json_decref(out);
    return NULL;
}

static double score_of(const struct chatlink_near *near,
                       const struct uuid *chat_id)
{
    for (size_t i = 0; i < near->scores.count; i++) {
        if (uuid_eq(&near->scores.items[i].profile->chat_id, chat_id)) {
            return near->scores.items[i].score;
        }
    }
    return 0;
}

static enum clew_status write_decision(struct telling *t,
                                       const struct chatlink_told *told,
                                       struct chatlink_decision *decision,
                                       struct clew_error *err)
{
    struct chatlink_opinion opinion = {.is_there = true,
                                       .is_related = told->is_link,
                                       .confidence =
                                           (double)t->all->confidence};
    bool was_link = chatlink_decision_is_link(decision);
    struct chatlink_verdict verdict = {
        .is_link = told->is_link,
        .is_agreed =
            (decision->algorithmic > decision->threshold) == told->is_link,
        .confidence = CHATLINK_HIGH};
    enum clew_status status = chatlink_decision_note(
        decision, t->batch->arena, "llm", form_said(t, told), err);

    chatlink_decision_set(decision, &verdict, &opinion);
    decision->turn_id = told->turn->id;
    decision->seq = told->turn->seq;
    decision->updated_at_ms = told->turn->created_at_ms;
    if (status == CLEW_OK) {
        status = chatlink_decision_put(t->batch->tx, decision, err);
    }
    if (status == CLEW_OK) {
        status =
            chatlink_apply(t->batch, decision, was_link, t->all->now_ms, err);
    }
    t->counts->linked += status == CLEW_OK && told->is_link && !was_link;
    t->counts->parted += status == CLEW_OK && !told->is_link && was_link;
    return status;
}

/* Is the other a chat of the same person, not joined the other way round? */
static enum clew_status may_be(struct telling *t,
                               const struct chatlink_told *told, bool *out,
                               struct clew_error *err)
{
    struct chatlink_decision reverse;
    struct chat other;
    struct uuid id;
    enum clew_status status = chat_find(t->batch->tx, t->batch->arena,
                                        &told->other_chat_id, &other, err);

    *out = false;
    if (status != CLEW_OK || uuid_eq(&other.id, &t->chat.id) ||
        !str_eq(other.user_id, t->chat.user_id)) {
        return status == CLEW_NOT_FOUND ? CLEW_OK : status;
    }
    id = chatlink_decision_id(other.created_at_ms, &other.id, &t->chat.id);
    status = chatlink_decision_find(t->batch->tx, t->batch->arena, &id,
                                    &reverse, err);
    *out = status == CLEW_NOT_FOUND ||
           (status == CLEW_OK && !chatlink_decision_is_link(&reverse));
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

static enum clew_status tell(struct telling *t,
                             const struct chatlink_told *told,
                             struct clew_error *err)
{
    struct uuid id = chatlink_decision_id(t->chat.created_at_ms, &t->chat.id,
                                          &told->other_chat_id);
    struct chatlink_decision decision;
    bool is_ok = false;
    enum clew_status status = may_be(t, told, &is_ok, err);

    if (status != CLEW_OK || !is_ok) {
        return status;
    }
    status = chatlink_decision_find(t->batch->tx, t->batch->arena, &id,
                                    &decision, err);
    if (status == CLEW_NOT_FOUND) {
        if (!told->is_link) {
            return CLEW_OK;
        }
        decision = (struct chatlink_decision){
            .id = id,
            .user_id = t->chat.user_id,
            .chat_id = t->chat.id,
            .other_chat_id = told->other_chat_id,
            .algorithmic = score_of(&t->near, &told->other_chat_id),
            .threshold = t->near.tuning.threshold,
            .created_at_ms = told->turn->created_at_ms};
        status = CLEW_OK;
    } else if (status == CLEW_OK && chatlink_decision_is_said(&decision)) {
        return CLEW_OK; /* a person knows better */
    }
    return status == CLEW_OK ? write_decision(t, told, &decision, err) : status;
}

enum clew_status chatlink_told(struct batch_work *batch,
                               const struct chatlink_telling *telling,
                               struct chatlink_told_counts *out,
                               struct clew_error *err)
{
    struct telling t = {.batch = batch, .all = telling, .counts = out};
    enum clew_status status =
        chat_find(batch->tx, batch->arena, &telling->chat_id, &t.chat, err);

    *out = (struct chatlink_told_counts){0};
    if (status == CLEW_OK) {
        status = chatlink_near_load(batch->engine, batch->tx, batch->arena,
                                    &telling->chat_id, INT64_MAX, &t.near, err);
    }
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK; /* nothing is remembered of it */
    }
    for (size_t i = 0; i < telling->count && status == CLEW_OK; i++) {
        status = tell(&t, &telling->items[i], err);
    }
    return status == CLEW_OK ? chat_profile_told(batch->tx, batch->arena,
                                                 &telling->chat_id, err)
                             : status;
}
