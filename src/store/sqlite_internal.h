/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_internal.h - what the files of the SQLite driver share.
 */
#ifndef STORE_SQLITE_INTERNAL_H
#define STORE_SQLITE_INTERNAL_H

#include "store/driver.h"
#include "store/stmt_cache.h"

#include <pthread.h>
#include <sqlite3.h>

/* "Clew" in the file's header says whose file it is. */
#define SQLITE_APPLICATION_ID 0x436c6577

struct driver {
    char *path; /* NULL for ":memory:" */
    int max_readers;
    bool is_read_only;
    bool is_scratch;
    /* ":memory:" is one connection that all transactions take turns with: the
     * lock is held from begin to commit. */
    pthread_mutex_t lock;
    sqlite3 *memory;
    int n_memory; /* how many struct conn use it */
};

struct conn {
    struct driver *driver;
    sqlite3 *db;
    bool is_shared; /* `db` is the driver's `memory` */
    bool is_in_tx;
    bool is_write;     /* of the current transaction */
    int n_busy;        /* statements being stepped through */
    int64_t pause_ns;  /* when it last left the file to others */
    int64_t commit_ns; /* when its last write ended; 0 before the first */
    struct stmt_cache cache;
};

/* A prepared statement; as `rows` it is the query under way. */
struct sqlite_stmt {
    struct conn *conn;
    sqlite3_stmt *handle;
    struct stmt_slot *slot;
    int first; /* what the next step gives, 0 if it must be taken */
};

/* Map a result code, with SQLite's words. */
enum clew_status sqlite_fail(sqlite3 *db, int rc, const char *what,
                             struct clew_error *err);

/* sqlite_stmt.c: statements. */
enum clew_status sqlite_exec(struct conn *conn, const struct db_sql *sql,
                             const struct db_value *args, size_t n_args,
                             int64_t *out_count, struct clew_error *err);
enum clew_status sqlite_query(struct conn *conn, const struct db_sql *sql,
                              const struct db_value *args, size_t n_args,
                              void **out_rows, struct clew_error *err);
enum clew_status sqlite_rows_next(void *rows, bool *out_has_row,
                                  struct clew_error *err);
void sqlite_rows_end(void *rows);
bool sqlite_is_null(void *rows, int column);
int64_t sqlite_get_int(void *rows, int column);
double sqlite_get_real(void *rows, int column);
struct str sqlite_get_text(void *rows, int column);
struct str sqlite_get_bytes(void *rows, int column);
/* Stop whatever a transaction left open. */
void sqlite_reset_all(struct conn *conn);
void sqlite_release_all(struct conn *conn);

/* sqlite_file.c: the file. */
/* Make the folder and the file, for the owner's eyes only; `*out_path` is the
 * file's and the caller's. */
enum clew_status sqlite_file_make(const struct store_options *options,
                                  char **out_path, struct clew_error *err);
enum clew_status sqlite_backup(struct driver *driver, const char *path,
                               struct clew_error *err);
/* A connection with every setting in place. */
enum clew_status sqlite_connect(const char *path, enum conn_role role,
                                sqlite3 **out_db, struct clew_error *err);

#endif
