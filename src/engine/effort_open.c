/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_open.c - a turn that sets out to get something done.
 */
#include "engine/effort_board.h"

#include "engine/chat.h"
#include "engine/place.h"

#include <string.h>

/* The effort's title names the chat, unless a person or an effort did. */
static enum clew_status title_chat(struct observation *o, const struct uuid *id,
                                   struct str title, struct clew_error *err)
{
    struct place_chat *slot = o->work->placement->slot;
    bool is_only = false;
    enum clew_status status =
        effort_is_only(o->tx, &slot->chat.id, id, &is_only, err);

    if (status == CLEW_OK && is_only && !slot->chat.is_titled_by_user) {
        slot->chat.title = title;
        slot->is_dirty = true;
    }
    return status;
}

static enum clew_status open_effort(struct observation *o,
                                    struct effort_board *board,
                                    const struct extract_item *item,
                                    struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct memory memory = observe_memory(o, "effort", "open", item->summary);
    struct effort effort = {.memory_id = memory.id,
                            .thread_id = turn->chat_id,
                            .state = EFFORT_ACTIVE,
                            .is_open = true,
                            .first_seq = turn->seq,
                            .last_seq = turn->seq,
                            .last_at_ms = turn->created_at_ms,
                            .raw_tokens = turn->token_count};
    json_t *fields = json_object();
    enum clew_status status = effort_collapse_active(o, board, NULL, err);

    desk_forget_efforts(o->desk);
    o->is_effort_turn = true;
    memory.tags = observe_tags(o, item);
    if (fields && json_set_str(fields, "goal", item->summary) &&
        json_set_real(fields, "confidence", (double)item->confidence)) {
        memory.fields = observe_json(o->arena, fields);
    } else {
        json_decref(fields);
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status =
            observe_insert(o, &memory, item->cites, item->n_cites, NULL, err);
    }
    if (status == CLEW_OK) {
        status = effort_insert(o->tx, &effort, err);
    }
    if (status == CLEW_OK) {
        status = title_chat(o, &memory.id, item->summary, err);
    }
    return status == CLEW_OK
               ? observe_notice(o, err, "[effort:open] %.*s",
                                (int)item->summary.len, item->summary.s)
               : status;
}

/* Half of the words of the new title, and more than half of the shorter one:
 * "fix the login page" is not "fix the signup page". */
static bool is_same(const struct effort_words *wanted,
                    const struct effort_words *known)
{
    size_t n = 2 * effort_words_shared(wanted, known);
    size_t shorter =
        wanted->count < known->count ? wanted->count : known->count;

    return wanted->count > 0 && n >= wanted->count && n > shorter;
}

/* An open effort that the new title is about as well, or NULL. */
static enum clew_status same_effort(struct observation *o,
                                    struct effort_board *board,
                                    struct str title, struct effort **out,
                                    struct clew_error *err)
{
    struct effort_words wanted;
    enum clew_status status =
        desk_words(o->arena, o->desk, title, &wanted, err);

    *out = NULL;
    for (size_t i = 0; i < board->count && status == CLEW_OK && !*out; i++) {
        struct effort_words known;

        if (!board->items[i].is_open ||
            !uuid_is_nil(&board->items[i].parent_id)) {
            continue;
        }
        status =
            desk_words(o->arena, o->desk, board->items[i].summary, &known, err);
        if (status == CLEW_OK && is_same(&wanted, &known)) {
            *out = &board->items[i];
        }
    }
    return status;
}

/* A step of the effort at work: something to try, or help wanted with what it
 * came to. */
static enum clew_status is_step(struct observation *o,
                                const struct effort_board *board,
                                const struct extract_item *item, bool *out,
                                struct clew_error *err)
{
    const struct effort *active = board->active;
    size_t n_shared = 0;
    enum clew_status status = CLEW_OK;

    *out = active && (active->is_spawned || (effort_is_at_work(o, active) &&
                                             effort_is_attempt(item->summary)));
    if (!*out && active && effort_is_at_work(o, active) &&
        strcmp(item->rule, "effort-plea") == 0) {
        status = effort_shared_with(o, active->summary, &n_shared, err);
        *out = n_shared > 0;
    }
    return status;
}

enum clew_status effort_try_open(struct observation *o,
                                 struct effort_board *board, bool *out_done,
                                 struct clew_error *err)
{
    const struct extract_item *item = NULL;
    struct effort *known = NULL;
    bool is_known = false;
    enum clew_status status;

    *out_done = false;
    for (size_t i = 0; i < o->extract.n_items && !item; i++) {
        if (o->extract.items[i].type == EXTRACT_EFFORT) {
            item = &o->extract.items[i];
        }
    }
    if (!item || (o->intent.flags & INTENT_REMINDER)) {
        return CLEW_OK;
    }
    status = is_step(o, board, item, &is_known, err);
    if (status != CLEW_OK || is_known) {
        return status;
    }
    status = same_effort(o, board, item->summary, &known, err);
    if (status != CLEW_OK) {
        return status;
    }
    *out_done = true;
    if (!known) {
        return open_effort(o, board, item, err);
    }
    if (known->state != EFFORT_ACTIVE) {
        return effort_reactivate(o, board, known, err);
    }
    return effort_take_turn(o, known, err);
}
