/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any rows as OpenCode's database: read to the end or refused with words. A
 * line is a row: its table's letter, id, owner and text, with tabs between.
 */
#include "base/str.h"
#include "import_database.h"
#include "import/opencode.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    sqlite3 *db = open_database(schema);
    struct str line;

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
    if (size > 0) {
        read_database(database_of((struct str){(const char *)data, size}),
                      opencode_read);
    }
    return 0;
}
