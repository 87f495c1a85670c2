/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget_corrections.c - what a person set right about words that go. See
 * forget_internal.h.
 *
 * A correction names no turn: it stands under a digest of the words, against
 * which whoever has the store could try what was forgotten. So the words that
 * go are tried themselves. What is also said in a turn that stays keeps its
 * correction. What went leaves its name (core/forgotten.h): an export from
 * before has it still.
 */
#include "base/limits.h"
#include "engine/core/forgotten.h"
#include "engine/core/rows.h"
#include "engine/proof/forget_internal.h"
#include "engine/understand/correction.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 64 /* turns read at once */

DB_SQL(SELECT_GOING,
       "SELECT t.id, t.text FROM forget_set f CROSS JOIN turns t"
       " WHERE f.tenant = $1 AND f.kind = 'turn' AND f.id > $2"
       " AND t.tenant = $1 AND t.id = f.id ORDER BY f.id LIMIT $3");
DB_SQL(COUNT_STAYING,
       "SELECT COUNT(*) FROM turns t WHERE t.tenant = $1 AND t.text = $2"
       " AND NOT EXISTS (SELECT 1 FROM forget_set f WHERE f.tenant = $1"
       " AND f.kind = 'turn' AND f.id = t.id)");

struct going {
    struct uuid id;
    struct str text;
};

struct keys {
    struct correction_key *items;
    size_t count;
    int64_t now_ms; /* of the forget */
};

static bool read_going(struct arena *arena, const struct db_rows *rows,
                       void *out)
{
    struct going *going = out;

    going->id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &going->text);
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct correction_key));
}

static enum clew_status drop(struct store_tx *tx, struct arena *arena,
                             const struct correction_key *key, int64_t now_ms,
                             struct clew_error *err)
{
    struct forgotten_name name = {STR(""), forgotten_words_name(arena, key->b),
                                  0};
    enum clew_status status = correction_remove(tx, arena, key, err);

    if (status == CLEW_OK && !name.external_id.s) {
        status = clew_no_memory(err);
    }
    return status == CLEW_OK
               ? forgotten_leave_names(tx, arena, &name, 1, now_ms, err)
               : status;
}

static enum clew_status drop_of(struct store_tx *tx, struct arena *arena,
                                const struct keys *keys, struct str text,
                                struct clew_error *err)
{
    struct correction_key own[CORRECTION_KEYS];
    enum clew_status status = correction_keys_of(arena, text, own);

    if (status != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < CORRECTION_KEYS && status == CLEW_OK; i++) {
        int64_t n_staying = 0;

        if (!bsearch(&own[i], keys->items, keys->count, sizeof(own[i]),
                     by_bytes)) {
            continue;
        }
        status = rows_number(tx, &COUNT_STAYING, DB_ARGS(db_text(text)),
                             &n_staying, err);
        if (status == CLEW_OK && n_staying == 0) {
            status = drop(tx, arena, &own[i], keys->now_ms, err);
        }
    }
    return status;
}

/* The turns after `*after`; what is read of them is dropped again. */
static enum clew_status drop_page(struct store_tx *tx, const struct keys *keys,
                                  struct uuid *after, size_t *out_count,
                                  struct clew_error *err)
{
    struct db_value from = db_bytes(after->b, sizeof(after->b));
    struct arena arena;
    struct rows_list list = {
        .arena = &arena, .size = sizeof(struct going), .fn = read_going};
    const struct going *going;
    enum clew_status status;

    from.type = DB_UUID; /* the nil id is a value here, not NULL */
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status =
        rows_add(tx, &list, &SELECT_GOING, DB_ARGS(from, db_int(PAGE)), err);
    going = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = drop_of(tx, &arena, keys, going[i].text, err);
        *after = going[i].id;
    }
    *out_count = list.count;
    arena_release(&arena);
    return status;
}

enum clew_status forget_corrections(struct forget_work *work,
                                    struct store_tx *tx, struct clew_error *err)
{
    struct uuid after = {{0}};
    struct keys keys = {.now_ms = work->now_ms};
    size_t count = PAGE;
    enum clew_status status =
        correction_list(tx, work->arena, &keys.items, &keys.count, err);

    while (status == CLEW_OK && keys.count > 0 && count == PAGE) {
        status = drop_page(tx, &keys, &after, &count, err);
    }
    return status;
}
