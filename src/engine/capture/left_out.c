/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_out.c - see left_out.h.
 */
#include "engine/capture/left_out.h"

#include "engine/capture/capture.h"
#include "engine/core/forgotten.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <stdlib.h>

/* Chats that were forgotten as a whole: they are not there, or only as what
 * others fork from. One that lost turns has a tombstone, too. */
DB_SQL(SELECT_GONE,
       "SELECT d.id FROM tombstones d WHERE d.tenant = $1 AND d.kind = 'chat'"
       " AND d.id = ANY($2) AND (NOT EXISTS (SELECT 1 FROM chats c"
       " WHERE c.tenant = $1 AND c.id = d.id) OR (EXISTS (SELECT 1 FROM chats c"
       " WHERE c.tenant = $1 AND c.parent_id = d.id) AND NOT EXISTS (SELECT 1"
       " FROM turns t WHERE t.tenant = $1 AND t.chat_id = d.id)))"
       " ORDER BY d.id");

/* What one look asks about. */
struct look {
    struct left_out *items;
    size_t count;
    struct forgotten_name *names; /* a turn's own, then its user's */
    struct uuid *chats;           /* those that are gone */
    size_t n_chats;
};

static int by_uuid(const void *a, const void *b)
{
    return uuid_cmp(a, b);
}

enum clew_status left_out_ahead(struct store_tx *tx, struct clew_error *err)
{
    return forgotten_ahead(tx, err);
}

static enum clew_status find_names(struct look *look, struct store_tx *tx,
                                   struct arena *arena, struct clew_error *err)
{
    look->names = arena_zero(arena, 2 * look->count, sizeof(*look->names));
    if (!look->names) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < look->count; i++) {
        const struct turn *turn = look->items[i].turn;

        look->names[2 * i] = (struct forgotten_name){
            turn->user_id,
            turn->external_id.s ? turn->external_id : FORGOTTEN_USER, 0};
        look->names[2 * i + 1] =
            (struct forgotten_name){turn->user_id, FORGOTTEN_USER, 0};
    }
    return forgotten_find(tx, arena, look->names, 2 * look->count, err);
}

/* Only who may leave out names a chat that is gone and means no fault. */
static enum clew_status find_chats(struct look *look, struct store_tx *tx,
                                   struct arena *arena, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = arena_zero(arena, look->count, sizeof(*ids));
    size_t n = 0;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < look->count; i++) {
        const struct capture_input *input = look->items[i].input;

        if (input->may_leave_out && !uuid_is_nil(&input->chat_id) &&
            (n == 0 || !uuid_eq(&ids[n - 1], &input->chat_id))) {
            ids[n++] = input->chat_id;
        }
    }
    return n == 0 ? CLEW_OK
                  : rows_all(tx, &list, &SELECT_GONE, DB_ARGS(db_uuids(ids, n)),
                             &look->chats, &look->n_chats, err);
}

static int64_t sent_ms_of(const struct left_out *item)
{
    return item->input->sent_at_ms > 0 ? item->input->sent_at_ms
                                       : item->turn->stored_at_ms;
}

static int64_t later(int64_t a_ms, int64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

/* When what it belongs to was last forgotten; 0: never. */
static int64_t gone_ms_of(const struct look *look, size_t i)
{
    return later(look->names[2 * i].at_ms, look->names[2 * i + 1].at_ms);
}

/* Was it on its way when its user, its chat or what has its name went? */
static bool is_belated(const struct look *look, size_t i)
{
    const struct capture_input *input = look->items[i].input;

    return gone_ms_of(look, i) >= sent_ms_of(&look->items[i]) ||
           (look->n_chats > 0 &&
            bsearch(&input->chat_id, look->chats, look->n_chats,
                    sizeof(*look->chats), by_uuid));
}

static bool is_forgotten(const struct look *look, size_t i)
{
    return look->items[i].input->unless_forgotten &&
           look->items[i].turn->external_id.s && look->names[2 * i].at_ms > 0;
}

/* Mark them; those that were on their way leave their names, as of when what
 * they belong to went: a new beginning under that name may come at once. */
static enum clew_status mark(struct look *look, struct store_tx *tx,
                             struct arena *arena, struct clew_error *err)
{
    struct forgotten_name *left = arena_zero(arena, look->count, sizeof(*left));
    int64_t at_ms = 0;
    size_t n = 0;

    if (!left) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < look->count; i++) {
        struct left_out *item = &look->items[i];

        if (is_forgotten(look, i)) {
            item->is_out = true;
        } else if (is_belated(look, i)) {
            if (!item->input->may_leave_out) {
                return clew_fail(err, CLEW_CONFLICT,
                                 "what this turn belongs to was forgotten "
                                 "after it was sent");
            }
            item->is_out = true;
            if (item->turn->external_id.s) {
                left[n++] = look->names[2 * i];
                at_ms =
                    later(at_ms, later(gone_ms_of(look, i), sent_ms_of(item)));
            }
        }
    }
    return n == 0 ? CLEW_OK
                  : forgotten_leave_names(tx, arena, left, n, at_ms, err);
}

enum clew_status left_out_find(struct store_tx *tx, struct arena *arena,
                               struct left_out *items, size_t count,
                               struct clew_error *err)
{
    struct look look = {.items = items, .count = count};
    enum clew_status status = CLEW_OK;

    if (count > 0) {
        status = find_names(&look, tx, arena, err);
    }
    if (status == CLEW_OK && count > 0) {
        status = find_chats(&look, tx, arena, err);
    }
    return status == CLEW_OK && count > 0 ? mark(&look, tx, arena, err)
                                          : status;
}
