/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_table.c - statements for pgvector. See vector_table.h.
 */
#include "store/vector_table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Scans that go on came with 0.8. */
#define ITERATES_VERSION 800
/* Rows a scan of the graph looks at, at most, to find what a request lets
 * through; where it would need more, rows are compared one by one. */
#define MAX_SCANNED 20000
/* Of versions whose scans end with their first list. */
#define MAX_LIST 1000
#define SCRIPT_BYTES 2048
#define MAX_KINDS 8

DB_SQL_SYSTEM(FIND_EXTENSION,
              "SELECT a.name, e.extversion, a.default_version,"
              " COALESCE((SELECT r.rolsuper FROM pg_roles r"
              " WHERE r.rolname = current_user), false) OR EXISTS (SELECT 1"
              " FROM pg_available_extension_versions v WHERE v.name = 'vector'"
              " AND v.trusted AND v.version = a.default_version) AND"
              " has_database_privilege(current_database(), 'CREATE')"
              " FROM pg_available_extensions a LEFT JOIN pg_extension e"
              " ON e.extname = a.name WHERE a.name = 'vector'");
DB_SQL(DELETE_MODEL,
       "DELETE FROM graph_vectors WHERE tenant = $1 AND model = $2");
DB_SQL(DELETE_FORGOTTEN, "DELETE FROM graph_vectors WHERE tenant = $1 AND id IN"
                         " (SELECT id FROM forget_set WHERE tenant = $1)");
DB_SQL(READ_VECTORS, "SELECT id, change_seq, bytes FROM graph_vectors"
                     " WHERE tenant = $1 AND model = $2 AND id = ANY($3)");
/* The plan depends on the values: which graph, and how much they leave. */
DB_SQL(SET_SCAN,
       "SELECT set_config('plan_cache_mode', 'force_custom_plan', true),"
       " set_config('hnsw.ef_search', $2, true) WHERE $1 > 0");
DB_SQL(SET_ITERATION,
       "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
       " set_config('hnsw.max_scan_tuples', $2, true) WHERE $1 > 0");

#define NEAR_TEXT                                                              \
    "SELECT id, change_seq, bytes FROM graph_vectors WHERE tenant = $1"        \
    " AND model = $2 AND kind = $3 AND ($4 = ''::bytea OR user_key = $4)"      \
    " AND (cardinality($5) = 0 OR chat_id = ANY($5))"                          \
    " AND created_at >= $6 AND created_at < $7 AND created_at <= $8"           \
    " ORDER BY (v::halfvec(%zu) <=> $9::halfvec(%zu))%s LIMIT $10"

DB_SQL(PUT, "INSERT INTO graph_vectors (tenant, id, model, kind, user_key,"
            " chat_id, created_at, change_seq, bytes, v) VALUES ($1, $2, $3,"
            " $4, $5, $6, $7, $8, $9, $10::halfvec)"
            " ON CONFLICT (tenant, id, model) DO UPDATE SET"
            " kind = excluded.kind, user_key = excluded.user_key,"
            " chat_id = excluded.chat_id, created_at = excluded.created_at,"
            " change_seq = excluded.change_seq, bytes = excluded.bytes,"
            " v = excluded.v");
DB_SQL(TAKE_OUT, "DELETE FROM graph_vectors WHERE tenant = $1 AND id = $2"
                 " AND model = $3");

/* --- the extension ------------------------------------------------------- */

static int version_of(const char *text)
{
    char *end = NULL;
    long major = strtol(text, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, &end, 10) : 0;
    long patch = *end == '.' ? strtol(end + 1, &end, 10) : 0;

    return (int)(major * 10000 + minor * 100 + patch);
}

enum clew_status vector_table_look(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct vector_table_support *out = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &FIND_EXTENSION, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    memset(out, 0, sizeof(*out));
    if (db_next(&rows)) {
        struct str version;

        out->is_created = !db_is_null(&rows, 1);
        version = db_get_text(&rows, out->is_created ? 1 : 2);
        (void)snprintf(out->version_text, sizeof(out->version_text), "%.*s",
                       (int)version.len, version.s);
        out->version = version_of(out->version_text);
        out->is_usable = out->version >= VECTOR_TABLE_VERSION &&
                         (out->is_created || db_get_int(&rows, 3) != 0);
    }
    return db_end(&rows, err);
}

enum clew_status vector_table_extend(struct store *store,
                                     struct clew_error *err)
{
    static const char *const create[] = {
        "CREATE EXTENSION IF NOT EXISTS vector"};

    return store_extend(store, create, 1, err);
}

/* --- the schema ---------------------------------------------------------- */

/* Long work on a connection of its own, one at a time in this database. */
static const char session[] =
    "SET statement_timeout = 0; SET max_parallel_maintenance_workers = 0;"
    "SELECT set_config('maintenance_work_mem', '256MB', false) WHERE"
    " pg_size_bytes(current_setting('maintenance_work_mem')) < 268435456";
static const char take_lock[] =
    "DO $do$ BEGIN IF NOT pg_try_advisory_lock(7164512) THEN RAISE"
    " 'another process is making vector graphs' USING ERRCODE = '55P03';"
    " END IF; END $do$";
/* STORAGE keeps what recall reads beside the row and out of the compressor. */
static const char make_table[] =
    "CREATE EXTENSION IF NOT EXISTS vector;"
    "CREATE TABLE IF NOT EXISTS graph_vectors (tenant bigint NOT NULL,"
    " id bytea NOT NULL, model bigint NOT NULL, kind bigint NOT NULL,"
    " user_key bytea NOT NULL, chat_id bytea, created_at bigint NOT NULL,"
    " change_seq bigint NOT NULL, bytes bytea NOT NULL, v halfvec,"
    " PRIMARY KEY (tenant, id, model)) PARTITION BY LIST (tenant);"
    "CREATE INDEX IF NOT EXISTS graph_vectors_by_user"
    " ON graph_vectors (tenant, model, kind, user_key)";
static const char make_part[] =
    "CREATE TABLE IF NOT EXISTS graph_vectors_%" PRId64
    " PARTITION OF graph_vectors FOR VALUES IN (%" PRId64 ")";
/* The fence of postgres_schema.c around a table that no migration makes. */
static const char raise_fence[] =
    "DO $do$ DECLARE t text; BEGIN FOR t IN SELECT c.oid::regclass::text"
    " FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
    " AND c.relname IN ('graph_vectors', 'graph_vectors_%" PRId64 "')"
    " AND NOT c.relforcerowsecurity LOOP"
    " EXECUTE 'ALTER TABLE ' || t || ' ALTER COLUMN bytes SET STORAGE EXTERNAL,"
    " ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY';"
    " EXECUTE 'CREATE POLICY clew_tenant ON ' || t || ' USING (tenant ="
    " NULLIF(current_setting(''clew.tenant'', true), '''')::bigint)';"
    " END LOOP; END $do$";
/* What an interrupted build left is no use. */
static const char drop_broken[] =
    "DO $do$ DECLARE t text; BEGIN FOR t IN SELECT c.oid::regclass::text"
    " FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid"
    " WHERE c.relnamespace = current_schema()::regnamespace AND NOT"
    " i.indisvalid AND c.relname LIKE 'graph\\_%" PRId64 "\\_%%' LOOP"
    " EXECUTE 'DROP INDEX ' || t; END LOOP; END $do$";
/* HNSW wants one dimension, and is best if all it holds may be found. */
static const char make_graph[] =
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS graph_%" PRId64 "_%" PRId64
    "_%d ON graph_vectors_%" PRId64 " USING hnsw ((v::halfvec(%zu))"
    " halfvec_cosine_ops) WHERE model = %" PRId64 " AND kind = %d";
static const char read_statistics[] = "ANALYZE graph_vectors_%" PRId64;

enum clew_status vector_table_make(struct store *store, int64_t tenant,
                                   struct clew_error *err)
{
    char own[SCRIPT_BYTES];
    char fence[SCRIPT_BYTES];
    const char *scripts[] = {session, take_lock, make_table, own, fence};

    (void)snprintf(own, sizeof(own), make_part, tenant, tenant);
    (void)snprintf(fence, sizeof(fence), raise_fence, tenant);
    return store_extend(store, scripts, sizeof(scripts) / sizeof(scripts[0]),
                        err);
}

enum clew_status vector_table_index(struct store *store, int64_t tenant,
                                    int64_t model, size_t dim, int n_kinds,
                                    struct clew_error *err)
{
    char drop[SCRIPT_BYTES];
    char graphs[MAX_KINDS][SCRIPT_BYTES];
    char analyse[SCRIPT_BYTES];
    const char *scripts[4 + MAX_KINDS] = {session, take_lock, drop};

    assert(n_kinds >= 0 && n_kinds <= MAX_KINDS);
    (void)snprintf(drop, sizeof(drop), drop_broken, tenant);
    (void)snprintf(analyse, sizeof(analyse), read_statistics, tenant);
    for (int k = 0; k < n_kinds; k++) {
        (void)snprintf(graphs[k], sizeof(graphs[k]), make_graph, tenant, model,
                       k, tenant, dim, model, k);
        scripts[3 + k] = graphs[k];
    }
    scripts[3 + n_kinds] = analyse;
    return store_extend(store, scripts, 4 + (size_t)n_kinds, err);
}

/* --- rows ---------------------------------------------------------------- */

enum clew_status vector_table_put(struct store_tx *tx,
                                  const struct vector_row *row,
                                  struct clew_error *err)
{
    return db_exec(
        tx, &PUT,
        DB_ARGS(db_uuid(&row->id), db_int(row->model), db_int(row->kind),
                db_bytes(row->user_key.s, row->user_key.len),
                db_uuid(&row->chat_id), db_int(row->created_at_ms),
                db_int(row->change_seq), db_bytes(row->bytes.s, row->bytes.len),
                db_text(row->vector)),
        err);
}

enum clew_status vector_table_remove(struct store_tx *tx, const struct uuid *id,
                                     int64_t model, struct clew_error *err)
{
    return db_exec(tx, &TAKE_OUT, DB_ARGS(db_uuid(id), db_int(model)), err);
}

enum clew_status vector_table_remove_model(struct store_tx *tx, int64_t model,
                                           struct clew_error *err)
{
    return db_exec(tx, &DELETE_MODEL, DB_ARGS(db_int(model)), err);
}

enum clew_status vector_table_remove_forgotten(struct store_tx *tx,
                                               struct clew_error *err)
{
    return db_exec(tx, &DELETE_FORGOTTEN, DB_NO_ARGS, err);
}

enum clew_status vector_table_read(struct store_tx *tx, int64_t model,
                                   const struct uuid *ids, size_t n_ids,
                                   struct db_rows *out_rows,
                                   struct clew_error *err)
{
    return db_query(tx, &READ_VECTORS,
                    DB_ARGS(db_int(model), db_uuids(ids, n_ids)), out_rows,
                    err);
}

/* --- what is near -------------------------------------------------------- */

void vector_near_init(struct vector_near *near, size_t dim)
{
    assert(dim > 0);
    (void)snprintf(near->graph_text, sizeof(near->graph_text), NEAR_TEXT, dim,
                   dim, "");
    (void)snprintf(near->exact_text, sizeof(near->exact_text), NEAR_TEXT, dim,
                   dim, " + 0"); /* which no index has */
    near->by_graph = (struct db_sql){near->graph_text, DB_TENANT};
    near->exactly = (struct db_sql){near->exact_text, DB_TENANT};
}

static enum clew_status run_setting(struct store_tx *tx,
                                    const struct db_sql *sql, size_t value,
                                    struct clew_error *err)
{
    struct db_rows rows;
    char text[24];
    enum clew_status status;

    (void)snprintf(text, sizeof(text), "%zu", value);
    status = db_query(tx, sql, DB_ARGS(db_cstr(text)), &rows, err);
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

/* Which of the two statements; sets what a scan of the graph goes by. */
static enum clew_status choose(struct store_tx *tx,
                               const struct vector_near *near, int version,
                               const struct vector_query *query,
                               const struct db_sql **out,
                               struct clew_error *err)
{
    bool iterates = version >= ITERATES_VERSION;
    size_t n_reach = query->n_reach > 0 ? query->n_reach : 1;
    double expected =
        (double)query->want * (double)query->n_all / (double)n_reach;
    /* twice what is wanted finds nearly all of it */
    size_t list = 2 * query->want > 200 ? 2 * query->want : 200;
    enum clew_status status;

    if (!iterates && 2 * expected > (double)list) {
        list = (size_t)(2 * expected);
    }
    list = list < MAX_LIST ? list : MAX_LIST;
    if (expected > (iterates ? MAX_SCANNED : MAX_LIST / 2)) {
        *out = &near->exactly;
        return CLEW_OK;
    }
    *out = &near->by_graph;
    status = run_setting(tx, &SET_SCAN, list, err);
    return status == CLEW_OK && iterates
               ? run_setting(tx, &SET_ITERATION, MAX_SCANNED, err)
               : status;
}

enum clew_status vector_table_near(struct store_tx *tx,
                                   const struct vector_near *near, int version,
                                   const struct vector_query *query,
                                   struct db_rows *out_rows,
                                   struct clew_error *err)
{
    const struct db_sql *sql = NULL;
    enum clew_status status = choose(tx, near, version, query, &sql, err);

    return status == CLEW_OK
               ? db_query(
                     tx, sql,
                     DB_ARGS(db_int(query->model), db_int(query->kind),
                             db_bytes(query->user_key.s, query->user_key.len),
                             db_uuids(query->chats, query->n_chats),
                             db_int(query->since_ms), db_int(query->until_ms),
                             db_int(query->at_ms), db_text(query->vector),
                             db_int((int64_t)query->want)),
                     out_rows, err)
               : status;
}
