/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe_desk.h - what observing keeps from turn to turn of a batch.
 *
 * For each chat: the turns before, and the efforts in view. Read from the
 * store once, then kept up to date by the turns that pass, so that a turn in
 * a batch costs no query that its neighbour has made. All of it is as the
 * store would give it; it ends with the transaction.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_OBSERVE_DESK_H
#define ENGINE_OBSERVE_DESK_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/effort.h"
#include "engine/effort_words.h"
#include "engine/extract.h"
#include "engine/work.h"
#include "model/intent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far back a turn can refer: an accepted answer, its question. */
#define OBSERVE_PREVIOUS 13
/* Texts whose words are remembered. */
#define OBSERVE_WORDS 64

/* A turn that stands before the one observed. */
struct desk_turn {
    int64_t seq;
    struct str text; /* its head, without what clew injected */
    struct str speaker;
    enum extract_role role; /* EXTRACT_OTHER: not part of the talk */
    int64_t time_ms;
    struct str timezone;
    bool has_corrections; /* when it was read, the tenant had some */
    bool is_read;         /* `intent` is made */
    struct intent_reading intent;
};

/* The words of a text, known by its place in memory. */
struct desk_words {
    struct str text;
    struct effort_words words;
};

struct desk_chat {
    struct uuid chat_id;
    bool is_fork; /* reads its parents too: never kept */
    bool has_turns;
    bool may_be_corrected; /* the tenant has corrections */
    bool has_asked;        /* … which the turns before told */
    struct desk_turn turns[OBSERVE_PREVIOUS]; /* most recent first */
    size_t n_turns;
    bool has_efforts;
    struct effort *efforts; /* as effort_list() orders them */
    size_t n_efforts;
    struct desk_words words[OBSERVE_WORDS];
    size_t n_words;
    struct desk_chat *next;
};

/* Ask ahead (db_ahead()) for the turns before and the efforts in view. */
enum clew_status desk_ahead(struct turn_work *work,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The chat of a turn, its turns before loaded. */
enum clew_status desk_enter(struct turn_work *work, struct desk_chat **out_chat,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The turn is one of those before now. */
enum clew_status desk_leave(struct turn_work *work,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* The reading of a turn before, made when it is first asked for. */
enum clew_status desk_intent(struct arena *arena, struct desk_turn *turn,
                             const struct intent_reading **out,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* The efforts in view; changes to the items are seen by the next turn. */
enum clew_status desk_efforts(struct turn_work *work, struct desk_chat *chat,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The words of a text that lives as long as the batch, found once. */
enum clew_status desk_words(struct arena *arena, struct desk_chat *chat,
                            struct str text, struct effort_words *out,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* An effort came or went: read them again. */
void desk_forget_efforts(struct desk_chat *chat);

#endif
