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

struct turn_work;

/* Text between these marks was put there by clew; see context.h. */
#define OBSERVE_FENCE_OPEN "<clew-context"
#define OBSERVE_FENCE_CLOSE "</clew-context>"

enum clew_status observe_turn(struct turn_work *work,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
