/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_words.h - the words an effort is known by.
 *
 * Stems of what names something: words, codes and numbers ("401"), without
 * stop words and without those that name any trouble or work ("fix", "bug").
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_EFFORT_WORDS_H
#define ENGINE_EFFORT_WORDS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "text/token.h"

#include <stdbool.h>

struct effort_words {
    struct str *stems; /* sorted, each once */
    size_t count;
};

/* Of the head of a text; in the arena. Fails only with CLEW_NO_MEMORY. */
enum clew_status effort_words_of(struct arena *arena, struct str text,
                                 struct effort_words *out) CLEW_MUST_CHECK;
/* The same of tokens at hand, all of them; the stems are borrowed. */
enum clew_status effort_words_in(struct arena *arena,
                                 const struct tokens *tokens,
                                 struct effort_words *out) CLEW_MUST_CHECK;
size_t effort_words_shared(const struct effort_words *a,
                           const struct effort_words *b);
/* Have two texts a telling word in common? */
enum clew_status effort_words_meet(struct arena *arena, struct str a,
                                   struct str b, bool *out) CLEW_MUST_CHECK;

#endif
