/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - one statement found in a turn, with its subject and entities.
 *
 * A claim cites its words by their byte range. Which type it has, rules on the
 * words decide. Greetings and bare answers ("thanks", "yes please") claim
 * nothing. Long turns give their most telling sentences.
 * Thread-safety: claim_read() is pure; the rest as store.h.
 */
#ifndef ENGINE_CLAIM_H
#define ENGINE_CLAIM_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "text/analysis.h"

#include <stdint.h>

struct store_tx;
struct turn;

/* Sentences of one turn that become claims. */
#define CLAIM_MAX_PER_TURN 8

enum claim_type {
    CLAIM_FACTUAL,
    CLAIM_BELIEF,
    CLAIM_INTENTION,
    CLAIM_ASSESSMENT,
    CLAIM_PREFERENCE,
    CLAIM_CAUSAL,
    CLAIM_QUESTION,
    CLAIM_DECISION,
    CLAIM_EMOTION,
    CLAIM_GOAL,
    CLAIM_VALUE,
    CLAIM_RELATIONSHIP,
    CLAIM_SELF_PERCEPTION,
    CLAIM_HABIT,
    CLAIM_MEMORY_REFERENCE,
    CLAIM_CONCERN,
    CLAIM_LEARNING,
    CLAIM_CHANGE_MARKER,
    CLAIM_HYPOTHETICAL,
    CLAIM_COMMITMENT
};
#define CLAIM_TYPES 20

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

const char *claim_type_name(enum claim_type type);
bool claim_type_parse(struct str name, enum claim_type *out_type);
/* What a sentence is, and whether it is said with a doubt ("maybe"). False on
 * OOM. */
bool claim_type_of(struct arena *arena, const struct analysis *analysis,
                   size_t sentence, enum claim_type *out_type,
                   bool *out_hedged);

/* The claims of a turn, in order; 0 to CLAIM_MAX_PER_TURN. Its place (chat and
 * seq) is not known yet. */
enum clew_status claim_read(struct arena *arena,
                            const struct analysis *analysis,
                            const struct turn *turn, struct claim **out_claims,
                            size_t *out_count,
                            struct clew_error *err) CLEW_MUST_CHECK;

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
