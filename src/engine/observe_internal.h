/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe_internal.h - what the steps of observing a turn share.
 *
 * observe_desk.c has the turns before, observe.c runs intent and extraction,
 * effort_turn.c moves the efforts, effort_attempt.c their attempts,
 * observe_keep.c stores facts, events and decisions, observe_agents.c what the
 * user's own packages make.
 */
#ifndef ENGINE_OBSERVE_INTERNAL_H
#define ENGINE_OBSERVE_INTERNAL_H

#include "engine/effort.h"
#include "engine/effort_words.h"
#include "engine/extract.h"
#include "engine/observe_desk.h"
#include "engine/work.h"
#include "model/intent.h"
#include "text/analysis.h"

struct observation {
    struct turn_work *work;
    struct arena *arena;
    struct store_tx *tx;
    struct desk_chat *desk;
    struct intent intent;
    struct analysis analysis; /* of the text without what clew injected */
    struct extract_turn turn;
    struct extract_turn previous[OBSERVE_PREVIOUS];     /* most recent first */
    struct desk_turn *previous_turns[OBSERVE_PREVIOUS]; /* the same */
    int64_t previous_seq[OBSERVE_PREVIOUS];
    struct intent previous_intent; /* of previous[0] */
    size_t n_previous;
    struct extract_input input;
    struct extract extract;
    struct effort_words words; /* of the turn; made when first wanted */
    bool is_effort_turn;       /* an effort owns it */
    bool is_later;             /* observed before, see observe_later() */
    uint64_t n_made;           /* numbers the derived ids of this turn */
};

/* A memory of this turn with what they all have in common. */
struct memory observe_memory(struct observation *o, const char *type,
                             const char *status, struct str summary);
/* Insert it, citing the turns of `cites` (the turn itself if there are none),
 * and tell it in the updates as "created" or "refined". */
enum clew_status observe_insert(struct observation *o, struct memory *memory,
                                const struct extract_cite *cites,
                                size_t n_cites, const struct uuid *refines,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status observe_told(struct observation *o,
                              const struct memory *memory, const char *change,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* A line for people; printf into the arena. */
enum clew_status observe_notice(struct observation *o, struct clew_error *err,
                                const char *fmt, ...)
    CLEW_PRINTF(3, 4) CLEW_MUST_CHECK;
/* Tags joined by commas, in the arena. */
struct str observe_tags(struct observation *o, const struct extract_item *item);
/* {"log":..} style: one JSON object text in the arena; takes `object`. */
struct str observe_json(struct arena *arena, json_t *object);

/* --- the steps --- */

enum clew_status observe_keep(struct observation *o,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_observe(struct observation *o,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* The user's own packages. */
enum clew_status observe_agents(struct observation *o,
                                struct clew_error *err) CLEW_MUST_CHECK;
/*
 * What was tried for `effort` last ended: found a way or failed. Adds an
 * attempt if the talk names one. `effort` owns the turn already.
 */
enum clew_status effort_attempt_end(struct observation *o,
                                    const struct effort *effort, bool is_found,
                                    struct str resolution,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* What this turn or those just before it say was tried, as a title; s == NULL
 * if they name nothing. */
struct str effort_attempt_said(struct observation *o);
/* True if a title says what to try next rather than what to reach. */
bool effort_is_attempt(struct str title);

#endif
