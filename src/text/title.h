/* SPDX-License-Identifier: Apache-2.0 */
/*
 * title.h - what a message is about, short enough for a title.
 *
 * The first sentence of a person that names something: not a greeting, a
 * reaction, a caption, code or what a machine wrote. A long sentence is cut
 * where one of its clauses ends.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_TITLE_H
#define TEXT_TITLE_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>

/* At most, in characters. */
#define TITLE_CHARS 80

/* A slice of the text or a copy in the arena; s == NULL if the text has none.
 * CLEW_NO_MEMORY is the only failure. */
enum clew_status title_of(struct arena *arena, struct str text,
                          struct str *out) CLEW_MUST_CHECK;

/* Where a title may begin: behind "Hi there," and words that join or hesitate
 * ("and", "oh and", "so, um,"); 0 if nothing would be left. */
size_t title_begin(struct str text);

#endif
