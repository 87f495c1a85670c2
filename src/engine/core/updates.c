/* SPDX-License-Identifier: Apache-2.0 */
/*
 * updates.c - growing lists of what a turn changed. See updates.h.
 */
#include "engine/core/updates.h"

/* Append `entry` to one of the lists. */
#define APPEND(updates, arena, items, n_items, cap_items, entry)               \
    do {                                                                       \
        void *grown =                                                          \
            arena_grow((arena), (updates)->items, (updates)->n_items,          \
                       &(updates)->cap_items, sizeof(*(updates)->items));      \
        if (!grown) {                                                          \
            return CLEW_NO_MEMORY;                                             \
        }                                                                      \
        (updates)->items = grown;                                              \
        (updates)->items[(updates)->n_items++] = (entry);                      \
        return CLEW_OK;                                                        \
    } while (0)

enum clew_status updates_add_chain(struct updates *updates, struct arena *arena,
                                   const struct chain_update *entry)
{
    APPEND(updates, arena, chains, n_chains, cap_chains, *entry);
}

enum clew_status updates_add_link(struct updates *updates, struct arena *arena,
                                  const struct chatlink_update *entry)
{
    APPEND(updates, arena, links, n_links, cap_links, *entry);
}

enum clew_status updates_add_memory(struct updates *updates,
                                    struct arena *arena,
                                    const struct memory_update *entry)
{
    APPEND(updates, arena, memories, n_memories, cap_memories, *entry);
}

enum clew_status updates_add_episode(struct updates *updates,
                                     struct arena *arena,
                                     const struct episode_update *entry)
{
    APPEND(updates, arena, episodes, n_episodes, cap_episodes, *entry);
}

enum clew_status updates_add_notice(struct updates *updates,
                                    struct arena *arena, struct str line)
{
    APPEND(updates, arena, notices, n_notices, cap_notices, line);
}
