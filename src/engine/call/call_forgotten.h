/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_forgotten.h - how much of a call was forgotten before.
 *
 * Clients send the whole history with every call. What of it was forgotten
 * leads to no request any more, and would be stored as if it were new; it is
 * known by what the forget left (core/forgotten.h). Which messages these are
 * is told by their list alone: the same words said elsewhere are others.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_CALL_FORGOTTEN_H
#define ENGINE_CALL_FORGOTTEN_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/call_decide.h"
#include "engine/call/call_plan.h"

#include <stddef.h>

struct store_tx;

/*
 * The first messages that were forgotten, 0 if none were. A call of one message
 * says it anew. CLEW_CONFLICT for a call that is older than the forget of its
 * user or of these messages: it waited meanwhile, and goes with them. Writes
 * nothing.
 */
enum clew_status call_forgotten(struct store_tx *tx, struct arena *arena,
                                const struct call_plan *plan,
                                const struct call_decision *decision,
                                size_t *out_count,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
