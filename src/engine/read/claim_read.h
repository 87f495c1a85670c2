/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_read.h - the claims of a turn: what its sentences state.
 *
 * claim_spans.h says how they are kept. Thread-safety: pure functions.
 */
#ifndef ENGINE_CLAIM_READ_H
#define ENGINE_CLAIM_READ_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "talk/claim_type.h"
#include "text/analysis.h"

#include <stdint.h>

struct turn;

/* Sentences of one turn that become claims. */
#define CLAIM_MAX_PER_TURN 8
/* How sure a claim is: said plainly, or with a doubt. */
#define CLAIM_SURE 0.8
#define CLAIM_HEDGED 0.5

struct claim {
    struct uuid id;
    struct uuid chain_id;
    struct uuid turn_id;
    struct uuid chat_id;
    int64_t seq;        /* of the turn */
    int64_t position;   /* in the turn, from 0 */
    int64_t first_byte; /* of the turn's text: [first_byte, end_byte) */
    int64_t end_byte;
    size_t sentence; /* of the analysis; not stored */
    enum claim_type type;
    struct str statement;
    struct str subject;
    struct str entities; /* separated by commas, as written */
    struct str keywords; /* separated by commas, stems */
    double confidence;
    int64_t valid_from_ms; /* 0 if nothing is said */
    int64_t created_at_ms;
};

/* The words of a claim: what its range has of the turn's text, less the space
 * around it; a long one is cut. Lives as long as `text`. */
struct str claim_statement(struct str text, int64_t first_byte,
                           int64_t end_byte);

/* Its id, which follows from its turn and its place in it. */
struct uuid claim_id(int64_t created_at_ms, const struct uuid *turn_id,
                     int64_t position);
/* What a sentence says beside its words: subject, entities, keywords and the
 * day it speaks of. False on OOM. */
bool claim_details(struct arena *arena, const struct analysis *analysis,
                   size_t sentence, struct claim *out);
/* The claims of a turn, in order; 0 to CLAIM_MAX_PER_TURN. Its place (chat and
 * seq) is not known yet. */
enum clew_status claim_read(struct arena *arena,
                            const struct analysis *analysis,
                            const struct turn *turn, struct claim **out_claims,
                            size_t *out_count,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
