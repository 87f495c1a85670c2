/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - a text within a number of tokens, by an upper bound of any
 * tokenizer's count. Thread-safety: pure functions.
 */
#ifndef ENGINE_BUDGET_H
#define ENGINE_BUDGET_H

#include "base/arena.h"
#include "base/str.h"

#include <stddef.h>

/*
 * The text, or its head and tail with a mark between, in at most `max_tokens`;
 * cut between words where it has any.
 * Works on any length in time bounded by `max_tokens`. s == NULL without
 * memory.
 */
struct str budget_fit(struct arena *arena, struct str text, size_t max_tokens);

#endif
