/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflict.c - find memories that disagree. See conflict.h.
 */
#include "engine/conflict.h"

#include "base/json.h"
#include "engine/engine.h"
#include "engine/rows.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* Memories looked at in one call. */
#define MAX_ROWS 10000

/* Valid and current memories whose slot others set as well. */
DB_SQL(SELECT_SHARED,
       "SELECT k.digest, m.id FROM memory_keys k JOIN memories m"
       " ON m.tenant = k.tenant AND m.id = k.memory_id"
       " WHERE k.tenant = $1 AND k.kind = 'slot' AND m.retracted_at IS NULL"
       " AND ($2 = '' OR m.user_id = $2) AND k.digest IN"
       " (SELECT digest FROM memory_keys WHERE tenant = $1 AND kind = 'slot'"
       "  GROUP BY digest HAVING COUNT(*) > 1)"
       " AND NOT EXISTS (SELECT 1 FROM memory_sources s JOIN memories r"
       "  ON r.tenant = s.tenant AND r.id = s.memory_id"
       "  WHERE s.tenant = k.tenant AND s.source_id = m.id"
       "  AND r.retracted_at IS NULL)"
       " ORDER BY k.digest, m.created_at, m.id LIMIT $3");

struct row {
    struct uuid digest;
    struct uuid id;
};

struct listing {
    struct arena *arena;
    struct str user_id;
    size_t limit;
    struct row *rows;
    size_t n_rows;
    struct memory *memories; /* sorted by id */
    size_t n_memories;
    struct conflict *conflicts;
    size_t count;
};

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct row *out = item;

    (void)arena; /* nothing to copy */
    out->digest = db_get_uuid(rows, 0);
    out->id = db_get_uuid(rows, 1);
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct memory *left = a;
    const struct memory *right = b;

    return uuid_cmp(&left->id, &right->id);
}

static const struct memory *memory_at(const struct listing *list, size_t row)
{
    struct memory key = {.id = list->rows[row].id};

    return bsearch(&key, list->memories, list->n_memories, sizeof(key), by_id);
}

static struct str text_of(struct arena *arena, const json_t *object,
                          const char *field)
{
    return arena_str(arena,
                     str_of(json_string_value(json_object_get(object, field))));
}

/* The slot that extraction kept with the memory. */
static bool slot_at(struct arena *arena, const struct memory *memory,
                    struct slot *out)
{
    json_t *fields = NULL;
    const json_t *slot;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK) {
        return false;
    }
    slot = json_object_get(fields, "slot");
    *out = (struct slot){
        .subject = text_of(arena, slot, "subject"),
        .attribute = text_of(arena, slot, "attribute"),
        .qualifier = text_of(arena, slot, "qualifier"),
        .value = text_of(arena, slot, "value"),
        .flags = (unsigned)json_integer_value(json_object_get(slot, "flags")),
    };
    json_decref(fields);
    return out->value.s != NULL;
}

/* Rows `i` and `k`, the older first: do they disagree? */
static void compare(struct listing *list, size_t i, size_t k)
{
    const struct memory *older = memory_at(list, i);
    const struct memory *newer = memory_at(list, k);
    struct conflict pair;

    if (!older || !newer || !slot_at(list->arena, older, &pair.older_slot) ||
        !slot_at(list->arena, newer, &pair.newer_slot) ||
        slot_compare(&pair.older_slot, &pair.newer_slot) == SLOT_UNRELATED) {
        return;
    }
    pair.older = *older;
    pair.newer = *newer;
    list->conflicts[list->count++] = pair;
}

static enum clew_status find_pairs(struct listing *list, struct clew_error *err)
{
    list->conflicts =
        arena_zero(list->arena, list->limit, sizeof(*list->conflicts));
    if (!list->conflicts) {
        return clew_no_memory(err);
    }
    for (size_t k = 1; k < list->n_rows; k++) {
        /* each with the one before it: the chain of values over time */
        if (list->count < list->limit &&
            uuid_eq(&list->rows[k - 1].digest, &list->rows[k].digest)) {
            compare(list, k - 1, k);
        }
    }
    return CLEW_OK;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct listing *list = arg;
    struct rows_list rows = {
        .arena = list->arena, .size = sizeof(struct row), .fn = row_of};
    struct uuid *ids;
    enum clew_status status =
        rows_add(tx, &rows, &SELECT_SHARED,
                 DB_ARGS(db_text(list->user_id), db_int(MAX_ROWS)), err);

    if (status != CLEW_OK) {
        return status;
    }
    list->rows = rows.items;
    list->n_rows = rows.count;
    ids = arena_zero(list->arena, rows.count + 1, sizeof(*ids));
    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < rows.count; i++) {
        ids[i] = list->rows[i].id;
    }
    status = memory_find_many(tx, list->arena, ids, rows.count, &list->memories,
                              &list->n_memories, err);
    if (status == CLEW_OK && list->n_memories > 0) {
        qsort(list->memories, list->n_memories, sizeof(*list->memories), by_id);
    }
    return status == CLEW_OK ? find_pairs(list, err) : status;
}

enum clew_status conflict_list(struct engine *engine, const struct scope *scope,
                               struct arena *arena, struct str user_id,
                               size_t limit, struct conflict **out_conflicts,
                               size_t *out_count, struct clew_error *err)
{
    struct listing list = {.arena = arena,
                           .user_id = user_id.s ? user_id : STR(""),
                           .limit = limit};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &list, err);

    if (status == CLEW_OK) {
        *out_conflicts = list.conflicts;
        *out_count = list.count;
    }
    return status;
}
