/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_out.h - turns that are not stored, since they were forgotten.
 *
 * Some were stored before and forgotten by their name (core/forgotten.h).
 * Others were on their way when their user, or the chat they name, was
 * forgotten: whoever said "everything" meant them, too.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_LEFT_OUT_H
#define ENGINE_LEFT_OUT_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_input;
struct store_tx;
struct turn;

struct left_out {
    const struct capture_input *input;
    const struct turn *turn; /* as capture_prepare() made it */
    bool is_out;
};

/* Ask for what every call needs, so that it comes with other answers. */
enum clew_status left_out_ahead(struct store_tx *tx,
                                struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Mark those that are out. Of what was on its way the name is left, as if it
 * had been there: who sends it again means the same. CLEW_CONFLICT if a turn
 * that was on its way does not say that it may be left out (capture_input).
 */
enum clew_status left_out_find(struct store_tx *tx, struct arena *arena,
                               struct left_out *items, size_t count,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
