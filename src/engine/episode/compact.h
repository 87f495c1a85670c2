/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.h - an episode gets its summaries.
 *
 * Adds, in one transaction: micro, meso and macro summaries with the turns
 * they come from, the chat's running summary. Removes nothing. Doing it
 * again with no new turns changes nothing.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_COMPACT_H
#define ENGINE_COMPACT_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

struct engine;
struct episode_view;
struct task;

/* Exactly once, with the task marked done. */
#define EPISODE_COMPACT_TASK "episode.compact"
enum clew_status compact_task(struct engine *engine, const struct task *task,
                              struct arena *arena,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* One episode, by hand. Nothing happens if it is gone. */
enum clew_status compact_episode(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* By hand: all of a chat's primary episodes that have new turns; gives the
 * chat's episodes back. CLEW_NOT_FOUND for an unknown chat. */
enum clew_status compact_chat(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *chat_id,
                              struct episode_view **out, size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
