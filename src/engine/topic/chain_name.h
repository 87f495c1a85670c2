/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_name.h - what a chain is called.
 *
 * With a reader: the clause of the sentence that states the matter, as the
 * reader sees it (it opens something), so that details that come later ("about
 * three weeks") do not take its place; in any language. Where nothing opens
 * anything, and without a reader: the phrase that stands for most of it.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHAIN_NAME_H
#define ENGINE_CHAIN_NAME_H

#include "engine/topic/chain_change.h"

/* Call the chain after the group. s == NULL of its topic: no memory. */
enum clew_status chain_name_set(const struct chain_group *group,
                                struct chain *chain,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* The group's claims are the chain's now: does it name it better? */
enum clew_status chain_name_refine(const struct chain_group *group,
                                   struct chain *chain,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Does the group say nothing (chat_name.h)? */
bool chain_name_is_empty(const struct chain_group *group);

#endif
