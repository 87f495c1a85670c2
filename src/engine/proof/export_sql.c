/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_sql.c - the statements that read and write the rows of each kind. See
 * export_kinds.h.
 */
#include "engine/proof/export_kinds.h"

#include "base/buf.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 4096

static struct export_sql statements[EXPORT_MAX_KINDS];
static char texts[EXPORT_MAX_KINDS][4][TEXT_BYTES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Columns that are not stored, after those that are: what their turn or call
 * says. */
#define OF_TRACED                                                              \
    "COALESCE((SELECT t.%s FROM turns t WHERE t.tenant = $1"                   \
    " AND t.id = traces.id), (SELECT r.%s FROM requests r WHERE"               \
    " r.tenant = $1 AND r.id = traces.id))"
static const struct {
    const char *type;
    const char *column;
} computed[] = {
    {"trace", "chat_id"},
    {"trace", "created_at"},
};

static bool is_computed(const struct export_kind *kind, const char *name)
{
    for (size_t i = 0; i < sizeof(computed) / sizeof(computed[0]); i++) {
        if (strcmp(computed[i].type, kind->type) == 0 &&
            strcmp(computed[i].column, name) == 0) {
            return true;
        }
    }
    return false;
}

/* How a column is read. */
static void add_value(struct buf *out, const struct export_kind *kind,
                      const char *name)
{
    if (is_computed(kind, name)) {
        (void)buf_printf(out, OF_TRACED, name, name);
    } else if (strcmp(name, EXPORT_LOG_SEQ) == 0) {
        /* in another store a turn's change number is another */
        (void)buf_append_cstr(out, "COALESCE(" EXPORT_LOG_SEQ ", change_seq)");
    } else {
        (void)buf_append_cstr(out, name);
    }
}

size_t export_n_stored(const struct export_kind *kind)
{
    size_t n = kind->n_columns;

    while (is_computed(kind, kind->columns[n - 1].name)) {
        n--;
    }
    return n;
}

static void add_columns(struct buf *out, const struct export_kind *kind,
                        size_t n_columns)
{
    for (size_t i = 0; i < n_columns; i++) {
        (void)buf_printf(out, "%s%s", i ? ", " : "", kind->columns[i].name);
    }
}

/* After the others: the plain columns of packed ones, or what is in them. */
static void add_plain(struct buf *out, const struct export_kind *kind,
                      bool is_value)
{
    for (size_t i = 0; i < kind->n_columns; i++) {
        if (export_is_packed(kind->columns[i].type)) {
            (void)buf_printf(out, ", %s",
                             !is_value ? kind->columns[i].field
                                       : export_plain_value(&kind->columns[i]));
        }
    }
}

static void add_params(struct buf *out, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(out, "%s$%zu", i ? ", " : "", first + i);
    }
}

static void add_select(struct buf *out, const struct export_kind *kind,
                       bool is_first)
{
    (void)buf_append_cstr(out, "SELECT ");
    for (size_t i = 0; i < kind->n_columns; i++) {
        (void)buf_append_cstr(out, i ? ", " : "");
        add_value(out, kind, kind->columns[i].name);
    }
    add_plain(out, kind, false);
    (void)buf_printf(out, " FROM %s WHERE tenant = $1", kind->table);
    if (!is_first) {
        (void)buf_append_cstr(out, " AND (");
        add_columns(out, kind, kind->n_keys);
        (void)buf_append_cstr(out, ") > (");
        add_params(out, 3, kind->n_keys);
        (void)buf_append_char(out, ')');
    }
    (void)buf_append_cstr(out, " ORDER BY ");
    add_columns(out, kind, kind->n_keys);
    (void)buf_append_cstr(out, " LIMIT $2");
}

/* A later state of the same row takes its place. */
static void add_merge(struct buf *out, const struct export_kind *kind)
{
    (void)buf_append_cstr(out, " ON CONFLICT (tenant, ");
    add_columns(out, kind, kind->n_keys);
    (void)buf_append_cstr(out, ") DO UPDATE SET ");
    for (size_t i = kind->n_keys; i < kind->n_columns; i++) {
        const char *name = kind->columns[i].name;

        if (kind->has_change || strcmp(name, kind->version) != 0) {
            (void)buf_printf(out, "%s = excluded.%s, ", name, name);
        }
        if (export_is_packed(kind->columns[i].type)) {
            (void)buf_printf(out, "%s = %s, ", kind->columns[i].field,
                             export_plain_value(&kind->columns[i]));
        }
    }
    (void)buf_printf(out, "%s = excluded.%s WHERE excluded.%s > %s.%s",
                     kind->has_change ? "change_seq" : kind->version,
                     kind->has_change ? "change_seq" : kind->version,
                     kind->version, kind->table, kind->version);
}

static void add_insert(struct buf *out, const struct export_kind *kind)
{
    size_t n_stored = export_n_stored(kind);
    size_t n_params = n_stored + (kind->has_change ? 1 : 0);

    (void)buf_printf(out, "INSERT INTO %s (tenant, ", kind->table);
    add_columns(out, kind, n_stored);
    (void)buf_append_cstr(out, kind->has_change ? ", change_seq" : "");
    add_plain(out, kind, false);
    (void)buf_append_cstr(out, ") VALUES ($1, ");
    add_params(out, 2, n_params);
    add_plain(out, kind, true);
    (void)buf_append_char(out, ')');
    if (kind->version) {
        add_merge(out, kind);
    } else if (!kind->has_change) {
        (void)buf_append_cstr(out, " ON CONFLICT DO NOTHING");
    }
}

/* Keep what `out` holds as the text of a statement; empties it. */
static struct db_sql keep(struct buf *out, char text[TEXT_BYTES])
{
    (void)snprintf(text, TEXT_BYTES, "%s", out->data);
    buf_clear(out);
    return (struct db_sql){text, DB_TENANT};
}

static void make_statements(void)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES - 1);
    for (size_t i = 0; i < export_n_kinds; i++) {
        const struct export_kind *kind = &export_kinds[i];
        struct export_sql *sql = &statements[i];

        if (kind->form == EXPORT_LINES) {
            continue;
        }
        add_select(&out, kind, true);
        sql->first = keep(&out, texts[i][0]);
        add_select(&out, kind, false);
        sql->next = keep(&out, texts[i][1]);
        add_insert(&out, kind);
        sql->insert = keep(&out, texts[i][2]);
        (void)buf_printf(&out,
                         "SELECT id, %s FROM %s WHERE tenant = $1"
                         " AND id = ANY($2)",
                         kind->version ? kind->version : EXPORT_NEVER,
                         kind->table);
        sql->known = keep(&out, texts[i][3]);
    }
    buf_release(&out);
}

const struct export_sql *export_sql_of(size_t kind)
{
    (void)pthread_once(&once, make_statements);
    return &statements[kind];
}
