/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_sense.h - what the reader says of a turn and the chains it may be of.
 *
 * Does what the user says go on with the talk? The reading of the turn says so.
 * Is it the matter of a chain that rests? The turn is compared with the chain's
 * first two turns, each by its beginning: longer texts cost more and say no
 * more (docs/quality/chains.md).
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHAIN_SENSE_H
#define ENGINE_CHAIN_SENSE_H

#include "engine/topic/chain_change.h"

/* A chain that may be meant. */
struct chain_meant {
    const struct chain *chain;
    double same; /* how likely it is the same matter; < 0: not known */
};

/* The most chains of one question. */
#define CHAIN_MEANT_MAX 4

/* Does the reader decide about this group? It is asked for what a user says
 * in one piece; where there is none, words decide. */
bool chain_sense_has(const struct chain_group *group);
/* How likely the turn goes on with what was said just before it, as it was
 * read; -1: it has no sentence. */
double chain_sense_goes_on(const struct chain_group *group);
/* Ask about all of them; sets `same`. */
enum clew_status chain_sense(const struct chain_group *group,
                             struct chain_meant *items, size_t n,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Does the turn say that its matter is done with? Its own words, not a phrase
 * that somebody else used, or that is denied or only supposed. */
bool chain_sense_ends(const struct chain_group *group);

#endif
