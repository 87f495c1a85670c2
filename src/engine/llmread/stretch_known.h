/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch_known.h - the efforts and notes that a model is shown beside turns.
 *
 * A model can only name what it was shown. So with the guesses of the turns
 * themselves come the earlier notes that they may overturn: those drawn from
 * turns that the shown efforts cite, then all others of the user by how much
 * they are like one of the turns (stretch_near.h), as far as they fit. Where
 * the user has few notes, all fit; what is cut is the least alike.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_LLMREAD_STRETCH_KNOWN_H
#define ENGINE_LLMREAD_STRETCH_KNOWN_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

struct engine;
struct store_tx;
struct stretch;

/* Load `efforts` and `notes` of a stretch whose turns are loaded. */
enum clew_status stretch_load_known(struct engine *engine, struct store_tx *tx,
                                    struct arena *arena,
                                    struct stretch *stretch,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
