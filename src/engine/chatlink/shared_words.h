/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_words.h - the telling words that turns share with a chat's beginning.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_SHARED_WORDS_H
#define ENGINE_SHARED_WORDS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chatlink/chatlink_turn.h"

#include <stddef.h>
#include <stdint.h>

/* As many as a mask has bits; the first come stay. */
#define SHARED_WORDS_MAX 64

/* Of a beginning. */
struct shared_words {
    struct chatlink_term items[SHARED_WORDS_MAX];
    size_t count;
};

/* The telling words of a text. */
enum clew_status shared_words_of(struct arena *arena, struct str text,
                                 struct chatlink_turn *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The beginning has these, too. */
void shared_words_add(struct shared_words *words,
                      const struct chatlink_turn *turn);
/* Which words of the beginning a turn has: a mask of them. */
uint64_t shared_words_in(const struct shared_words *words,
                         const struct chatlink_turn *turn);
/* How much those of a mask tell. */
double shared_words_weight(const struct shared_words *words, uint64_t mask);

#endif
