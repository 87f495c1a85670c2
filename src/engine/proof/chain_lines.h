/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_lines.h - claims and updates of chains, each by itself.
 *
 * A store keeps both together as steps (topic/chain_step.h). An export has a
 * line for each claim and for each update, as stores once had a row; both ways
 * between the two forms are here. What comes one by one is put together again:
 * a claim stands loose until its update comes.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_CHAIN_LINES_H
#define ENGINE_CHAIN_LINES_H

#include "base/json.h"
#include "engine/topic/chain.h"

/* Takes a line, whose reference stays the caller's. */
typedef enum clew_status (*chain_line_fn)(void *arg, const json_t *line,
                                          struct clew_error *err);

/* A line for each claim, or for each update of a turn, in the order of turns.
 * `scratch` is cleared on the way. */
enum clew_status chain_lines_claims(struct engine *engine, struct store_tx *tx,
                                    struct arena *scratch, chain_line_fn fn,
                                    void *arg,
                                    struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chain_lines_updates(struct engine *engine, struct store_tx *tx,
                                     struct arena *scratch, chain_line_fn fn,
                                     void *arg,
                                     struct clew_error *err) CLEW_MUST_CHECK;

/* A claim that is not there becomes a loose one. */
enum clew_status chain_lines_add_claim(struct store_tx *tx, struct arena *arena,
                                       const struct claim *claim,
                                       bool *out_added,
                                       struct clew_error *err) CLEW_MUST_CHECK;

enum chain_fold {
    CHAIN_FOLD_ADDED, /* it is a step now, with its claims */
    CHAIN_FOLD_KNOWN, /* it was */
    CHAIN_FOLD_GONE,  /* its turn is not here */
    CHAIN_FOLD_NOT    /* no step tells what it tells: a row of its own must */
};
enum clew_status chain_lines_fold(struct store_tx *tx, struct arena *arena,
                                  const struct chain_event *event,
                                  enum chain_fold *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Fold the updates of the next chains after `*after` that have rows of their
 * own; `*out_end` if there are none left. */
enum clew_status chain_lines_fold_page(struct store_tx *tx, struct arena *arena,
                                       struct uuid *after, bool *out_end,
                                       struct clew_error *err) CLEW_MUST_CHECK;
/* Name the chains that lost their names, each after the first of its claims. */
enum clew_status chain_lines_name(struct engine *engine, struct store_tx *tx,
                                  struct arena *arena,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
