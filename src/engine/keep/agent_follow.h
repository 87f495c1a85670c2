/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_follow.h - what a turn does to the artifact of a package.
 *
 * Either side of a talk gives values: the user, and the assistant while an
 * artifact is open. Only the user opens and concludes one. Beside the values,
 * AGENT_FROM in the same object tells of each field which turn it is from. A
 * value of the assistant's that the user refuses next is taken back, and it
 * never stands in place of what the user said.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_AGENT_FOLLOW_H
#define ENGINE_AGENT_FOLLOW_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/keep/agents.h"
#include "model/reader.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stdint.h>

/* No field has this name: theirs begin with a letter. */
#define AGENT_FROM "_from"

/* A turn as packages see it. Slices are borrowed. */
struct agent_said {
    struct str text;
    const struct intent *intent;
    const struct analysis *analysis;    /* NULL: was not made */
    const struct reader_sentence *read; /* of its sentences; NULL: was not */
    int64_t seq;
    bool is_user;
};

struct agent_news {
    enum agent_step step; /* AGENT_NONE: nothing happened */
    struct str first;     /* the first value the turn gave; or empty */
    bool is_incomplete;   /* concluded, and something required is missing */
};

/*
 * Bring `fields` (an object; empty before one is open) up to what is known
 * after `turn`. `before` is the turn of the talk before it, or NULL. Fails
 * only with CLEW_NO_MEMORY.
 */
enum clew_status agent_follow(struct arena *arena, const struct agent *agent,
                              const struct agent_said *turn,
                              const struct agent_said *before, bool is_open,
                              json_t *fields,
                              struct agent_news *out) CLEW_MUST_CHECK;

/* The value of a field, NULL while it is still asked for. */
const json_t *agent_field_value(const struct agent_field *field,
                                const json_t *fields);

#endif
