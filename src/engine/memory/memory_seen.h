/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_seen.h - memories as they are seen from a chat (chat/sight.h).
 *
 * A memory that only other branches of the chat's conversation tell is hidden
 * from it. An effort is of the chat it was opened in, or parted to; anything
 * else is of every place that says it.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_MEMORY_SEEN_H
#define ENGINE_MEMORY_SEEN_H

#include "engine/chat/sight.h"
#include "engine/memory/memory.h"

/* Which of `memories` the sight does not show; `out_hidden` has room for all.
 */
enum clew_status memory_hide(struct store_tx *tx, struct arena *arena,
                             const struct sight *sight,
                             const struct memory *memories, size_t count,
                             bool *out_hidden,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* The same of one that is known by its id; false if there is no such memory. */
enum clew_status memory_is_hidden(struct store_tx *tx, struct arena *arena,
                                  const struct sight *sight,
                                  const struct uuid *id, bool *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Memories of the conversation that replace others and are hidden: from here
 * they replace nothing. NULL sight: none. */
enum clew_status memory_list_unseen(struct store_tx *tx, struct arena *arena,
                                    const struct sight *sight,
                                    struct uuid **out_ids, size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
