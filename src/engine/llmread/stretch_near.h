/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch_near.h - earlier notes that a stretch may touch, the likeliest first.
 *
 * "We switch to OCaml" shares no word with "it is written in Rust", and "265"
 * means little by itself. So the newest notes of the user are held against each
 * turn of the stretch twice: by the words they share, the rare ones more, and
 * by the shipped embedder, sentence by sentence. Each turn ranks them by
 * either, and a note is worth its best rank anywhere: one that is nearest to a
 * single turn goes before one that is a little like all of them, however short
 * it is. Both give the same everywhere: what a model was shown is found again
 * when its answer is replayed.
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

/* Notes from before the stretch that held when it began, the nearest first. */
struct stretch_nearest {
    const struct uuid *ids;
    size_t count; /* fewer than STRETCH_COMPARED: all there are */
};

enum clew_status stretch_near(struct engine *engine, struct store_tx *tx,
                              struct arena *arena,
                              const struct stretch *stretch,
                              struct stretch_nearest *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
