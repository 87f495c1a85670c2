/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - what a stored turn leaves behind: memories, efforts, notices.
 *
 * Runs inside the transaction that stores the turn. Intent and extraction are
 * pure functions of the turn and those before it; here their candidates become
 * memories that cite their turns. Equal statements are kept once, a newer
 * statement on the same slot refines the older, anything looser only suggests.
 * System prompts, tool output and text that clew injected are never mined.
 */
#ifndef ENGINE_OBSERVE_H
#define ENGINE_OBSERVE_H

#include "clew/attr.h"
#include "clew/status.h"
#include "model/intent.h"

#include <stdbool.h>
#include <stddef.h>

struct turn;
struct turn_work;

/* Text between these marks was put there by clew; see context.h. */
#define OBSERVE_FENCE_OPEN "<clew-context"
#define OBSERVE_FENCE_CLOSE "</clew-context>"

enum clew_status observe_turn(struct turn_work *work,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* What somebody who was asked says that an observed turn does. */
struct observe_word {
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
enum clew_status observe_later(struct turn_work *work,
                               struct observe_word *word,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
