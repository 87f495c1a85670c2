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
#include "clew/attr.h"
#include "clew/status.h"

struct engine;
struct task;

#define CHATLINK_ASSESS_TASK "link.assess"
#define CHATLINK_DEADLINE_MS 2000

enum clew_status chatlink_assess_task(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err) CLEW_MUST_CHECK;

#endif
