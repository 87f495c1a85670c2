/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_change.h - what a decision does to the chains of a session.
 *
 * Claims go into a chain, the chain to the front of its session; each change is
 * told to the caller and kept as the trace. Which change it is was decided
 * before (chain_observe.c).
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHAIN_CHANGE_H
#define ENGINE_CHAIN_CHANGE_H

#include "engine/topic/chain_cache.h"

/* How much more of the chain a phrase must stand for to become its topic. */
#define CHAIN_TOPIC_GAIN 1.3f

/* Claims that are decided together. */
struct chain_group {
    struct turn_work *work;
    struct chain_session *session;
    const struct chain_part *part; /* NULL: a decision without claims */
};

/* The turn's vector, or NULL where none counts. */
const struct chain_vector *chain_group_vector(const struct chain_group *group);

/* The nearest open chain gets the claims; another that is as near to them and
 * to it merges with it first. */
enum clew_status chain_change_extend(const struct chain_group *group,
                                     const struct chain_decision *decision,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* A chain that rests comes back. */
enum clew_status chain_change_revive(const struct chain_group *group,
                                     const struct chain *resting,
                                     double distance,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* The assistant replies to the turn that concluded the chain: its last word. */
enum clew_status chain_change_reply(const struct chain_group *group,
                                    const struct chain *ended,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* A chain of its own; `parent` is what it branches from, or NULL. */
enum clew_status chain_change_start(const struct chain_group *group,
                                    const struct chain *parent, double distance,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* A chain of the chats above becomes this fork's own (chain_fork.h). */
enum clew_status chain_change_part(const struct chain_group *group,
                                   const struct chain *twin,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* The chain ends: in so many words, or with its effort. */
enum clew_status chain_change_conclude(const struct chain_group *group,
                                       struct chain_entry *chain,
                                       enum chain_step_kind why,
                                       struct clew_error *err) CLEW_MUST_CHECK;

#endif
