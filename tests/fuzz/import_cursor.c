/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any rows as Cursor's database: read to the end or refused with words. A line
 * is a row, its key ends at the first tab. The database is in memory: what
 * SQLite makes of damaged files is SQLite's to fuzz.
 */
#include "base/str.h"
#include "import_sink.h"
#include "import/cursor.h"

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

static void put_row(sqlite3_stmt *insert, struct str line)
{
    struct str key = {0};
    struct str value = line;

    (void)str_split(&value, '\t', &key);
    must(sqlite3_bind_text(insert, 1, key.s, (int)key.len, SQLITE_STATIC));
    must(sqlite3_bind_blob(insert, 2, value.s, (int)value.len, SQLITE_STATIC));
    must(sqlite3_step(insert));
    must(sqlite3_reset(insert));
}

static sqlite3 *database_of(struct str rows)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *insert = NULL;
    struct str line;

    must(sqlite3_open_v2(PLACE, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                         "memdb"));
    must(sqlite3_exec(db,
                      "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT "
                      "REPLACE, value BLOB)",
                      NULL, NULL, NULL));
    must(sqlite3_prepare_v2(db, "INSERT INTO cursorDiskKV VALUES (?, ?)", -1,
                            &insert, NULL));
    while (str_split(&rows, '\n', &line)) {
        put_row(insert, line);
    }
    must(sqlite3_finalize(insert));
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
        cursor_read(importer, PLACE, &has, &err) != CLEW_OK &&
        err.message[0] == '\0') {
        abort(); /* a fault without words */
    }
    importer_free(importer);
    must(sqlite3_close(db));
    return 0;
}
