/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch_near.h - earlier notes that a stretch may touch, by meaning.
 *
 * "We switch to OCaml" shares no word with "it is written in Rust". The newest
 * notes of the user are held against each sentence of the stretch by the
 * shipped embedder, which gives the same everywhere: what a model was shown is
 * found again when its answer is replayed.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_STRETCH_NEAR_H
#define ENGINE_STRETCH_NEAR_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>

struct engine;
struct store_tx;
struct stretch;

/* Notes that are compared, the newest of the user's. */
#define STRETCH_COMPARED 200

/* Ids of notes from before the stretch, the nearest first, in the arena. */
enum clew_status stretch_near(struct engine *engine, struct store_tx *tx,
                              struct arena *arena,
                              const struct stretch *stretch,
                              const struct uuid **out, size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
