/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_later.h - efforts that move by a turn which is understood later.
 *
 * Runs inside a transaction of its own, after a language model was asked
 * (intent_ask.h). Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_EFFORT_LATER_H
#define ENGINE_EFFORT_LATER_H

#include "clew/attr.h"
#include "clew/status.h"
#include "model/intent.h"

#include <stdbool.h>
#include <stddef.h>

struct turn;
struct turn_work;

/* What somebody who was asked says that an observed turn does. */
struct effort_word {
    enum intent_act act;
    float confidence;
    const struct turn *replies; /* turns that came after it, in order */
    size_t n_replies;
    bool has_moved; /* set: the efforts changed by it */
};

/*
 * Let the efforts move by a turn that was observed before, the last of its
 * user, as they would have if it had been understood so at once: it may open
 * one, resolve one, or say that an attempt failed. Nothing else of it is looked
 * at again, and a turn that ended an effort, or belongs to one and asks for
 * more, has found its place already.
 */
enum clew_status effort_move_later(struct turn_work *work,
                                   struct effort_word *word,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
