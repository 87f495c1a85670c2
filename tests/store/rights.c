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

const struct store_case rights_cases[] = {
    STORE_CASE(a_store_it_may_not_read_is_no_empty_place, ON_POSTGRES),
    STORE_CASE(scrubbing_claims_nothing_that_it_may_not_do, ON_POSTGRES),
    STORE_CASE(scrubbing_behind_a_pooler_leaves_no_settings, ON_POSTGRES),
    {NULL, NULL, 0},
};
