/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rights.c - PostgreSQL as its operator may leave it: roles that may do less,
 * sessions that are shared, URLs with a slip in them.
 */
#include "suite.h"

#include "support/pg.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

static char admin_url[200];

static PGconn *as_admin(const struct env *env)
{
    PGconn *pg;

    pg_admin_url(env->location, admin_url, sizeof(admin_url));
    pg = PQconnectdb(admin_url);
    assert_int_equal(PQstatus(pg), CONNECTION_OK);
    return pg;
}

static void must(PGconn *pg, const char *text)
{
    PGresult *result = PQexec(pg, text);

    if (PQresultStatus(result) != PGRES_COMMAND_OK &&
        PQresultStatus(result) != PGRES_TUPLES_OK) {
        fail_msg("%s: %s", text, PQerrorMessage(pg));
    }
    PQclear(result);
}

/* All that is clew's becomes the superuser's, the rows stay clew's to use. */
static const char take_over[] =
    "DO $$ DECLARE t text; BEGIN"
    " EXECUTE 'ALTER DATABASE ' || current_database() || ' OWNER TO '"
    " || current_user;"
    " FOR t IN SELECT c.oid::regclass::text FROM pg_class c WHERE"
    " c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' LOOP"
    " EXECUTE 'ALTER TABLE ' || t || ' OWNER TO ' || current_user; END LOOP;"
    " END $$";

static void a_store_it_may_not_read_is_no_empty_place(struct env *env)
{
    struct store_options options = {.location = env->location,
                                    .must_exist = true};
    struct store *store = NULL;
    PGconn *pg = as_admin(env);

    must(pg, take_over);
    store_close(env->store);
    env->store = NULL;
    assert_int_equal(store_open(&options, &store, ERR), CLEW_FORBIDDEN);
    assert_non_null(strstr(suite_error.message, "permission denied"));
    options.must_exist = false;
    assert_int_equal(store_open(&options, &store, ERR), CLEW_FORBIDDEN);
    PQfinish(pg);
}

static void scrubbing_claims_nothing_that_it_may_not_do(struct env *env)
{
    PGconn *pg = as_admin(env);

    assert_ok(store_scrub(env->store, ERR));
    must(pg, take_over);
    must(pg, "GRANT ALL ON ALL TABLES IN SCHEMA public TO clew");
    assert_int_equal(store_scrub(env->store, ERR), CLEW_BUSY);
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    PQfinish(pg);
}

DB_SQL_SYSTEM(ask_settings, "SELECT current_setting('lock_timeout')"
                            " || current_setting('statement_timeout')");

static void scrubbing_behind_a_pooler_leaves_no_settings(struct env *env)
{
    const struct driver_ops *ops = &postgres_driver;
    struct store_options options = {.location = env->location,
                                    .is_pooled = true};
    struct driver *driver = NULL;
    struct conn *conn = NULL;
    void *rows = NULL;
    bool has_row = false;
    PGconn *pg = as_admin(env);

    assert_ok(ops->open(&options, &driver, ERR));
    assert_ok(ops->conn_open(driver, CONN_WRITER, &conn, ERR));
    assert_ok(ops->scrub(conn, ERR));
    assert_ok(ops->query(conn, &ask_settings, NULL, 0, &rows, ERR));
    assert_ok(ops->rows_next(rows, &has_row, ERR));
    assert_true(has_row);
    assert_true(str_eq(ops->get_text(rows, 0), STR("00")));
    ops->rows_end(rows);
    /* nor does it wait for a lock that nothing bounds */
    must(pg, "BEGIN; LOCK TABLE probe IN ACCESS SHARE MODE");
    assert_int_equal(ops->scrub(conn, ERR), CLEW_BUSY);
    must(pg, "COMMIT");
    assert_ok(ops->scrub(conn, ERR));
    ops->conn_close(conn);
    ops->close(driver);
    PQfinish(pg);
}

DB_SQL_SYSTEM(hurry, "SELECT pg_backend_pid() FROM set_config("
                     "'idle_in_transaction_session_timeout', '1ms', true)");

/* Until the server has ended a session. */
static void await_end(PGconn *pg, int64_t pid)
{
    char text[96];
    bool is_there = true;

    (void)snprintf(text, sizeof(text),
                   "SELECT 1 FROM pg_stat_activity WHERE pid = %lld",
                   (long long)pid);
    while (is_there) {
        PGresult *result = PQexec(pg, text);

        assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
        is_there = PQntuples(result) > 0;
        PQclear(result);
    }
}

static enum clew_status dream(struct store_tx *tx, void *arg,
                              struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(tx, &hurry, DB_NO_ARGS, &rows, err);
    int64_t pid = db_next(&rows) ? db_get_int(&rows, 0) : 0;

    if (status == CLEW_OK) {
        status = db_end(&rows, err);
    }
    await_end(arg, pid);
    if (status == CLEW_OK) {
        status = db_query(tx, &ask_settings, DB_NO_ARGS, &rows, err);
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

static void a_read_that_was_idle_too_long_invites_another(struct env *env)
{
    PGconn *pg = as_admin(env);

    assert_int_equal(store_read_system(env->store, dream, pg, ERR),
                     CLEW_UNAVAILABLE);
    assert_int_equal(probe_count(env->store, &tenant_1), 0);
    PQfinish(pg);
}

DB_SQL_SYSTEM(drop_all, "DEALLOCATE ALL");

/* What was prepared is gone for the second look. */
static enum clew_status look_twice(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    const struct db_sql *const all[] = {&ask_settings, &drop_all,
                                        &ask_settings};
    enum clew_status status = CLEW_OK;

    (void)arg;
    for (int i = 0; i < 3 && status == CLEW_OK; i++) {
        struct db_rows rows;

        status = db_query(tx, all[i], DB_NO_ARGS, &rows, err);
        if (status == CLEW_OK) {
            status = db_end(&rows, err);
        }
    }
    return status;
}

static void a_session_that_is_shared_is_left_with_a_word(struct env *env)
{
    assert_int_equal(store_read_system(env->store, look_twice, NULL, ERR),
                     CLEW_UNAVAILABLE);
    assert_non_null(strstr(suite_error.message, "store.pooling"));
    assert_int_equal(probe_count(env->store, &tenant_1), 0);
}

static void a_slip_in_a_url_is_told_without_the_password(struct env *env)
{
    static const char *const urls[] = {
        "postgres://clew:zu gvog/word@1@localhost/clew",
        "postgres://clew:zu@gvog@localhost/clew",
        "postgres://clew:zu/gvog@localhost/clew",
        "postgres://clew:zugvog@localhost/clew?zu",
        "postgres://clew:zug%vog@localhost/clew",
    };

    (void)env;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct store_options options = {.location = urls[i]};
        struct store *store = NULL;

        assert_int_equal(store_open(&options, &store, ERR), CLEW_INVALID);
        assert_null(strstr(suite_error.message, "zu"));
        assert_null(strstr(suite_error.message, "vog"));
    }
}

const struct store_case rights_cases[] = {
    STORE_CASE(a_store_it_may_not_read_is_no_empty_place, ON_POSTGRES),
    STORE_CASE(scrubbing_claims_nothing_that_it_may_not_do, ON_POSTGRES),
    STORE_CASE(scrubbing_behind_a_pooler_leaves_no_settings, ON_POSTGRES),
    STORE_CASE(a_read_that_was_idle_too_long_invites_another, ON_POSTGRES),
    STORE_CASE(a_session_that_is_shared_is_left_with_a_word, ON_POSTGRES),
    STORE_CASE(a_slip_in_a_url_is_told_without_the_password, ON_POSTGRES),
    {NULL, NULL, 0},
};
