/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_internal.h - what keeping by the reader (keep.c) and by what somebody
 * else read (keep_told.c) share.
 */
#ifndef ENGINE_KEEP_INTERNAL_H
#define ENGINE_KEEP_INTERNAL_H

#include "engine/keep/keep.h"
#include "engine/keep/keep_near.h"

struct observation;

/* What a note is found by. */
struct keep_note keep_note_of(struct observation *o,
                              const struct select_note *note);
/* Store it as a memory of its own, with what it does to others. */
enum clew_status keep_insert(struct observation *o,
                             const struct keep_note *kept,
                             const struct keep_near *near, struct uuid *out_id,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Keep it, or say the one again that says the same. */
enum clew_status keep_note(struct observation *o,
                           const struct select_note *note, struct uuid *out_id,
                           bool *out_new,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
