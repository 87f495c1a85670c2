/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - (subject, attribute, qualifier, value): what a statement sets.
 *
 * Strict patterns only: "I work at X", "I moved to Y", "our N is V". Two
 * slots tell whether the newer statement supersedes the older, may do so, or
 * says nothing about it. Only SLOT_SUPERSEDES may act without being asked.
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef ENGINE_SLOTS_H
#define ENGINE_SLOTS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

enum slot_flags {
    SLOT_FUNCTIONAL = 1 << 0, /* can have one value at a time */
    SLOT_CHANGE = 1 << 1,     /* the words say that something changed */
    SLOT_SIDE = 1 << 2,       /* side job, second home: never alone */
    SLOT_LOOSE = 1 << 3       /* preference and the like: only suggests */
};

struct slot {
    struct str subject;   /* folded */
    struct str attribute; /* "work", "live", "age", or the noun itself */
    struct str qualifier; /* folded, may be empty */
    struct str value;     /* folded */
    struct str replaces;  /* folded; "switched from X": what it was */
    unsigned flags;       /* enum slot_flags */
};

enum slot_verdict { SLOT_UNRELATED, SLOT_SUGGESTS, SLOT_SUPERSEDES };

/*
 * The slot a sentence sets, if it is one of the strict patterns; false for a
 * hypothetical, past, asked or somebody else's statement. `speaker` is the
 * subject when it says "I".
 */
bool slot_of(struct arena *arena, struct str sentence, struct str speaker,
             struct slot *out_slot);

/* What `newer` does to `older`. */
enum slot_verdict slot_compare(const struct slot *older,
                               const struct slot *newer);

#endif
