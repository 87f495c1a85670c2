/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget_answers.c - what a language model answered to words that go. See
 * forget_internal.h.
 *
 * An answer of a chat whose words go is found by its chat. One of another chat
 * may have been shown them, too: it remembers of what else it was shown
 * (core/advice.h), and only the same user's is ever shown.
 */
#include "engine/core/rows.h"
#include "engine/proof/forget_internal.h"
#include "store/db.h"

#include <string.h>

#define PAGE 200 /* answers looked at at once */

#define TOUCHED                                                                \
    "SELECT COALESCE(chat_id, id) FROM forget_set WHERE tenant = $1 AND kind " \
    "IN ('turn', 'chat')"
DB_SQL(SELECT_USERS,
       "SELECT c.user_id FROM chats c WHERE c.tenant = $1 AND c.id IN (" TOUCHED
       ") UNION SELECT m.user_id FROM memories m JOIN forget_set f"
       " ON f.tenant = m.tenant AND f.kind = 'memory' AND f.id = m.id"
       " WHERE m.tenant = $1");
DB_SQL(SELECT_ANSWERS,
       "SELECT a.key, a.beside FROM llm_answers a JOIN chats c"
       " ON c.tenant = a.tenant AND c.id = a.chat_id WHERE a.tenant = $1"
       " AND a.key > $2 AND a.beside IS NOT NULL AND c.user_id = ANY($3)"
       " ORDER BY a.key LIMIT $4");
DB_SQL(COUNT_GOING, "SELECT (SELECT COUNT(*) FROM forget_set WHERE tenant = $1"
                    " AND kind IN ('turn', 'memory', 'chat') AND id = ANY($2))"
                    " + (SELECT COUNT(*) FROM forget_set WHERE tenant = $1"
                    " AND kind = 'turn' AND chat_id = ANY($2))");
DB_SQL(DROP_BY_CHAT, "DELETE FROM llm_answers WHERE tenant = $1"
                     " AND chat_id IN (" TOUCHED ")");
DB_SQL(DROP_ANSWER, "DELETE FROM llm_answers WHERE tenant = $1 AND key = $2");

struct shown {
    struct str key;
    struct uuid *ids;
    size_t n_ids;
};

static bool read_user(struct arena *arena, const struct db_rows *rows,
                      void *out)
{
    return rows_text(arena, rows, 0, out);
}

static bool read_shown(struct arena *arena, const struct db_rows *rows,
                       void *out)
{
    struct shown *shown = out;
    struct str ids = db_get_bytes(rows, 1);

    shown->key = arena_str(arena, db_get_bytes(rows, 0));
    shown->n_ids = ids.len / sizeof(*shown->ids);
    shown->ids = arena_zero(arena, shown->n_ids + 1, sizeof(*shown->ids));
    if (!shown->key.s || !shown->ids) {
        return false;
    }
    memcpy(shown->ids, ids.s, shown->n_ids * sizeof(*shown->ids));
    return true;
}

/* Efforts that stay have lost words, too. */
static bool is_spared(const struct forget_work *work, const struct shown *shown)
{
    for (size_t i = 0; i < shown->n_ids; i++) {
        for (size_t k = 0; k < work->n_spared; k++) {
            if (uuid_eq(&shown->ids[i], &work->spared[k])) {
                return true;
            }
        }
    }
    return false;
}

static enum clew_status drop_shown(const struct forget_work *work,
                                   struct store_tx *tx,
                                   const struct shown *shown,
                                   struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status =
        rows_number(tx, &COUNT_GOING,
                    DB_ARGS(db_uuids(shown->ids, shown->n_ids)), &count, err);

    return status == CLEW_OK && (count > 0 || is_spared(work, shown))
               ? db_exec(tx, &DROP_ANSWER,
                         DB_ARGS(db_bytes(shown->key.s, shown->key.len)), err)
               : status;
}

enum clew_status forget_answers(struct forget_work *work, struct store_tx *tx,
                                struct clew_error *err)
{
    struct rows_list users = {
        .arena = work->arena, .size = sizeof(struct str), .fn = read_user};
    struct str after = STR("");
    size_t n = PAGE;
    enum clew_status status =
        rows_add(tx, &users, &SELECT_USERS, DB_NO_ARGS, err);

    if (status == CLEW_OK) {
        status = db_exec(tx, &DROP_BY_CHAT, DB_NO_ARGS, err);
    }
    while (status == CLEW_OK && users.count > 0 && n == PAGE) {
        struct rows_list page = {.arena = work->arena,
                                 .size = sizeof(struct shown),
                                 .fn = read_shown};
        const struct shown *shown;

        status =
            rows_add(tx, &page, &SELECT_ANSWERS,
                     DB_ARGS(db_bytes(after.s, after.len),
                             db_texts(users.items, users.count), db_int(PAGE)),
                     err);
        shown = page.items;
        n = page.count;
        for (size_t i = 0; status == CLEW_OK && i < n; i++) {
            status = drop_shown(work, tx, &shown[i], err);
        }
        after = n > 0 ? shown[n - 1].key : after;
    }
    return status;
}
