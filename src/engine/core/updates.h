/* SPDX-License-Identifier: Apache-2.0 */
/*
 * updates.h - what one turn changed: the `updates` of its answer.
 *
 * Plain lists that the observers append to while the turn is stored, and that
 * the surfaces (REST, chat, MCP) show. Everything lives in the request's arena.
 * Thread-safety: none; belongs to one turn on its way.
 */
#ifndef ENGINE_UPDATES_H
#define ENGINE_UPDATES_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>

/* A claim of this turn went to a chain. */
struct chain_update {
    const char *type; /* extend, create, branch, merge, conclude */
    struct uuid chain_id;
    struct uuid *claim_ids;
    size_t n_claim_ids;
    struct uuid parent_chain_id; /* nil if there is none */
    double distance;             /* < 0 if there is none */
    struct str reasoning;
};

/* Two chats were, or were not, found to belong together. */
struct chatlink_update {
    struct uuid id;
    struct uuid chat_id;
    struct uuid other_chat_id;
    const char *decision; /* link, no_link */
    double algorithmic;
    double llm;             /* probability of relatedness; < 0 if absent */
    const char *confidence; /* high, uncertain */
};

/* A memory came to be or changed. */
struct memory_update {
    struct uuid id;
    struct str type;
    struct str status;
    struct str summary;
    const char *change; /* created, extended, resolved, refined, … */
};

struct episode_update {
    struct uuid id;
    const char *type;   /* primary, cross_chat */
    const char *change; /* created, extended, compacted */
};

struct updates {
    struct chain_update *chains;
    size_t n_chains, cap_chains;
    struct chatlink_update *links;
    size_t n_links, cap_links;
    struct memory_update *memories;
    size_t n_memories, cap_memories;
    struct episode_update *episodes;
    size_t n_episodes, cap_episodes;
    struct str *notices; /* lines for people, "[effort:resolved] …" */
    size_t n_notices, cap_notices;
};

/* Each adds one entry by value; CLEW_NO_MEMORY is the only failure. */
enum clew_status
updates_add_chain(struct updates *updates, struct arena *arena,
                  const struct chain_update *entry) CLEW_MUST_CHECK;
enum clew_status
updates_add_link(struct updates *updates, struct arena *arena,
                 const struct chatlink_update *entry) CLEW_MUST_CHECK;
enum clew_status
updates_add_memory(struct updates *updates, struct arena *arena,
                   const struct memory_update *entry) CLEW_MUST_CHECK;
enum clew_status
updates_add_episode(struct updates *updates, struct arena *arena,
                    const struct episode_update *entry) CLEW_MUST_CHECK;
enum clew_status updates_add_notice(struct updates *updates,
                                    struct arena *arena,
                                    struct str line) CLEW_MUST_CHECK;

#endif
