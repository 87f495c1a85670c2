/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observer.h - what looks at every turn that is stored.
 *
 * An observer derives something from turns: topics, efforts, memories,
 * episodes, links between chats. The table of all of them, in the order they
 * run, is capture/observers.c; nothing else in a turn's life names one, so
 * that adding an observer is one row there. docs/decisions/0013 says what the
 * order depends on.
 *
 * Each function runs inside the transaction that stores the turn: it may read
 * and write through the batch's `tx`, must use the turn's own time and derived
 * ids (uuid_derive), and must be able to run again from the start. Any of them
 * may be NULL.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_OBSERVER_H
#define ENGINE_OBSERVER_H

#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct batch_work;
struct session;
struct store_tx;
struct turn_work;
struct uuid;

struct observer {
    const char *name;
    /* Looks at turns when they are read (capture/read_turn.h), one turn a
     * transaction; else when they are stored. */
    bool is_reader;
    /* Ask the reader what `turn` will ask it, before the writer is taken: in a
     * read transaction, changing nothing. For readers only. */
    enum clew_status (*foresee)(struct turn_work *work, struct clew_error *err);
    /* Ask (db_ahead()) for what `turn` will ask first. All observers' questions
     * go to the database together, before any of them changes anything. */
    enum clew_status (*ahead)(struct turn_work *work, struct clew_error *err);
    /* Look at one turn, stored already. */
    enum clew_status (*turn)(struct turn_work *work, struct clew_error *err);
    /* After the last turn of a transaction: write back what is kept. */
    enum clew_status (*batch_end)(struct batch_work *batch,
                                  struct clew_error *err);
    /* A session was ended by the clock or by hand, a chat by hand. (A session
     * whose silence a turn breaks is seen by that turn: placement.ended.) */
    enum clew_status (*session_ended)(struct store_tx *tx, struct arena *arena,
                                      const struct session *session,
                                      int64_t now_ms, struct clew_error *err);
    enum clew_status (*chat_ended)(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_id, int64_t now_ms,
                                   struct clew_error *err);
};

#endif
