/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_outcome.h - was it right to join two chats, or not to? Nobody says
 * so; what is said next does. Thread-safety: as store.h.
 */
#ifndef ENGINE_CHATLINK_OUTCOME_H
#define ENGINE_CHATLINK_OUTCOME_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>

struct chat_profile;
struct chatlink_turn;
struct turn_work;

/* What this turn says of the decision about its own chat. */
enum clew_status chatlink_outcome_infer(struct turn_work *work,
                                        struct chat_profile *profile,
                                        const struct chatlink_turn *turn,
                                        struct clew_error *err) CLEW_MUST_CHECK;
/* The user has gone on to another chat: an earlier one that was left alone, and
 * whose topic stayed its own, was rightly kept apart. */
enum clew_status
chatlink_outcome_of_left(struct turn_work *work, struct chat_profile *earlier,
                         size_t count, struct clew_error *err) CLEW_MUST_CHECK;

#endif
