/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_fit.h - do the rows of an import fit what is there?
 *
 * What verify.h proves of turns, sessions, chats, lineage, references, efforts
 * and claims must hold of rows that came from outside, too. An export has what
 * is pointed at before what points at it, so each call can be asked by itself.
 * The rest is left to verify: that a fork leaves its parent at a turn that
 * exists, for of the two chats the parent may come later; and what a tombstone
 * excuses (updates of chains, decisions on links, gists, traces), for those
 * come last. Nothing is above itself, and what was opened on purpose is of the
 * user of what it is a part of. Lines that were left out are not asked for.
 * Thread-safety: none; in the transaction of the import, after its rows.
 */
#ifndef ENGINE_RESTORE_FIT_H
#define ENGINE_RESTORE_FIT_H

#include "clew/attr.h"
#include "clew/status.h"
#include "engine/proof/restore_internal.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * CLEW_INVALID with "rows[i].field" for the first row that points at nothing,
 * or stands where it cannot.
 */
enum clew_status restore_fit(struct store_tx *tx,
                             const struct restore_work *work,
                             struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Before a claim is written: CLEW_INVALID with "seq" if it is of no turn. Where
 * turns were forgotten it may be of one of those: then it is gone.
 */
enum clew_status restore_fit_claim(struct store_tx *tx,
                                   const struct uuid *chat_id, int64_t seq,
                                   bool *out_is_gone,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
