/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_list.c - the eponymous virtual table db_list. See the header.
 */
#include "store/sqlite_list.h"

#include "base/alloc.h"

#include <string.h>

#define POINTER_TYPE "clew_list"

enum { COLUMN_VALUE, COLUMN_LIST };

struct list {
    enum db_type type;
    size_t count;
    union {
        int64_t i;
        struct uuid id;
        struct str text; /* the bytes follow the items */
    } items[];           /* by type; the widest member sets the step */
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct list *list; /* NULL: empty */
    size_t at;
};

static int list_connect(sqlite3 *db, void *aux, int argc,
                        const char *const *argv, sqlite3_vtab **out_table,
                        char **out_message)
{
    sqlite3_vtab *table;
    int rc = sqlite3_declare_vtab(db, "CREATE TABLE x(value, list HIDDEN)");

    (void)aux;
    (void)argc;
    (void)argv;
    (void)out_message;
    if (rc != SQLITE_OK) {
        return rc;
    }
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY); /* a hint only */
    table = sqlite3_malloc(sizeof(*table));
    if (!table) {
        return SQLITE_NOMEM;
    }
    memset(table, 0, sizeof(*table));
    *out_table = table;
    return SQLITE_OK;
}

static int list_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* The only plan: the list is given. Without it the table cannot be read. */
static int list_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn == COLUMN_LIST &&
            info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
            if (!info->aConstraint[i].usable) {
                return SQLITE_CONSTRAINT;
            }
            info->aConstraintUsage[i].argvIndex = 1;
            info->aConstraintUsage[i].omit = 1;
            info->estimatedCost = 10;
            info->estimatedRows = 50;
            return SQLITE_OK;
        }
    }
    return SQLITE_CONSTRAINT;
}

static int list_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out_cursor)
{
    struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

    (void)table;
    if (!cursor) {
        return SQLITE_NOMEM;
    }
    memset(cursor, 0, sizeof(*cursor));
    *out_cursor = &cursor->base;
    return SQLITE_OK;
}

static int list_close(sqlite3_vtab_cursor *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

static int list_filter(sqlite3_vtab_cursor *base, int plan, const char *name,
                       int argc, sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;

    (void)plan;
    (void)name;
    cursor->at = 0;
    cursor->list =
        argc > 0 ? sqlite3_value_pointer(argv[0], POINTER_TYPE) : NULL;
    return SQLITE_OK;
}

static int list_next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->at++;
    return SQLITE_OK;
}

static int list_eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;

    return !cursor->list || cursor->at >= cursor->list->count;
}

static int list_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx,
                       int column)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct list *list = cursor->list;

    if (column != COLUMN_VALUE) {
        return SQLITE_OK;
    }
    if (list->type == DB_UUIDS) {
        sqlite3_result_blob(ctx, list->items[cursor->at].id.b,
                            sizeof(struct uuid), SQLITE_TRANSIENT);
    } else if (list->type == DB_TEXTS) {
        sqlite3_result_text64(ctx, list->items[cursor->at].text.s,
                              list->items[cursor->at].text.len,
                              SQLITE_TRANSIENT, SQLITE_UTF8);
    } else {
        sqlite3_result_int64(ctx, list->items[cursor->at].i);
    }
    return SQLITE_OK;
}

static int list_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out_rowid)
{
    *out_rowid = (sqlite3_int64)((const struct cursor *)base)->at;
    return SQLITE_OK;
}

/* No xCreate: the table exists by itself and cannot be created. */
static const sqlite3_module module = {
    .xConnect = list_connect,
    .xBestIndex = list_best_index,
    .xDisconnect = list_disconnect,
    .xOpen = list_open,
    .xClose = list_close,
    .xFilter = list_filter,
    .xNext = list_next,
    .xEof = list_eof,
    .xColumn = list_column,
    .xRowid = list_rowid,
};

int sqlite_list_register(sqlite3 *db)
{
    return sqlite3_create_module_v2(db, "db_list", &module, NULL, NULL);
}

/* Bytes of all texts of a list; 0 for the other types. */
static size_t text_bytes(const struct db_value *value)
{
    const struct str *texts = value->p;
    size_t total = 0;

    for (size_t i = 0; value->type == DB_TEXTS && i < value->len; i++) {
        total += texts[i].len;
    }
    return total;
}

int sqlite_list_bind(sqlite3_stmt *stmt, int at, const struct db_value *value)
{
    size_t step = sizeof(((struct list *)NULL)->items[0]);
    struct list *list =
        alloc_bytes(sizeof(*list) + value->len * step + text_bytes(value));
    char *bytes;

    if (!list) {
        return SQLITE_NOMEM;
    }
    bytes = (char *)&list->items[value->len];
    list->type = value->type;
    list->count = value->len;
    for (size_t i = 0; i < value->len; i++) {
        if (list->type == DB_UUIDS) {
            list->items[i].id = ((const struct uuid *)value->p)[i];
        } else if (list->type == DB_INTS) {
            list->items[i].i = ((const int64_t *)value->p)[i];
        } else {
            struct str text = ((const struct str *)value->p)[i];

            if (text.len > 0) {
                memcpy(bytes, text.s, text.len);
            }
            list->items[i].text = (struct str){bytes, text.len};
            bytes += text.len;
        }
    }
    return sqlite3_bind_pointer(stmt, at, list, POINTER_TYPE, alloc_free);
}
