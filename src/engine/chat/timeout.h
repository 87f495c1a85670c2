/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeout.h - how long a silence ends a session, and on an implicit channel a
 * chat.
 *
 * The chat's own minutes win, then the user's, then the channel's, then
 * "chats.inactivity_minutes". What a user is given is an action of the log.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_TIMEOUT_H
#define ENGINE_TIMEOUT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct chat;
struct engine;

/* A year; longer silences are no setting but "never". */
#define TIMEOUT_MAX_MINUTES 525600

struct timeout_user {
    struct str user_id;
    int64_t minutes; /* 0: none of their own */
    bool is_known;   /* has a row */
};

/* --- inside a transaction --- */

enum clew_status timeout_user_find(struct store_tx *tx, struct str user_id,
                                   struct timeout_user *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Make the user's row on first sight; nothing happens if it is there. */
enum clew_status timeout_user_insert(struct store_tx *tx, struct str user_id,
                                     int64_t created_at_ms,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* For a turn of this chat that comes by `channel`. */
int64_t timeout_of_turn_ms(const struct engine *engine, const struct chat *chat,
                           struct str channel);
/* By the clock, when nobody knows which channel would come next: the longest
 * of the channels the chat has. */
int64_t timeout_of_chat_ms(const struct engine *engine,
                           const struct chat *chat);

/* --- whole operations --- */

/* Give a user minutes of their own; 0 takes them back. Users may be given some
 * before they speak. */
enum clew_status timeout_user_set(struct engine *engine,
                                  const struct scope *scope, struct str user_id,
                                  int64_t minutes,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Forget what a user was given, for forget.h. */
enum clew_status timeout_user_forget(struct store_tx *tx, struct str user_id,
                                     struct clew_error *err) CLEW_MUST_CHECK;

#endif
