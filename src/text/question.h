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

/* "What is my sister's name?", "wie heißt der Hund?": the place of the token
 * whose name is asked for, where one word says it; else SIZE_MAX. */
size_t question_names(const struct tokens *tokens);

#endif
