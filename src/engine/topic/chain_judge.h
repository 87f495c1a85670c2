/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_judge.h - which chain the claims of a turn are about.
 *
 * Words and vectors say how near each open chain is, and what rests that may be
 * meant. Of what a user says the reader (chain_sense.h) then says whether it
 * goes on with the current chain, and if it may not, whether it comes back to
 * one of the few nearest that rest. Nothing is changed: what follows is
 * chain_observe.c's. Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHAIN_JUDGE_H
#define ENGINE_CHAIN_JUDGE_H

#include "engine/topic/chain_change.h"

/* What was found about one group. */
struct chain_verdict {
    struct chain_decision decision;
    double same; /* how likely the current chain is the same matter; < 0:
                    not asked */
    struct chain resting; /* id nil: none near enough */
    double resting_distance;
    double resting_same;
};

enum clew_status chain_judge(const struct chain_group *group,
                             struct chain_verdict *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Distance of the nearest open chain; 1 if there is none. */
double chain_verdict_nearest(const struct chain_verdict *verdict);

#endif
