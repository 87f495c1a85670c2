/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.c - the PostgreSQL driver: connections and transactions.
 *
 * Reads run in REPEATABLE READ READ ONLY, so they see one snapshot. Writes run
 * in READ COMMITTED after locking their tenant's row, so writes of one tenant
 * never overlap, in whichever process they run, and each sees all before it.
 * A URL with several hosts finds the one that accepts writes by itself.
 * A lost connection is never repaired here: it is closed and another opened.
 */
#include "store/postgres_internal.h"

#include "base/alloc.h"
#include "store/pool.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Above statement_timeout: only a server that stands still, or a commit that
 * waits for a standby which is gone, takes longer. */
#define DEFAULT_ANSWER_MS (45 * 1000)
/* Tenants are spread over these, and the system has one more. */
#define TENANT_WRITERS 4

/* What the URL may override. A peer that is gone is noticed in about 15 s. */
static const char *const defaults[][2] = {
    {"target_session_attrs", "read-write"},
    {"application_name", "clew"},
    {"client_encoding", "UTF8"},
    {"connect_timeout", "5"},
    {"tcp_user_timeout", "15000"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "3"},
    {"keepalives_count", "3"},
};
#define ATTRS_DEFAULT 0 /* the first of them */

#define N_DEFAULTS (sizeof(defaults) / sizeof(defaults[0]))

/* A server set to lose the last commits in a crash would make an acknowledged
 * write a lie, so that one setting is overruled. */
static const char session[] =
    "SET client_min_messages = error; SET jit = off;"
    "SET statement_timeout = '30s'; SET lock_timeout = '10s';"
    "SET idle_in_transaction_session_timeout = '60s';"
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'";

/* The same where a pooler gives each transaction another session. */
DB_SQL_SYSTEM(set_up_transaction,
              "SELECT set_config('client_min_messages', 'error', true),"
              " set_config('jit', 'off', true),"
              " set_config('statement_timeout', '30s', true),"
              " set_config('lock_timeout', '10s', true),"
              " set_config('idle_in_transaction_session_timeout', '60s', true),"
              " CASE WHEN current_setting('synchronous_commit') = 'off' THEN"
              " set_config('synchronous_commit', 'on', true) END");

/*
 * Sent as they are, never kept prepared: a statement that gives way to another
 * is forgotten with a command of its own, and there is no room for one before a
 * BEGIN, where it would open a transaction, nor in a failed transaction before
 * its ROLLBACK, where nothing else is heard.
 */
#define BEGIN_READ "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#define BEGIN_WRITE "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
#define COMMIT "COMMIT"
#define ROLLBACK "ROLLBACK"
#define SAVEPOINT "SAVEPOINT job"
#define RELEASE_JOB "RELEASE SAVEPOINT job"
#define ROLLBACK_JOB "ROLLBACK TO SAVEPOINT job"

DB_SQL_SYSTEM(lock_tenant, "SELECT change_seq FROM tenants "
                           "WHERE tenant = $1 FOR UPDATE");

/* A password with a bare @ or / in it is read as something else, and whatever
 * then fails would be told with a piece of it. */
static bool has_stray_sign(const char *url)
{
    const char *start = strstr(url, "//");
    size_t n_host = start ? strcspn(start + 2, "/?") : 0;
    size_t n_all = start ? strcspn(start + 2, "?") : 0;
    int n_seen = 0;

    for (size_t i = 0; i < n_all; i++) {
        if (start[2 + i] == '@') {
            n_seen++;
            if (i > n_host || n_seen > 1) {
                return true;
            }
        }
    }
    return false;
}

/* Are the ports numbers? */
static bool has_ports(const PQconninfoOption *options)
{
    for (; options->keyword; options++) {
        if (strcmp(options->keyword, "port") == 0 && options->val &&
            options->val[strspn(options->val, "0123456789,")] != '\0') {
            return false;
        }
    }
    return true;
}

/* What libpq says of a URL it cannot read holds parts of it. */
static enum clew_status check_url(const char *url, struct clew_error *err)
{
    char *words = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &words);
    bool is_good = options && has_ports(options) && !has_stray_sign(url);

    PQconninfoFree(options);
    PQfreemem(words);
    return is_good
               ? CLEW_OK
               : clew_fail(err, CLEW_INVALID,
                           "the database's URL cannot be read: it is "
                           "postgres://USER:PASSWORD@HOST:PORT/NAME, with "
                           "@ / %% in a password written as %%40 %%2F %%25");
}

static enum clew_status driver_open(const struct store_options *options,
                                    struct driver **out_driver,
                                    struct clew_error *err)
{
    enum clew_status status = check_url(options->location, err);
    struct driver *driver =
        status == CLEW_OK ? alloc_zero(1, sizeof(*driver)) : NULL;

    if (status != CLEW_OK) {
        return status;
    }
    if (driver) {
        driver->url = alloc_string(options->location);
    }
    if (!driver || !driver->url) {
        alloc_free(driver);
        return clew_fail(err, CLEW_NO_MEMORY, "could not open the store");
    }
    driver->is_read_only = options->is_read_only;
    driver->is_replica = options->is_replica;
    /* Replicas are asked and then read: the same one, so without a pooler. */
    driver->is_pooled = options->is_pooled && !options->is_replica;
    driver->max_readers = pool_fitting(options->max_readers);
    driver->answer_ms =
        options->answer_ms > 0 ? options->answer_ms : DEFAULT_ANSWER_MS;
    *out_driver = driver;
    return CLEW_OK;
}

static void driver_close(struct driver *driver)
{
    /* The URL may hold a password. */
    alloc_free_secret(driver->url, strlen(driver->url));
    alloc_free(driver);
}

static int max_writers(struct driver *driver)
{
    (void)driver;
    return TENANT_WRITERS + 1;
}

static int max_readers(struct driver *driver)
{
    return driver->max_readers;
}

static void ignore_notice(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

static PGconn *connect_url(const struct driver *driver)
{
    const char *keys[N_DEFAULTS + 2] = {NULL};
    const char *values[N_DEFAULTS + 2] = {NULL};

    for (size_t i = 0; i < N_DEFAULTS; i++) {
        keys[i] = defaults[i][0];
        values[i] = defaults[i][1];
    }
    /* A later key wins, and this one is expanded into those of the URL. */
    if (driver->is_replica) {
        values[ATTRS_DEFAULT] = "prefer-standby";
    }
    keys[N_DEFAULTS] = "dbname";
    values[N_DEFAULTS] = driver->url;
    return PQconnectdbParams(keys, values, 1);
}

/* Set up a fresh connection; the words of libpq hold no password. */
static enum clew_status set_up(PGconn *pg, bool is_pooled,
                               struct clew_error *err)
{
    const char *encoding;
    PGresult *result;
    bool is_good;

    if (PQstatus(pg) != CONNECTION_OK) {
        char words[200];
        (void)snprintf(words, sizeof(words), "%s", PQerrorMessage(pg));
        words[strcspn(words, "\n")] = '\0';
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not reach the database: %s", words);
    }
    encoding = PQparameterStatus(pg, "server_encoding");
    if (!encoding || strcmp(encoding, "UTF8") != 0) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "the database must use the encoding UTF8");
    }
    (void)PQsetNoticeProcessor(pg, ignore_notice, NULL);
    result = is_pooled ? NULL : PQexec(pg, session);
    is_good = is_pooled || PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    if (!is_good || PQenterPipelineMode(pg) != 1 ||
        PQsetnonblocking(pg, 1) != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not set up a database session");
    }
    return CLEW_OK;
}

static enum clew_status conn_open(struct driver *driver, enum conn_role role,
                                  struct conn **out_conn,
                                  struct clew_error *err)
{
    struct conn *conn = alloc_zero(1, sizeof(*conn));
    enum clew_status status;

    (void)role; /* both begin their transactions as they need */
    if (!conn) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open a connection");
    }
    conn->driver = driver;
    conn->pg = connect_url(driver);
    if (!conn->pg) {
        status = clew_fail(err, CLEW_NO_MEMORY, "could not open a connection");
    } else {
        status = set_up(conn->pg, driver->is_pooled, err);
    }
    if (status != CLEW_OK) {
        PQfinish(conn->pg);
        alloc_free(conn);
        return status;
    }
    *out_conn = conn;
    return CLEW_OK;
}

static void conn_close(struct conn *conn)
{
    PQfinish(conn->pg);
    postgres_release_all(conn);
    postgres_ahead_release(conn);
    alloc_free(conn);
}

/* A server that went away has said so, or closed: look without asking. */
static bool is_alive(struct conn *conn)
{
    struct pollfd fd = {.fd = PQsocket(conn->pg), .events = POLLIN};
    struct clew_error ignored;

    if (conn->n_pending > 0 &&
        postgres_drain(conn, NULL, &ignored) != CLEW_OK) {
        return false;
    }
    for (int i = 0; i < 4 && !conn->is_lost && poll(&fd, 1, 0) > 0; i++) {
        conn->is_lost = PQconsumeInput(conn->pg) != 1;
    }
    return !conn->is_lost && PQstatus(conn->pg) == CONNECTION_OK;
}

static enum conn_state conn_state(struct conn *conn)
{
    if (conn->is_lost) {
        return conn->is_cut ? CONN_CUT : CONN_LOST;
    }
    return conn->is_tx_lost ? CONN_TX_LOST : CONN_READY;
}

static enum clew_status conn_begin(struct conn *conn, bool is_write,
                                   struct clew_error *err)
{
    enum clew_status status = postgres_clear_left(conn, err);

    if (status == CLEW_OK) {
        status =
            postgres_send_text(conn, is_write ? BEGIN_WRITE : BEGIN_READ, err);
    }
    if (status == CLEW_OK) {
        conn->is_in_tx = true;
        conn->is_write = is_write;
        conn->is_tx_lost = false;
        conn->kept_tenant = -1;
        postgres_ahead_forget(conn);
        if (conn->driver->is_pooled) {
            status = postgres_send(conn, &set_up_transaction, NULL, 0, err);
        }
    }
    return status;
}

static enum clew_status conn_enter(struct conn *conn, int64_t tenant,
                                   bool has_savepoint, struct clew_error *err)
{
    char text[64];
    enum clew_status status = CLEW_OK;

    /* Not set_config(): Citus passes on to its workers what is SET LOCAL. */
    (void)snprintf(text, sizeof(text), "SET LOCAL clew.tenant = %lld",
                   (long long)tenant);
    conn->tenant = tenant;
    postgres_ahead_forget(conn); /* of the part before */
    if (has_savepoint) {
        status = postgres_send_text(conn, SAVEPOINT, err);
    }
    if (status != CLEW_OK || conn->kept_tenant == tenant) {
        return status; /* an earlier part of the group did the rest */
    }
    status = postgres_send_text(conn, text, err);
    if (status == CLEW_OK && conn->is_write && tenant > 0) {
        status =
            postgres_send(conn, &lock_tenant, DB_ARGS(db_int(tenant)), err);
    }
    if (!has_savepoint) {
        conn->kept_tenant = tenant; /* nothing but the whole can be undone */
    }
    return status;
}

static enum clew_status conn_leave(struct conn *conn, bool is_kept,
                                   struct clew_error *err)
{
    enum clew_status status = postgres_drain(conn, NULL, err);

    if (is_kept && status != CLEW_OK) {
        return status;
    }
    if (!is_kept) { /* whatever was still under way is undone as well */
        status = postgres_send_text(conn, ROLLBACK_JOB, err);
    } else {
        conn->kept_tenant = conn->tenant;
    }
    if (status == CLEW_OK) {
        status = postgres_send_text(conn, RELEASE_JOB, err);
    }
    return status;
}

static enum clew_status conn_commit(struct conn *conn, struct clew_error *err)
{
    PGresult *result = NULL;
    enum clew_status status = postgres_send_text(conn, COMMIT, err);

    if (status == CLEW_OK) {
        status = postgres_drain(conn, &result, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    /* COMMIT of a failed transaction succeeds too, by rolling it back. */
    if (strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        status = clew_fail(err, CLEW_INTERNAL, "the commit was refused");
    }
    PQclear(result);
    conn->is_in_tx = false;
    return status;
}

static void conn_rollback(struct conn *conn)
{
    struct clew_error ignored;

    if (!conn->is_in_tx) {
        return;
    }
    conn->is_in_tx = false;
    conn->is_tx_lost = false;
    /* Failures of what was still under way no longer matter, and if this one
     * fails the connection is lost, which is_alive() finds out. */
    if (conn->n_pending > 0) {
        (void)postgres_drain(conn, NULL, &ignored);
    }
    if (!conn->is_lost &&
        postgres_send_text(conn, ROLLBACK, &ignored) == CLEW_OK) {
        postgres_flush(conn);
    }
}

/* A standby's timeline is what its control file last noted, which is late
 * rather than early. */
DB_SQL_SYSTEM(
    ask_position,
    "SELECT r.is_standby::int::bigint, CASE WHEN r.is_standby THEN (SELECT"
    " CASE WHEN c.timeline_id > m.min_recovery_end_timeline THEN c.timeline_id"
    " ELSE m.min_recovery_end_timeline END FROM pg_control_checkpoint() c,"
    " pg_control_recovery() m)::bigint ELSE"
    " ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)"
    "::bigint END, (CASE WHEN r.is_standby THEN pg_last_wal_replay_lsn() ELSE"
    " pg_current_wal_lsn() END - '0/0'::pg_lsn)::bigint,"
    " (SELECT system_identifier FROM pg_control_system()),"
    " (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),"
    " COALESCE(has_table_privilege(to_regclass('turns'), 'select'), false)"
    "::int::bigint FROM pg_is_in_recovery() AS r (is_standby)");

static enum clew_status conn_position(struct conn *conn, struct position *out,
                                      struct clew_error *err)
{
    void *rows = NULL;
    bool has_row = false;
    enum clew_status status =
        postgres_query(conn, &ask_position, NULL, 0, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)postgres_rows_next(rows, &has_row, err); /* cannot fail */
    *out = (struct position){.is_standby = postgres_get_int(rows, 0) != 0,
                             .timeline = postgres_get_int(rows, 1),
                             .at = postgres_get_int(rows, 2),
                             .system = postgres_get_int(rows, 3),
                             .database = postgres_get_int(rows, 4),
                             .can_read = postgres_get_int(rows, 5) != 0};
    postgres_rows_end(rows);
    return CLEW_OK;
}

static enum clew_status backup(struct driver *driver, const char *path,
                               struct clew_error *err)
{
    (void)driver;
    (void)path;
    return clew_fail(err, CLEW_UNSUPPORTED,
                     "back up PostgreSQL with its own tools");
}

const struct driver_ops postgres_driver = {
    .name = "postgres",
    .type_int = "bigint",
    .type_real = "double precision",
    .type_text = "text COLLATE \"C\"",
    .type_bytes = "bytea",
    .type_id = "bytea",
    .table_end = "\n);",
    .keyed_end = "\n);",
    .open = driver_open,
    .close = driver_close,
    .max_writers = max_writers,
    .max_readers = max_readers,
    .conn_open = conn_open,
    .conn_close = conn_close,
    .is_alive = is_alive,
    .state = conn_state,
    .position = conn_position,
    .begin = conn_begin,
    .enter = conn_enter,
    .leave = conn_leave,
    .commit = conn_commit,
    .rollback = conn_rollback,
    .exec = postgres_exec,
    .ahead = postgres_ahead,
    .query = postgres_query,
    .rows_next = postgres_rows_next,
    .rows_end = postgres_rows_end,
    .is_null = postgres_is_null,
    .get_int = postgres_get_int,
    .get_real = postgres_get_real,
    .get_text = postgres_get_bytes,
    .get_bytes = postgres_get_bytes,
    .is_new = postgres_is_new,
    .begin_migration = postgres_begin_migration,
    .start_changes = postgres_start_changes,
    .script = postgres_script,
    .end_migration = postgres_end_migration,
    .backup = backup,
    .scrub = postgres_scrub,
    .check = postgres_check,
};
