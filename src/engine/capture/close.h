/* SPDX-License-Identifier: Apache-2.0 */
/*
 * close.h - a session or a chat is ended, by hand or by the clock, and the
 * observers are told.
 * Thread-safety: as engine.h.
 */
#ifndef ENGINE_CLOSE_H
#define ENGINE_CLOSE_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

struct chat;
struct engine;
struct session;
struct task;

/* End a session now; ending an ended one changes nothing. */
enum clew_status session_end(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             struct session *out_session,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* The task SESSION_TIMEOUT_TASK (session.h): end a session whose silence is
 * over, as of its last word; look again later if somebody spoke since. */
enum clew_status session_timeout_task(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* End a chat by hand; closing a closed one changes nothing. */
enum clew_status chat_close(struct engine *engine, const struct scope *scope,
                            struct arena *arena, const struct uuid *id,
                            struct chat *out_chat,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
