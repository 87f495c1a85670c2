/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_line.h - what others chose (names, titles, excerpts) within a line of
 * ours.
 *
 * A line end in a name would begin a line that nobody wrote, and a mark of
 * direction would let it read as something else: controls, C1, bidi characters
 * and Unicode's own line ends become blanks. What is too long is cut between
 * characters and ends in "…".
 * Thread-safety: pure functions.
 */
#ifndef BASE_ONE_LINE_H
#define BASE_ONE_LINE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters of a name as it is shown: a person's or an agent's whole one, and
 * no sentence. */
#define ONE_LINE_NAME_CHARS 60

/* Does it end a line, or change how others read? */
bool one_line_is_control(uint32_t c);
/* The text so, in the arena or itself if it is so already; s == NULL without
 * memory. `max_chars` SIZE_MAX: all of it. */
struct str one_line(struct arena *arena, struct str text, size_t max_chars);
/* The same behind what is in the buffer, which remembers a failure. */
void one_line_append(struct buf *out, struct str text, size_t max_chars);

#endif
