/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - a work period inside a chat.
 *
 * A chat has at most one open session. Silence longer than the timeout
 * (timeout.h) ends it, as does an explicit end; the next turn opens another.
 * Silence is over when a turn comes, or when the clock says so: each open
 * session has a task that is due then (SESSION_TIMEOUT_TASK). A session that
 * silence ended is over since its last word; one that the clock ended before a
 * turn of the past was told opens again.
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

#include <stdbool.h>
#include <stddef.h>
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

/* Ends a session nobody goes on with; capture/close.h does it. */
#define SESSION_TIMEOUT_TASK "session.timeout"
/* Sums up one that has ended; episode/session_sum.h does it. */
#define SESSION_SUM_TASK "generate_session_summary"
/* Turns of the past come one after the other: what is over by their times gets
 * this long to go on before it is ended. */
#define SESSION_GRACE_MS 2000LL

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
/* The chat's session with the latest word; CLEW_NOT_FOUND if it has none. */
enum clew_status session_find_last(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_id,
                                   struct session *out_session,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Did silence end it, not a person? */
enum clew_status session_is_timed_out(struct store_tx *tx,
                                      const struct session *session,
                                      bool *out_is,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* When to look after an open session whose silence is over at `over_ms`. */
int64_t session_watch_at_ms(int64_t over_ms, int64_t now_ms);
/* Look after it then. */
enum clew_status session_watch(struct store_tx *tx, struct arena *arena,
                               const struct session *session, int64_t over_ms,
                               int64_t now_ms,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status session_insert(struct store_tx *tx,
                                const struct session *session,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Write back last activity and end. */
enum clew_status session_update(struct store_tx *tx,
                                const struct session *session,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* --- whole operations (session_end(): capture/close.h) --- */

/* A session with its summary (s == NULL before it has one). */
struct session_view {
    struct session session;
    struct str summary;
};
/* Those of a chat, the first first; at most 500 after `after_ms`. */
enum clew_status session_list(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *chat_id,
                              int64_t after_ms, const struct uuid *after_id,
                              int64_t limit, struct session_view **out,
                              size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* When a server starts: open sessions that a clew left without a task get
 * theirs. */
enum clew_status session_resume(struct engine *engine, struct arena *arena,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
