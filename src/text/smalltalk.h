/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smalltalk.h - words that keep a talk going and say nothing of its matter.
 *
 * Greetings, thanks, reactions and captions are said, kept and found like all
 * else; they are no content of a summary and no title.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_SMALLTALK_H
#define TEXT_SMALLTALK_H

#include "base/str.h"

#include <stdbool.h>

/* Nothing but greetings, thanks, reactions and offers of help, in the tongues
 * of smalltalk.c. A text without a word is one. */
bool smalltalk_is(struct str text);
/* Where what is said begins, after "Hi there," or "Ok, thanks!"; at the end of
 * the text if nothing follows. */
size_t smalltalk_skip(struct str text);
/* A heading, a rule, "Here is the plan:": announces and does not say. */
bool smalltalk_is_caption(struct str text);

#endif
