/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill.h - what worked again and again: how sure it is, and its steps.
 *
 * Efforts that were resolved the same way make a skill
 * (engine/effort/effort_skill.h); here is what needs no rows: its confidence,
 * which follows its use, and the steps that a text tells.
 * Thread-safety: pure functions.
 */
#ifndef TALK_SKILL_H
#define TALK_SKILL_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many efforts make one. */
#define SKILL_MIN_SIGHTINGS 3
#define SKILL_MAX_STEPS 12
/* Sightings that are told in full; the others are counted. */
#define SKILL_MAX_EXAMPLES 5
/* One that is less sure is not offered any more. */
#define SKILL_OFFERED_AT 0.2

/* What a sighting is worth: the problem stated, told in steps, confirmed, told
 * like the others; each in [0, 1]. */
#define SKILL_CHECKS 4
/* 0.4 x (n - 3) / 47 + 0.6 x the mean of the checks; the first part lies in
 * [0, 0.4]. */
double skill_confidence(size_t n_sightings, const double checks[SKILL_CHECKS]);
/* Half what it started with, half how often it worked. */
double skill_after_use(double initial, size_t n_worked, size_t n_used);
/* One more outcome: +0.05 or -0.10, within [0, 1]. */
double skill_after_outcome(double confidence, bool has_worked);
/* x 0.95 for each 30 days it was not used. */
double skill_after_idling(double confidence, int64_t idle_ms);

/* The items of the list that a text holds, in order, without their numbers or
 * bullets: slices of the text. Fewer than two are no list: 0. */
size_t skill_steps(struct str text, struct str out[SKILL_MAX_STEPS]);

#endif
