/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.h - made-up talk for measuring recall: turns, questions, vectors.
 *
 * Words are those the embedder knows and a tail of names, as rare as words are
 * (Zipf); each chat has a subject of 40 words that come up often in it. A
 * question is some words of one turn.
 * Everything is the same in every run.
 * Thread-safety: none.
 */
#ifndef BENCH_SUPPORT_TALK_H
#define BENCH_SUPPORT_TALK_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

enum { TALK_CHAT_TURNS = 200, TALK_QUESTION_WORDS = 5 };

/* Once, before the others. */
void talk_init(void);
/* Append the text of turn number `n`. */
void talk_turn(struct buf *out, uint64_t n);
/* Append question number `n` on the first `n_turns` turns, its words joined by
 * `between`. */
void talk_question(struct buf *out, uint64_t n, uint64_t n_turns,
                   const char *between);
/* Write turns and questions (which are fewer) to FOLDER/turns.txt and
 * questions.txt, a line each, and their vectors to .f32 beside them. */
void talk_dump(const char *folder, uint64_t n_turns, uint64_t n_questions);

#endif
