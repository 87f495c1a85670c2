/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_skill.h - what worked for efforts before: learnt, offered, tracked.
 *
 * Three or more efforts of a user that were the same problem and were resolved
 * the same way (effort_alike.h) make a memory of type "skill" with the steps
 * that worked. A like effort that opens is offered it ("skill_id" in its
 * fields); how that effort ends is the skill's outcome: worked if it was
 * resolved that way, failed if it was given up, neither if something else
 * helped. Ids and times follow from the efforts.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_EFFORT_SKILL_H
#define ENGINE_EFFORT_SKILL_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/memory/memory.h"
#include "talk/skill.h"

#include <stdbool.h>

struct batch_work;

/* An effort that is about to be stored: find the skill for it, if there is
 * one, and note it in the effort's fields. `out_skill`: of id nil if none. */
enum clew_status effort_skill_offer(struct batch_work *batch,
                                    struct memory *effort,
                                    struct memory *out_skill,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* An effort whose status, resolution and time are set and about to be
 * written: learn from it, and count what became of the skill it was offered
 * (in its fields, which change). */
enum clew_status effort_skill_end(struct batch_work *batch,
                                  struct memory *effort,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The skill an effort was offered; CLEW_NOT_FOUND if none, or it is gone. */
enum clew_status effort_skill_of(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *effort_id,
                                 struct memory *out_skill,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/* The steps that ended an effort: the list that was told last after what
 * failed, else how it ended. In the arena. (effort_steps.c) */
struct effort_steps {
    struct str items[SKILL_MAX_STEPS];
    size_t count;
    bool is_list;
};
enum clew_status effort_steps_of(struct batch_work *batch,
                                 const struct uuid *effort_id, struct str way,
                                 struct effort_steps *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
