/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_stmt.c - statements on SQLite: translate, prepare, bind, step.
 *
 * The common SQL differs from SQLite's in a few places, all rewritten when a
 * statement is first prepared: $n is ?n, "= ANY($n)" and "<> ALL($n)" are
 * lookups in db_list, "UNNEST($n)" is db_list itself, and row locks are
 * dropped, since there is one writer.
 */
#include "store/sqlite_internal.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "store/sqlite_list.h"

#include <string.h>

#define MAX_SQL_BYTES 100000

static const struct {
    const char *from;
    const char *to;
    const char *end; /* of what is followed by "$n)", a list; else NULL */
} rewrites[] = {
    {"= ANY(", "IN (SELECT value FROM db_list(", "))"},
    {"<> ALL(", "NOT IN (SELECT value FROM db_list(", "))"},
    {"UNNEST(", "db_list(", ")"},
    {"FOR UPDATE SKIP LOCKED", "", NULL},
    {"FOR NO KEY UPDATE", "", NULL},
    {"FOR UPDATE", "", NULL},
};

#define N_REWRITES (sizeof(rewrites) / sizeof(rewrites[0]))

/* Rewrite what starts `text`; returns the bytes eaten, 0 if nothing matches. */
static size_t rewrite(struct str text, struct buf *out)
{
    for (size_t i = 0; i < N_REWRITES; i++) {
        struct str from = str_of(rewrites[i].from);
        size_t end;

        if (!str_starts(text, from)) {
            continue;
        }
        buf_append_cstr(out, rewrites[i].to);
        if (!rewrites[i].end) {
            return from.len;
        }
        end = str_find(text, STR(")"), from.len);
        if (end == SIZE_MAX || text.s[from.len] != '$') {
            return 0; /* SQLite will refuse it */
        }
        buf_append_char(out, '?');
        buf_append_str(out, str_sub(text, from.len + 1, end));
        buf_append_cstr(out, rewrites[i].end);
        return end + 1;
    }
    return 0;
}

static enum clew_status translate(const char *text, struct buf *out)
{
    struct str rest = str_of(text);
    bool is_quoted = false;

    while (rest.len > 0) {
        size_t eaten = is_quoted ? 0 : rewrite(rest, out);

        if (eaten == 0) {
            char c = rest.s[0];

            is_quoted = is_quoted != (c == '\'');
            buf_append_char(out, c == '$' && !is_quoted ? '?' : c);
            eaten = 1;
        }
        rest = str_sub(rest, eaten, rest.len);
    }
    return buf_status(out);
}

static void release(struct stmt_slot *slot)
{
    struct sqlite_stmt *stmt = slot->stmt;

    if (stmt) {
        (void)sqlite3_finalize(stmt->handle); /* repeats an old error */
        alloc_free(stmt);
    }
    slot->stmt = NULL;
    slot->is_busy = false;
}

static enum clew_status prepare(struct conn *conn, const struct db_sql *sql,
                                struct stmt_slot *slot, struct clew_error *err)
{
    struct sqlite_stmt *stmt = alloc_zero(1, sizeof(*stmt));
    struct buf text;
    enum clew_status status = CLEW_NO_MEMORY;
    int rc;

    buf_init(&text, MAX_SQL_BYTES);
    if (!stmt || translate(sql->text, &text) != CLEW_OK) {
        status = clew_fail(err, status, "could not prepare a statement");
        goto out;
    }
    rc = sqlite3_prepare_v3(conn->db, text.data, (int)text.len + 1,
                            SQLITE_PREPARE_PERSISTENT, &stmt->handle, NULL);
    if (rc != SQLITE_OK) {
        status = sqlite_fail(conn->db, rc, "prepare a statement", err);
        goto out;
    }
    stmt->conn = conn;
    stmt->slot = slot;
    slot->sql = sql;
    slot->stmt = stmt;
    stmt = NULL; /* the slot owns it now */
    status = CLEW_OK;
out:
    buf_release(&text);
    alloc_free(stmt);
    return status;
}

static enum clew_status find(struct conn *conn, const struct db_sql *sql,
                             struct sqlite_stmt **out_stmt,
                             struct clew_error *err)
{
    struct stmt_slot *slot = stmt_cache_find(&conn->cache, sql);
    enum clew_status status = CLEW_OK;

    if (slot && slot->is_busy) {
        return clew_fail(err, CLEW_INTERNAL, "a statement is open twice");
    }
    if (!slot) {
        slot = stmt_cache_room(&conn->cache, sql);
        if (!slot) {
            return clew_fail(err, CLEW_INTERNAL, "too many open statements");
        }
        release(slot);
        status = prepare(conn, sql, slot, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    *out_stmt = slot->stmt;
    if (!conn->is_write && !sqlite3_stmt_readonly((*out_stmt)->handle) &&
        conn->is_in_tx) {
        return clew_fail(err, CLEW_INTERNAL, "a read must not write");
    }
    return CLEW_OK;
}

static int bind_one(sqlite3_stmt *stmt, int at, const struct db_value *value,
                    sqlite3_destructor_type keep)
{
    switch (value->type) {
    case DB_NULL:
        return sqlite3_bind_null(stmt, at);
    case DB_INT:
        return sqlite3_bind_int64(stmt, at, value->i);
    case DB_REAL:
        return sqlite3_bind_double(stmt, at, value->r);
    case DB_TEXT:
        return sqlite3_bind_text64(stmt, at, value->p, value->len, keep,
                                   SQLITE_UTF8);
    case DB_BYTES:
    case DB_UUID:
        return sqlite3_bind_blob64(stmt, at, value->p, value->len, keep);
    case DB_UUIDS:
    case DB_INTS:
    case DB_TEXTS:
        return sqlite_list_bind(stmt, at, value);
    }
    return SQLITE_MISUSE;
}

/* Bind all and mark the statement busy. */
static enum clew_status start(struct sqlite_stmt *stmt,
                              const struct db_value *args, size_t n_args,
                              sqlite3_destructor_type keep,
                              struct clew_error *err)
{
    int n = sqlite3_bind_parameter_count(stmt->handle);
    int rc = SQLITE_OK;

    stmt->slot->is_busy = true;
    stmt->conn->n_busy++;
    for (size_t i = 0; i < n_args && rc == SQLITE_OK; i++) {
        if ((int)i < n) { /* $1 may be unused by the system's statements */
            rc = bind_one(stmt->handle, (int)i + 1, &args[i], keep);
        }
    }
    if (rc != SQLITE_OK || (size_t)n > n_args) {
        rc = rc == SQLITE_OK ? SQLITE_RANGE : rc;
        return sqlite_fail(stmt->conn->db, rc, "bind parameters", err);
    }
    return CLEW_OK;
}

static void finish(struct sqlite_stmt *stmt)
{
    (void)sqlite3_reset(stmt->handle); /* repeats step()'s error */
    (void)sqlite3_clear_bindings(stmt->handle);
    stmt->slot->is_busy = false;
    stmt->conn->n_busy--;
}

enum clew_status sqlite_exec(struct conn *conn, const struct db_sql *sql,
                             const struct db_value *args, size_t n_args,
                             int64_t *out_count, struct clew_error *err)
{
    struct sqlite_stmt *stmt = NULL;
    enum clew_status status = find(conn, sql, &stmt, err);
    int rc;

    if (status != CLEW_OK) {
        return status;
    }
    status = start(stmt, args, n_args, SQLITE_STATIC, err);
    if (status == CLEW_OK) {
        do {
            rc = sqlite3_step(stmt->handle);
        } while (rc == SQLITE_ROW);
        if (rc != SQLITE_DONE) {
            status = sqlite_fail(conn->db, rc, "run a statement", err);
        }
    }
    if (status == CLEW_OK && out_count) {
        *out_count = sqlite3_changes64(conn->db);
    }
    finish(stmt);
    return status;
}

enum clew_status sqlite_query(struct conn *conn, const struct db_sql *sql,
                              const struct db_value *args, size_t n_args,
                              void **out_rows, struct clew_error *err)
{
    struct sqlite_stmt *stmt = NULL;
    enum clew_status status = find(conn, sql, &stmt, err);

    if (status != CLEW_OK) {
        return status;
    }
    /* The caller's values end with this call, the rows go on: copy them. */
    status = start(stmt, args, n_args, SQLITE_TRANSIENT, err);
    if (status == CLEW_OK) {
        /* The first step does all the work of a statement that writes. */
        stmt->first = sqlite3_step(stmt->handle);
        if (stmt->first != SQLITE_ROW && stmt->first != SQLITE_DONE) {
            status = sqlite_fail(conn->db, stmt->first, "run a query", err);
        }
    }
    if (status != CLEW_OK) {
        finish(stmt);
        return status;
    }
    *out_rows = stmt;
    return CLEW_OK;
}

enum clew_status sqlite_rows_next(void *rows, bool *out_has_row,
                                  struct clew_error *err)
{
    struct sqlite_stmt *stmt = rows;
    int rc = stmt->first ? stmt->first : sqlite3_step(stmt->handle);

    /* A step after the last would start all over. */
    stmt->first = rc == SQLITE_DONE ? SQLITE_DONE : 0;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        return sqlite_fail(stmt->conn->db, rc, "read rows", err);
    }
    *out_has_row = rc == SQLITE_ROW;
    return CLEW_OK;
}

void sqlite_rows_end(void *rows)
{
    finish(rows);
}

bool sqlite_is_null(void *rows, int column)
{
    struct sqlite_stmt *stmt = rows;

    return sqlite3_column_type(stmt->handle, column) == SQLITE_NULL;
}

int64_t sqlite_get_int(void *rows, int column)
{
    return sqlite3_column_int64(((struct sqlite_stmt *)rows)->handle, column);
}

double sqlite_get_real(void *rows, int column)
{
    return sqlite3_column_double(((struct sqlite_stmt *)rows)->handle, column);
}

struct str sqlite_get_text(void *rows, int column)
{
    sqlite3_stmt *stmt = ((struct sqlite_stmt *)rows)->handle;
    struct str text = {(const char *)sqlite3_column_text(stmt, column), 0};

    text.len = (size_t)sqlite3_column_bytes(stmt, column);
    return text;
}

struct str sqlite_get_bytes(void *rows, int column)
{
    sqlite3_stmt *stmt = ((struct sqlite_stmt *)rows)->handle;
    struct str bytes = {sqlite3_column_blob(stmt, column), 0};

    bytes.len = (size_t)sqlite3_column_bytes(stmt, column);
    if (!bytes.s && sqlite3_column_type(stmt, column) != SQLITE_NULL) {
        bytes.s = ""; /* no bytes, which is not NULL */
    }
    return bytes;
}

void sqlite_reset_all(struct conn *conn)
{
    for (int i = 0; i < STMT_CACHE_SETS && conn->n_busy > 0; i++) {
        for (int j = 0; j < STMT_CACHE_WAYS; j++) {
            if (conn->cache.slots[i][j].is_busy) {
                finish(conn->cache.slots[i][j].stmt);
            }
        }
    }
}

void sqlite_release_all(struct conn *conn)
{
    for (int i = 0; i < STMT_CACHE_SETS; i++) {
        for (int j = 0; j < STMT_CACHE_WAYS; j++) {
            release(&conn->cache.slots[i][j]);
        }
    }
}
