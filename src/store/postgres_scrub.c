/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_scrub.c - leave no bytes of what was deleted.
 *
 * A plain VACUUM frees the place of deleted rows but leaves their bytes in it.
 * Small tables are written anew, which takes a moment of exclusive lock; what
 * is too large for that, busy, or not ours to write is only vacuumed, and
 * CLEW_BUSY says so. VACUUM passes over a table that it may not touch without
 * failing, so it is the tables' files that tell what was done.
 */
#include "store/postgres_internal.h"

#include <time.h>

/* Tables above this are too large to be written anew at once. */
#define REWRITE_BYTES "268435456"
/* Behind a pooler no setting can bound a wait for a lock: a table that is in
 * use is passed over, and so often looked for again. */
#define MAX_TRIES 50
#define TRY_PAUSE_NS 100000000L

/* Small ones, large ones, and which files the small ones are. */
DB_SQL_SYSTEM(
    list_tables,
    "SELECT string_agg(t.name, ', ') FILTER (WHERE t.size < " REWRITE_BYTES
    "), string_agg(t.name, ', ') FILTER (WHERE t.size >= " REWRITE_BYTES
    "), string_agg(t.file, ',') FILTER (WHERE t.size < " REWRITE_BYTES
    ") FROM (SELECT c.oid::regclass::text AS name, "
    "c.oid || ':' || pg_relation_filenode(c.oid) AS file, "
    "pg_total_relation_size(c.oid) AS size FROM pg_class c "
    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1 "
    "AND a.attname = 'tenant' "
    "WHERE c.relnamespace = current_schema()::regnamespace "
    "AND c.relkind = 'r') AS t"); /* parts stand for the whole */
/* Which of those files are still in use. */
DB_SQL_SYSTEM(list_unwritten,
              "SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class c "
              "WHERE c.relnamespace = current_schema()::regnamespace "
              "AND c.oid || ':' || pg_relation_filenode(c.oid) = "
              "ANY(string_to_array($1, ','))");

/*
 * A row that a transaction begun before its deletion may still see is written
 * anew too: wait until none is left. Sessions, prepared transactions and
 * standbys that send feedback, with a slot or without, all count; a standby
 * speaks up every ten seconds (wal_receiver_status_interval).
 */
static const char wait_for_readers[] =
    "DO $$ DECLARE me xid := pg_current_xact_id()::xid; BEGIN"
    " FOR i IN 1..240 LOOP"
    " PERFORM pg_stat_clear_snapshot();"
    " IF NOT EXISTS (SELECT 1 FROM ("
    " SELECT backend_xmin FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    " AND (datname = current_database() OR datname IS NULL)"
    " UNION ALL SELECT xmin FROM pg_replication_slots"
    " UNION ALL SELECT transaction FROM pg_prepared_xacts"
    " WHERE database = current_database()) AS held (since)"
    " WHERE age(since) > age(me)) THEN RETURN; END IF;"
    " PERFORM pg_sleep(0.05); END LOOP;"
    " RAISE EXCEPTION 'somebody still reads what was deleted'; END $$";

struct scrub {
    struct conn *conn;
    void *rows; /* of list_tables */
};

/* VACUUM stands alone: one statement for a list of tables. */
static enum clew_status vacuum(struct conn *conn, const char *how,
                               struct str tables, struct clew_error *err)
{
    struct buf text;
    enum clew_status status;

    if (tables.len == 0) {
        return CLEW_OK;
    }
    buf_init(&text, 65536);
    buf_append_cstr(&text, how);
    buf_append_str(&text, tables);
    status = buf_status(&text);
    status = status == CLEW_OK
                 ? postgres_script(conn, text.data, err)
                 : clew_fail(err, status, "could not list the tables");
    buf_release(&text);
    return status;
}

/* Vacuum those that were not written anew; how many bytes their names take. */
static enum clew_status vacuum_rest(struct scrub *scrub, const char *how,
                                    size_t *out_left, struct clew_error *err)
{
    struct db_value files = db_text(postgres_get_bytes(scrub->rows, 2));
    void *rows = NULL;
    bool has_row = false;
    enum clew_status status =
        postgres_query(scrub->conn, &list_unwritten, &files, 1, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)postgres_rows_next(rows, &has_row, err); /* cannot fail */
    *out_left = postgres_get_bytes(rows, 0).len;
    status = vacuum(scrub->conn, how, postgres_get_bytes(rows, 0), err);
    postgres_rows_end(rows);
    return status;
}

/* Write the small tables anew; false if some were not. */
static bool rewrite(struct scrub *scrub)
{
    static const struct timespec pause = {.tv_nsec = TRY_PAUSE_NS};
    struct clew_error ignored;
    size_t left = 0;

    if (!scrub->conn->driver->is_pooled) {
        return vacuum(scrub->conn, "VACUUM (FULL) ",
                      postgres_get_bytes(scrub->rows, 0), &ignored) == CLEW_OK;
    }
    for (int i = 0; i < MAX_TRIES; i++) {
        if (i > 0) {
            (void)nanosleep(&pause, NULL); /* shorter is fine */
        }
        if (vacuum_rest(scrub, "VACUUM (FULL, SKIP_LOCKED) ", &left,
                        &ignored) != CLEW_OK) {
            return false;
        }
        if (left == 0) {
            return true;
        }
    }
    return false;
}

static enum clew_status scrub_tables(struct scrub *scrub,
                                     struct clew_error *err)
{
    bool is_pooled = scrub->conn->driver->is_pooled;
    const char *plain = is_pooled ? "VACUUM (INDEX_CLEANUP ON, SKIP_LOCKED) "
                                  : "VACUUM (INDEX_CLEANUP ON) ";
    struct str large = postgres_get_bytes(scrub->rows, 1);
    bool is_whole = large.len == 0;
    size_t left = 0;
    enum clew_status status = CLEW_OK;

    if (!is_pooled) { /* else the session is another's the next moment */
        status = postgres_script(
            scrub->conn, "SET statement_timeout = 0; SET lock_timeout = '5s'",
            err);
    }
    if (status == CLEW_OK) {
        status = vacuum(scrub->conn, plain, large, err);
    }
    if (status == CLEW_OK) {
        is_whole =
            postgres_script(scrub->conn, wait_for_readers, NULL) == CLEW_OK &&
            is_whole;
        is_whole = rewrite(scrub) && is_whole;
        status = vacuum_rest(scrub, plain, &left, err);
    }
    if (status == CLEW_OK && (!is_whole || left > 0)) {
        status = clew_fail(err, CLEW_BUSY,
                           "some tables could not be written anew now");
    }
    return status;
}

enum clew_status postgres_scrub(struct conn *conn, struct clew_error *err)
{
    struct scrub scrub = {.conn = conn};
    bool has_row = false;
    enum clew_status status =
        postgres_query(conn, &list_tables, NULL, 0, &scrub.rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)postgres_rows_next(scrub.rows, &has_row, err); /* cannot fail */
    status = scrub_tables(&scrub, err);
    postgres_rows_end(scrub.rows);
    return status;
}
