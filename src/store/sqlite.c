/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.c - the SQLite driver: transactions and errors.
 *
 * WAL with one writer connection and a few readers; each commit is synced
 * (synchronous=FULL). Several processes may share a folder: a writer begins
 * with BEGIN IMMEDIATE and waits a while for the others.
 * ":memory:" is one connection that all transactions take turns with.
 */
#include "store/sqlite_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "store/pool.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* The pages that all readers may keep, in KiB. */
#define READERS_KIB 32768
/* A writer that writes on and on lets go so often, for so long: who waits for
 * the file's lock looks more often than that (sqlite_file.c), but would find
 * the moment between two transactions by chance only. */
#define HOLD_NS (250 * 1000000LL)
#define LEAVE_NS (5 * 1000000LL)

DB_SQL_SYSTEM(begin_read, "BEGIN");
DB_SQL_SYSTEM(begin_write, "BEGIN IMMEDIATE");
DB_SQL_SYSTEM(commit, "COMMIT");
DB_SQL_SYSTEM(rollback, "ROLLBACK");
DB_SQL_SYSTEM(savepoint, "SAVEPOINT job");
DB_SQL_SYSTEM(release_job, "RELEASE job");
DB_SQL_SYSTEM(rollback_job, "ROLLBACK TO job");

/* One of our own statements, without parameters. */
static enum clew_status run(struct conn *conn, const struct db_sql *sql,
                            struct clew_error *err)
{
    return sqlite_exec(conn, sql, NULL, 0, NULL, err);
}

static enum clew_status driver_open(const struct store_options *options,
                                    struct driver **out_driver,
                                    struct clew_error *err)
{
    struct driver *driver = alloc_zero(1, sizeof(*driver));
    enum clew_status status = CLEW_OK;

    if (!driver) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open the store");
    }
    pthread_mutex_init(&driver->lock, NULL);
    driver->is_read_only = options->is_read_only;
    driver->is_scratch = options->is_scratch;
    driver->max_readers = pool_fitting(options->max_readers);
    if (strcmp(options->location, ":memory:") == 0) {
        driver->max_readers = 1;
    } else {
        status = sqlite_file_make(options, &driver->path, err);
    }
    if (status != CLEW_OK) {
        pthread_mutex_destroy(&driver->lock);
        alloc_free(driver);
        return status;
    }
    *out_driver = driver;
    return CLEW_OK;
}

static void driver_close(struct driver *driver)
{
    pthread_mutex_destroy(&driver->lock);
    alloc_free(driver->path);
    alloc_free(driver);
}

static int max_writers(struct driver *driver)
{
    (void)driver;
    return 1;
}

static int max_readers(struct driver *driver)
{
    return driver->max_readers;
}

/* Of what all readers may keep each has its part. */
static void limit_cache(const struct driver *driver, sqlite3 *db)
{
    char sql[48];

    (void)snprintf(sql, sizeof(sql), "PRAGMA cache_size = -%d;",
                   READERS_KIB / driver->max_readers);
    (void)sqlite3_exec(db, sql, NULL, NULL, NULL); /* only speed is lost */
}

/* A database of its own, or one more user of the one in memory. */
static enum clew_status connect(struct driver *driver, enum conn_role role,
                                sqlite3 **out_db, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (driver->path) {
        status = sqlite_connect(driver->path, role, out_db, err);
        if (status == CLEW_OK && role == CONN_READER) {
            limit_cache(driver, *out_db);
        }
        if (status == CLEW_OK && driver->is_scratch) {
            /* only speed is lost if this fails */
            (void)sqlite3_exec(*out_db,
                               "PRAGMA synchronous = OFF;"
                               "PRAGMA secure_delete = OFF;"
                               "PRAGMA cache_size = -65536;",
                               NULL, NULL, NULL);
        }
        return status;
    }
    pthread_mutex_lock(&driver->lock);
    if (!driver->memory) {
        status = sqlite_connect(NULL, CONN_WRITER, &driver->memory, err);
    }
    if (status == CLEW_OK) {
        driver->n_memory++;
        *out_db = driver->memory;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

static enum clew_status conn_open(struct driver *driver, enum conn_role role,
                                  struct conn **out_conn,
                                  struct clew_error *err)
{
    struct conn *conn = alloc_zero(1, sizeof(*conn));
    enum clew_status status;

    if (!conn) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open a connection");
    }
    conn->driver = driver;
    conn->is_shared = !driver->path;
    status = connect(driver, role, &conn->db, err);
    if (status != CLEW_OK) {
        alloc_free(conn);
        return status;
    }
    *out_conn = conn;
    return CLEW_OK;
}

static void conn_rollback(struct conn *conn)
{
    struct clew_error ignored;

    if (!conn->is_in_tx) {
        return;
    }
    sqlite_reset_all(conn);
    /* Once more by another way if there was no memory to prepare it; if that
     * fails too, conn_state() tells. */
    if (!sqlite3_get_autocommit(conn->db) &&
        run(conn, &rollback, &ignored) != CLEW_OK) {
        (void)sqlite3_exec(conn->db, "ROLLBACK", NULL, NULL, NULL);
    }
    conn->is_in_tx = false;
    if (conn->is_shared) {
        pthread_mutex_unlock(&conn->driver->lock);
    }
}

static void conn_close(struct conn *conn)
{
    struct driver *driver = conn->driver;

    conn_rollback(conn);
    pthread_mutex_lock(&driver->lock);
    sqlite_release_all(conn);
    if (!conn->is_shared) {
        (void)sqlite3_close_v2(conn->db);
    } else if (--driver->n_memory == 0) {
        (void)sqlite3_close_v2(driver->memory);
        driver->memory = NULL;
    }
    pthread_mutex_unlock(&driver->lock);
    alloc_free(conn);
}

static bool is_alive(struct conn *conn)
{
    (void)conn;
    return true;
}

static enum conn_state conn_state(struct conn *conn)
{
    if (conn->is_in_tx) {
        return sqlite3_get_autocommit(conn->db) ? CONN_TX_LOST : CONN_READY;
    }
    if (conn->is_shared) {
        return CONN_READY; /* others may be using it by now: do not look */
    }
    /* A transaction that could not be rolled back can only be closed. */
    return sqlite3_get_autocommit(conn->db) ? CONN_READY : CONN_LOST;
}

/* Another process may have waited meanwhile. */
static void let_others(struct conn *conn)
{
    const struct timespec moment = {.tv_nsec = LEAVE_NS};
    int64_t now_ns = clock_mono_ns();

    if (now_ns - conn->commit_ns >= LEAVE_NS) {
        conn->pause_ns = now_ns;
    } else if (now_ns - conn->pause_ns >= HOLD_NS) {
        (void)nanosleep(&moment, NULL); /* shorter is fine */
        conn->pause_ns = now_ns + LEAVE_NS;
    }
}

static enum clew_status conn_begin(struct conn *conn, bool is_write,
                                   struct clew_error *err)
{
    enum clew_status status;

    if (conn->is_shared) {
        pthread_mutex_lock(&conn->driver->lock);
    } else if (is_write) {
        let_others(conn);
    }
    status = run(conn, is_write ? &begin_write : &begin_read, err);
    if (status != CLEW_OK) {
        if (conn->is_shared) {
            pthread_mutex_unlock(&conn->driver->lock);
        }
        return status;
    }
    conn->is_in_tx = true;
    conn->is_write = is_write;
    return CLEW_OK;
}

static enum clew_status conn_enter(struct conn *conn, int64_t tenant,
                                   bool has_savepoint, struct clew_error *err)
{
    (void)tenant; /* every statement carries it */
    return has_savepoint ? run(conn, &savepoint, err) : CLEW_OK;
}

static enum clew_status conn_leave(struct conn *conn, bool is_kept,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    sqlite_reset_all(conn);
    if (!is_kept) {
        status = run(conn, &rollback_job, err);
    }
    if (status == CLEW_OK) {
        status = run(conn, &release_job, err);
    }
    return status;
}

static enum clew_status conn_commit(struct conn *conn, struct clew_error *err)
{
    enum clew_status status;

    sqlite_reset_all(conn);
    status = run(conn, &commit, err);
    if (status != CLEW_OK) {
        return status;
    }
    conn->is_in_tx = false;
    if (conn->is_shared) {
        pthread_mutex_unlock(&conn->driver->lock);
    } else if (conn->is_write) {
        conn->commit_ns = clock_mono_ns();
    }
    return CLEW_OK;
}

static enum clew_status ahead(struct conn *conn, const struct db_sql *sql,
                              const struct db_value *args, size_t n_args,
                              struct clew_error *err)
{
    (void)conn;
    (void)sql;
    (void)args;
    (void)n_args;
    (void)err;
    return CLEW_OK; /* nothing is far away */
}

static enum clew_status script(struct conn *conn, const char *text,
                               struct clew_error *err)
{
    int rc = sqlite3_exec(conn->db, text, NULL, NULL, NULL);

    return rc == SQLITE_OK ? CLEW_OK
                           : sqlite_fail(conn->db, rc, "run a script", err);
}

DB_SQL_SYSTEM(count_tables, "SELECT COUNT(*), "
                            "SUM(name = 'schema_migrations') "
                            "FROM sqlite_schema");
DB_SQL_SYSTEM(application_id, "PRAGMA application_id");
DB_SQL_SYSTEM(integrity_check, "PRAGMA integrity_check(1)");

static enum clew_status query_two(struct conn *conn, const struct db_sql *sql,
                                  int64_t out[2], struct clew_error *err)
{
    void *rows = NULL;
    bool has_row = false;
    enum clew_status status = sqlite_query(conn, sql, NULL, 0, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    status = sqlite_rows_next(rows, &has_row, err);
    if (status == CLEW_OK) {
        out[0] = sqlite_get_int(rows, 0);
        out[1] = sqlite_get_int(rows, 1);
    }
    sqlite_rows_end(rows);
    return status;
}

static enum clew_status is_new(struct conn *conn, bool *out_new,
                               struct clew_error *err)
{
    int64_t tables[2] = {0, 0};
    int64_t id[2] = {0, 0};
    enum clew_status status = query_two(conn, &count_tables, tables, err);

    if (status == CLEW_OK) {
        status = query_two(conn, &application_id, id, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (tables[0] == 0 && id[0] == 0) {
        *out_new = true;
        return CLEW_OK;
    }
    if (id[0] != SQLITE_APPLICATION_ID || tables[1] != 1) {
        return clew_fail(err, CLEW_CORRUPT, "the file is not a clew store");
    }
    *out_new = false;
    return CLEW_OK;
}

static enum clew_status begin_migration(struct conn *conn,
                                        struct clew_error *err)
{
    return conn_begin(conn, true, err);
}

static enum clew_status start_changes(struct conn *conn, struct clew_error *err)
{
    (void)conn;
    (void)err;
    return CLEW_OK;
}

static enum clew_status end_migration(struct conn *conn,
                                      const char *system_tables,
                                      struct clew_error *err)
{
    (void)system_tables;
    /* 0x436c6577, the only number a PRAGMA takes is a literal. */
    return script(conn, "PRAGMA application_id = 1131177335", err);
}

_Static_assert(SQLITE_APPLICATION_ID == 1131177335, "the literal above");

static enum clew_status scrub(struct conn *conn, struct clew_error *err)
{
    int rc;

    if (conn->is_shared) {
        return CLEW_OK; /* no log, and deleted rows are overwritten */
    }
    rc = sqlite3_wal_checkpoint_v2(conn->db, NULL, SQLITE_CHECKPOINT_TRUNCATE,
                                   NULL, NULL);
    return rc == SQLITE_OK ? CLEW_OK
                           : sqlite_fail(conn->db, rc, "empty the log", err);
}

static enum clew_status check(struct conn *conn, struct clew_error *err)
{
    void *rows = NULL;
    bool has_row = false;
    enum clew_status status =
        sqlite_query(conn, &integrity_check, NULL, 0, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    status = sqlite_rows_next(rows, &has_row, err);
    if (status == CLEW_OK &&
        (!has_row || !str_eq(sqlite_get_text(rows, 0), STR("ok")))) {
        status = clew_fail(err, CLEW_CORRUPT, "the integrity check failed");
    }
    sqlite_rows_end(rows);
    return status;
}

static enum clew_status no_position(struct conn *conn, struct position *out,
                                    struct clew_error *err)
{
    (void)conn;
    (void)out;
    return clew_fail(err, CLEW_UNSUPPORTED, "SQLite has no replicas");
}

const struct driver_ops sqlite_driver = {
    .name = "sqlite",
    .type_int = "INTEGER",
    .type_real = "REAL",
    .type_text = "TEXT",
    .type_bytes = "BLOB",
    .type_id = "BLOB",
    .table_end = "\n) STRICT;",
    .keyed_end = "\n) STRICT, WITHOUT ROWID;",
    .open = driver_open,
    .close = driver_close,
    .max_writers = max_writers,
    .max_readers = max_readers,
    .conn_open = conn_open,
    .conn_close = conn_close,
    .is_alive = is_alive,
    .state = conn_state,
    .position = no_position,
    .begin = conn_begin,
    .enter = conn_enter,
    .leave = conn_leave,
    .commit = conn_commit,
    .rollback = conn_rollback,
    .exec = sqlite_exec,
    .ahead = ahead,
    .query = sqlite_query,
    .rows_next = sqlite_rows_next,
    .rows_end = sqlite_rows_end,
    .is_null = sqlite_is_null,
    .get_int = sqlite_get_int,
    .get_real = sqlite_get_real,
    .get_text = sqlite_get_text,
    .get_bytes = sqlite_get_bytes,
    .is_new = is_new,
    .begin_migration = begin_migration,
    .start_changes = start_changes,
    .script = script,
    .end_migration = end_migration,
    .backup = sqlite_backup,
    .scrub = scrub,
    .check = check,
};
