/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - one statement found in a turn, with its subject and entities.
 *
 * A claim cites its words by their byte range. Greetings and bare answers
 * ("thanks", "yes please") claim nothing. Long turns give their most telling
 * sentences. Thread-safety: claim_read() is pure; the rest as store.h.
 */
#ifndef ENGINE_CLAIM_H
#define ENGINE_CLAIM_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/read/claim_read.h"

#include <stdint.h>

struct store_tx;

/* --- inside a transaction --- */

enum clew_status claim_insert(struct store_tx *tx, const struct claim *claim,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The claims of a chain, oldest first, at most `limit`. */
enum clew_status claim_list(struct store_tx *tx, struct arena *arena,
                            const struct uuid *chain_id, int64_t limit,
                            struct claim **out_claims, size_t *out_count,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* All claims of one chain go to another. */
enum clew_status claim_move(struct store_tx *tx, const struct uuid *from,
                            const struct uuid *to,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
