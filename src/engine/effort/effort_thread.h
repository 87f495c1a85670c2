/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_thread.h - an effort as a context to work in: spawn, write, collapse.
 *
 * A spawned effort has a chat of its own (its thread). Turns written there are
 * ordinary turns; its context is the goal, what it is part of, and those turns.
 * Collapsing ends it and leaves a summary of about a hundred tokens where it
 * came from. What a person or program does here is an action, not derived.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_EFFORT_THREAD_H
#define ENGINE_EFFORT_THREAD_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/effort/effort.h"
#include "store/store.h"

struct engine;

struct effort_spawn {
    struct str user_id;
    struct str goal;
    struct uuid chat_id;   /* where its result goes, one that the user speaks
                              in; nil: its own thread */
    struct uuid parent_id; /* the user's effort it is a step of; nil if none */
    int64_t sent_at_ms;    /* forgotten_refuse() */
};

/* CLEW_NOT_FOUND for an unknown chat or parent, CLEW_INVALID with the field for
 * another user's. */
enum clew_status effort_spawn(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct effort_spawn *input,
                              struct effort *out_effort,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_get(struct engine *engine, const struct scope *scope,
                            struct arena *arena, const struct uuid *id,
                            struct effort *out_effort,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Efforts of a chat, or of a user if `chat_id` is nil; closed ones too if
 * asked for. */
enum clew_status effort_list_all(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *chat_id, struct str user_id,
                                 bool with_closed, struct effort **out_efforts,
                                 size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Put the effort's turns out of view. A spawned one that is open is closed:
 * found (also if it is empty) resolves it, failed and given_up abandon it; the
 * resolution says what was found, or why not. One that is closed already is
 * closed so if something is said here. CLEW_INVALID with the field for another
 * outcome, or for one of an effort that was not spawned.
 */
struct effort_ending {
    struct str resolution; /* s == NULL: what the last answer says */
    struct str outcome;    /* s == NULL: found */
};
enum clew_status effort_collapse(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id,
                                 const struct effort_ending *ending,
                                 struct effort *out_effort,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Put its turns in view until three turns pass without a reference. */
enum clew_status effort_expand(struct engine *engine, const struct scope *scope,
                               struct arena *arena, const struct uuid *id,
                               struct effort *out_effort,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
