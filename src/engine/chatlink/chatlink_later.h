/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_later.h - work on links that a turn asks for and others do: what the
 * reader says of its chat (chatlink_read.h), what a language model says of a
 * decision (chatlink_assess.h).
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHATLINK_LATER_H
#define ENGINE_CHATLINK_LATER_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

struct batch_work;
struct store_tx;

/* A turn asks for its chat to be read when it is stored. In a transaction, like
 * the next. */
enum clew_status chatlink_read_later(struct batch_work *batch,
                                     const struct uuid *chat_id, int64_t seq,
                                     int64_t now_ms,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* The turn `seq` of a chat is read, or will never be, so what it asked for is
 * due at `at_ms`; `*out_found`: it asked. */
enum clew_status chatlink_read_wake(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *chat_id, int64_t seq,
                                    int64_t at_ms, bool *out_found,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* How long what the turn `seq` asked for must wait, 0: not at all. The turn is
 * read first, and what an earlier one asked for is done first: with several
 * workers what was said of one turn could come after what was said of five, and
 * stand. */
enum clew_status chatlink_read_wait(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *chat_id, int64_t seq,
                                    int64_t now_ms, int64_t *out_ms,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Ask about a decision that the turn `seq` led to. Nothing happens without a
 * model, or where it reads whole chats and says it of their beginning
 * (chatlink_told.h). */
enum clew_status chatlink_assess_later(struct batch_work *batch,
                                       const struct uuid *link_id, int64_t seq,
                                       int64_t now_ms,
                                       struct clew_error *err) CLEW_MUST_CHECK;

#endif
