/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question.h - what kind of answer a question asks for.
 *
 * Told by the question word a sentence begins with, in a dozen languages; a
 * question of another language, or without such a word, asks for anything.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_QUESTION_H
#define TEXT_QUESTION_H

#include "base/str.h"
#include "text/token.h"

enum question_wants {
    QUESTION_TIME = 1 << 0,  /* "when" */
    QUESTION_NAME = 1 << 1,  /* "who", "where", "which": a name, mostly */
    QUESTION_NUMBER = 1 << 2 /* "how many", "how long" */
};

/* enum question_wants of all sentences of the text. */
uint32_t question_wants(struct str text, const struct tokens *tokens);

/* "What is my business partner's name?", "wie heißt der Hund?": which tokens
 * say whose name is asked for, the first to the last; false: none is. */
bool question_names(const struct tokens *tokens, size_t *out_first,
                    size_t *out_last);

#endif
