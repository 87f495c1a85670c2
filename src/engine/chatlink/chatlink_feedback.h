/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_feedback.h - a person says whether two chats were rightly joined, or
 * rightly kept apart.
 *
 * It holds at once: what follows from a link (an episode of both, what a
 * context says of the other) goes or comes. A later word takes the place of an
 * earlier one; no rule and no model decides such a pair again. Thread-safety:
 * as store.h.
 */
#ifndef ENGINE_CHATLINK_FEEDBACK_H
#define ENGINE_CHATLINK_FEEDBACK_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

struct chatlink_decision;
struct engine;
struct scope;

/* An action of the log. CLEW_NOT_FOUND if there is no such decision. */
enum clew_status chatlink_feedback(struct engine *engine,
                                   const struct scope *scope,
                                   struct arena *arena, const struct uuid *id,
                                   bool is_correct,
                                   struct chatlink_decision *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
