/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_alike.h - were two efforts the same problem, ended the same way?
 *
 * By meaning, not by words: vectors of the goal, of how it ended and of both
 * together, and the reader's word on the two as stretches of talk where they
 * leave it open. Vectors of other languages than English lie together whatever
 * is said: there goals must share a word too. The floors were chosen on efforts
 * written for it (docs/quality/episodes.md). Thread-safety: none; inside one
 * transaction function.
 */
#ifndef ENGINE_EFFORT_ALIKE_H
#define ENGINE_EFFORT_ALIKE_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "talk/effort_words.h"

#include <stdbool.h>
#include <stddef.h>

struct batch_work;

/* An effort to compare. */
struct effort_alike {
    struct str goal;
    struct str way; /* how it ended; empty: it has not */
    float *vectors; /* of goal, way, both; of length 1 without what all share */
    size_t dim;
    struct effort_words words; /* of the goal */
    bool is_foreign;           /* not in the language that vectors know */
};

enum clew_status effort_alike_make(struct batch_work *batch, struct str goal,
                                   struct str way, struct effort_alike *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* How near two ended efforts are by their vectors, and how they ended alone;
 * in [-1, 1]. */
double effort_alike_near(const struct effort_alike *a,
                         const struct effort_alike *b);
double effort_alike_way(const struct effort_alike *a,
                        const struct effort_alike *b);
/* How near a goal alone is to efforts that ended, on the mean. */
double effort_alike_goal(const struct effort_alike *goal,
                         const struct effort_alike *ended, size_t n);
/* So near a goal must be to be such a problem. */
#define EFFORT_ALIKE_GOAL 0.22
/* Less near the reader is not asked. */
#define EFFORT_ALIKE_LEAST 0.20

/* Is it the same problem, ended the same way, as all of `ended` (at most
 * EFFORT_ALIKE_MAX)? */
#define EFFORT_ALIKE_MAX 8
enum clew_status effort_alike_is(struct batch_work *batch,
                                 const struct effort_alike *one,
                                 const struct effort_alike *ended, size_t n,
                                 bool *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
