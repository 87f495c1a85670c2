/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_schema.c - what migrations need, and row-level security.
 *
 * Every table whose first column is "tenant" gets a policy: only rows of the
 * tenant that the transaction announced (clew.tenant) exist for it. That is a
 * second fence behind the tenant predicate of each statement; it holds for
 * every role but superusers. A system transaction announces 0, which is no
 * tenant; only tables marked "--@ system" open up to it.
 */
#include "store/postgres_internal.h"

#include <string.h>

/* Any number will do, as long as it stays the same. */
#define LOCK_NUMBER "7164511"

static const char exclude_others[] =
    "SET LOCAL statement_timeout = 0;"
    "SET LOCAL lock_timeout = 0;"
    "SELECT pg_advisory_xact_lock(" LOCK_NUMBER ")";

/* A data change in a migration concerns all tenants, so the owner steps out of
 * the fence for the length of the transaction. */
static const char lower_fence[] =
    "DO $do$ DECLARE t text; BEGIN FOR t IN "
    "SELECT c.oid::regclass::text FROM pg_class c "
    "WHERE c.relnamespace = current_schema()::regnamespace "
    "AND c.relforcerowsecurity LOOP "
    "EXECUTE 'ALTER TABLE ' || t || ' NO FORCE ROW LEVEL SECURITY'; "
    "END LOOP; END $do$;";

/* The table names go between the two halves. */
static const char raise_fence_head[] =
    "DO $do$ DECLARE t record; mine text := "
    "'tenant = NULLIF(current_setting(''clew.tenant'', true), '''')::bigint'; "
    "any_row text := 'current_setting(''clew.tenant'', true) = ''0'''; "
    "BEGIN FOR t IN "
    "SELECT c.oid::regclass::text AS name, c.relname = ANY(string_to_array('";
static const char raise_fence_tail[] =
    "', ',')) AS is_system FROM pg_class c JOIN pg_attribute a "
    "ON a.attrelid = c.oid AND a.attnum = 1 AND a.attname = 'tenant' "
    "WHERE c.relnamespace = current_schema()::regnamespace "
    "AND c.relkind IN ('r', 'p') LOOP "
    "EXECUTE 'ALTER TABLE ' || t.name || ' ENABLE ROW LEVEL SECURITY, "
    "FORCE ROW LEVEL SECURITY'; "
    "EXECUTE 'DROP POLICY IF EXISTS clew_tenant ON ' || t.name; "
    "EXECUTE 'CREATE POLICY clew_tenant ON ' || t.name || ' USING (' || "
    "CASE WHEN t.is_system THEN mine || ' OR ' || any_row ELSE mine END "
    "|| ')'; "
    "END LOOP; END $do$;";

DB_SQL_SYSTEM(begin_migration, "BEGIN");
/* Not information_schema, which is silent about what a role has no right to:
 * a store that it may not read is not a place for another one. */
DB_SQL_SYSTEM(look_for_tables,
              "SELECT COUNT(*), "
              "COUNT(*) FILTER (WHERE c.relname = 'schema_migrations' "
              "AND a.attname IN ('number', 'checksum')) "
              "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
              "AND a.attnum > 0 AND NOT a.attisdropped "
              "WHERE c.relnamespace = current_schema()::regnamespace "
              "AND c.relname IN ('schema_migrations', 'tenants', 'turns')");
DB_SQL_SYSTEM(count_open_tables,
              "SELECT COUNT(*) FROM pg_class c JOIN pg_attribute a "
              "ON a.attrelid = c.oid AND a.attnum = 1 "
              "AND a.attname = 'tenant' "
              "WHERE c.relnamespace = current_schema()::regnamespace "
              "AND c.relkind IN ('r', 'p') "
              "AND NOT (c.relrowsecurity AND c.relforcerowsecurity)");
DB_SQL_SYSTEM(can_check_indexes,
              "SELECT COUNT(*) FROM pg_proc p WHERE p.proname = "
              "'bt_index_check' AND p.pronargs = 1 "
              "AND pg_function_is_visible(p.oid) "
              "AND has_function_privilege(p.oid, 'execute')");
DB_SQL_SYSTEM(check_indexes,
              "SELECT COUNT(bt_index_check(c.oid)) FROM pg_class c "
              "JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree' "
              "WHERE c.relnamespace = current_schema()::regnamespace "
              "AND c.relkind = 'i'");

/* The first row's first two numbers; a statement may have one. */
static enum clew_status query_two(struct conn *conn, const struct db_sql *sql,
                                  int64_t out[2], struct clew_error *err)
{
    void *rows = NULL;
    bool has_row = false;
    enum clew_status status = postgres_query(conn, sql, NULL, 0, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)postgres_rows_next(rows, &has_row, err); /* cannot fail */
    for (int i = 0; i < 2 && has_row; i++) {
        out[i] = postgres_get_int(rows, i);
    }
    postgres_rows_end(rows);
    return CLEW_OK;
}

enum clew_status postgres_is_new(struct conn *conn, bool *out_new,
                                 struct clew_error *err)
{
    int64_t columns[2] = {0, 0};
    enum clew_status status = query_two(conn, &look_for_tables, columns, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (columns[0] > 0 && columns[1] != 2) {
        return clew_fail(err, CLEW_CORRUPT,
                         "the database holds tables that are not clew's");
    }
    *out_new = columns[0] == 0;
    return CLEW_OK;
}

enum clew_status postgres_begin_migration(struct conn *conn,
                                          struct clew_error *err)
{
    enum clew_status status =
        postgres_send(conn, &begin_migration, NULL, 0, err);

    if (status != CLEW_OK) {
        return status;
    }
    conn->is_in_tx = true;
    conn->is_write = true;
    return postgres_script(conn, exclude_others, err);
}

enum clew_status postgres_start_changes(struct conn *conn,
                                        struct clew_error *err)
{
    return postgres_script(conn, lower_fence, err);
}

enum clew_status postgres_end_migration(struct conn *conn,
                                        const char *system_tables,
                                        struct clew_error *err)
{
    struct buf text;
    enum clew_status status;

    buf_init(&text, 65536);
    buf_append_cstr(&text, raise_fence_head);
    buf_append_cstr(&text, system_tables);
    buf_append_cstr(&text, raise_fence_tail);
    status = buf_status(&text);
    if (status != CLEW_OK) {
        status = clew_fail(err, status, "could not migrate");
    } else {
        status = postgres_script(conn, text.data, err);
    }
    buf_release(&text);
    return status;
}

enum clew_status postgres_check(struct conn *conn, struct clew_error *err)
{
    int64_t count[2] = {0, 0};
    enum clew_status status = query_two(conn, &count_open_tables, count, err);

    if (status == CLEW_OK && count[0] > 0) {
        status = clew_fail(err, CLEW_CORRUPT,
                           "row-level security is off for %lld tables",
                           (long long)count[0]);
    }
    if (status == CLEW_OK) {
        status = query_two(conn, &can_check_indexes, count, err);
    }
    if (status == CLEW_OK && count[0] > 0) {
        status = query_two(conn, &check_indexes, count, err);
    }
    return status;
}
