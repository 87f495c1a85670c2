/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_read.h - does the reader see one matter in two chats?
 *
 * The task "link.read" holds how a chat begins against stretches of its user's
 * earlier chats, those with an id of the caller's too, and joins what is one
 * matter; a link that words alone suggested and the reader does not see is
 * undone. What a person or a language model said of a link stands.
 *
 * A turn that is stored asks for it, and whoever reads the turn then has it
 * done (chatlink_later.h): it sees what was told up to that turn, whatever
 * came since, so that a batch is joined as its turns would be one by one. What
 * goes on in several chats at once is joined by words as they stand.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHATLINK_READ_H
#define ENGINE_CHATLINK_READ_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

struct engine;
struct scope;
struct task;
struct updates;

#define CHATLINK_READ_TASK "link.read"
#define CHATLINK_READ_PRIORITY 10
/* So often is looked whether the turn still waits to be read. */
#define CHATLINK_READ_WAIT_MS (60 * 60 * 1000LL)
/* … and so often whether the work that an earlier turn asked for is done. */
#define CHATLINK_READ_BEHIND_MS 100

/* Payload: chat_id. Without a reader nothing is done. */
enum clew_status chatlink_read_task(struct engine *engine,
                                    const struct task *task,
                                    struct arena *arena,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/* Before a call returns: links that words have just made and that the reader
 * does not see at all are told as none; the task undoes them in the store. */
enum clew_status chatlink_read_told(struct engine *engine,
                                    const struct scope *scope,
                                    struct arena *arena,
                                    struct updates *updates,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
