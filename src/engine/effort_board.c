/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_board.c - the efforts of a chat, and what a turn has to do with each.
 * See effort_board.h.
 */
#include "engine/effort_board.h"

#include "engine/effort_fork.h"

enum clew_status effort_board_load(struct observation *o,
                                   struct effort_board *out,
                                   struct clew_error *err)
{
    enum clew_status status = desk_efforts(o->work, o->desk, err);
    struct effort_board board = {.items = o->desk->efforts,
                                 .count = o->desk->n_efforts};

    for (size_t i = 0; status == CLEW_OK && i < board.count; i++) {
        if (board.items[i].state == EFFORT_ACTIVE && !board.active) {
            board.active = &board.items[i];
        }
    }
    if (status == CLEW_OK) {
        *out = board;
    }
    return status;
}

/* The words of the turn itself, read once. */
static enum clew_status own_words(struct observation *o)
{
    if (o->words.stems) {
        return CLEW_OK;
    }
    return effort_words_in(o->arena, &o->analysis.tokens, &o->words);
}

enum clew_status effort_shared_with(struct observation *o, struct str text,
                                    size_t *out, struct clew_error *err)
{
    struct effort_words words;
    enum clew_status status = desk_words(o->arena, o->desk, text, &words, err);

    if (status == CLEW_OK && own_words(o) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        *out = effort_words_shared(&words, &o->words);
    }
    return status;
}

size_t effort_turns_since(const struct observation *o, int64_t seq)
{
    size_t n = 0;

    for (size_t i = 0; i < o->n_previous; i++) {
        n += o->previous_seq[i] > seq && o->previous[i].role == EXTRACT_USER;
    }
    return n;
}

bool effort_is_at_work(const struct observation *o, const struct effort *effort)
{
    return effort->state == EFFORT_ACTIVE && effort->is_open &&
           (o->n_previous == 0 || effort->last_seq >= o->previous_seq[0]);
}

enum clew_status effort_take_turn(struct observation *o, struct effort *effort,
                                  struct clew_error *err)
{
    const struct turn *turn = o->work->turn;

    o->is_effort_turn = true;
    if (effort->is_shared) {
        return effort_own_shared(o->tx, effort, &turn->chat_id, turn->seq,
                                 turn->token_count, err);
    }
    return effort_own(o->tx, effort, turn->seq, turn->created_at_ms,
                      turn->token_count, err);
}

enum clew_status effort_collapse_active(struct observation *o,
                                        struct effort_board *board,
                                        const struct effort *but,
                                        struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < board->count && status == CLEW_OK; i++) {
        struct effort *effort = &board->items[i];

        if (effort != but && effort->state == EFFORT_ACTIVE &&
            !effort->is_spawned) {
            effort->state = EFFORT_COLLAPSED;
            status =
                effort->is_shared ? CLEW_OK : effort_update(o->tx, effort, err);
        }
    }
    return status;
}
