/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_trace.h - why a captured call stands where it stands.
 *
 * A trace under the request's own id: every look for its parent in order, what
 * decided, and how its branch was chosen. Holds ids and fixed words, no text.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_CALL_TRACE_H
#define ENGINE_CALL_TRACE_H

#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/call_decide.h"
#include "engine/call/request.h"

struct store_tx;

/* `request` has the decision in it; `note` says what went wrong, or NULL. */
enum clew_status call_trace_put(struct store_tx *tx,
                                const struct request *request,
                                const struct call_decision *decision,
                                const char *note,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* Is this what a trace of a captured call says, not of a turn? */
bool call_trace_is(struct str data);

#endif
