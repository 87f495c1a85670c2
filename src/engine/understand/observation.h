/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observation.h - what is understood of a turn: its act, and what its sentences
 * say.
 *
 * Made once for a turn of the talk, after topics and before efforts; the
 * observers that follow read it at turn_work.observation. Intent and reading
 * are pure functions of the turn and those before it. System prompts, tool
 * output and text that clew injected are never mined.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_OBSERVATION_H
#define ENGINE_OBSERVATION_H

#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/sight.h"
#include "engine/core/work.h"
#include "engine/understand/talk_cache.h"
#include "model/intent.h"
#include "talk/effort_words.h"
#include "engine/read/sense.h"
#include "talk/line.h"
#include "talk/select.h"
#include "text/analysis.h"

struct observation {
    struct turn_work *work;
    struct arena *arena;
    struct store_tx *tx;
    struct talk_cache *talk;
    struct intent intent;
    struct analysis analysis; /* of the text without what clew injected */
    struct talk_line turn;
    struct talk_line previous[TALK_PREVIOUS];        /* most recent first */
    struct talk_turn *previous_turns[TALK_PREVIOUS]; /* the same */
    int64_t previous_seq[TALK_PREVIOUS];
    struct intent previous_intent; /* of previous[0] */
    size_t n_previous;
    struct reader_said said;                 /* as a reader sees it */
    struct reader_said before[SENSE_BEFORE]; /* oldest first */
    size_t n_before;
    struct reader_sentence *read;  /* what it says, sentence by sentence */
    struct reader_gist gist;       /* where it lies among turns */
    struct select_turn select;     /* the same, to select from */
    struct select_opening opening; /* what it sets out to get done */
    struct select_opening further[SELECT_MAX_FURTHER]; /* … and what else */
    size_t n_further;
    struct effort_words words; /* of the turn; made when first wanted */
    struct str matter;         /* title of the effort that owns it; or empty */
    const struct sight *sight; /* NULL: the chat has no other branches */
    bool is_told;  /* somebody said what it does: a person, a model asked */
    bool is_later; /* observed before, see understand_again() */
};

/* The observer: understand a user's or an assistant's turn. */
enum clew_status understand_turn(struct turn_work *work,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Somebody says that the turn does this: its sentences do. */
void understand_act(struct observation *o, enum intent_act act,
                    float confidence);
/* Understand a turn that was observed before, for another look at it; what it
 * makes is numbered apart. */
enum clew_status understand_again(struct turn_work *work,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
