/* SPDX-License-Identifier: Apache-2.0 */
/*
 * telling.h - words that tell something by themselves, and words of a list.
 *
 * Thread-safety: pure functions.
 */
#ifndef TALK_TELLING_H
#define TALK_TELLING_H

#include "text/token.h"

#include <stdbool.h>
#include <stddef.h>

/* Not a small word ("the", "und"), a mark, or the part of another token. */
bool telling_is(const struct token *token);
/* Names a thing. Words the lexicon does not know do. */
bool telling_is_noun(const struct token *token);
/* One of the list, with whatever is tied on to it: "they", and "they've". */
bool telling_is_one(struct str word, const char *const *list, size_t count);

#endif
