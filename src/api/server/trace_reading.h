/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_reading.h - what the reader saw in a turn, for its trace.
 */
#ifndef API_TRACE_READING_H
#define API_TRACE_READING_H

#include "base/json.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

struct api_call;

/* Add `reading` to the decisions about a turn; nothing of what is no talk. */
enum clew_status trace_add_reading(struct api_call *call, const struct uuid *id,
                                   json_t *decisions,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
