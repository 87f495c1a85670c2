/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.h - statements inside a transaction.
 *
 * One SQL text serves both backends. It is written in the common subset, with
 * $1, $2 … as parameters; the drivers translate the little that differs:
 *   = ANY($n), <> ALL($n)   a list (db_uuids, db_ints, db_texts)
 *   SELECT value FROM UNNEST($n) AS value WHERE TRUE   a row for each of a
 *                    list, to insert many rows by one statement (WHERE: else
 *                    SQLite takes ON CONFLICT for a join); or to look each up,
 *                    CROSS JOIN t WHERE t.id = value: SQLite makes no table
 *                    of the list as it does for ANY, and one that is named
 *                    twice is found twice
 *   FOR UPDATE [SKIP LOCKED]   row locks; SQLite has one writer and drops it
 * In a tenant's transaction $1 is ALWAYS the tenant: the wrapper binds it, the
 * caller's first argument is $2. A statement whose text does not use $1 is
 * refused with CLEW_INTERNAL, so no query can forget its tenant. Text compares
 * by bytes on both backends, LIKE is case-sensitive.
 *
 * Types: integers are 64-bit, times are milliseconds, booleans are 0/1, ids are
 * 16-byte UUIDs, JSON is text. Named columns only; keywords in upper case.
 *
 * db_exec() may be sent without waiting (PostgreSQL pipelines it): its failure
 * may be reported by a later call of the same transaction, at the latest by the
 * commit. Whoever needs to know now uses db_query() with RETURNING, or
 * db_exec_count().
 *
 * A failed statement fails its transaction, as PostgreSQL has it: every later
 * call repeats the failure and nothing is kept, whatever the function returns.
 * To meet an expected duplicate write ON CONFLICT DO NOTHING and look at the
 * count.
 * Thread-safety: none; use it from the transaction's function only.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_tx;

enum db_scope { DB_TENANT, DB_SYSTEM };

/* A statement. Its address is its identity (prepared once per connection), so
 * it must be a static const. */
struct db_sql {
    const char *text;
    enum db_scope scope;
};
#define DB_SQL(name, text) static const struct db_sql name = {text, DB_TENANT}
#define DB_SQL_SYSTEM(name, text)                                              \
    static const struct db_sql name = {text, DB_SYSTEM}

enum db_type {
    DB_NULL,
    DB_INT,
    DB_REAL,
    DB_TEXT,
    DB_BYTES,
    DB_UUID,
    DB_UUIDS,
    DB_INTS,
    DB_TEXTS
};

/* A parameter. Borrows what it points to until the call returns. */
struct db_value {
    enum db_type type;
    int64_t i;
    double r;
    const void *p;
    size_t len; /* bytes of text and bytes, items of lists */
};

struct db_value db_null(void);
struct db_value db_int(int64_t value);
struct db_value db_real(double value);
/* A slice with s == NULL binds NULL. */
struct db_value db_text(struct str value);
struct db_value db_cstr(const char *value);
struct db_value db_bytes(const void *bytes, size_t len);
/* NULL and the nil id bind NULL. */
struct db_value db_uuid(const struct uuid *id);
struct db_value db_uuids(const struct uuid *ids, size_t count);
struct db_value db_ints(const int64_t *values, size_t count);
struct db_value db_texts(const struct str *values, size_t count);

#define DB_ARGS(...)                                                           \
    (const struct db_value[]){__VA_ARGS__},                                    \
        sizeof((const struct db_value[]){__VA_ARGS__}) /                       \
            sizeof(struct db_value)
#define DB_NO_ARGS NULL, 0

/* Run a statement that returns no rows. May be deferred, see above. */
enum clew_status db_exec(struct store_tx *tx, const struct db_sql *sql,
                         const struct db_value *args, size_t n_args,
                         struct clew_error *err) CLEW_MUST_CHECK;
/* The same, at once, with the number of rows it touched. A broken unique
 * constraint is CLEW_CONFLICT. */
enum clew_status db_exec_count(struct store_tx *tx, const struct db_sql *sql,
                               const struct db_value *args, size_t n_args,
                               int64_t *out_count,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* The rows of one query. Treat as opaque; lives on the caller's stack. */
struct db_rows {
    struct store_tx *tx;
    void *impl;
    int64_t at; /* row number, -1 before the first */
    enum clew_status status;
    struct clew_error error;
};

/*
 * Start a query. Always db_end() it, on every path (also if this failed; then
 * db_end() is a no-op that returns CLEW_OK). A writing query (RETURNING) has
 * done its work, or failed, when this returns. The same statement may not be
 * open twice at once. Keep results bounded with LIMIT: a backend may fetch them
 * whole.
 */
enum clew_status db_query(struct store_tx *tx, const struct db_sql *sql,
                          const struct db_value *args, size_t n_args,
                          struct db_rows *rows,
                          struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Ask what will be asked soon. Several questions whose values are known
 * together then cost one round trip to PostgreSQL instead of one each: a
 * db_query() of the same SELECT with the same values gets the answer that was
 * given here, so nothing run between the two may change it. A hint: an answer
 * that nobody fetches is dropped at the end of the transaction's function, and
 * SQLite, which has no round trips, does nothing.
 */
enum clew_status db_ahead(struct store_tx *tx, const struct db_sql *sql,
                          const struct db_value *args, size_t n_args,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* The next row; false at the end or on failure, which db_end() reports. */
bool db_next(struct db_rows *rows);
/* Release the rows; the first failure, if any. */
enum clew_status db_end(struct db_rows *rows,
                        struct clew_error *err) CLEW_MUST_CHECK;

/* Columns of the current row, from 0. Text and bytes are borrowed until the
 * next db_next() or db_end(); copy them into an arena. NULL gives 0, the empty
 * slice with s == NULL, the nil id. */
bool db_is_null(const struct db_rows *rows, int column);
int64_t db_get_int(const struct db_rows *rows, int column);
double db_get_real(const struct db_rows *rows, int column);
struct str db_get_text(const struct db_rows *rows, int column);
struct str db_get_bytes(const struct db_rows *rows, int column);
struct uuid db_get_uuid(const struct db_rows *rows, int column);

/*
 * Reserve `count` change numbers of this tenant; the first comes back. Numbers
 * become visible in order: who has seen n has seen every number below it. Each
 * searchable row (turn, memory, episode) and each tombstone carries one; that
 * is how indexes and caches catch up.
 */
enum clew_status db_take_changes(struct store_tx *tx, int64_t count,
                                 int64_t *out_first,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
