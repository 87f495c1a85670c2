/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said_page.c - see said_page.h.
 */
#include "engine/proof/said_page.h"

#include "base/limits.h"
#include "engine/core/rows.h"

struct said {
    struct uuid id;
    struct str text;
};

static bool read_said(struct arena *arena, const struct db_rows *rows,
                      void *out)
{
    struct said *said = out;

    said->id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &said->text);
}

enum clew_status said_page(struct store_tx *tx, const struct db_sql *sql,
                           struct uuid *after, said_fn fn, void *arg,
                           size_t *out_count, struct clew_error *err)
{
    struct db_value from = db_bytes(after->b, sizeof(after->b));
    struct arena arena;
    struct rows_list list = {
        .arena = &arena, .size = sizeof(struct said), .fn = read_said};
    const struct said *said;
    enum clew_status status;

    from.type = DB_UUID; /* the nil id is a value here, not NULL */
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status = rows_add(tx, &list, sql, DB_ARGS(from, db_int(SAID_PAGE)), err);
    said = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = fn(tx, &arena, said[i].text, arg, err);
        *after = said[i].id;
    }
    *out_count = list.count;
    arena_release(&arena);
    return status;
}
