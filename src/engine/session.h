/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - a work period inside a chat.
 *
 * A chat has at most one open session. Silence longer than the chat's timeout
 * ends it, as does an explicit end; the next turn opens another.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdint.h>

struct engine;

struct session {
    struct uuid id;
    struct uuid chat_id;
    struct str user_id;
    int64_t started_at_ms;
    int64_t last_activity_at_ms;
    int64_t ended_at_ms; /* 0 while open */
};

/* --- inside a transaction --- */

/* The open sessions of these chats. */
enum clew_status session_find_open(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_ids, size_t count,
                                   struct session **out_sessions,
                                   size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status session_find(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id,
                              struct session *out_session,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status session_insert(struct store_tx *tx,
                                const struct session *session,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Write back last activity and end. */
enum clew_status session_update(struct store_tx *tx,
                                const struct session *session,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* --- whole operations --- */

/* End a session now; ending an ended one changes nothing. */
enum clew_status session_end(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             struct session *out_session,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
