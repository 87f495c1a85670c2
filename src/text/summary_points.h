/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_points.h - what was wanted, found, decided and left open in a talk,
 * or what it began with where nothing was wanted.
 *
 * Sentences of the turns, each with its turn, so that the reader of a summary
 * sees who said it. Decided and open are settled.h's word. Found is what the
 * telling sentences of summarise.h leave when the others are taken out.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_SUMMARY_POINTS_H
#define TEXT_SUMMARY_POINTS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "text/summarise.h"

#include <stddef.h>

#define SUMMARY_MAX_POINTS 4

enum summary_point_kind {
    SUMMARY_BEGAN, /* only where nothing was wanted */
    SUMMARY_WANTED,
    SUMMARY_FOUND,
    SUMMARY_DECIDED,
    SUMMARY_LEFT_OPEN,
};
#define SUMMARY_POINT_KINDS 5

struct summary_point {
    size_t turn;
    struct str text;
};

struct summary_points {
    struct summary_point of[SUMMARY_POINT_KINDS][SUMMARY_MAX_POINTS];
    size_t n[SUMMARY_POINT_KINDS];
};

/* CLEW_NO_MEMORY is the only failure. */
enum clew_status summary_points_of(struct arena *arena,
                                   const struct summary_turn *turns,
                                   size_t count,
                                   struct summary_points *out) CLEW_MUST_CHECK;

#endif
