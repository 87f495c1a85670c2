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
#include "engine/core/forgotten.h"
#include "engine/core/rows.h"
#include "engine/proof/forget_internal.h"
#include "engine/proof/said_page.h"
#include "engine/understand/correction.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

DB_SQL(SELECT_GOING,
       "SELECT t.id, t.text FROM forget_set f CROSS JOIN turns t"
       " WHERE f.tenant = $1 AND f.kind = 'turn' AND f.id > $2"
       " AND t.tenant = $1 AND t.id = f.id ORDER BY f.id LIMIT $3");
DB_SQL(COUNT_STAYING,
       "SELECT COUNT(*) FROM turns t WHERE t.tenant = $1 AND t.text = $2"
       " AND NOT EXISTS (SELECT 1 FROM forget_set f WHERE f.tenant = $1"
       " AND f.kind = 'turn' AND f.id = t.id)");

struct keys {
    struct correction_key *items;
    size_t count;
    int64_t now_ms; /* of the forget */
};

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
                                struct str text, void *arg,
                                struct clew_error *err)
{
    const struct keys *keys = arg;
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

enum clew_status forget_corrections(struct forget_work *work,
                                    struct store_tx *tx, struct clew_error *err)
{
    struct uuid after = {{0}};
    struct keys keys = {.now_ms = work->now_ms};
    size_t count = SAID_PAGE;
    enum clew_status status =
        correction_list(tx, work->arena, &keys.items, &keys.count, err);

    while (status == CLEW_OK && keys.count > 0 && count == SAID_PAGE) {
        status =
            said_page(tx, &SELECT_GOING, &after, drop_of, &keys, &count, err);
    }
    return status;
}
