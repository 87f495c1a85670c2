/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_attempt.c - what was tried on the way: sub-efforts with an outcome.
 *
 * An attempt is told by its end: "made no difference" after "Re-seat the
 * hinge arms". That it ended is the reader's word (effort_end.c); what was
 * tried is what the turn itself says it tried, else what was proposed in the
 * turns before it, newest first (talk/attempt.h). It is stored compact at once,
 * as a child of the effort.
 */
#include "engine/understand/observation.h"

#include "engine/chat/turn.h"
#include "engine/chat/place.h"
#include "engine/effort/effort_cache.h"
#include "engine/effort/effort_fork.h"
#include "engine/memory/note.h"
#include "talk/attempt.h"

/* The proposal that failed stands at most this many turns back. */
#define REACH 2

static enum clew_status proposed_before(struct observation *o, size_t i,
                                        bool is_found, struct str *out)
{
    struct str worked = {NULL, 0};
    struct intent intent;
    enum clew_status status = intent_of(
        o->arena, o->previous[i].text,
        i + 1 < o->n_previous ? o->previous[i + 1].text : STR(""), &intent);

    if (is_found) {
        worked = o->turn.text;
    }
    return status == CLEW_OK ? attempt_proposed(o->arena, o->previous[i].text,
                                                &intent, worked, out)
                             : status;
}

/* What was tried, and how many turns back it is said: 0 in this one; more than
 * REACH: nowhere. What the turn itself says it tried counts first, unless it
 * tells what was found. */
static enum clew_status find_attempt(struct observation *o, bool is_found,
                                     struct str *out_title, size_t *out_back)
{
    /* an assistant says why something fails more often than that it did */
    bool is_user = o->turn.role == TALK_USER || is_found;
    enum clew_status status = CLEW_OK;

    *out_title = (struct str){NULL, 0};
    *out_back = 0;
    if (!is_found) {
        status = attempt_told(o->arena, o->turn.text, &o->intent, out_title);
    }
    for (size_t i = 0; status == CLEW_OK && !out_title->s && i < REACH &&
                       i < o->n_previous && is_user;
         i++) {
        *out_back = i + 1;
        if (o->previous[i].role == TALK_ASSISTANT) {
            status = proposed_before(o, i, is_found, out_title);
        }
    }
    *out_back = out_title->s ? *out_back : REACH + 1;
    return status;
}

/* Is it on record, and did anything fail before? */
static enum clew_status is_known(struct observation *o,
                                 const struct effort *effort, struct str title,
                                 bool *out, size_t *out_before,
                                 struct clew_error *err)
{
    struct effort *attempts = NULL;
    struct sight sight;
    size_t count = 0;
    enum clew_status status = sight_open(
        o->tx, o->arena, &o->work->placement->slot->chat, &sight, err);

    if (status == CLEW_OK) {
        status = effort_attempts_line(o->tx, o->arena, &sight, effort,
                                      &attempts, &count, err);
    }

    *out = false;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        *out = *out || str_ieq(attempts[i].summary, title);
    }
    *out_before = count;
    return status;
}

enum clew_status effort_attempt_end(struct observation *o,
                                    struct effort *effort, bool is_found,
                                    struct str resolution,
                                    struct clew_error *err)
{
    struct str title;
    size_t back = REACH + 1;
    struct memory memory;
    struct effort attempt;
    const char *outcome = is_found ? "found" : "failed";
    bool known = false;
    size_t n_before = 0;
    json_t *fields;
    enum clew_status status = find_attempt(o, is_found, &title, &back);

    if (status != CLEW_OK || back > REACH) {
        return status == CLEW_OK ? CLEW_OK : clew_no_memory(err);
    }
    status = effort_make_own(o, effort, err);
    if (status == CLEW_OK) {
        status = is_known(o, effort, title, &known, &n_before, err);
    }
    /* what worked at once was no attempt: the effort says it all */
    if (status != CLEW_OK || known || (is_found && n_before == 0)) {
        return status;
    }
    memory = note_memory(o->work, "effort", is_found ? "resolved" : "abandoned",
                         title);
    memory.parent_id = effort->memory_id;
    memory.resolution = is_found ? resolution : (struct str){0};
    fields = json_object();
    if (!fields || !json_set_cstr(fields, "outcome", outcome) ||
        !json_set_str(fields, "goal", title)) {
        json_decref(fields);
        return clew_no_memory(err);
    }
    memory.fields = note_json(o->arena, fields);
    if (!memory.fields.s) {
        return clew_no_memory(err);
    }
    attempt = (struct effort){.memory_id = memory.id,
                              .thread_id = o->work->turn->chat_id,
                              .state = EFFORT_COLLAPSED,
                              .outcome = str_of(outcome),
                              .first_seq = o->work->turn->seq,
                              .last_seq = o->work->turn->seq,
                              .last_at_ms = o->turn.time_ms};
    status = note_insert(o->work, &memory, back, NULL, err);
    if (status == CLEW_OK) {
        status = effort_insert(o->tx, &attempt, err);
    }
    return status == CLEW_OK ? note_notice(o->work, err, "[attempt:%s] %.*s",
                                           outcome, (int)title.len, title.s)
                             : status;
}
