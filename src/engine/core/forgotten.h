/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forgotten.h - the names that callers gave to turns that were forgotten.
 *
 * A tombstone names a turn by clew's own id, which is a new one each time an
 * export of another program is imported. So a turn with an external_id leaves a
 * second one, of kind "name": the digest of whose it was and what it was
 * called, under a key of the tenant's that was drawn by chance, so that nobody
 * without that key can try names. Keys are tenant settings; an export carries
 * them with its tombstones, so a tenant may have several. All count.
 *
 * Captured calls have no such name: a client sends all that was said with each.
 * For them stand the digests of their messages, under the same key, and for a
 * user who was forgotten a name that no turn has: what was captured before and
 * stored after says that it was. What people set right about words that went
 * leaves a name, too.
 *
 * What was sent in the millisecond of a forget was sent before it: a forget is
 * answered when that millisecond is over (proof/forget.c).
 * Thread-safety: none; inside one transaction, but for forgotten_ask().
 */
#ifndef ENGINE_FORGOTTEN_H
#define ENGINE_FORGOTTEN_H

#include "base/arena.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct scope;
struct store_tx;

/* As tombstones and exports have it. */
#define FORGOTTEN_KIND "name"

struct forgotten_name {
    struct str user_id;
    struct str external_id;
    int64_t at_ms; /* out: when it was last forgotten; 0: never */
};

/* The external_id that stands for a user as a whole. */
#define FORGOTTEN_USER ((struct str){"", 1})

/* The external_id that stands for a list of messages (engine/call/request.h:
 * request_key(), request_reply_key()). s == NULL without memory. */
struct str forgotten_call_name(struct arena *arena, const struct uuid *key);

/* The same that stands for words which somebody set right, by their digest
 * (understand/correction.h), of nobody in particular: user_id "". */
struct str forgotten_words_name(struct arena *arena,
                                const unsigned char digest[SHA256_SIZE]);

/* Leave the names of the turns, and the calls of the chats, that the scratch
 * table `forget_set` holds. Call while they are there. */
enum clew_status forgotten_leave(struct store_tx *tx, struct arena *arena,
                                 int64_t now_ms,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The user's own alone: what was sent until this moment goes with the user.
 * Call at the end of the transaction. */
enum clew_status forgotten_leave_user(struct store_tx *tx, struct arena *arena,
                                      struct str user_id, int64_t now_ms,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* Those of turns that never came in; each is named once. */
enum clew_status forgotten_leave_names(struct store_tx *tx, struct arena *arena,
                                       const struct forgotten_name *names,
                                       size_t count, int64_t now_ms,
                                       struct clew_error *err) CLEW_MUST_CHECK;
/* Ask ahead (db_ahead()) what forgotten_find() asks first. */
enum clew_status forgotten_ahead(struct store_tx *tx,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Say of each name when it was forgotten. */
enum clew_status forgotten_find(struct store_tx *tx, struct arena *arena,
                                struct forgotten_name *names, size_t count,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_CONFLICT if the user was forgotten at `sent_ms` or later; 0: nothing is
 * asked. For what was on its way. */
enum clew_status forgotten_refuse(struct store_tx *tx, struct arena *arena,
                                  struct str user_id, int64_t sent_ms,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* forgotten_find() of one, in a transaction of its own. */
enum clew_status forgotten_ask(struct engine *engine, const struct scope *scope,
                               struct arena *arena, struct forgotten_name *name,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
