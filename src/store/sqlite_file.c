/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_file.c - the database file: make it, open it safely, copy it.
 *
 * The file may come from anywhere (a restored backup, a shared disk), so every
 * connection is opened with SQLite's defences on and its limits lowered.
 */
#include "store/sqlite_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "store/sqlite_list.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a lock of another process is waited for. */
#define BUSY_MS 5000
/* Between two looks at it; well below LEAVE_NS in sqlite.c. */
#define LOOK_US 1500
/* Pages copied by a backup between two looks at the clock: about 4 MiB. */
#define BACKUP_STEP_PAGES 1024

/* Deleted content is overwritten (forget), temporary content never reaches a
 * disk, and LIKE means the same as on PostgreSQL. The caches are small, as the
 * system's page cache is behind them; a reader's (sqlite.c) holds the upper
 * pages of the indexes, which each recall would otherwise read anew. */
static const char common_settings[] = "PRAGMA trusted_schema = OFF;"
                                      "PRAGMA cell_size_check = ON;"
                                      "PRAGMA secure_delete = ON;"
                                      "PRAGMA temp_store = MEMORY;"
                                      "PRAGMA case_sensitive_like = ON;"
                                      "PRAGMA foreign_keys = ON;"
                                      "PRAGMA synchronous = FULL;";
static const char writer_settings[] = "PRAGMA cache_size = -4096;"
                                      "PRAGMA journal_size_limit = 16777216;";
static const char reader_settings[] = "PRAGMA query_only = ON;";

static const struct {
    int id;
    int value;
} limits[] = {
    {SQLITE_LIMIT_LENGTH, 512 * 1024 * 1024},
    {SQLITE_LIMIT_SQL_LENGTH, 1024 * 1024},
    {SQLITE_LIMIT_COLUMN, 200},
    {SQLITE_LIMIT_EXPR_DEPTH, 200},
    {SQLITE_LIMIT_COMPOUND_SELECT, 50},
    {SQLITE_LIMIT_FUNCTION_ARG, 16},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 256},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 8},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

/* SQLite's own handler comes to look ten times a second only: beside a server
 * that writes on and on it would wait in vain. */
static int wait_turn(void *arg, int n_looks)
{
    static _Thread_local int64_t began_ns;
    int64_t now_ns = clock_mono_ns();

    (void)arg;
    if (n_looks == 0) {
        began_ns = now_ns;
    }
    if (now_ns - began_ns >= BUSY_MS * 1000000LL) {
        return 0;
    }
    (void)usleep(n_looks < 4 ? 200 : LOOK_US); /* shorter is fine */
    return 1;
}

/* --- memory: SQLite's goes through base/alloc like everybody's ----------- */

static void *memory_malloc(int size)
{
    return alloc_bytes((size_t)size);
}

static void *memory_realloc(void *ptr, int size)
{
    return alloc_array(ptr, (size_t)size, 1);
}

static int memory_size(void *ptr)
{
    return (int)malloc_usable_size(ptr);
}

static int memory_roundup(int size)
{
    return (size + 7) & ~7;
}

static int memory_init(void *data)
{
    (void)data;
    return SQLITE_OK;
}

static void memory_shutdown(void *data)
{
    (void)data;
}

static void configure(void)
{
    static const sqlite3_mem_methods methods = {
        .xMalloc = memory_malloc,
        .xFree = alloc_free,
        .xRealloc = memory_realloc,
        .xSize = memory_size,
        .xRoundup = memory_roundup,
        .xInit = memory_init,
        .xShutdown = memory_shutdown,
    };

    /* Refused if the host program started SQLite first; then it goes on with
     * the host's settings. */
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* --- making the file ------------------------------------------------------ */

static enum clew_status fail_file(struct clew_error *err, const char *what,
                                  const char *path)
{
    return clew_fail(err, CLEW_UNAVAILABLE, "could not %s \"%s\": %s", what,
                     path, strerror(errno));
}

/* The folder and those above it; existing ones are left as they are. */
static enum clew_status make_folders(const char *path, struct clew_error *err)
{
    char *copy = alloc_string(path);
    enum clew_status status = CLEW_OK;

    if (!copy) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not make a folder");
    }
    for (char *at = copy + 1; status == CLEW_OK; at++) {
        char c = *at;

        if (c != '/' && c != '\0') {
            continue;
        }
        *at = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST) {
            status = fail_file(err, "make the folder", copy);
        }
        *at = c;
        if (c == '\0') {
            break;
        }
    }
    alloc_free(copy);
    return status;
}

static enum clew_status sync_folder_of(const char *path, struct clew_error *err)
{
    char *copy = alloc_string(path);
    enum clew_status status = CLEW_OK;
    int fd;

    if (!copy) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not sync a folder");
    }
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) {
        status = fail_file(err, "sync the folder of", path);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    alloc_free(copy);
    return status;
}

static enum clew_status create_file(const char *path, struct clew_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0) {
        return fail_file(err, "open", path);
    }
    (void)close(fd);
    return sync_folder_of(path, err);
}

enum clew_status sqlite_file_make(const struct store_options *options,
                                  char **out_path, struct clew_error *err)
{
    size_t size = strlen(options->location) + sizeof("/clew.db");
    char *path = alloc_bytes(size);
    enum clew_status status = CLEW_OK;

    if (!path) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open the store");
    }
    (void)snprintf(path, size, "%s/clew.db", options->location);
    if (access(path, F_OK) != 0) {
        if (options->must_exist || options->is_read_only) {
            status = clew_fail(err, CLEW_NOT_FOUND,
                               "there is no store in "
                               "\"%s\"",
                               options->location);
        } else {
            status = make_folders(options->location, err);
        }
        if (status == CLEW_OK) {
            status = create_file(path, err);
        }
    }
    if (status != CLEW_OK) {
        alloc_free(path);
        return status;
    }
    *out_path = path;
    return CLEW_OK;
}

/* --- connections ---------------------------------------------------------- */

static void defend(sqlite3 *db)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        (void)sqlite3_limit(db, limits[i].id, limits[i].value);
    }
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    /* Plans do not hang on bound values: otherwise a statement is compiled
     * anew whenever one of them changes, which costs more than running it. */
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    (void)sqlite3_extended_result_codes(db, 1);
    (void)sqlite3_busy_handler(db, wait_turn, NULL);
}

/* Switching to WAL does not always wait for other openers by itself. */
static int set_wal(sqlite3 *db)
{
    int64_t deadline = clock_mono_ns() + BUSY_MS * 1000000LL;
    int rc;

    do {
        rc = sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if ((rc & 0xff) != SQLITE_BUSY) {
            break;
        }
        (void)usleep(2000); /* shorter is fine */
    } while (clock_mono_ns() < deadline);
    return rc;
}

enum clew_status sqlite_connect(const char *path, enum conn_role role,
                                sqlite3 **out_db, struct clew_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    bool is_memory = !path;
    sqlite3 *db = NULL;
    enum clew_status status;
    int rc;

    (void)pthread_once(&once, configure);
    rc = sqlite3_open_v2(is_memory ? ":memory:" : path, &db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                             SQLITE_OPEN_EXRESCODE,
                         NULL);
    if (rc == SQLITE_OK) {
        defend(db);
        rc = sqlite_list_register(db);
    }
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(db, common_settings, NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK && !is_memory && role == CONN_WRITER) {
        rc = set_wal(db);
    }
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(
            db, role == CONN_WRITER ? writer_settings : reader_settings, NULL,
            NULL, NULL);
    }
    if (rc != SQLITE_OK) {
        status = sqlite_fail(db, rc, "open the store", err);
        (void)sqlite3_close_v2(db);
        return status;
    }
    *out_db = db;
    return CLEW_OK;
}

/* --- backup --------------------------------------------------------------- */

static enum clew_status copy_pages(struct driver *driver, sqlite3 *to,
                                   struct clew_error *err)
{
    sqlite3 *from = NULL;
    sqlite3_backup *backup;
    enum clew_status status;
    int rc;

    if (!driver->path) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "a store in memory cannot be backed up");
    }
    status = sqlite_connect(driver->path, CONN_READER, &from, err);
    if (status != CLEW_OK) {
        return status;
    }
    /* In a read transaction other writers do not make it start again. */
    rc = sqlite3_exec(from, "BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1", NULL,
                      NULL, NULL);
    backup =
        rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main") : NULL;
    if (!backup) {
        status = sqlite_fail(rc == SQLITE_OK ? to : from,
                             rc == SQLITE_OK ? sqlite3_errcode(to) : rc,
                             "start the backup", err);
    } else {
        do {
            rc = sqlite3_backup_step(backup, BACKUP_STEP_PAGES);
        } while (rc == SQLITE_OK);
        rc = sqlite3_backup_finish(backup);
        if (rc != SQLITE_OK) {
            status = sqlite_fail(to, rc, "copy the store", err);
        }
    }
    (void)sqlite3_close_v2(from);
    return status;
}

static enum clew_status write_copy(struct driver *driver, const char *path,
                                   struct clew_error *err)
{
    sqlite3 *to = NULL;
    enum clew_status status = create_file(path, err);
    int rc;

    if (status != CLEW_OK) {
        return status;
    }
    rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE, NULL);
    if (rc != SQLITE_OK) {
        status = sqlite_fail(to, rc, "write the backup", err);
    } else {
        status = copy_pages(driver, to, err);
    }
    if (status == CLEW_OK) {
        /* One self-contained file: no journal beside it, header included. */
        rc = sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
        if (rc != SQLITE_OK) {
            status = sqlite_fail(to, rc, "finish the backup", err);
        }
    }
    (void)sqlite3_close_v2(to);
    return status;
}

static enum clew_status sync_and_rename(const char *from, const char *to,
                                        struct clew_error *err)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0) {
        (void)close(fd);
    }
    if (!is_synced) {
        return fail_file(err, "sync", from);
    }
    if (rename(from, to) != 0) {
        return fail_file(err, "name the backup", to);
    }
    return sync_folder_of(to, err);
}

enum clew_status sqlite_backup(struct driver *driver, const char *path,
                               struct clew_error *err)
{
    size_t size = strlen(path) + 32;
    char *part = alloc_bytes(size);
    enum clew_status status;

    if (!part) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not back up");
    }
    (void)snprintf(part, size, "%s.%ld.part", path, (long)getpid());
    (void)unlink(part); /* of an earlier process with our number */
    status = write_copy(driver, part, err);
    if (status == CLEW_OK) {
        status = sync_and_rename(part, path, err);
    }
    if (status != CLEW_OK) {
        (void)unlink(part); /* may not be there */
    }
    alloc_free(part);
    return status;
}
