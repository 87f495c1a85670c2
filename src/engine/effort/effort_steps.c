/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_steps.c - the steps that ended an effort. See effort_skill.h.
 */
#include "engine/effort/effort_skill.h"

#include "engine/chat/turn.h"
#include "engine/core/work.h"
#include "engine/effort/effort.h"
#include "talk/skill.h"

/* Turns before the end that are looked at. */
#define LOOK_BACK 16

/* Where the last attempt failed; 0 if none did. */
static enum clew_status last_failed(struct batch_work *batch,
                                    const struct uuid *effort_id, int64_t *out,
                                    struct clew_error *err)
{
    struct effort *attempts = NULL;
    size_t count = 0;
    enum clew_status status = effort_attempts(
        batch->tx, batch->arena, effort_id, &attempts, &count, err);

    *out = 0;
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        if (attempts[i].outcome.s &&
            str_eq(attempts[i].outcome, STR("failed")) &&
            attempts[i].last_seq > *out) {
            *out = attempts[i].last_seq;
        }
    }
    return status;
}

/* The last stretch of turns that an effort owns; false if it owns none. */
static enum clew_status last_stretch(struct batch_work *batch,
                                     const struct uuid *effort_id,
                                     struct memory_ref *out, bool *out_has,
                                     struct clew_error *err)
{
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    size_t count = 0;
    enum clew_status status = memory_refs(batch->tx, batch->arena, effort_id, 1,
                                          &owners, &refs, &count, err);

    *out_has = status == CLEW_OK && count > 0;
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        if (i == 0 || refs[i].last_seq > out->last_seq) {
            *out = refs[i];
        }
    }
    return status;
}

static bool is_told_in(const struct turn *turn, const struct memory_ref *ref,
                       int64_t after)
{
    return turn->role == TURN_ASSISTANT && turn->seq >= ref->first_seq &&
           turn->seq <= ref->last_seq && turn->seq > after;
}

enum clew_status effort_steps_of(struct batch_work *batch,
                                 const struct uuid *effort_id, struct str way,
                                 struct effort_steps *out,
                                 struct clew_error *err)
{
    struct memory_ref ref = {0};
    struct turn *turns = NULL;
    size_t count = 0;
    int64_t failed = 0;
    bool has_turns = false;
    enum clew_status status =
        last_stretch(batch, effort_id, &ref, &has_turns, err);

    *out = (struct effort_steps){.items = {way}, .count = 1};
    if (status == CLEW_OK && has_turns) {
        status = last_failed(batch, effort_id, &failed, err);
    }
    if (status == CLEW_OK && has_turns) {
        status = turn_list_line(batch->tx, batch->arena, &ref.chat_id,
                                ref.last_seq - LOOK_BACK, LOOK_BACK, &turns,
                                &count, err);
    }
    for (size_t i = count; status == CLEW_OK && i > 0 && !out->is_list; i--) {
        struct str items[SKILL_MAX_STEPS];
        size_t n = is_told_in(&turns[i - 1], &ref, failed)
                       ? skill_steps(turns[i - 1].text, items)
                       : 0;

        for (size_t k = 0; k < n; k++) {
            out->items[k] = items[k];
        }
        out->count = n ? n : out->count;
        out->is_list = n > 0;
    }
    return status;
}
