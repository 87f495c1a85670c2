/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - see rows.h. Uses the databases' own libraries, not the store: what
 * is measured against must not be what is measured.
 */
#include "support/rows.h"

#include "base/clock.h"
#include "support/child.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const common[] = {
    "the",      "we",       "report",  "and",     "to",       "meeting",
    "is",       "on",       "for",     "project", "of",       "that",
    "customer", "please",   "in",      "not",     "server",   "have",
    "release",  "with",     "should",  "this",    "question", "from",
    "are",      "invoice",  "when",    "it",      "kitchen",  "because",
    "garden",   "they",     "travel",  "answer",  "at",       "budget",
    "will",     "database", "morning", "was",     "after",    "team"};

#define N_COMMON (sizeof(common) / sizeof(common[0]))

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

void rows_text(struct buf *out, uint64_t n)
{
    uint64_t seed = n * 0x9E3779B97F4A7C15u + 1;
    int n_words = 10 + (int)(next(&seed) % 41);

    for (int i = 0; i < n_words; i++) {
        uint64_t pick = next(&seed);

        if (pick % 5 != 0) {
            buf_printf(out, "%s%s", i ? " " : "", common[pick / 5 % N_COMMON]);
        } else { /* rare words are rarer the longer they are */
            buf_printf(out, "%s%c%c%" PRIx64, i ? " " : "",
                       (char)('g' + next(&seed) % 20),
                       (char)('a' + next(&seed) % 26),
                       next(&seed) % (1u << next(&seed) % 16));
        }
    }
}

/* --- plain inserts --- */

struct plain {
    sqlite3 *db;
    sqlite3_stmt *row;
    sqlite3_stmt *words;
};

static void must(sqlite3 *db, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "bench: sqlite: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

static void run(sqlite3 *db, const char *sql)
{
    must(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

struct plain *plain_open(const char *path)
{
    static struct plain plain;

    must(NULL, sqlite3_open(path, &plain.db));
    run(plain.db,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE turns (chat BLOB NOT NULL, seq INTEGER NOT NULL,"
        " id BLOB NOT NULL UNIQUE, user_id TEXT, role TEXT, text TEXT,"
        " created_at INTEGER, PRIMARY KEY (chat, seq));"
        "CREATE VIRTUAL TABLE words USING fts5(text, content='');");
    must(plain.db,
         sqlite3_prepare_v2(plain.db,
                            "INSERT INTO turns (chat, seq, id, user_id, role,"
                            " text, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                            -1, &plain.row, NULL));
    must(plain.db,
         sqlite3_prepare_v2(plain.db,
                            "INSERT INTO words (rowid, text) VALUES (?, ?)", -1,
                            &plain.words, NULL));
    return &plain;
}

void plain_close(struct plain *plain)
{
    (void)sqlite3_finalize(plain->row);
    (void)sqlite3_finalize(plain->words);
    (void)sqlite3_close(plain->db);
}

void plain_insert(struct plain *plain, uint64_t first, const struct str *texts,
                  int count)
{
    static const char chat[16] = "chat";

    run(plain->db, "BEGIN IMMEDIATE");
    for (int i = 0; i < count; i++) {
        sqlite3_stmt *row = plain->row;
        sqlite3_int64 n = (sqlite3_int64)first + i;
        struct str id = {(const char *)&n, sizeof(n)};
        int len = (int)texts[i].len;

        (void)sqlite3_bind_blob(row, 1, chat, sizeof(chat), SQLITE_STATIC);
        (void)sqlite3_bind_int64(row, 2, n);
        (void)sqlite3_bind_blob(row, 3, id.s, (int)id.len, SQLITE_STATIC);
        (void)sqlite3_bind_text(row, 4, "ada", 3, SQLITE_STATIC);
        (void)sqlite3_bind_text(row, 5, "user", 4, SQLITE_STATIC);
        (void)sqlite3_bind_text(row, 6, texts[i].s, len, SQLITE_STATIC);
        (void)sqlite3_bind_int64(row, 7, n);
        must(plain->db, sqlite3_step(row));
        (void)sqlite3_reset(row);
        (void)sqlite3_bind_int64(plain->words, 1, n);
        (void)sqlite3_bind_text(plain->words, 2, texts[i].s, len,
                                SQLITE_STATIC);
        must(plain->db, sqlite3_step(plain->words));
        (void)sqlite3_reset(plain->words);
    }
    run(plain->db, "COMMIT");
}

/* --- copies and counts --- */

static sqlite3 *open_store(const char *folder)
{
    char path[4096];
    sqlite3 *db;

    (void)snprintf(path, sizeof(path), "%s/clew.db", folder);
    must(NULL, sqlite3_open(path, &db));
    return db;
}

int64_t copy_in_sqlite(const char *folder)
{
    sqlite3 *db = open_store(folder);
    int64_t start;
    int64_t spent;

    run(db, "PRAGMA synchronous = FULL;"
            "CREATE TABLE copied AS SELECT * FROM turns LIMIT 0;"
            "CREATE UNIQUE INDEX c1 ON copied (tenant, chat_id, seq);"
            "CREATE UNIQUE INDEX c2 ON copied (tenant, id);"
            "CREATE UNIQUE INDEX c3 ON copied (tenant, change_seq)");
    start = clock_mono_ns();
    run(db, "INSERT INTO copied SELECT * FROM turns");
    spent = clock_mono_ns() - start;
    run(db, "DROP TABLE copied");
    (void)sqlite3_close(db);
    return spent;
}

int64_t count_in_sqlite(const char *folder)
{
    sqlite3 *db = open_store(folder);
    sqlite3_stmt *stmt;
    int64_t count;

    must(db,
         sqlite3_prepare_v2(db, "SELECT COUNT(*) FROM turns", -1, &stmt, NULL));
    must(db, sqlite3_step(stmt));
    count = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return count;
}

static PGconn *connect_pg(const char *url)
{
    PGconn *conn = PQconnectdb(url);

    if (PQstatus(conn) != CONNECTION_OK) {
        bench_die("could not reach PostgreSQL");
    }
    return conn;
}

static int64_t run_pg(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    int64_t number = 0;

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fprintf(stderr, "bench: %s", PQerrorMessage(conn));
        exit(1);
    }
    if (PQntuples(result) == 1) {
        number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    }
    PQclear(result);
    return number;
}

/* Row-level security shows the rows of the tenant that is announced. */
#define AS_TENANT "SELECT set_config('clew.tenant', '1', false)"

int64_t copy_in_postgres(const char *url)
{
    PGconn *conn = connect_pg(url);
    int64_t start;
    int64_t spent;

    (void)run_pg(conn, AS_TENANT);
    (void)run_pg(conn, "CREATE TABLE copied (LIKE turns INCLUDING ALL)");
    start = clock_mono_ns();
    (void)run_pg(conn, "INSERT INTO copied SELECT * FROM turns");
    spent = clock_mono_ns() - start;
    (void)run_pg(conn, "DROP TABLE copied");
    PQfinish(conn);
    return spent;
}

int64_t count_in_postgres(const char *url)
{
    PGconn *conn = connect_pg(url);
    int64_t count;

    (void)run_pg(conn, AS_TENANT);
    count = run_pg(conn, "SELECT COUNT(*) FROM turns");
    PQfinish(conn);
    return count;
}
