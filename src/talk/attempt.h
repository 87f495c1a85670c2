/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - what was tried, in the words of whoever proposed or did it.
 *
 * That something failed or worked is the reader's word; here is only what it
 * was: the sentence of a turn before that says what to do, without what leads
 * it in ("let's", "you could try"), or what the turn itself says it tried. The
 * words of that are models/lexicon's, a folder for each language.
 * Thread-safety: pure functions.
 */
#ifndef TALK_ATTEMPT_H
#define TALK_ATTEMPT_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/intent.h"

/* What a turn proposes to do, as a title in the arena; s == NULL: nothing. A
 * sentence that proposes in no such form will do if it names what `worked`, the
 * turn that says so, names as well; s == NULL where nothing did.
 * Fails only with CLEW_NO_MEMORY. */
enum clew_status attempt_proposed(struct arena *arena, struct str text,
                                  const struct intent *intent,
                                  struct str worked,
                                  struct str *out) CLEW_MUST_CHECK;
/* What a turn says was tried ("I tried the other cable, still dead"); a mere
 * "tried that" says nothing. */
enum clew_status attempt_told(struct arena *arena, struct str text,
                              const struct intent *intent,
                              struct str *out) CLEW_MUST_CHECK;

#endif
