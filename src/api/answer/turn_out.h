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

struct api_call;
struct api_page;
struct capture_result;
struct turn;

/* `row`: a struct turn, see struct api_rows. */
void turn_out(struct json_out *out, const void *row);
/* {"turn","chat","updates","notices","trace_id","repeated"}; `chat`: the
 * result's, as JSON. */
void capture_out(struct json_out *out, const struct capture_result *result,
                 struct str chat);
/* Answer with a page of turns as they may be shown (api_show_turns()); `page`
 * and `mark` as of api_write_rows(). */
enum clew_status
turns_answer(struct api_call *call, const struct api_page *page,
             struct turn *turns, size_t count,
             struct str (*mark)(struct api_call *call, const void *row),
             struct clew_error *err) CLEW_MUST_CHECK;

#endif
