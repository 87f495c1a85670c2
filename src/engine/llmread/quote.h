/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.h - where words that somebody quotes stand in a text.
 *
 * Copied words lose little things: white space, the kind of quotation marks and
 * dashes, case at the beginning, a full stop, a closing mark. Those are
 * forgiven; another word, number or order is not.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_LLMREAD_QUOTE_H
#define ENGINE_LLMREAD_QUOTE_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "talk/select.h"

#include <stdbool.h>

/* `*out_found` and the bytes of whole words it spans. CLEW_NO_MEMORY is the
 * only failure. */
enum clew_status quote_find(struct arena *arena, struct str text,
                            struct str quote, bool *out_found,
                            struct select_cite *out) CLEW_MUST_CHECK;
/* Does the place lie in a fenced block of code? */
bool quote_is_code(struct str text, size_t at);
/* Does every word of `words` stand in `said`, whatever its case and ending? */
bool quote_is_said(struct str said, struct str words);
/*
 * What of `words` stands in `said`, in its order, in the arena; where something
 * is left out, so are the small words that hung on it ("cause of the squeak"
 * becomes "squeak"), and a comma takes its place. CLEW_NO_MEMORY is the only
 * failure.
 */
enum clew_status quote_keep_said(struct arena *arena, struct str said,
                                 struct str words,
                                 struct str *out) CLEW_MUST_CHECK;
/* Have two notes the same telling word, whatever languages they are taken for?
 * CLEW_NO_MEMORY is the only failure. */
enum clew_status quote_meet(struct arena *arena, struct str a, struct str b,
                            bool *out) CLEW_MUST_CHECK;

#endif
