/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_spans.h - the claims of a turn as they are kept: places in its text.
 *
 * "0+38a40+12G" are two claims: bytes [0, 38), a fact, and [40, 52), a question
 * that is asked with a doubt. The letter is the type's number (claim_type.h),
 * a large one where the claim is hedged. A claim has the position after the one
 * before it, the first has 0; where that is not so it stands in front:
 * "3:61+9a". What else there is to a claim is read from the turn again.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CLAIM_SPANS_H
#define ENGINE_CLAIM_SPANS_H

#include "base/buf.h"
#include "engine/read/claim_read.h"

struct engine;

/* Append what is kept of claims, which stand in the order of their positions.
 */
enum clew_status claim_spans_write(const struct claim *claims, size_t count,
                                   struct buf *out) CLEW_MUST_CHECK;
/* Type, confidence and the numbers of each claim; the rest is zero. What does
 * not read ends the list. False on OOM. */
bool claim_spans_read(struct arena *arena, struct str spans,
                      struct claim **out_claims,
                      size_t *out_count) CLEW_MUST_CHECK;
size_t claim_spans_count(struct str spans);

/*
 * The rest of claims that were read, from the turn they are of: ids, words,
 * times. Chain, chat and seq are the caller's; statements live as long as the
 * turn's text. `turn` needs id, name, text, timezone and created_at_ms.
 */
enum clew_status claim_spans_fill(const struct engine *engine,
                                  struct arena *arena, const struct turn *turn,
                                  struct claim *claims, size_t count,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
