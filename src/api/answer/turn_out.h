/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn_out.h - turns, and what capturing them changed, as JSON.
 *
 * Batches and pages hold hundreds of them, so they are written without a tree.
 * Optional values that are not there are null, so that every object has all its
 * fields. Failures stay in the writer's buffer.
 * Thread-safety: pure functions.
 */
#ifndef API_TURN_OUT_H
#define API_TURN_OUT_H

#include "base/json_out.h"

struct capture_result;

/* `row`: a struct turn, see struct api_rows. */
void turn_out(struct json_out *out, const void *row);
/* {"turn","chat","updates","notices","trace_id","repeated"}; `chat`: the
 * result's, as JSON. */
void capture_out(struct json_out *out, const struct capture_result *result,
                 struct str chat);

#endif
