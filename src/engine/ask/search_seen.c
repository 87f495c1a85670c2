/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_seen.c - answers as a chat with other branches sees them: without what
 * those say, and with efforts as they were where it left. See
 * search_internal.h.
 */
#include "engine/ask/search_internal.h"

#include "engine/chat/chat.h"
#include "engine/effort/effort_fork.h"
#include "engine/memory/memory_seen.h"

enum clew_status search_look(struct store_tx *tx, struct arena *arena,
                             const struct search_query *query,
                             struct search_sight *out, struct clew_error *err)
{
    const struct uuid *from =
        uuid_is_nil(&query->chat_id) ? &query->seen_from : &query->chat_id;
    enum clew_status status = CLEW_OK;

    *out = (struct search_sight){.is_parted = false};
    if (uuid_is_nil(from)) {
        return CLEW_OK;
    }
    status = chat_find(tx, arena, from, &out->chat, err);
    if (status == CLEW_OK) {
        status = sight_is_parted(tx, &out->chat, &out->is_parted, err);
    }
    return status == CLEW_OK && out->is_parted
               ? sight_open(tx, arena, &out->chat, &out->sight, err)
               : status;
}

/* Turns, episodes and chats of other branches. */
static enum clew_status drop_places(struct store_tx *tx, struct arena *arena,
                                    const struct sight *sight,
                                    struct search_hit *hits, size_t *count,
                                    struct clew_error *err)
{
    struct sight_place *places = arena_zero(arena, *count + 1, sizeof(*places));
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    if (!places) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < *count; i++) {
        const struct recall_item *item = &hits[i].item;

        if (item->kind != RECALL_MEMORY) {
            places[i].chat_id =
                item->kind == RECALL_CHAT ? item->id : item->chat;
            places[i].seq = item->kind == RECALL_CHAT ? 0 : item->seq;
        }
    }
    status = sight_hide(tx, arena, sight, places, *count, err);
    for (size_t i = 0; status == CLEW_OK && i < *count; i++) {
        if (!places[i].is_hidden) {
            hits[n++] = hits[i];
        }
    }
    *count = n;
    return status;
}

/* An effort of the chats above as it was at the fork point; false if a twin
 * tells it. */
static bool see_effort(struct arena *arena, const struct search_sight *from,
                       const struct effort *efforts, size_t count,
                       struct search_hit *hit)
{
    const struct memory *memory = hit->memory;
    struct memory *then;

    if (!str_eq(memory->type, STR("effort")) ||
        !uuid_is_nil(&memory->parent_id) ||
        uuid_eq(&memory->chat_id, &from->chat.id) ||
        !sight_has(&from->sight, &memory->chat_id, 0)) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        if (uuid_eq(&efforts[i].memory_id, &memory->id)) {
            then = arena_alloc(arena, sizeof(*then));
            if (then) {
                *then = *memory;
                then->status = efforts[i].status;
                then->resolution = efforts[i].resolution;
                hit->memory = then;
            }
            return then != NULL;
        }
    }
    return false;
}

static enum clew_status drop_memories(struct store_tx *tx, struct arena *arena,
                                      const struct search_sight *from,
                                      struct search_hit *hits, size_t *count,
                                      struct clew_error *err)
{
    struct effort *efforts = NULL;
    struct memory *memories = arena_zero(arena, *count + 1, sizeof(*memories));
    bool *is_hidden = arena_zero(arena, *count + 1, sizeof(*is_hidden));
    size_t n_memories = 0;
    size_t n_efforts = 0;
    size_t n = 0;
    enum clew_status status =
        memories && is_hidden ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; status == CLEW_OK && i < *count; i++) {
        if (hits[i].memory) {
            memories[n_memories++] = *hits[i].memory;
        }
    }
    if (status == CLEW_OK && n_memories > 0) {
        status = memory_hide(tx, arena, &from->sight, memories, n_memories,
                             is_hidden, err);
    }
    if (status == CLEW_OK && n_memories > 0) {
        status = effort_list_line(tx, arena, &from->chat, from->chat.last_seq,
                                  true, &efforts, &n_efforts, err);
    }
    for (size_t i = 0, k = 0; status == CLEW_OK && i < *count; i++) {
        if (!hits[i].memory ||
            (!is_hidden[k++] &&
             see_effort(arena, from, efforts, n_efforts, &hits[i]))) {
            hits[n++] = hits[i];
        }
    }
    *count = n;
    return status;
}

enum clew_status search_drop_unseen(struct store_tx *tx, struct arena *arena,
                                    const struct search_sight *from,
                                    struct search_hit *hits, size_t *count,
                                    struct clew_error *err)
{
    enum clew_status status =
        drop_places(tx, arena, &from->sight, hits, count, err);

    return status == CLEW_OK ? drop_memories(tx, arena, from, hits, count, err)
                             : status;
}
