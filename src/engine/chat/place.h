/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - which chat and which session a turn belongs to.
 *
 * The boundary rules: a chat that is named is used; an explicit channel starts
 * a chat; otherwise silence strictly longer than the timeout does, whatever
 * channel the turn comes by. All of it depends on the turns' own times.
 *
 * A struct place works on one batch inside one transaction: it loads all chats
 * and sessions named in the batch at once, decides turn by turn in memory, and
 * writes each chat and session back once.
 * Thread-safety: none; lives inside one transaction function.
 */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/chat.h"
#include "engine/chat/session.h"
#include "engine/chat/timeout.h"

#include <jansson.h>

struct engine;
struct store_tx;
struct turn;

/* Where a turn is to go, as far as somebody says. */
struct place_wish {
    struct uuid chat_id;         /* nil: the boundary rules decide */
    const struct turn *recorded; /* NULL; in a replay the turn as it stands */
};

/* A chat of the batch and what happened to it. */
struct place_chat {
    struct chat chat;
    struct session session; /* the open one; id nil if there is none */
    bool is_new;            /* made by this batch */
    bool is_dirty;
    bool is_session_new;
    bool is_session_reopened; /* the clock had ended it too early */
    bool is_session_dirty;
    int64_t timeout_ms;   /* of its session, by the last turn placed here */
    bool is_latest;       /* the user's newest implicit chat in the store */
    struct str opened_on; /* explicit channel that opened it in this batch */
};

/* Why a turn went where it went; kept in its trace. */
enum place_rule {
    PLACE_NAMED,    /* the caller named the chat */
    PLACE_EXPLICIT, /* an explicit channel starts a chat */
    PLACE_CONTINUED,
    PLACE_SILENCE, /* silence longer than the timeout */
    PLACE_FIRST,   /* the user's first chat, or the last one was closed */
};

struct placement {
    struct place_chat *slot;
    enum place_rule rule;
    int64_t silence_ms; /* since the chat's last activity; 0 if none */
    int64_t timeout_ms;
    struct session
        ended; /* a session this turn's silence ended; id nil: none */
};

struct place {
    struct engine *engine;
    struct store_tx *tx;
    struct arena *arena;
    struct place_chat **slots;
    size_t n_slots;
    size_t cap_slots;
    struct timeout_user user; /* looked up last, and its own timeout */
};

/* Load what the batch names. CLEW_NOT_FOUND (field "chat_id") for a chat this
 * tenant does not have. */
enum clew_status place_begin(struct place *place, struct engine *engine,
                             struct store_tx *tx, struct arena *arena,
                             const struct uuid *chat_ids, size_t n_chat_ids,
                             struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Find the chat and session of one turn, which is set but for its place, and
 * give it its seq, chat_id and session_id. The batch's turns come in order.
 */
enum clew_status place_turn(struct place *place, const struct place_wish *wish,
                            struct turn *turn, struct placement *out,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Write all chats and sessions that changed. */
enum clew_status place_end(struct place *place,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Why a turn went where it went, for its trace; NULL on OOM. */
json_t *place_trace(const struct placement *placement);
/* The slot of a chat in this batch, or NULL. */
struct place_chat *place_find(struct place *place, const struct uuid *chat_id);

#endif
