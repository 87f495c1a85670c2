/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt.h - the question a stretch is to a model.
 *
 * What stays the same (what to keep, what an effort is, how to answer) is the
 * system's part and comes first, so that endpoints that keep what they have
 * seen keep it. The stretch is one JSON object: nothing in a turn can pass for
 * a part of the question.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_LLMREAD_PROMPT_H
#define ENGINE_LLMREAD_PROMPT_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/llm.h"

struct stretch;

/* The longest answer: what 40 turns leave behind, thrice. */
#define PROMPT_ANSWER_TOKENS 6000

/* The request that reads the stretch; its texts live in the arena. `trouble`
 * (NULL: none) says why the answer before could not be used. */
enum clew_status prompt_write(struct arena *arena,
                              const struct stretch *stretch,
                              const char *trouble, struct llm_request *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
