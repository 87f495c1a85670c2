/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill_fields.h - what the memory of a skill keeps of where it was seen.
 *
 * Beside name, description, preconditions, steps and postconditions: the
 * problems (examples) and how each ended (ways) of the first few efforts, the
 * ids of those it was seen in (efforts), how many there were (frequency), what
 * they were worth (checks) and what follows from both (initial_confidence).
 * How it was used is skill_use.h's.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_SKILL_FIELDS_H
#define ENGINE_SKILL_FIELDS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "talk/skill.h"

#include <stdbool.h>
#include <stddef.h>

/* Ids that are kept; an effort is counted once as long as its id is. */
#define SKILL_MAX_EFFORTS 64

/* An effort that was resolved this way. */
struct skill_sighting {
    struct uuid effort_id;
    struct str goal;
    struct str way;
    double checks[SKILL_CHECKS];
};

struct skill_sheet {
    struct str goals[SKILL_MAX_EXAMPLES];
    struct str ways[SKILL_MAX_EXAMPLES];
    size_t n_examples;
    struct uuid efforts[SKILL_MAX_EFFORTS];
    size_t n_efforts;
};

/* False if the fields tell of no efforts (one written by hand) or memory ran
 * out; texts are in the arena. */
bool skill_fields_read(struct arena *arena, struct str fields,
                       struct skill_sheet *out);
bool skill_sheet_has(const struct skill_sheet *sheet, const struct uuid *id);
/* The fields (s == NULL: none yet) with one sighting more. So the next:
 * s == NULL if memory ran out. */
struct str skill_fields_add(struct arena *arena, struct str fields,
                            const struct skill_sighting *sighting);
/* What it is about, when it helps, its steps, and how one knows. */
struct skill_told {
    struct str name;
    struct str description;
    struct str success;
    const struct str *steps;
    size_t n_steps;
};
struct str skill_fields_tell(struct arena *arena, struct str fields,
                             const struct skill_told *told);

#endif
