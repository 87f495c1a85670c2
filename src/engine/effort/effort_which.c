/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_which.c - of the efforts that a turn seems to end, those it does end.
 *
 * A reader compares the turn with one effort at a time, and "filed, and the
 * books are closed" ends any of them. Here they are seen together, and with
 * what the turn says in so many words.
 */
#include "engine/effort/effort_cache.h"

#include "engine/chat/turn.h"
#include "talk/asked.h"
#include "talk/effort_words.h"
#include "talk/tasks.h"

/* Is it asked that something be kept in mind? That gives nothing up, however
 * much "vergiss das nicht" looks like "vergiss das". */
static bool is_kept_in_mind(const struct observation *o)
{
    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        const struct span *span = &o->analysis.sentences[i].span;

        if (asked_not_to_forget(
                str_sub(o->analysis.text, span->from, span->to))) {
            return true;
        }
    }
    return false;
}

/* Is it a list of things to do, of which the turn tells of some and not of
 * others? */
static enum clew_status is_part(struct observation *o,
                                const struct effort *effort, bool *out,
                                struct clew_error *err)
{
    struct str things[TASKS_MAX];
    size_t count = tasks_of(effort->summary, things);
    size_t n_told = 0;
    enum clew_status status = CLEW_OK;

    *out = false;
    if (count == 0 || tasks_are_all(o->turn.text)) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        size_t shared = 0;

        status = effort_shared_with(o, things[i], &shared, err);
        n_told += shared > 0;
    }
    *out = n_told > 0 && n_told < count;
    return status;
}

bool effort_is_here(const struct observation *o, const struct effort *effort)
{
    return effort->is_shared ||
           uuid_eq(&effort->thread_id, &o->work->turn->chat_id);
}

/* What is taken as good is what was just told here. "Works, also on staging"
 * shares a word with another chat's effort, and says nothing of that unless
 * what it reacts to does. */
static enum clew_status is_of_others(struct observation *o,
                                     const struct effort *effort, bool *out,
                                     struct clew_error *err)
{
    bool is_met = false;

    *out = false;
    if (o->n_previous == 0 || effort_is_here(o, effort)) {
        return CLEW_OK;
    }
    if (effort_words_meet(o->arena, effort->summary, o->previous[0].text,
                          &is_met) != CLEW_OK) {
        return clew_no_memory(err);
    }
    *out = !is_met;
    return CLEW_OK;
}

/* Where the turn names one that it ends, it does not speak of those of which it
 * has no word; unless that was being talked about, and what it seems to name
 * lies in another chat. */
static void drop_unnamed(const struct observation *o,
                         const struct effort_standing *standing,
                         const size_t *shared, struct effort_ending *endings)
{
    bool is_named_here = false;
    bool is_named = false;

    for (size_t i = 0; i < standing->n; i++) {
        if (endings[i].ends && shared[i] > 0) {
            is_named = true;
            is_named_here |= uuid_eq(&standing->efforts[i]->thread_id,
                                     &o->work->turn->chat_id);
        }
    }
    for (size_t i = 0; i < standing->n && is_named; i++) {
        endings[i].ends &=
            shared[i] > 0 || endings[i].is_accepted ||
            (!is_named_here && effort_is_at_work(o, standing->efforts[i]));
    }
}

enum clew_status effort_which(struct observation *o,
                              const struct effort_standing *standing,
                              struct effort_ending *endings,
                              struct clew_error *err)
{
    size_t shared[EFFORT_HELD + EFFORT_ENDED] = {0};
    bool is_kept = is_kept_in_mind(o);
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < standing->n && status == CLEW_OK; i++) {
        const struct effort *effort = standing->efforts[i];
        bool is_some = false;

        if (!endings[i].ends) {
            continue;
        }
        status = effort_shared_with(o, effort->summary, &shared[i], err);
        /* what is done is given up only by its name */
        if (!endings[i].is_resolved &&
            (is_kept ||
             (shared[i] == 0 && str_eq(effort->status, STR("resolved"))))) {
            endings[i].ends = false;
        }
        if (status == CLEW_OK && endings[i].ends) {
            status = is_part(o, effort, &is_some, err);
            endings[i].ends = !is_some;
        }
        if (status == CLEW_OK && endings[i].ends && endings[i].is_reaction) {
            status = is_of_others(o, effort, &is_some, err);
            endings[i].ends = !is_some;
        }
    }
    if (status == CLEW_OK && !tasks_are_all(o->turn.text)) {
        drop_unnamed(o, standing, shared, endings);
    }
    return status;
}
