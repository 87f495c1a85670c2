/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any rows as Cursor's database: read to the end or refused with words. A line
 * is a row, its key ends at the first tab.
 */
#include "base/str.h"
#include "import_database.h"
#include "import/cursor.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    sqlite3 *db = open_database("CREATE TABLE cursorDiskKV (key TEXT UNIQUE "
                                "ON CONFLICT REPLACE, value BLOB)");
    sqlite3_stmt *insert = NULL;
    struct str line;

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
    if (size > 0) {
        read_database(database_of((struct str){(const char *)data, size}),
                      cursor_read);
    }
    return 0;
}
