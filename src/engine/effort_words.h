/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_words.h - the telling words that a turn and an effort share.
 *
 * Telling is what names a matter; "fix", "error" and the like name any. The
 * words of a text are found once a batch and kept on the desk.
 * Thread-safety: as observe_desk.h.
 */
#ifndef ENGINE_EFFORT_WORDS_H
#define ENGINE_EFFORT_WORDS_H

#include "engine/observe_desk.h"
#include "text/analysis.h"

/* The telling words of a text. `text` must outlive the batch. */
enum clew_status effort_words(struct arena *arena, struct desk_chat *chat,
                              struct str text, struct desk_words *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* How many of them are keywords of the turn. */
size_t effort_words_in(const struct desk_words *words,
                       const struct analysis *turn);
/* How many of them are among the other's. */
size_t effort_words_shared(const struct desk_words *a,
                           const struct desk_words *b);

#endif
