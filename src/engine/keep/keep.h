/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - the observers (observer.h) that keep what a turn says: facts, events
 * and decisions, and what the user's own packages (agents.h) look for.
 */
#ifndef ENGINE_KEEP_H
#define ENGINE_KEEP_H

#include "clew/attr.h"
#include "clew/status.h"

struct turn_work;

enum clew_status keep_foresee(struct turn_work *work,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status keep_observe(struct turn_work *work,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status agents_observe(struct turn_work *work,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
