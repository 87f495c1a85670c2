/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - rows of a query into an array of structs in an arena.
 *
 * Every noun has a function that reads one row; the rest (growing, ending the
 * query, out of memory) is the same everywhere and lives here.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_ROWS_H
#define ENGINE_ROWS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/db.h"

#include <stdbool.h>
#include <stddef.h>

struct store;

/* Read the current row into `out` (zeroed, of the noun's size); false on OOM.
 */
typedef bool (*rows_fn)(struct arena *arena, const struct db_rows *rows,
                        void *out);

/* A growing array; start with {.arena, .size, .fn}. */
struct rows_list {
    struct arena *arena;
    size_t size; /* bytes of one item */
    rows_fn fn;
    void *items;
    size_t count;
    size_t cap;
};

/* Append the rows of a query and end it. */
enum clew_status rows_take(struct rows_list *list, struct db_rows *rows,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Run a query and append all its rows. */
enum clew_status rows_add(struct store_tx *tx, struct rows_list *list,
                          const struct db_sql *sql, const struct db_value *args,
                          size_t n_args,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* The same into a fresh list, whose array goes to `out_items` (a T **) and its
 * length to `out_count`. */
enum clew_status rows_all(struct store_tx *tx, struct rows_list *list,
                          const struct db_sql *sql, const struct db_value *args,
                          size_t n_args, void *out_items, size_t *out_count,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* Run a query for one row into `out` (list->size bytes); CLEW_NOT_FOUND with
 * "there is no such <noun>" if it has none. */
enum clew_status rows_one(struct store_tx *tx, struct arena *arena,
                          const struct db_sql *sql, const struct db_value *args,
                          size_t n_args, rows_fn fn, void *out, size_t size,
                          const char *noun,
                          struct clew_error *err) CLEW_MUST_CHECK;

/* The number in the first column of a query's first row, 0 without one: how
 * many, how far. */
enum clew_status rows_number(struct store_tx *tx, const struct db_sql *sql,
                             const struct db_value *args, size_t n_args,
                             int64_t *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* The tenants that a query over all of them names, in a read of its own. */
enum clew_status rows_tenants(struct store *store, struct arena *arena,
                              const struct db_sql *sql,
                              const struct db_value *args, size_t n_args,
                              int64_t **out, size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* Copy a text column into the arena; NULL stays NULL. False on OOM. */
bool rows_text(struct arena *arena, const struct db_rows *rows, int column,
               struct str *out);
/* The text of a packed column (base/pack.h), or of column `plain` where that is
 * NULL: the row is from before texts were packed. What cannot be unpacked is an
 * empty object: a rebuild finds that it differs. False on OOM. */
bool rows_packed(struct arena *arena, const struct db_rows *rows, int column,
                 int plain, struct str *out);
/* What is bound for such a column; its bytes are the arena's. False on OOM. */
bool rows_pack(struct arena *arena, struct str text, struct db_value *out);
/* The same two for a text that is packed beside another of its row
 * (base/pack_beside.h), which has been read already. A text with s == NULL
 * binds NULL. */
bool rows_packed_beside(struct arena *arena, const struct db_rows *rows,
                        int column, int plain, struct str beside,
                        struct str *out);
bool rows_pack_beside(struct arena *arena, struct str text, struct str beside,
                      struct db_value *out);
/* A rows_fn for a struct uuid: the id in the first column. */
bool rows_id(struct arena *arena, const struct db_rows *rows, void *out);
/* The same of a whole number (int64_t): a tenant. */
bool rows_int(struct arena *arena, const struct db_rows *rows, void *out);
/* 0 binds NULL: for times and numbers where 0 means "not set". */
struct db_value rows_int_or_null(int64_t value);

#endif
