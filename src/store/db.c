/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.c - the checking wrappers around a driver's statements.
 *
 * They own what no backend may get wrong: that a tenant's statement names its
 * tenant, that a read writes nothing, that text can be kept by every backend,
 * and that a transaction in which something failed can only fail.
 */
#include "store/driver.h"

#include "base/utf8.h"
#include "store/changes.h"

#include <math.h>
#include <string.h>

/* Parameters of one statement, $1 included: enough for a few rows at once,
 * small enough for the stack. */
#define MAX_ARGS 128
/* Largest text or bytes: the largest request body with room for growth. */
#define MAX_VALUE_BYTES (128u * 1024 * 1024)
/* Items of one list parameter. */
#define MAX_LIST_ITEMS 1000000u

static const struct uuid nil_id;

struct db_value db_null(void)
{
    return (struct db_value){.type = DB_NULL};
}

struct db_value db_int(int64_t value)
{
    return (struct db_value){.type = DB_INT, .i = value};
}

struct db_value db_real(double value)
{
    return (struct db_value){.type = DB_REAL, .r = value};
}

struct db_value db_text(struct str value)
{
    return (struct db_value){.type = DB_TEXT, .p = value.s, .len = value.len};
}

struct db_value db_cstr(const char *value)
{
    return db_text(str_of(value));
}

struct db_value db_bytes(const void *bytes, size_t len)
{
    return (struct db_value){.type = DB_BYTES, .p = bytes, .len = len};
}

struct db_value db_uuid(const struct uuid *id)
{
    bool is_null = !id || uuid_is_nil(id);

    return (struct db_value){.type = DB_UUID,
                             .p = is_null ? NULL : id->b,
                             .len = is_null ? 0 : sizeof(id->b)};
}

struct db_value db_uuids(const struct uuid *ids, size_t count)
{
    return (struct db_value){.type = DB_UUIDS, .p = ids, .len = count};
}

struct db_value db_ints(const int64_t *values, size_t count)
{
    return (struct db_value){.type = DB_INTS, .p = values, .len = count};
}

struct db_value db_texts(const struct str *values, size_t count)
{
    return (struct db_value){.type = DB_TEXTS, .p = values, .len = count};
}

/* Remember the first failure and give its words to the caller. */
static enum clew_status settle(struct store_tx *tx, enum clew_status status,
                               struct clew_error *err)
{
    if (status != CLEW_OK && tx->status == CLEW_OK) {
        tx->status = status;
    }
    if (tx->status != CLEW_OK && err) {
        *err = tx->error;
    }
    return tx->status;
}

static bool uses_first(const char *text)
{
    const char *at = text;

    for (;;) {
        at = strstr(at, "$1");
        if (!at) {
            return false;
        }
        if (at[2] < '0' || at[2] > '9') {
            return true;
        }
        at += 2;
    }
}

/* Only such statements are sure to change nothing. */
static bool is_select(const struct db_sql *sql)
{
    return strncmp(sql->text, "SELECT ", 7) == 0;
}

/* What one backend would keep and the other refuse is refused by both. */
static enum clew_status check_text(const char *text, size_t len,
                                   struct clew_error *err)
{
    if (len > 0 && memchr(text, '\0', len)) {
        return clew_fail(err, CLEW_INVALID, "text must not contain NUL");
    }
    if (len > 0 && !utf8_is_valid((struct str){text, len})) {
        return clew_fail(err, CLEW_INVALID, "text must be UTF-8");
    }
    return CLEW_OK;
}

static enum clew_status check_list(const struct db_value *value,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (value->len > MAX_LIST_ITEMS) {
        return clew_fail(err, CLEW_TOO_LARGE, "too many items at once");
    }
    for (size_t i = 0; value->type == DB_TEXTS && i < value->len; i++) {
        struct str text = ((const struct str *)value->p)[i];

        if (status == CLEW_OK) {
            status = check_text(text.s, text.len, err);
        }
    }
    return status;
}

static enum clew_status check_value(const struct db_value *value,
                                    struct clew_error *err)
{
    bool is_list = value->type == DB_UUIDS || value->type == DB_INTS ||
                   value->type == DB_TEXTS;

    if (!is_list && value->len > MAX_VALUE_BYTES) {
        return clew_fail(err, CLEW_TOO_LARGE, "a value is too large to store");
    }
    switch (value->type) {
    case DB_TEXT:
        return check_text(value->p, value->len, err);
    case DB_UUIDS:
    case DB_INTS:
    case DB_TEXTS:
        return check_list(value, err);
    case DB_REAL:
        if (isnan(value->r)) { /* SQLite would make it NULL */
            return clew_fail(err, CLEW_INVALID, "a real must be a number");
        }
        return CLEW_OK;
    case DB_NULL:
    case DB_INT:
    case DB_BYTES:
    case DB_UUID:
        break;
    }
    return CLEW_OK;
}

/* Check the statement and its values; put the tenant in front of them. */
static enum clew_status admit(struct store_tx *tx, const struct db_sql *sql,
                              const struct db_value *args, size_t n_args,
                              struct db_value out_all[MAX_ARGS], size_t *out_n)
{
    bool is_tenant = tx->tenant > 0;
    size_t first = is_tenant ? 1 : 0;
    enum clew_status status = CLEW_OK;

    if (is_tenant != (sql->scope == DB_TENANT)) {
        return clew_fail(&tx->error, CLEW_INTERNAL,
                         "a statement was run in the wrong scope");
    }
    if (is_tenant && !uses_first(sql->text)) {
        return clew_fail(&tx->error, CLEW_INTERNAL,
                         "a statement does not name its tenant");
    }
    if (n_args + first > MAX_ARGS) {
        return clew_fail(&tx->error, CLEW_INTERNAL, "too many parameters");
    }
    for (size_t i = 0; i < n_args && status == CLEW_OK; i++) {
        status = check_value(&args[i], &tx->error);
        out_all[first + i] = args[i];
    }
    if (is_tenant) {
        out_all[0] = db_int(tx->tenant);
    }
    *out_n = n_args + first;
    return status;
}

static enum clew_status exec(struct store_tx *tx, const struct db_sql *sql,
                             const struct db_value *args, size_t n_args,
                             int64_t *out_count, struct clew_error *err)
{
    struct db_value all[MAX_ARGS];
    size_t n = 0;
    enum clew_status status;

    if (tx->status != CLEW_OK) {
        return settle(tx, tx->status, err);
    }
    if (!tx->is_write) {
        status = clew_fail(&tx->error, CLEW_INTERNAL, "a read must not write");
        return settle(tx, status, err);
    }
    status = changes_before(tx, sql, err);
    if (status == CLEW_OK) {
        status = admit(tx, sql, args, n_args, all, &n);
    }
    if (status == CLEW_OK) {
        tx->has_written = true;
        status = tx->ops->exec(tx->conn, sql, all, n, out_count, &tx->error);
    }
    return settle(tx, status, err);
}

enum clew_status db_exec(struct store_tx *tx, const struct db_sql *sql,
                         const struct db_value *args, size_t n_args,
                         struct clew_error *err)
{
    return exec(tx, sql, args, n_args, NULL, err);
}

enum clew_status db_exec_count(struct store_tx *tx, const struct db_sql *sql,
                               const struct db_value *args, size_t n_args,
                               int64_t *out_count, struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status = exec(tx, sql, args, n_args, &count, err);

    if (status == CLEW_OK && out_count) {
        *out_count = count;
    }
    return status;
}

enum clew_status db_query(struct store_tx *tx, const struct db_sql *sql,
                          const struct db_value *args, size_t n_args,
                          struct db_rows *rows, struct clew_error *err)
{
    struct db_value all[MAX_ARGS];
    size_t n = 0;
    enum clew_status status = tx->status;

    rows->tx = tx;
    rows->impl = NULL;
    rows->at = -1;
    rows->status = CLEW_OK;
    rows->error.status = CLEW_OK;
    if (status == CLEW_OK) {
        status = changes_before(tx, sql, err);
    }
    if (status == CLEW_OK) {
        status = admit(tx, sql, args, n_args, all, &n);
    }
    if (status == CLEW_OK) {
        tx->has_written = tx->has_written || !is_select(sql);
        status = tx->ops->query(tx->conn, sql, all, n, &rows->impl, &tx->error);
    }
    status = settle(tx, status, err);
    if (status == CLEW_OK) {
        tx->n_open++;
    } else {
        rows->impl = NULL;
    }
    return status;
}

enum clew_status db_ahead(struct store_tx *tx, const struct db_sql *sql,
                          const struct db_value *args, size_t n_args,
                          struct clew_error *err)
{
    struct db_value all[MAX_ARGS];
    size_t n = 0;
    enum clew_status status = tx->status;

    if (status == CLEW_OK && !is_select(sql)) {
        status = clew_fail(&tx->error, CLEW_INTERNAL,
                           "only a SELECT can be asked ahead");
    }
    if (status == CLEW_OK) {
        status = changes_before(tx, sql, err);
    }
    if (status == CLEW_OK) {
        status = admit(tx, sql, args, n_args, all, &n);
    }
    if (status == CLEW_OK) {
        status = tx->ops->ahead(tx->conn, sql, all, n, &tx->error);
    }
    return settle(tx, status, err);
}

bool db_next(struct db_rows *rows)
{
    struct store_tx *tx = rows->tx;
    bool has_row = false;
    enum clew_status status;

    if (!rows->impl || rows->status != CLEW_OK) {
        return false;
    }
    status = tx->ops->rows_next(rows->impl, &has_row, &rows->error);
    if (status != CLEW_OK) {
        rows->status = status;
        if (tx->status == CLEW_OK) {
            tx->error = rows->error;
        }
        (void)settle(tx, status, NULL); /* db_end() reports it */
        return false;
    }
    rows->at++;
    return has_row;
}

enum clew_status db_end(struct db_rows *rows, struct clew_error *err)
{
    if (rows->impl) {
        rows->tx->ops->rows_end(rows->impl);
        rows->impl = NULL;
        rows->tx->n_open--;
    }
    if (rows->status != CLEW_OK && err) {
        *err = rows->error;
    }
    return rows->status;
}

bool db_is_null(const struct db_rows *rows, int column)
{
    return rows->tx->ops->is_null(rows->impl, column);
}

int64_t db_get_int(const struct db_rows *rows, int column)
{
    return rows->tx->ops->get_int(rows->impl, column);
}

double db_get_real(const struct db_rows *rows, int column)
{
    return rows->tx->ops->get_real(rows->impl, column);
}

struct str db_get_text(const struct db_rows *rows, int column)
{
    return rows->tx->ops->get_text(rows->impl, column);
}

struct str db_get_bytes(const struct db_rows *rows, int column)
{
    return rows->tx->ops->get_bytes(rows->impl, column);
}

struct uuid db_get_uuid(const struct db_rows *rows, int column)
{
    struct str bytes = db_get_bytes(rows, column);
    struct uuid id = nil_id;

    if (bytes.len == sizeof(id.b)) {
        memcpy(id.b, bytes.s, sizeof(id.b));
    }
    return id;
}

/* --- change numbers (changes.h) ---------------------------------------------
 */

DB_SQL(take, "UPDATE tenants SET change_seq = change_seq + $2 "
             "WHERE tenant = $1 RETURNING change_seq");
DB_SQL(put, "UPDATE tenants SET change_seq = $2 WHERE tenant = $1");

static enum clew_status take_from_row(struct store_tx *tx, int64_t count,
                                      struct clew_error *err)
{
    struct db_rows rows;
    int64_t last = -1;
    enum clew_status status =
        db_query(tx, &take, DB_ARGS(db_int(count)), &rows, err);

    if (db_next(&rows)) {
        last = db_get_int(&rows, 0);
    }
    if (status == CLEW_OK) {
        status = db_end(&rows, err);
    }
    if (status == CLEW_OK && last < 0) {
        status = clew_fail(err, CLEW_NOT_FOUND, "there is no such tenant");
    }
    if (status == CLEW_OK) {
        *tx->changes =
            (struct changes){.is_known = true, .last = last, .stored = last};
    }
    return status;
}

enum clew_status db_take_changes(struct store_tx *tx, int64_t count,
                                 int64_t *out_first, struct clew_error *err)
{
    struct changes *changes = tx->changes;
    enum clew_status status = tx->status;

    if (!changes || count < 1) {
        return clew_fail(err, CLEW_INTERNAL, "cannot take change numbers here");
    }
    if (!changes->is_known || status != CLEW_OK) {
        status = take_from_row(tx, count, err);
    } else {
        changes->last += count;
    }
    if (status == CLEW_OK) {
        *out_first = changes->last - count + 1;
    }
    return status;
}

enum clew_status changes_store(struct store_tx *tx, struct clew_error *err)
{
    struct changes *changes = tx->changes;

    if (!changes->is_known || changes->last == changes->stored) {
        return CLEW_OK;
    }
    changes->stored = changes->last;
    return db_exec(tx, &put, DB_ARGS(db_int(changes->last)), err);
}

enum clew_status changes_before(struct store_tx *tx, const struct db_sql *sql,
                                struct clew_error *err)
{
    enum clew_status status;

    if (!tx->changes || !tx->changes->is_known || sql == &put ||
        !strstr(sql->text, "tenants")) {
        return CLEW_OK;
    }
    status = changes_store(tx, err);
    tx->changes->is_known = false; /* it may change the row */
    return status;
}
