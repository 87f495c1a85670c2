/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_class.h - which of a list a word is.
 *
 * Thread-safety: pure functions.
 */
#ifndef TALK_WORD_CLASS_H
#define TALK_WORD_CLASS_H

#include "model/intent_words.h"

#include <stdbool.h>
#include <stddef.h>

bool word_is(const struct intent_word *word, const char *text);
/* Any of a space-separated list, which must be a constant. */
bool word_any(const struct intent_word *word, const char *list);
/* Stands between subject and verb: "already", "really". */
bool word_is_adverb(const struct intent_word *word);
/* Does any of words [first, end) stand in the list? */
bool words_have(const struct intent_word *words, size_t first, size_t end,
                const char *list);

#endif
