/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_sense.h - what the reader says of a turn and the chains it may be of.
 *
 * Is what the user says the same matter as a chain's? The turn is compared
 * with two turns of the chain, its last or its first ones, each by its
 * beginning: longer texts cost more and say no more (docs/quality/chains.md).
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHAIN_SENSE_H
#define ENGINE_CHAIN_SENSE_H

#include "engine/topic/chain_change.h"

/* A chain that may be meant. */
struct chain_meant {
    const struct chain *chain;
    bool by_beginning; /* by its first turns instead of its last */
    double same;       /* how likely it is the same matter; < 0: not known */
};

/* The most chains of one question. */
#define CHAIN_MEANT_MAX 4

/* Does the reader decide about this group? It is asked for what a user says
 * in one piece; where there is none, words decide. */
bool chain_sense_has(const struct chain_group *group);
/* Ask about all of them; sets `same`. */
enum clew_status chain_sense(const struct chain_group *group,
                             struct chain_meant *items, size_t n,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Does the turn say that its matter is done with? Its own words, not a phrase
 * that somebody else used, or that is denied or only supposed. */
bool chain_sense_ends(const struct chain_group *group);

#endif
