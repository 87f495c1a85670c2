/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sight.c - what can be seen from a chat. See sight.h.
 */
#include "engine/chat/sight.h"

#include "engine/core/rows.h"
#include "store/db.h"

DB_SQL(SELECT_OTHER, "SELECT 1 FROM chats WHERE tenant = $1"
                     " AND conversation_id = $2 AND id <> $3 LIMIT 1");
DB_SQL(SELECT_MEMBERS, "SELECT id FROM chats WHERE tenant = $1"
                       " AND id = ANY($2) AND conversation_id = $3");

enum clew_status sight_open(struct store_tx *tx, struct arena *arena,
                            const struct chat *chat, struct sight *out,
                            struct clew_error *err)
{
    enum clew_status status;

    *out = (struct sight){.conversation_id = chat->conversation_id,
                          .since_ms = chat->created_at_ms};
    status = chat_line(tx, arena, &chat->id, &out->parts, &out->n_parts, err);
    if (status == CLEW_OK && out->n_parts > 0) {
        out->parts[out->n_parts - 1].to_seq = INT64_MAX;
    }
    return status;
}

bool sight_has(const struct sight *sight, const struct uuid *chat_id,
               int64_t seq)
{
    for (size_t i = 0; i < sight->n_parts; i++) {
        if (uuid_eq(&sight->parts[i].chat_id, chat_id)) {
            return seq <= sight->parts[i].to_seq;
        }
    }
    return false;
}

enum clew_status sight_is_parted(struct store_tx *tx, const struct chat *chat,
                                 bool *out, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status;

    *out = true;
    if (!uuid_is_nil(&chat->parent_id)) {
        return CLEW_OK;
    }
    status =
        db_query(tx, &SELECT_OTHER,
                 DB_ARGS(db_uuid(&chat->conversation_id), db_uuid(&chat->id)),
                 &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    *out = db_next(&rows);
    return db_end(&rows, err);
}

static bool is_among(const struct uuid *ids, size_t count,
                     const struct uuid *id)
{
    for (size_t i = 0; i < count; i++) {
        if (uuid_eq(&ids[i], id)) {
            return true;
        }
    }
    return false;
}

enum clew_status sight_hide(struct store_tx *tx, struct arena *arena,
                            const struct sight *sight,
                            struct sight_place *places, size_t count,
                            struct clew_error *err)
{
    struct rows_list members = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = arena_zero(arena, count + 1, sizeof(*ids));
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        places[i].is_hidden = false;
        if (!uuid_is_nil(&places[i].chat_id) &&
            !sight_has(sight, &places[i].chat_id, places[i].seq) &&
            !is_among(ids, n, &places[i].chat_id)) {
            ids[n++] = places[i].chat_id;
        }
    }
    if (n > 0) {
        status = rows_add(
            tx, &members, &SELECT_MEMBERS,
            DB_ARGS(db_uuids(ids, n), db_uuid(&sight->conversation_id)), err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        places[i].is_hidden =
            is_among(members.items, members.count, &places[i].chat_id) &&
            !sight_has(sight, &places[i].chat_id, places[i].seq);
    }
    return status;
}
