/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_database.h - fuzzed rows as a SQLite database that an importer reads.
 *
 * It is in memory: what SQLite makes of damaged files is SQLite's to fuzz.
 */
#ifndef FUZZ_IMPORT_DATABASE_H
#define FUZZ_IMPORT_DATABASE_H

#include "import_sink.h"

#include <sqlite3.h>

/* Shared between connections, as long as one is open. */
#define PLACE "/fuzz"

typedef enum clew_status (*database_reader)(struct importer *importer,
                                            const char *path, bool *out_has,
                                            struct clew_error *err);

static void must(int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        abort();
    }
}

static sqlite3 *open_database(const char *schema)
{
    sqlite3 *db = NULL;

    /* the importer asks for no file system by name */
    must(sqlite3_vfs_register(sqlite3_vfs_find("memdb"), 1));
    must(sqlite3_open_v2(PLACE, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                         "memdb"));
    must(sqlite3_exec(db, schema, NULL, NULL, NULL));
    return db;
}

/* Read to the end, or refused with words; closes the database. */
static void read_database(sqlite3 *db, database_reader read)
{
    struct importer *importer = NULL;
    struct clew_error err = {0};
    bool has = false;

    if (importer_new(&import_sink, NULL, &importer, &err) == CLEW_OK &&
        read(importer, PLACE, &has, &err) != CLEW_OK &&
        err.message[0] == '\0') {
        abort(); /* a fault without words */
    }
    importer_free(importer);
    must(sqlite3_close(db));
}

#endif
