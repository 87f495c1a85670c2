/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_read.h - the claims of a turn, and what would join them to a chain.
 *
 * The claims of a turn share one decision, unless a later sentence says itself
 * that the topic changes: then the turn has two parts.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CHAIN_READ_H
#define ENGINE_CHAIN_READ_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/read/chain_vector.h"
#include "engine/read/claim_read.h"
#include "talk/chain_features.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turn;

#define CHAIN_MAX_PARTS 2

/* Sentences that are decided together. */
struct chain_part {
    size_t first; /* its first sentence in the turn */
    struct chain_features features;
    struct claim *claims; /* chat and seq are not known yet */
    size_t n_claims;
    struct str topic; /* the phrase they would give a chain */
    uint32_t topic_words[CHAIN_TOPIC_WORDS];
    size_t n_topic_words;
    bool is_phrase; /* the topic is a noun phrase, not a cut sentence */
};

struct chain_reading {
    struct chain_vector vector; /* of the whole turn */
    bool has_vector;
    struct chain_part *parts;
    size_t n_parts; /* 0 if the turn has no sentence */
};

/* Read a user's or an assistant's turn. */
enum clew_status chain_read(struct arena *arena,
                            const struct analysis *analysis,
                            const struct turn *turn, struct chain_reading *out,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The stems of the words in a slice of the turn's text, as a topic has them. */
size_t chain_read_words(const struct analysis *a, struct str phrase,
                        uint32_t out[CHAIN_TOPIC_WORDS]);
/* Keep the turn's vector too: `vector`, if it is the shipped embedder's, else
 * (NULL) that embedder is asked. */
enum clew_status chain_read_vector(const float *vector, struct str text,
                                   struct chain_reading *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
