/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any rows as OpenCode's database: read to the end or refused with words. A
 * line is a row: its table's letter, id, owner and text, with tabs between. The
 * database is in memory: what SQLite makes of damaged files is SQLite's to
 * fuzz.
 */
#include "base/str.h"
#include "import_sink.h"
#include "import/opencode.h"

#include <sqlite3.h>
#include <stdint.h>

/* Shared between connections, as long as one is open. */
#define PLACE "/fuzz"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        abort();
    }
}

/* Tables as they are, less what nobody reads. */
static const char schema[] =
    "CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT,"
    " time_created INTEGER DEFAULT 0);"
    "CREATE TABLE message (id TEXT, session_id TEXT, data TEXT,"
    " time_created INTEGER DEFAULT 0);"
    "CREATE TABLE part (id TEXT, message_id TEXT, data TEXT)";

static void put_row(sqlite3_stmt *const inserts[3], struct str line)
{
    struct str part[3] = {{0}};
    struct str kind = {0};
    sqlite3_stmt *insert;

    (void)str_split(&line, '\t', &kind);
    (void)str_split(&line, '\t', &part[0]);
    (void)str_split(&line, '\t', &part[1]);
    part[2] = line;
    insert = inserts[str_eq(kind, STR("m"))   ? 1
                     : str_eq(kind, STR("p")) ? 2
                                              : 0];
    for (int i = 0; i < 3; i++) {
        must(sqlite3_bind_text(insert, i + 1, part[i].s, (int)part[i].len,
                               SQLITE_STATIC));
    }
    must(sqlite3_step(insert));
    must(sqlite3_reset(insert));
}

static sqlite3 *database_of(struct str rows)
{
    static const char *const sql[3] = {
        "INSERT INTO session (id, parent_id, title) VALUES (?, ?, ?)",
        "INSERT INTO message (id, session_id, data) VALUES (?, ?, ?)",
        "INSERT INTO part (id, message_id, data) VALUES (?, ?, ?)"};
    sqlite3_stmt *inserts[3] = {NULL};
    sqlite3 *db = NULL;
    struct str line;

    must(sqlite3_open_v2(PLACE, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                         "memdb"));
    must(sqlite3_exec(db, schema, NULL, NULL, NULL));
    for (int i = 0; i < 3; i++) {
        must(sqlite3_prepare_v2(db, sql[i], -1, &inserts[i], NULL));
    }
    while (str_split(&rows, '\n', &line)) {
        put_row(inserts, line);
    }
    for (int i = 0; i < 3; i++) {
        must(sqlite3_finalize(inserts[i]));
    }
    return db;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct importer *importer = NULL;
    struct clew_error err = {0};
    bool has = false;
    sqlite3 *db;

    if (size == 0) {
        return 0;
    }
    /* the importer asks for no file system by name */
    must(sqlite3_vfs_register(sqlite3_vfs_find("memdb"), 1));
    db = database_of((struct str){(const char *)data, size});
    if (importer_new(&import_sink, NULL, &importer, &err) == CLEW_OK &&
        opencode_read(importer, PLACE, &has, &err) != CLEW_OK &&
        err.message[0] == '\0') {
        abort(); /* a fault without words */
    }
    importer_free(importer);
    must(sqlite3_close(db));
    return 0;
}
