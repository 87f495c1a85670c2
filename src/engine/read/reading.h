/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - what a turn says by itself.
 *
 * All of it follows from the text, its time and its speaker, so it is made
 * before the writer is taken, by as many callers at once as there are. The
 * steps of a turn's life (work.h) only compare it with what is stored.
 * Thread-safety: pure functions; a reading lives in the caller's arena.
 */
#ifndef ENGINE_READING_H
#define ENGINE_READING_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/turn.h"
#include "engine/read/chain_read.h"
#include "engine/read/doc.h"
#include "model/intent.h"
#include "text/analysis.h"

struct engine;

/* Text between these marks was put there by clew; see proxy/inject.h. */
#define READING_FENCE_OPEN "<clew-context"
#define READING_FENCE_CLOSE "</clew-context>"

struct reading {
    struct doc_text text; /* analysis and vector of the text as it came */
    /* the rest is of user and assistant turns only, where turns are observed */
    struct str said; /* the text, blank where clew or a client put something */
    struct analysis analysis; /* of `said` */
    struct intent_reading intent;
    struct chain_reading chains;
};

/* What storing a prepared turn (its id, role, text and times are set) needs of
 * it: all of `text`, and `said`. Much of the rest is not cheap, and is only
 * asked for when the turn is read. */
enum clew_status reading_to_store(struct engine *engine, struct arena *arena,
                                  const struct turn *turn, struct reading *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Read a prepared turn: everything but what only the index wants of `text`. */
enum clew_status reading_of(struct engine *engine, struct arena *arena,
                            const struct turn *turn, struct reading *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* A text with blanks for the stretches that clew injected or that are no
 * person's (text/machine.h); itself if it has none. */
enum clew_status reading_said(struct arena *arena, struct str text,
                              struct str *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Is it of another language than English, of which few shipped tables know
 * words? */
bool reading_is_foreign(const struct tokens *tokens);
/* What a text does by itself. Fails only with CLEW_NO_MEMORY. */
enum clew_status reading_intent(struct arena *arena, struct str text,
                                struct intent_reading *out) CLEW_MUST_CHECK;
/* The analysis of what a turn said, by its own time, zone and speaker. */
enum clew_status reading_analyse(struct arena *arena, const struct turn *turn,
                                 struct analysis *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
