/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smalltalk_words.h - the words of small talk. See smalltalk.h.
 *
 * Words that together cannot name a matter: what greets, thanks, reacts and
 * takes leave, and the function words around it. No phrases: any of them may
 * stand beside any other, and one word that is not here makes a text content.
 * Thread-safety: pure functions over constant tables.
 */
#ifndef TEXT_SMALLTALK_WORDS_H
#define TEXT_SMALLTALK_WORDS_H

#include "base/str.h"

enum smalltalk_word {
    SMALLTALK_NONE, /* content, as far as is known */
    SMALLTALK_FILLER,
    SMALLTALK_OPENER /* greets or reacts by itself: "hello", "right" */
};

/* A word in lower case. */
enum smalltalk_word smalltalk_word(struct str word);
/* A run of Han, kana, Hangul or Thai that is made of such words altogether; an
 * opener if one of them is. */
enum smalltalk_word smalltalk_run(struct str run);

#endif
