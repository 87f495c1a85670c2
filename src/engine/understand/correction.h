/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correction.h - dialogue acts that people set right.
 *
 * A correction holds for the same words again, whatever their case and
 * punctuation; one given with the turn before holds only after the same act.
 * Only a digest of the words is kept, so there is nothing to forget. Each is an
 * action (action.h) as well, so that a rebuild gives it again at its place.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CORRECTION_H
#define ENGINE_CORRECTION_H

#include "base/arena.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/intent.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/*
 * The act of `text` after `previous` (empty if none), with the tenant's
 * corrections applied; `*out_corrected` tells whether one was.
 */
enum clew_status
correction_intent(struct engine *engine, const struct scope *scope,
                  struct arena *arena, struct str text, struct str previous,
                  struct intent *out_intent, bool *out_corrected,
                  struct clew_error *err) CLEW_MUST_CHECK;

struct intent_pieces;

/* A turn that was read already. */
struct correction_turn {
    const struct intent_pieces *pieces;
    const struct intent *previous; /* of the turn before; NULL if none */
    int64_t stored_at_ms; /* later corrections leave it as it was taken, so that
                             deriving it again gives the same */
};

/*
 * The same inside a transaction: `intent`, decided already, is set right if
 * somebody had said so. `*out_corrected` tells whether it was.
 */
enum clew_status correction_apply(struct store_tx *tx, struct arena *arena,
                                  const struct correction_turn *turn,
                                  struct intent *intent, bool *out_corrected,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/* Remember that `text` does `act`; a later correction replaces an earlier. */
enum clew_status correction_add(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                struct str text, struct str previous,
                                enum intent_act act,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* The keys under which corrections of a text may be kept: of its words alone,
 * and of these after each act. Who has the store can try words against them. */
#define CORRECTION_KEYS (1 + INTENT_ACTS)
struct correction_key {
    unsigned char b[SHA256_SIZE];
};
/* Fails only with CLEW_NO_MEMORY. */
enum clew_status
correction_keys_of(struct arena *arena, struct str text,
                   struct correction_key out[CORRECTION_KEYS]) CLEW_MUST_CHECK;
/* All that are kept, in order. */
enum clew_status correction_list(struct store_tx *tx, struct arena *arena,
                                 struct correction_key **out_keys,
                                 size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Drop one, and the actions that tell of it. */
enum clew_status correction_remove(struct store_tx *tx, struct arena *arena,
                                   const struct correction_key *key,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* Do again what the action ACTION_INTENT_CORRECT tells of. */
enum clew_status correction_again(struct store_tx *tx, const json_t *detail,
                                  int64_t at_ms,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Copy the corrections that no action tells of, from before they did, from one
 * store's transaction to another's. */
enum clew_status correction_seed(struct store_tx *from, struct store_tx *to,
                                 struct arena *arena,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
