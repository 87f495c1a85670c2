/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_text.h - what of a text counts: white space, reminders, fences.
 *
 * Two kinds of blocks are not the speaker's own words and are cut out together
 * with the white space before them: <system-reminder> (clients add and drop
 * them) and <clew-context> (what clew itself injected).
 * White space is what ECMAScript's trim() takes, because stored hashes of other
 * tools were made with it.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CALL_TEXT_H
#define ENGINE_CALL_TEXT_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

/* Bytes of the white space character that starts at `at`, 0 if none does. */
size_t call_space_at(struct str text, size_t at);
/* `text` without white space at its ends. */
struct str call_trim(struct str text);
/* True if `text` holds a block that call_strip() would cut out. */
bool call_has_blocks(struct str text);
/* Append `text` without reminders and fences. */
enum clew_status call_strip(struct buf *out, struct str text);
/*
 * `text` without the blocks: the slice itself if there are none, else a slice
 * of `scratch`, which is emptied first.
 */
enum clew_status call_stripped(struct buf *scratch, struct str text,
                               struct str *out) CLEW_MUST_CHECK;

#endif
