/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_fork.h - efforts as a fork sees them, and its own from then on.
 *
 * At its fork point a fork has the efforts of the chats above as they were
 * there, whatever those did later. Nothing is copied until the fork goes on
 * with one, ends it or comes back to it: then it gets a twin of its own, with
 * the turns up to the fork point, and from there on each side has its own end.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_EFFORT_FORK_H
#define ENGINE_EFFORT_FORK_H

#include "engine/chat/sight.h"
#include "engine/effort/effort.h"

struct chat;

/*
 * As effort_list(), for a chat that may be a fork: those of the chats above are
 * marked `is_shared`, with what else changes as it was at the fork point:
 * status, resolution, outcome, state, `first_seq` and `last_seq`. One with a
 * twin here is told by its twin. `now_seq` is the newest turn there is.
 */
enum clew_status effort_list_line(struct store_tx *tx, struct arena *arena,
                                  const struct chat *chat, int64_t now_seq,
                                  bool with_closed, struct effort **out_efforts,
                                  size_t *out_count,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* As effort_attempts(), with those of the effort it is the twin of, as far as
 * they can be seen. */
enum clew_status effort_attempts_line(struct store_tx *tx, struct arena *arena,
                                      const struct sight *sight,
                                      const struct effort *effort,
                                      struct effort **out_efforts,
                                      size_t *out_count,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* Change a memory of an effort into what it was where the sight begins; the
 * outcome it had then goes to `out_outcome`. */
enum clew_status effort_as_of(struct arena *arena, const struct sight *sight,
                              struct memory *memory, struct str *out_outcome,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The part of a reference that lies in the line; false if none does. */
bool effort_clip(const struct sight *sight, struct memory_ref *ref);
/*
 * Make a shared effort the chat's own (effort_twin.c): `effort` becomes the
 * twin. Does nothing to one that is not shared.
 */
enum clew_status effort_part(struct batch_work *batch, const struct chat *chat,
                             struct effort *effort,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
