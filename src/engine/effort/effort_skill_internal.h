/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_skill_internal.h - what the files of effort_skill.h share.
 */
#ifndef ENGINE_EFFORT_SKILL_INTERNAL_H
#define ENGINE_EFFORT_SKILL_INTERNAL_H

#include "base/json.h"
#include "engine/core/work.h"
#include "engine/effort/effort_alike.h"
#include "engine/effort/effort_skill.h"
#include "engine/memory/skill_fields.h"

/* The effort's fields to read or change, an object whatever was there; NULL
 * without memory. A number in them. */
json_t *effort_skill_fields(const struct memory *effort);
double effort_skill_number(const struct memory *effort, const char *name,
                           double fallback);
/* Skills of a user, newest first, those taken back too. */
enum clew_status effort_skill_list(struct batch_work *batch, struct str user_id,
                                   struct memory **out, size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* The efforts a skill tells of, to compare with; room for all of them. */
enum clew_status effort_skill_examples(struct batch_work *batch,
                                       const struct skill_sheet *sheet,
                                       struct effort_alike *out,
                                       struct clew_error *err) CLEW_MUST_CHECK;
/* The skill that a resolved effort belongs to, known or made now; nil if none
 * (effort_learn.c). The effort is not yet written. */
enum clew_status effort_skill_learn(struct batch_work *batch,
                                    const struct memory *effort,
                                    struct uuid *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
