/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink.h - does this chat go on with an earlier one?
 *
 * On the first turns of a chat the user's earlier chats are scored
 * (chatlink_score.h); above the threshold both chats join a cross_chat
 * episode. Every decision is recorded, and the turns after it tell how it went.
 * With a reader a task compares what was said (chatlink_read.h), and may see
 * what words do not show.
 * With an LLM configured a task asks it as well and may change the decision
 * later; the turn does not wait.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHATLINK_H
#define ENGINE_CHATLINK_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

struct batch_work;
struct chat;
struct chat_profile;
struct chatlink_decision;
struct chatlink_turn;
struct chatlink_update;
struct engine;
struct reading;
struct turn;
struct turn_work;
struct updates;

/* Turns of a new chat that may still link it. */
#define CHATLINK_TURNS 6

/* Ask ahead (db_ahead()) what chatlink_observe() will ask first. */
enum clew_status chatlink_ahead(struct turn_work *work,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* A turn's step. */
enum clew_status chatlink_observe(struct turn_work *work,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* When the turn is read, after its topics: linked, and the next thing said is
 * about something else, so the link was wrong. */
enum clew_status chatlink_left(struct turn_work *work,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* After the last turn: write the profiles that changed, once each. */
enum clew_status chatlink_finish(struct batch_work *batch,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Does this turn of a chat count in its profile? */
bool chatlink_is_looked_at(const struct chat *chat, const struct turn *turn);
/* The profile after one more such turn; `out_seen` is what it brought. */
enum clew_status chatlink_grow(const struct engine *engine, struct arena *arena,
                               const struct turn *turn,
                               const struct reading *reading,
                               struct chat_profile *profile,
                               struct chatlink_turn *out_seen,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Carry out what was decided later: join or part the chats. */
enum clew_status chatlink_apply(struct batch_work *batch,
                                const struct chatlink_decision *decision,
                                bool was_link, int64_t now_ms,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* Does it say that the chats belong together? */
bool chatlink_is_told(const struct chatlink_update *told);
/* Where no link is told any more, neither is an episode over several chats: it
 * comes of links alone. */
void chatlink_untell_joined(struct updates *updates);

#endif
