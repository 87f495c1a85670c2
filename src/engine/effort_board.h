/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_board.h - the efforts of a chat as one turn finds them, and the steps
 * that move them.
 *
 * effort_board.c loads them and compares words, effort_resolve.c ends one,
 * effort_return.c comes back to one, effort_open.c begins one, effort_turn.c
 * tries these in order and lets the turn belong to the one at work.
 */
#ifndef ENGINE_EFFORT_BOARD_H
#define ENGINE_EFFORT_BOARD_H

#include "engine/observe_internal.h"

struct effort_board {
    struct effort *items; /* open or in view, the last touched first */
    size_t count;
    struct effort *active; /* NULL if none is at work */
};

enum clew_status effort_board_load(struct observation *o,
                                   struct effort_board *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Telling words that this turn shares with a text. */
enum clew_status effort_shared_with(struct observation *o, struct str text,
                                    size_t *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The user's turns after `seq` and before this one. */
size_t effort_turns_since(const struct observation *o, int64_t seq);
/* Did the turn before this one belong to the effort? */
bool effort_is_at_work(const struct observation *o,
                       const struct effort *effort);
/* This turn is the effort's. */
enum clew_status effort_take_turn(struct observation *o, struct effort *effort,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Put those at work out of view, all but one. */
enum clew_status effort_collapse_active(struct observation *o,
                                        struct effort_board *board,
                                        const struct effort *but,
                                        struct clew_error *err) CLEW_MUST_CHECK;

/* --- the steps; `out_done` = the turn has found its place --- */

enum clew_status effort_try_resolve(struct observation *o,
                                    struct effort_board *board, bool *out_done,
                                    struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_come_back(struct observation *o,
                                  struct effort_board *board, bool *out_done,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The turn may answer which effort the turn before meant. */
enum clew_status effort_answer_which(struct observation *o,
                                     struct effort_board *board, bool *out_done,
                                     struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_reactivate(struct observation *o,
                                   struct effort_board *board,
                                   struct effort *effort,
                                   struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_try_open(struct observation *o,
                                 struct effort_board *board, bool *out_done,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
