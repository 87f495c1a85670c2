/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earlier.h - the earlier chats that are shown beside a chat's first stretch.
 *
 * The model says which of them the chat goes on with. They are known to it by
 * labels made of what their first turn says, and when; to a replay by their
 * ids, which stand in the action: who is near changes, what was shown does not.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_LLMREAD_EARLIER_H
#define ENGINE_LLMREAD_EARLIER_H

#include "base/arena.h"
#include "base/json.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stddef.h>

struct engine;
struct stretch;
struct stretch_chat;

/* Show the chats that this one may go on with, those that ended first before
 * the others; none unless it is a chat's first stretch (after_seq 0). */
enum clew_status earlier_load(struct engine *engine, struct store_tx *tx,
                              struct arena *arena, int64_t after_seq,
                              struct stretch *stretch,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Of those that were shown, in the stretch loaded anew: what was not forgotten
 * meanwhile. */
enum clew_status earlier_stand(struct store_tx *tx, struct arena *arena,
                               const struct stretch_chat *shown, size_t count,
                               struct stretch *stretch,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The same by their ids, for a replay; `ids` is the list of an action. */
enum clew_status earlier_again(struct store_tx *tx, struct arena *arena,
                               const json_t *ids, struct stretch *stretch,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The ids of those shown, as a list; NULL without memory. */
json_t *earlier_ids(const struct stretch *stretch);

#endif
