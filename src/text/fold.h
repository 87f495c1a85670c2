/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.h - comparable forms of one token.
 *
 * Bounded by LIMIT_TOKEN_BYTES, so that it works in a buffer on the stack and
 * takes from the arena only what it keeps.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_FOLD_H
#define TEXT_FOLD_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

/*
 * NFKC with full case folding, ignorable characters dropped, curly apostrophes
 * made straight. False when the arena is full.
 */
bool fold_token(struct arena *arena, struct str text, struct str *out);
/*
 * Latin and Greek letters without their marks, Arabic without vowel points
 * and tatweel; the slice itself where nothing changes. False when the arena
 * is full.
 */
bool fold_marks(struct arena *arena, struct str text, struct str *out);

#endif
