/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill_use.h - how sure a skill is, after it was used or left alone.
 *
 * A skill's memory keeps in its fields what it began with
 * (initial_confidence), how often it was offered (offered), how often used
 * (uses), how often it worked (successes) and when last (used_at). An outcome
 * makes its confidence half of what it began with and half of how often it
 * worked, then moves it by what happened last. Idling is reckoned when it is
 * read, as a memory's weight is. Thread-safety: pure functions.
 */
#ifndef ENGINE_SKILL_USE_H
#define ENGINE_SKILL_USE_H

#include "base/arena.h"
#include "base/str.h"
#include "engine/memory/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fields after `n` more uses that all worked, or did not. A skill without
 * fields begins with no confidence. s == NULL if memory ran out or the fields
 * are no object. */
struct str skill_use_add(struct arena *arena, struct str fields, size_t n,
                         bool has_worked, int64_t now_ms);
/* One that was counted so did not end so after all. */
struct str skill_use_take_back(struct arena *arena, struct str fields,
                               bool has_worked);
/* The fields after it was offered for one more effort. */
struct str skill_use_offered(struct arena *arena, struct str fields,
                             int64_t now_ms);
/* How sure it is at `now_ms`, after idling. */
double skill_use_confidence(const struct memory *memory, int64_t now_ms);
/* The fields as they are at `now_ms`, after idling; the same if the memory is
 * no skill. */
struct str skill_use_at(struct arena *arena, const struct memory *memory,
                        int64_t now_ms);

#endif
