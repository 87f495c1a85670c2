/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_sum.h - what came of a session, in sentences with who said them.
 *
 * What was wanted, found, decided and left open, from the session's turns
 * (text/summary_points.h) and the efforts and decisions drawn from them.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_SESSION_SUM_H
#define ENGINE_SESSION_SUM_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

struct engine;
struct task;

/* SESSION_SUM_TASK (chat/session.h). Waits while turns of the chat are not read
 * yet: what they mean belongs in it. */
enum clew_status session_sum_task(struct engine *engine,
                                  const struct task *task, struct arena *arena,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
