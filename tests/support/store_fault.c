/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_fault.c - count and fail driver calls. See store_fault.h.
 */
#include "support/store_fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int n_calls;
static atomic_int n_commits;
static atomic_int call_countdown;
static atomic_int commit_countdown;
static atomic_int fault_status;
static atomic_bool has_fired;
static void (*_Atomic fault_hook)(void);
static const char *_Atomic on_connect;

static bool is_due(atomic_int *countdown)
{
    if (atomic_load(countdown) > 0 && atomic_fetch_sub(countdown, 1) == 1) {
        atomic_store(&has_fired, true);
        return true;
    }
    return false;
}

/* What is due: the hook, or else the failure. */
static enum clew_status strike(struct clew_error *err)
{
    void (*hook)(void) = atomic_load(&fault_hook);

    if (hook) {
        hook();
        return CLEW_OK;
    }
    return clew_fail(err, (enum clew_status)atomic_load(&fault_status),
                     "injected");
}

static enum clew_status count_call(struct clew_error *err)
{
    atomic_fetch_add(&n_calls, 1);
    return is_due(&call_countdown) ? strike(err) : CLEW_OK;
}

static enum clew_status count_commit(struct clew_error *err)
{
    enum clew_status status = count_call(err);

    atomic_fetch_add(&n_commits, 1);
    if (status == CLEW_OK && is_due(&commit_countdown)) {
        status = strike(err);
    }
    return status;
}

static enum clew_status add_probe_table(const struct driver_ops *base,
                                        struct conn *conn,
                                        const char *system_tables,
                                        struct clew_error *err)
{
    char sql[512];
    enum clew_status status;

    (void)snprintf(sql, sizeof(sql),
                   "CREATE TABLE IF NOT EXISTS probe (tenant %s NOT NULL, "
                   "id %s NOT NULL, i %s, r %s, t %s, b %s, "
                   "PRIMARY KEY (tenant, id)%s",
                   base->type_int, base->type_int, base->type_int,
                   base->type_real, base->type_text, base->type_bytes,
                   base->table_end);
    status = base->script(conn, sql, err);
    return status == CLEW_OK ? base->end_migration(conn, system_tables, err)
                             : status;
}

/* The same functions for each backend; only the table delegated to differs. */
#define FAULTY(name, base)                                                     \
    static enum clew_status name##_conn_open(                                  \
        struct driver *driver, enum conn_role role, struct conn **out_conn,    \
        struct clew_error *err)                                                \
    {                                                                          \
        enum clew_status status = count_call(err);                             \
        if (status == CLEW_OK) {                                               \
            status = (base).conn_open(driver, role, out_conn, err);            \
        }                                                                      \
        if (status == CLEW_OK && role == CONN_WRITER &&                        \
            atomic_load(&on_connect)) {                                        \
            status = (base).script(*out_conn, atomic_load(&on_connect), err);  \
        }                                                                      \
        return status;                                                         \
    }                                                                          \
    static enum clew_status name##_begin(struct conn *conn, bool is_write,     \
                                         struct clew_error *err)               \
    {                                                                          \
        enum clew_status status = count_call(err);                             \
        return status == CLEW_OK ? (base).begin(conn, is_write, err) : status; \
    }                                                                          \
    static enum clew_status name##_commit(struct conn *conn,                   \
                                          struct clew_error *err)              \
    {                                                                          \
        enum clew_status status = count_commit(err);                           \
        return status == CLEW_OK ? (base).commit(conn, err) : status;          \
    }                                                                          \
    static enum clew_status name##_exec(                                       \
        struct conn *conn, const struct db_sql *sql,                           \
        const struct db_value *args, size_t n_args, int64_t *out_count,        \
        struct clew_error *err)                                                \
    {                                                                          \
        enum clew_status status = count_call(err);                             \
        return status == CLEW_OK                                               \
                   ? (base).exec(conn, sql, args, n_args, out_count, err)      \
                   : status;                                                   \
    }                                                                          \
    static enum clew_status name##_query(                                      \
        struct conn *conn, const struct db_sql *sql,                           \
        const struct db_value *args, size_t n_args, void **out_rows,           \
        struct clew_error *err)                                                \
    {                                                                          \
        enum clew_status status = count_call(err);                             \
        return status == CLEW_OK                                               \
                   ? (base).query(conn, sql, args, n_args, out_rows, err)      \
                   : status;                                                   \
    }                                                                          \
    static enum clew_status name##_end_migration(                              \
        struct conn *conn, const char *system_tables, struct clew_error *err)  \
    {                                                                          \
        return add_probe_table(&(base), conn, system_tables, err);             \
    }

FAULTY(lite, sqlite_driver)
FAULTY(post, postgres_driver)

static struct driver_ops lite;
static struct driver_ops post;

static void fill_tables(void)
{
    lite = sqlite_driver;
    lite.conn_open = lite_conn_open;
    lite.begin = lite_begin;
    lite.commit = lite_commit;
    lite.exec = lite_exec;
    lite.query = lite_query;
    lite.end_migration = lite_end_migration;
    post = postgres_driver;
    post.conn_open = post_conn_open;
    post.begin = post_begin;
    post.commit = post_commit;
    post.exec = post_exec;
    post.query = post_query;
    post.end_migration = post_end_migration;
}

const struct driver_ops *store_fault_ops(const struct driver_ops *base)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, fill_tables);
    return base == &postgres_driver ? &post : &lite;
}

void store_fault_reset(void)
{
    atomic_store(&n_calls, 0);
    atomic_store(&n_commits, 0);
    atomic_store(&call_countdown, 0);
    atomic_store(&commit_countdown, 0);
    atomic_store(&has_fired, false);
    atomic_store(&on_connect, NULL);
}

static void arm(atomic_int *countdown, int n, enum clew_status status,
                void (*hook)(void))
{
    atomic_store(&fault_status, (int)status);
    atomic_store(&fault_hook, hook);
    atomic_store(&has_fired, false);
    atomic_store(countdown, n);
}

void store_fault_at(int n, enum clew_status status)
{
    arm(&call_countdown, n, status, NULL);
}

void store_fault_at_commit(int n, enum clew_status status)
{
    arm(&commit_countdown, n, status, NULL);
}

void store_fault_hook_at(int n, void (*hook)(void))
{
    arm(&call_countdown, n, CLEW_OK, hook);
}

void store_fault_hook_at_commit(int n, void (*hook)(void))
{
    arm(&commit_countdown, n, CLEW_OK, hook);
}

bool store_fault_has_fired(void)
{
    return atomic_load(&has_fired);
}

int store_fault_calls(void)
{
    return atomic_load(&n_calls);
}

int store_fault_commits(void)
{
    return atomic_load(&n_commits);
}

void store_fault_on_connect(const char *script)
{
    atomic_store(&on_connect, script);
}
