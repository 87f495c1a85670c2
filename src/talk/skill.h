/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill.h - what worked again and again: problem, steps, success.
 *
 * Found in the turns of an episode, or of linked chats together: somebody has
 * a problem, is told steps, and says that it worked. What recurs often and
 * cleanly enough becomes a memory of type "skill". Its confidence then follows
 * its use.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_SKILL_H
#define ENGINE_SKILL_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SKILL_MIN_CONFIDENCE 0.7
#define SKILL_MAX_STEPS 12
#define SKILL_MAX_EXAMPLES 5

/* 0.4 x (n - 3) / 47 + 0.6 x the mean of four checks in [0, 1]; the first part
 * lies in [0, 0.4]. */
double skill_confidence(size_t n_sightings, const double checks[4]);
bool skill_is_kept(double confidence);
/* Half what it started with, half how often it worked. */
double skill_after_use(double initial, size_t n_worked, size_t n_used);
/* One more outcome: +0.05 or -0.10, within [0, 1]. */
double skill_after_outcome(double confidence, bool has_worked);
/* x 0.95 for each 30 days it was not used. */
double skill_after_idling(double confidence, int64_t idle_ms);

struct skill_turn {
    const struct analysis *analysis;
    bool is_user;
};

struct skill {
    struct str name;        /* what the problem is about */
    struct str description; /* the problem as it was first put */
    struct str steps[SKILL_MAX_STEPS];
    size_t n_steps;
    struct str success;                  /* how it was said to have worked */
    size_t examples[SKILL_MAX_EXAMPLES]; /* turns that stated the problem */
    size_t n_examples;
    size_t n_sightings;
    double checks[4]; /* stated, told in steps, confirmed, told alike */
    double confidence;
};

/* All recurring patterns (three sightings or more), most often seen first; who
 * calls keeps those that skill_is_kept(). CLEW_NO_MEMORY is the only failure.
 */
enum clew_status skill_find(struct arena *arena, const struct skill_turn *turns,
                            size_t count, struct skill **out_skills,
                            size_t *out_count) CLEW_MUST_CHECK;

#endif
