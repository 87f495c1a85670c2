/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - a turn's life: capture, place, analyse, observe, index, trace.
 *
 * One call stores one or many turns, all or none, and everything derived from
 * them that needs no LLM. When it returns, the turns are durable and can be
 * found. An `external_id` makes it idempotent: the same again gives the first
 * result, with other content it is CLEW_CONFLICT.
 * Thread-safety: safe; turns of one tenant are placed one call after another.
 */
#ifndef ENGINE_CAPTURE_H
#define ENGINE_CAPTURE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/chat.h"
#include "engine/chat/content.h"
#include "engine/chat/turn.h"
#include "engine/core/updates.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct batch_work;
struct engine;
struct reading;

/* A turn as it comes in. Strings are borrowed; s == NULL where not given. */
struct capture_input {
    struct str user_id;
    enum turn_role role;
    struct content content;
    struct str name;
    struct str channel;
    struct str timezone;
    struct str external_id;
    struct uuid chat_id;         /* nil: the boundary rules decide */
    const struct turn *recorded; /* NULL; in a replay the turn as it stands */
    int64_t created_at_ms;       /* CAPTURE_NOW: the clock's */
    /* Nothing is stored of what was forgotten under this external_id. */
    bool unless_forgotten;
    /* Where its user or the chat it names was forgotten after it was sent: is
     * it left out, or is that a conflict? The same for all of a batch. */
    bool may_leave_out;
    int64_t sent_at_ms; /* 0: now */
    /* NULL; else they go to a chat that is made for them and leaves another
     * there, unless nothing of them is new. The same for all of a batch, which
     * names no chat. */
    const struct chat_origin *origin;
};
#define CAPTURE_NOW INT64_MIN

struct capture_result {
    struct turn turn;
    struct chat chat;
    struct updates updates; /* what it changed */
    bool is_repeat;         /* known by its external_id; nothing was stored */
    bool is_forgotten;      /* it was; nothing was stored, and it has no chat */
};

/* A turn with all that follows from the input alone: a fresh id, times, token
 * count, and its text with the secrets starred (redact.h). */
enum clew_status capture_prepare(const struct engine *engine,
                                 struct arena *arena,
                                 const struct capture_input *input,
                                 int64_t now_ms, struct turn *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The part of a turn's life that runs inside a transaction: place, store,
 * index and observe a prepared turn. For callers with a transaction of their
 * own (the linker): they capture_end() inside it and commit_offer() after it.
 * `updates` is reset first, since a transaction may be run again.
 */
enum clew_status capture_live(struct batch_work *work,
                              const struct capture_input *input,
                              struct turn *turn, const struct reading *reading,
                              struct updates *updates,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* Write what the turns of a transaction changed in chats, sessions, chains. */
enum clew_status capture_end(struct batch_work *work,
                             struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Store `count` (1 to LIMIT_BATCH_TURNS) turns in order. `out` holds `count`
 * results, strings in the arena. An error names the turn as "turns[i].field".
 */
enum clew_status capture_turns(struct engine *engine, const struct scope *scope,
                               struct arena *arena,
                               const struct capture_input *inputs, size_t count,
                               struct capture_result *out,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
