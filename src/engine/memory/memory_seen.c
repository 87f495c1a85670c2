/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_seen.c - memories as they are seen from a chat. See memory_seen.h.
 */
#include "engine/memory/memory_seen.h"

#include "engine/core/rows.h"
#include "store/db.h"

/* Replacing memories looked at in one conversation. */
#define MAX_REPLACING 1000

DB_SQL(SELECT_REPLACING,
       "SELECT m.id FROM chats c CROSS JOIN memories m WHERE c.tenant = $1"
       " AND c.conversation_id = $2 AND m.tenant = $1 AND m.chat_id = c.id"
       " AND m.lineage <> 'original' AND m.retracted_at IS NULL"
       " ORDER BY m.id DESC LIMIT $3");

static bool is_home(const struct memory *memory, const struct memory_ref *ref)
{
    return !str_eq(memory->type, STR("effort")) ||
           uuid_eq(&memory->chat_id, &ref->chat_id);
}

/* Every place of a memory that counts, and whose it is. */
static size_t places_of(const struct memory *memories, size_t count,
                        const struct uuid *owners,
                        const struct memory_ref *refs, size_t n_refs,
                        struct sight_place *places, size_t *of)
{
    size_t n = 0;

    for (size_t i = 0; i < n_refs; i++) {
        for (size_t k = 0; k < count; k++) {
            if (uuid_eq(&memories[k].id, &owners[i]) &&
                is_home(&memories[k], &refs[i])) {
                places[n] = (struct sight_place){.chat_id = refs[i].chat_id,
                                                 .seq = refs[i].first_seq};
                of[n++] = k;
            }
        }
    }
    for (size_t k = 0; k < count; k++) {
        bool has_place = !str_eq(memories[k].type, STR("effort")) ||
                         uuid_is_nil(&memories[k].chat_id);

        for (size_t i = 0; i < n && !has_place; i++) {
            has_place = of[i] == k;
        }
        if (!has_place) { /* parted by hand: all of that chat has it */
            places[n] = (struct sight_place){.chat_id = memories[k].chat_id};
            of[n++] = k;
        }
    }
    return n;
}

enum clew_status memory_hide(struct store_tx *tx, struct arena *arena,
                             const struct sight *sight,
                             const struct memory *memories, size_t count,
                             bool *out_hidden, struct clew_error *err)
{
    struct uuid *ids = arena_zero(arena, count + 1, sizeof(*ids));
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    struct sight_place *places;
    size_t *of;
    size_t n_refs = 0;
    size_t n = 0;
    enum clew_status status = ids ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        ids[i] = memories[i].id;
        out_hidden[i] = false;
    }
    if (status == CLEW_OK && count > 0) {
        status =
            memory_refs(tx, arena, ids, count, &owners, &refs, &n_refs, err);
    }
    places = arena_zero(arena, n_refs + count + 1, sizeof(*places));
    of = arena_zero(arena, n_refs + count + 1, sizeof(*of));
    if (status != CLEW_OK || !places || !of) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    n = places_of(memories, count, owners, refs, n_refs, places, of);
    status = sight_hide(tx, arena, sight, places, n, err);
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        out_hidden[of[i]] = out_hidden[of[i]] || places[i].is_hidden;
    }
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        if (!places[i].is_hidden) {
            out_hidden[of[i]] = false; /* one place is enough */
        }
    }
    return status;
}

enum clew_status memory_is_hidden(struct store_tx *tx, struct arena *arena,
                                  const struct sight *sight,
                                  const struct uuid *id, bool *out,
                                  struct clew_error *err)
{
    struct memory *memory = NULL;
    size_t count = 0;
    enum clew_status status = CLEW_OK;

    *out = false;
    if (!sight) {
        return CLEW_OK;
    }
    status = memory_find_many(tx, arena, id, 1, &memory, &count, err);
    return status == CLEW_OK && count == 1
               ? memory_hide(tx, arena, sight, memory, 1, out, err)
               : status;
}

enum clew_status memory_list_unseen(struct store_tx *tx, struct arena *arena,
                                    const struct sight *sight,
                                    struct uuid **out_ids, size_t *out_count,
                                    struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct memory *memories = NULL;
    bool *is_hidden;
    struct uuid *ids;
    size_t count = 0;
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    *out_ids = NULL;
    *out_count = 0;
    if (!sight) {
        return CLEW_OK;
    }
    status = rows_add(
        tx, &list, &SELECT_REPLACING,
        DB_ARGS(db_uuid(&sight->conversation_id), db_int(MAX_REPLACING)), err);
    if (status != CLEW_OK || list.count == 0) {
        return status;
    }
    status = memory_find_many(tx, arena, list.items, list.count, &memories,
                              &count, err);
    is_hidden = arena_zero(arena, count + 1, sizeof(*is_hidden));
    if (status != CLEW_OK || !is_hidden) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    status = memory_hide(tx, arena, sight, memories, count, is_hidden, err);
    ids = list.items;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        if (is_hidden[i]) {
            ids[n++] = memories[i].id;
        }
    }
    *out_ids = ids;
    *out_count = n;
    return status;
}
