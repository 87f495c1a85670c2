/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - make, tell and tag a memory that a turn leaves behind.
 *
 * Used by whatever derives memories from turns; each gets a derived id, the
 * turn's own time and the lines it comes from.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_NOTE_H
#define ENGINE_NOTE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/memory/memory.h"

#include <stddef.h>

struct turn_work;

/* A memory of this turn with what they all have in common. */
struct memory note_memory(struct turn_work *work, const char *type,
                          const char *status, struct str summary);
/* Insert it, citing the turn `back` turns of the talk before this one (0: this
 * one), and tell it in the updates as "created" or "refined". */
enum clew_status note_insert(struct turn_work *work, struct memory *memory,
                             size_t back, const struct uuid *refines,
                             struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status note_told(struct turn_work *work, const struct memory *memory,
                           const char *change,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* A line for people; printf into the arena. */
enum clew_status note_notice(struct turn_work *work, struct clew_error *err,
                             const char *fmt, ...)
    CLEW_PRINTF(3, 4) CLEW_MUST_CHECK;
/* Tags joined by commas, in the arena; s == NULL without memory. */
struct str note_tags(struct arena *arena, const struct str *list, size_t count);
/* {"log":..} style: one JSON object text in the arena; takes `object`. s ==
 * NULL without memory. */
struct str note_json(struct arena *arena, json_t *object);

#endif
