/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - rows into arrays. See rows.h.
 */
#include "engine/core/rows.h"

#include "base/buf.h"
#include "base/pack.h"
#include "base/pack_beside.h"
#include "store/store.h"

#include <assert.h>
#include <string.h>

/* More than any text that is packed. */
#define PACKED_BYTES ((size_t)64 << 20)

enum clew_status rows_take(struct rows_list *list, struct db_rows *rows,
                           struct clew_error *err)
{
    assert(list->size > 0 && list->fn);
    while (db_next(rows)) {
        void *grown = arena_grow(list->arena, list->items, list->count,
                                 &list->cap, list->size);
        char *item = grown ? (char *)grown + list->count * list->size : NULL;

        if (item) {
            memset(item, 0, list->size);
        }
        if (!item || !list->fn(list->arena, rows, item)) {
            clew_ignore(db_end(rows, NULL)); /* no memory is reported */
            return clew_no_memory(err);
        }
        list->items = grown;
        list->count++;
    }
    return db_end(rows, err);
}

enum clew_status rows_add(struct store_tx *tx, struct rows_list *list,
                          const struct db_sql *sql, const struct db_value *args,
                          size_t n_args, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(tx, sql, args, n_args, &rows, err);

    return status == CLEW_OK ? rows_take(list, &rows, err) : status;
}

enum clew_status rows_all(struct store_tx *tx, struct rows_list *list,
                          const struct db_sql *sql, const struct db_value *args,
                          size_t n_args, void *out_items, size_t *out_count,
                          struct clew_error *err)
{
    enum clew_status status = rows_add(tx, list, sql, args, n_args, err);

    if (status == CLEW_OK) {
        memcpy(out_items, &list->items, sizeof(list->items));
        *out_count = list->count;
    }
    return status;
}

enum clew_status rows_one(struct store_tx *tx, struct arena *arena,
                          const struct db_sql *sql, const struct db_value *args,
                          size_t n_args, rows_fn fn, void *out, size_t size,
                          const char *noun, struct clew_error *err)
{
    struct rows_list list = {.arena = arena, .size = size, .fn = fn};
    enum clew_status status = rows_add(tx, &list, sql, args, n_args, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (list.count == 0) {
        return clew_fail(err, CLEW_NOT_FOUND, "there is no such %s", noun);
    }
    memcpy(out, list.items, size);
    return CLEW_OK;
}

enum clew_status rows_number(struct store_tx *tx, const struct db_sql *sql,
                             const struct db_value *args, size_t n_args,
                             int64_t *out, struct clew_error *err)
{
    struct db_rows rows;
    int64_t number;
    enum clew_status status = db_query(tx, sql, args, n_args, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    number = db_next(&rows) ? db_get_int(&rows, 0) : 0;
    status = db_end(&rows, err);
    if (status == CLEW_OK) {
        *out = number;
    }
    return status;
}

struct tenants_work {
    const struct db_sql *sql;
    const struct db_value *args;
    size_t n_args;
    struct rows_list list;
};

static enum clew_status do_tenants(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct tenants_work *work = arg;

    work->list.count = 0; /* run again: from the start */
    return rows_add(tx, &work->list, work->sql, work->args, work->n_args, err);
}

enum clew_status rows_tenants(struct store *store, struct arena *arena,
                              const struct db_sql *sql,
                              const struct db_value *args, size_t n_args,
                              int64_t **out, size_t *out_count,
                              struct clew_error *err)
{
    struct tenants_work work = {
        .sql = sql,
        .args = args,
        .n_args = n_args,
        .list = {.arena = arena, .size = sizeof(int64_t), .fn = rows_int}};
    enum clew_status status = store_read_system(store, do_tenants, &work, err);

    if (status == CLEW_OK) {
        *out = work.list.items;
        *out_count = work.list.count;
    }
    return status;
}

bool rows_text(struct arena *arena, const struct db_rows *rows, int column,
               struct str *out)
{
    struct str text = db_get_text(rows, column);

    *out = text.s ? arena_str(arena, text) : text;
    return !text.s || out->s;
}

bool rows_packed_beside(struct arena *arena, const struct db_rows *rows,
                        int column, int plain, struct str beside,
                        struct str *out)
{
    struct buf text;
    enum clew_status status;

    if (db_is_null(rows, column)) {
        return rows_text(arena, rows, plain, out);
    }
    buf_init(&text, PACKED_BYTES);
    status = unpack_beside(db_get_bytes(rows, column), beside, &text);
    *out = status == CLEW_OK        ? arena_str(arena, buf_str(&text))
           : status == CLEW_CORRUPT ? STR("{}")
                                    : (struct str){NULL, 0};
    buf_release(&text);
    return out->s != NULL;
}

bool rows_packed(struct arena *arena, const struct db_rows *rows, int column,
                 int plain, struct str *out)
{
    return rows_packed_beside(arena, rows, column, plain, STR(""), out);
}

/* The packed bytes are the arena's from now on. */
static bool keep(struct arena *arena, struct buf *bytes,
                 enum clew_status status, struct db_value *out)
{
    struct str kept = {NULL, 0};

    if (status == CLEW_OK) {
        kept = arena_str(arena, buf_str(bytes));
    }
    buf_release(bytes);
    *out = db_bytes(kept.s, kept.len);
    return kept.s != NULL;
}

bool rows_pack(struct arena *arena, struct str text, struct db_value *out)
{
    struct buf bytes;

    buf_init(&bytes, PACKED_BYTES);
    return keep(arena, &bytes, pack(text, &bytes), out);
}

bool rows_pack_beside(struct arena *arena, struct str text, struct str beside,
                      struct db_value *out)
{
    struct buf bytes;

    if (!text.s) {
        *out = db_null();
        return true;
    }
    buf_init(&bytes, PACKED_BYTES);
    return keep(arena, &bytes, pack_beside(text, beside, &bytes), out);
}

bool rows_id(struct arena *arena, const struct db_rows *rows, void *out)
{
    struct uuid *id = out;

    (void)arena;
    *id = db_get_uuid(rows, 0);
    return true;
}

bool rows_int(struct arena *arena, const struct db_rows *rows, void *out)
{
    (void)arena; /* nothing to copy */
    *(int64_t *)out = db_get_int(rows, 0);
    return true;
}

struct db_value rows_int_or_null(int64_t value)
{
    return value ? db_int(value) : db_null();
}
