/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_error.c - SQLite's results as statuses. See sqlite_internal.h.
 */
#include "store/sqlite_internal.h"

static enum clew_status status_of(int rc)
{
    switch (rc) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
        return CLEW_CONFLICT;
    case SQLITE_CONSTRAINT_CHECK:
        return CLEW_INVALID;
    case SQLITE_IOERR_NOMEM:
        return CLEW_NO_MEMORY;
    default: /* result codes are integers, not an enum */
        break;
    }
    switch (rc & 0xff) {
    case SQLITE_OK:
        return CLEW_OK;
    case SQLITE_NOMEM:
        return CLEW_NO_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return CLEW_BUSY;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_PROTOCOL:
        return CLEW_UNAVAILABLE;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return CLEW_CORRUPT;
    case SQLITE_TOOBIG:
        return CLEW_TOO_LARGE;
    case SQLITE_INTERRUPT:
        return CLEW_TIMEOUT;
    default:
        return CLEW_INTERNAL;
    }
}

enum clew_status sqlite_fail(sqlite3 *db, int rc, const char *what,
                             struct clew_error *err)
{
    const char *words = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);

    return clew_fail(err, status_of(rc), "could not %s: %s (sqlite %d)", what,
                     words, rc);
}
