/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_type.h - what kind of statement a sentence is, by its phrases.
 *
 * Thread-safety: pure functions.
 */
#ifndef TALK_CLAIM_TYPE_H
#define TALK_CLAIM_TYPE_H

#include "base/arena.h"
#include "base/str.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stddef.h>

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

const char *claim_type_name(enum claim_type type);
bool claim_type_parse(struct str name, enum claim_type *out_type);
/* What a sentence is, and whether it is said with a doubt ("maybe"). False on
 * OOM. */
bool claim_type_of(struct arena *arena, const struct analysis *analysis,
                   size_t sentence, enum claim_type *out_type,
                   bool *out_hedged);

#endif
