/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_list.h - a list parameter as a table, for "= ANY($n)" on SQLite.
 *
 * db_list(?n) is a table-valued function with one column, value. The list is
 * bound as a pointer, so no text is built and no limit on parameters is met.
 * Thread-safety: as the connection it is registered with.
 */
#ifndef STORE_SQLITE_LIST_H
#define STORE_SQLITE_LIST_H

#include "store/db.h"

#include <sqlite3.h>

/* Make db_list() known to a connection. */
int sqlite_list_register(sqlite3 *db);
/* Bind a list (DB_UUIDS, DB_INTS, DB_TEXTS); the statement keeps a copy. */
int sqlite_list_bind(sqlite3_stmt *stmt, int at, const struct db_value *value);

#endif
