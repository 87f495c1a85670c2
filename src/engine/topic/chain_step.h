/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_step.h - what a turn did to a chain, and the claims it put there.
 *
 * A row for each decision, found by the turn's place. It keeps what does not
 * follow from the turn: which chain, which sentence tells it, where the claims
 * stand (claim_spans.h). Ids and times follow from the turn.
 * The steps of a chain are found by its blocks: stretches of CHAIN_BLOCK turns
 * of a chat in which it has a step, or has claims since another was merged into
 * it. A block may be there without such a step, never the other way.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHAIN_STEP_H
#define ENGINE_CHAIN_STEP_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/read/claim_read.h"

#include <stdbool.h>
#include <stdint.h>

struct db_rows;
struct engine;
struct store_tx;

#define CHAIN_BLOCK 64
/* Positions of steps that hold one claim whose update is elsewhere: this and
 * the claim's own. */
#define CHAIN_STEP_LOOSE 100000

/* The numbers are stored. */
enum chain_step_kind {
    CHAIN_STEP_CLAIMS = 0, /* claims alone: why is told elsewhere or nowhere */
    CHAIN_STEP_CREATE = 1,
    CHAIN_STEP_BRANCH = 2,
    CHAIN_STEP_BRANCH_ENDED = 3, /* from one that is concluded */
    CHAIN_STEP_CONTINUE = 4,
    CHAIN_STEP_BACK = 5,
    CHAIN_STEP_REVIVE = 6,
    CHAIN_STEP_REPLY = 7,
    CHAIN_STEP_PART = 8,
    CHAIN_STEP_MERGE = 9,
    CHAIN_STEP_CONCLUDE = 10,
    CHAIN_STEP_RESOLVE = 11 /* concluded: its effort is resolved */
};

struct chain_step {
    struct uuid chat_id; /* the turn's place … */
    int64_t seq;
    int64_t position; /* … and which of its steps */
    struct uuid chain_id;
    enum chain_step_kind kind;
    struct str claims;     /* as claim_spans.h writes them; "" if none */
    double distance;       /* in four digits; < 0 if there is none */
    struct str said;       /* the topic that is spoken of */
    struct uuid parent_id; /* nil if none */
    struct uuid moved_to;  /* the chain its claims are in now; nil: its own */
    /* the turn's, where steps are read */
    struct uuid turn_id;
    int64_t created_at_ms;
};

/* --- what is told of a step --- */

/* "extend", "conclude", … */
const char *chain_step_type(enum chain_step_kind kind);
/* `Continues "boats"`; s == NULL on OOM. */
struct str chain_step_reasoning(struct arena *arena, enum chain_step_kind kind,
                                struct str said);
/* The other way; `*out_said` points into the reasoning. False if no step is
 * told so. */
bool chain_step_parse(struct str type, struct str reasoning,
                      enum chain_step_kind *out_kind, struct str *out_said);
/* Its id as an update of the chain. */
struct uuid chain_step_id(int64_t created_at_ms, const struct uuid *turn_id,
                          int64_t position);
/* The ids of its claims, separated by commas; s == NULL on OOM. */
struct str chain_step_claim_ids(struct arena *arena,
                                const struct chain_step *step);

/* --- inside a transaction --- */

/* A rows_fn for a step: of chain_steps u with its turn, turns t. */
#define CHAIN_STEP_COLUMNS                                                     \
    "u.chat_id, u.seq, u.position, u.chain_id, u.kind, u.claims,"              \
    " u.distance, u.said, u.parent_id, u.moved_to, t.id, t.created_at"
bool chain_step_of(struct arena *arena, const struct db_rows *rows, void *item);
enum clew_status chain_step_insert(struct store_tx *tx,
                                   const struct chain_step *step,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* A chain has a step at a place, with claims of `first_at_ms` unless that is
 * 0. */
enum clew_status chain_block_add(struct store_tx *tx, const struct uuid *chain,
                                 const struct uuid *chat_id, int64_t seq,
                                 int64_t first_at_ms,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The updates of a chain that turns made, oldest first, at most `limit`. */
enum clew_status chain_step_list(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chain_id, int64_t limit,
                                 struct chain_step **out, size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The steps that hold a chain's claims, the last first. */
enum clew_status chain_step_list_last(struct store_tx *tx, struct arena *arena,
                                      const struct uuid *chain_id,
                                      int64_t limit, struct chain_step **out,
                                      size_t *out_count,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* Where a chain's first claim stands; CLEW_NOT_FOUND if it has none. */
enum clew_status chain_step_first(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *chain_id,
                                  struct chain_step *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The claims of a chain, oldest first, at most `limit`. */
enum clew_status chain_claims(const struct engine *engine, struct store_tx *tx,
                              struct arena *arena, const struct uuid *chain_id,
                              int64_t limit, struct claim **out_claims,
                              size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* All claims of one chain go to another. */
enum clew_status chain_claims_move(struct store_tx *tx, const struct uuid *from,
                                   const struct uuid *to,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
