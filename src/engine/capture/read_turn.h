/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_turn.h - what a stored turn means: read after it is stored.
 *
 * Storing a turn notes it as unread. A call that stores few turns reads them
 * before it returns; the turns of larger ones, and of captured LLM calls, are
 * read by a task (read_task.h), those of a user and those of a chat in the
 * order of their times. Either way the same function reads them, and each
 * reading is written into the log of actions with its place, so that a rebuild
 * reads in the same order and comes to the same rows.
 *
 * A turn whose reading fails again and again is given up (read_task.h): it does
 * not wait any more, and those after it are read.
 *
 * The reader's work is done before the writer is taken: the observers look
 * ahead (observer.foresee) in a read transaction, and what the reader said is
 * remembered (sense_memo) for the transaction that writes. Where there is no
 * such work, the task reads a few turns a transaction.
 * Thread-safety: safe; turns of one user are read one after another.
 */
#ifndef ENGINE_READ_TURN_H
#define ENGINE_READ_TURN_H

#include "base/arena.h"
#include "base/crew.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/read/sense.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chat;
struct engine;
struct turn;
struct updates;

#define READ_TURN_TASK "turns.read"

/* --- inside a transaction --- */

/* The turn waits to be read. */
enum clew_status read_turn_wait(struct store_tx *tx, const struct turn *turn,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Have what waits read in the background. */
enum clew_status read_turn_later(struct store_tx *tx, struct arena *arena,
                                 int64_t now_ms,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/* What is not read, given up or not, in the order of its times, at most
 * `limit`. */
enum clew_status read_turn_list(struct store_tx *tx, struct arena *arena,
                                int64_t limit, struct uuid **out_ids,
                                size_t *out_count,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* --- whole operations --- */

/*
 * Read the turns of `user_id` that wait, in the order of their times, until
 * those of `turn_ids` are read; what each changed is added to its `updates`,
 * and `chats` are told as they stand then. Where more wait before them than a
 * call should stay for, or reading fails, they are left to the task: they are
 * stored, so whoever stored them need not know.
 */
struct read_turn_now {
    struct str user_id;
    const struct uuid *turn_ids;
    struct updates *const *updates;
    size_t count;
    struct chat *const *chats;
    size_t n_chats;
};
void read_turn_now(struct engine *engine, const struct scope *scope,
                   struct arena *arena, const struct read_turn_now *wanted);
/* Read one turn that is not read; nothing happens if it is. Also how a replay
 * reads (ACTION_READ). `*out_early` (may be NULL): it waits on, for another of
 * its user comes first. */
enum clew_status read_turn(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *turn_id,
                           bool *out_early,
                           struct clew_error *err) CLEW_MUST_CHECK;
/*
 * What the reader says of turns to come, asked side by side: of the turns
 * themselves that is what it will say, and of pairs it mostly is, as they are
 * of what stands already. What the turns before change is asked anew, so no
 * more than a few are looked at.
 */
#define READ_TURN_AHEAD 4
struct read_turn_seen {
    struct uuid turn_id;
    struct arena arena; /* holds what `memo` points to */
    struct sense_memo memo;
};
struct read_turn_ahead {
    struct engine *engine;
    const struct scope *scope;
    struct read_turn_seen turns[READ_TURN_AHEAD];
    size_t count;
    struct crew_job job;
};
/* Take the first READ_TURN_AHEAD of `count` turns, or all, and begin to look at
 * them where `has_helpers`, who do until the end, which does what is left.
 * Where only rules read nobody looks.
 */
void read_turn_look_begin(struct engine *engine, const struct scope *scope,
                          const struct uuid *turn_ids, size_t count,
                          bool has_helpers, struct read_turn_ahead *ahead);
void read_turn_look_end(struct read_turn_ahead *ahead);
/* After its end. */
void read_turn_forget(struct read_turn_ahead *ahead);

/* The same as read_turn() for the first of `count` turns: `*out_passed` of
 * them, one or a few, together while that does not keep others waiting. Of
 * those, `*out_early` wait on. `ahead` may be NULL. Fails only for the first.
 */
enum clew_status read_turn_some(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct uuid *turn_ids, size_t count,
                                const struct read_turn_ahead *ahead,
                                size_t *out_passed, size_t *out_early,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Have the background read what waits in this tenant. */
enum clew_status read_turn_leave(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
