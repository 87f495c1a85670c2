/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_return.c - coming back to an effort: named at once, several that fit
 * are asked about, none is left to whoever opens a new one.
 */
#include "engine/effort_board.h"

#include "engine/effort_fork.h"
#include "engine/place.h"

enum clew_status effort_reactivate(struct observation *o,
                                   struct effort_board *board,
                                   struct effort *effort,
                                   struct clew_error *err)
{
    struct memory memory;
    bool was_open = effort->is_open;
    enum clew_status status = effort_collapse_active(o, board, effort, err);

    desk_forget_efforts(o->desk);
    if (status == CLEW_OK) {
        status = memory_find(o->tx, o->arena, &effort->memory_id, &memory, err);
    }
    if (status == CLEW_OK && !was_open) {
        struct effort_change change = {.status = "open",
                                       .time_ms = o->turn.time_ms};

        status = effort_set_status(o->work->batch, &memory, &change, err);
    }
    if (status == CLEW_OK && !effort->is_shared &&
        !uuid_eq(&effort->thread_id, &o->work->turn->chat_id)) {
        /* it goes on here; the turns it owns elsewhere stay its own */
        status = memory_import(o->tx, &o->work->turn->chat_id,
                               &effort->memory_id, o->turn.time_ms, err);
        effort->thread_id = o->work->turn->chat_id;
        effort->first_seq = 0;
        effort->last_seq = 0;
    }
    effort->is_open = true;
    effort->state = EFFORT_ACTIVE;
    if (status == CLEW_OK) {
        status = effort_take_turn(o, effort, err);
    }
    if (status == CLEW_OK) {
        status =
            observe_told(o, &memory, was_open ? "extended" : "reopened", err);
    }
    return status == CLEW_OK
               ? observe_notice(o, err, "[effort:%s] %.*s",
                                was_open ? "active" : "reopened",
                                (int)effort->summary.len, effort->summary.s)
               : status;
}

static enum clew_status ask_which(struct observation *o,
                                  const struct effort *items, size_t count,
                                  struct clew_error *err)
{
    enum clew_status status =
        observe_notice(o, err, "[effort:which] Which one do you mean?");

    for (size_t i = 0; i < count && i < 5 && status == CLEW_OK; i++) {
        status = observe_notice(o, err, "  %zu. %.*s", i + 1,
                                (int)items[i].summary.len, items[i].summary.s);
    }
    return status;
}

/* "that bug": of several efforts the one about trouble is meant. */
static bool is_trouble(struct str text)
{
    static const char *const marks[] = {"bug",   "error", "fix",   "debug",
                                        "issue", "fail",  "crash", "problem"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_ifind(text, str_of(marks[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* The ones that fit best; closed efforts only if they are named. */
static enum clew_status fitting(struct observation *o, struct effort *items,
                                size_t count, struct effort *out,
                                size_t *out_count, struct clew_error *err)
{
    bool is_about_trouble = is_trouble(o->turn.text);
    size_t best = 0;

    *out_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        size_t score;
        enum clew_status status =
            effort_shared_with(o, items[i].summary, &n, err);

        if (status != CLEW_OK) {
            return status;
        }
        score = 4 * n + (items[i].is_open ? 1u : 0u);
        if (items[i].is_open && is_about_trouble &&
            is_trouble(items[i].summary)) {
            score++;
        }
        if ((n == 0 && !items[i].is_open) || score < best ||
            !uuid_is_nil(&items[i].parent_id)) {
            continue;
        }
        *out_count = score > best ? 0 : *out_count;
        best = score;
        out[(*out_count)++] = items[i];
    }
    return CLEW_OK;
}

enum clew_status effort_come_back(struct observation *o,
                                  struct effort_board *board, bool *out_done,
                                  struct clew_error *err)
{
    struct effort *items = NULL;
    struct effort *fit;
    size_t count = 0;
    size_t n_fit = 0;
    enum clew_status status =
        effort_list_line(o->tx, o->arena, &o->work->placement->slot->chat,
                         o->work->turn->seq, true, &items, &count, err);

    *out_done = false;
    if (status == CLEW_OK && count == 0) {
        status = effort_list_user(o->tx, o->arena, o->work->turn->user_id,
                                  &items, &count, err);
    }
    fit = arena_zero(o->arena, count + 1, sizeof(*fit));
    if (status == CLEW_OK && !fit) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = fitting(o, items, count, fit, &n_fit, err);
    }
    if (status != CLEW_OK || n_fit == 0) {
        return status; /* nothing to go back to: it may open a new one */
    }
    *out_done = true;
    if (n_fit > 1) {
        return ask_which(o, fit, n_fit, err);
    }
    for (size_t i = 0; i < board->count; i++) {
        if (uuid_eq(&board->items[i].memory_id, &fit[0].memory_id)) {
            return effort_reactivate(o, board, &board->items[i], err);
        }
    }
    return effort_reactivate(o, board, &fit[0], err);
}
