/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_trace.h - why a captured call stands where it stands.
 *
 * A trace under the request's own id: every look for its parent in order, what
 * decided, and how its branch was chosen. Holds ids and fixed words, no text.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_LINK_TRACE_H
#define ENGINE_LINK_TRACE_H

#include "clew/attr.h"
#include "clew/status.h"
#include "engine/link_decide.h"
#include "engine/request.h"

struct store_tx;

/* `request` has the decision in it; `note` says what went wrong, or NULL. */
enum clew_status link_trace_put(struct store_tx *tx,
                                const struct request *request,
                                const struct link_decision *decision,
                                const char *note,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* Is this what a trace of a captured call says, not of a turn? */
bool link_trace_is(struct str data);

#endif
