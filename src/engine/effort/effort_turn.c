/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_turn.c - how a turn moves the efforts of its chat.
 *
 * In this order: does it resolve one; does it come back to one; does it open
 * one; does it belong to the one at work. A side remark belongs to none. One
 * that has not been referred to for three turns of the user is collapsed.
 */
#include "engine/chat/turn.h"
#include "engine/effort/effort_cache.h"
#include "engine/memory/note.h"

/* Turns without a reference that collapse an effort. */
#define IDLE_TURNS 3
/* A reply this short goes on with what was being talked about, unless it names
 * more new things than a reply does. */
#define SHORT_TOKENS 8
#define SHORT_NAMES 3

static bool is_side_remark(const struct observation *o)
{
    return (o->intent.flags & INTENT_REMINDER) ||
           o->intent.act == INTENT_GREETING;
}

static bool points_back(const struct observation *o)
{
    static const char *const marks[] = {" it ",   " this ",  " that ",
                                        " it's ", " still ", " same "};
    struct str text = str_sub(o->turn.text, 0, 400);
    const char *padded =
        arena_printf(o->arena, " %.*s ", (int)text.len, text.s);

    for (size_t i = 0; padded && i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_ifind(str_of(padded), str_of(marks[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* "Put it on hold": the effort at work is set aside, open. */
static enum clew_status set_aside(struct observation *o,
                                  struct effort_cache *cache,
                                  struct clew_error *err)
{
    struct effort *effort = cache->active;
    enum clew_status status;

    if (!effort || !effort_is_at_work(o, effort) || effort->is_spawned) {
        return CLEW_OK;
    }
    effort->state = EFFORT_COLLAPSED;
    status = effort_take_turn(o, effort, err);
    return status == CLEW_OK
               ? note_notice(o->work, err, "[effort:collapsed] %.*s",
                             (int)effort->summary.len, effort->summary.s)
               : status;
}

/* Does the user go on with the effort? */
static enum clew_status goes_on(struct observation *o,
                                const struct effort *effort, bool *out,
                                struct clew_error *err)
{
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    *out = false;
    if (is_side_remark(o)) {
        return CLEW_OK;
    }
    status = effort_shared_with(o, effort->summary, &n, err);
    if (status != CLEW_OK || n > 0 || !effort_is_at_work(o, effort)) {
        *out = n > 0;
        return status;
    }
    if (o->intent.act == INTENT_REJECT || o->intent.act == INTENT_ACCEPT ||
        (o->intent.flags & INTENT_PROBLEM) ||
        o->previous_intent.act == INTENT_QUESTION || points_back(o) ||
        (o->analysis.tokens.count <= SHORT_TOKENS &&
         o->words.count <= SHORT_NAMES)) {
        *out = true;
        return CLEW_OK;
    }
    for (size_t i = 0; i < o->n_previous && i < 2 && status == CLEW_OK && !n;
         i++) {
        status = effort_shared_with(o, o->previous[i].text, &n, err);
    }
    *out = n > 0;
    return status;
}

static enum clew_status collapse_idle(struct observation *o,
                                      struct effort_cache *cache,
                                      struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < cache->count && status == CLEW_OK; i++) {
        struct effort *effort = &cache->items[i];

        /* this turn counts: it was none of the effort's, or last_seq is its */
        if (effort->state != EFFORT_COLLAPSED && !effort->is_spawned &&
            effort->last_seq < o->work->turn->seq &&
            effort_turns_since(o, effort->last_seq) + 1 >= IDLE_TURNS) {
            effort->state = EFFORT_COLLAPSED;
            if (effort->is_shared) {
                continue; /* it is out of view by itself */
            }
            status = effort_update(o->tx, effort, err);
            if (status == CLEW_OK) {
                status =
                    note_notice(o->work, err, "[effort:collapsed] %.*s",
                                (int)effort->summary.len, effort->summary.s);
            }
        }
    }
    return status;
}

static enum clew_status belong(struct observation *o,
                               struct effort_cache *cache,
                               struct clew_error *err)
{
    bool is_on = false;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < cache->count && status == CLEW_OK && !is_on; i++) {
        struct effort *effort = &cache->items[i];

        if (effort->state == EFFORT_COLLAPSED) {
            continue;
        }
        is_on = effort->is_spawned;
        if (!is_on) {
            status = goes_on(o, effort, &is_on, err);
        }
        if (status == CLEW_OK && is_on) {
            status = effort_take_turn(o, effort, err);
        }
        if (status == CLEW_OK && is_on && effort->is_open &&
            o->intent.act == INTENT_REJECT) {
            status = effort_attempt_end(o, effort, false, (struct str){0}, err);
        }
    }
    return status;
}

/* --- the whole -------------------------------------------------------------
 */

static enum clew_status user_turn(struct observation *o,
                                  struct effort_cache *cache,
                                  struct clew_error *err)
{
    bool is_done = false;
    enum clew_status status = CLEW_OK;

    if (o->intent.flags & INTENT_HOLD) {
        return set_aside(o, cache, err);
    }
    if (o->intent.flags & INTENT_RETURN) {
        status = effort_come_back(o, cache, &is_done, err);
    } else {
        status = effort_answer_which(o, cache, &is_done, err);
    }
    if (status == CLEW_OK && !is_done) {
        status = effort_try_end(o, cache, &is_done, err);
    }
    if (status == CLEW_OK && !is_done) {
        status = effort_try_open(o, cache, &is_done, err);
        if (status == CLEW_OK && is_done) {
            status = effort_open_further(o, err);
        }
    }
    if (status == CLEW_OK && !is_done) {
        status = belong(o, cache, err);
    }
    return status == CLEW_OK ? collapse_idle(o, cache, err) : status;
}

enum clew_status effort_observe(struct turn_work *work, struct clew_error *err)
{
    struct observation *o = work->observation;
    struct effort_cache *cache = NULL;
    bool is_done = false;
    enum clew_status status = o ? effort_cache_load(o, &cache, err) : CLEW_OK;

    if (status != CLEW_OK || !o) {
        return status;
    }
    if (o->turn.role == TALK_USER) {
        return user_turn(o, cache, err);
    }
    status = effort_try_end(o, cache, &is_done, err);
    if (status != CLEW_OK || is_done) {
        return status;
    }
    /* an answer belongs where the turn it answers does */
    if (cache->active &&
        (cache->active->is_spawned || effort_is_at_work(o, cache->active))) {
        return effort_take_turn(o, cache->active, err);
    }
    return CLEW_OK;
}
