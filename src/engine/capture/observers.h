/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observers.h - the line of observers, run in order (core/observer.h).
 *
 * The table is in observers.c: to add an observer, add its row there.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_OBSERVERS_H
#define ENGINE_OBSERVERS_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdint.h>

struct arena;
struct batch_work;
struct session;
struct store_tx;
struct turn_work;
struct uuid;

/* A turn that is being stored. */
enum clew_status observers_turn(struct turn_work *work,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* A turn that will be read, and one that is being read (read_turn.h). */
enum clew_status observers_foresee(struct turn_work *work,
                                   struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status observers_read(struct turn_work *work,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status observers_batch_end(struct batch_work *batch,
                                     struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status
observers_session_ended(struct store_tx *tx, struct arena *arena,
                        const struct session *session, int64_t now_ms,
                        struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status observers_chat_ended(struct store_tx *tx, struct arena *arena,
                                      const struct uuid *chat_id,
                                      int64_t now_ms,
                                      struct clew_error *err) CLEW_MUST_CHECK;

#endif
