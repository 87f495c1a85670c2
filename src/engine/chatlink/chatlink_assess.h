/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_assess.h - what a language model thinks of a link: path B.
 *
 * CHATLINK_ASSESS_TASK shows the model the earlier chat's summary and last
 * turns and the new messages, and settles the decision of both paths. An
 * answer that is late, broken or refused is as good as absent: the algorithm's
 * decision stands.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_CHATLINK_ASSESS_H
#define ENGINE_CHATLINK_ASSESS_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

struct batch_work;
struct engine;
struct task;

#define CHATLINK_ASSESS_TASK "link.assess"
#define CHATLINK_DEADLINE_MS 2000

/* Ask about a decision that the turn `seq` led to. Nothing happens without a
 * model, or where it reads whole chats and says it of their beginning
 * (chatlink_told.h). */
enum clew_status chatlink_assess_later(struct batch_work *batch,
                                       const struct uuid *link_id, int64_t seq,
                                       int64_t now_ms,
                                       struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chatlink_assess_task(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err) CLEW_MUST_CHECK;

#endif
