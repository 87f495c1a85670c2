/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - opening: migrations, foreign files, damage, permissions.
 */
#include "suite.h"

#include <libpq-fe.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/pg.h"

DB_SQL_SYSTEM(add_future, "INSERT INTO schema_migrations "
                          "(number, name, checksum) VALUES (9999, 'x', 'y')");
DB_SQL_SYSTEM(change_first, "UPDATE schema_migrations SET checksum = 'y' "
                            "WHERE number = 1");
DB_SQL_SYSTEM(count_applied, "SELECT COUNT(*) FROM schema_migrations");
DB_SQL(forget_probe, "DELETE FROM probe WHERE tenant = $1");

static enum clew_status run_sql(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    return db_exec(tx, *(const struct db_sql **)arg, DB_NO_ARGS, err);
}

static enum clew_status count(struct store_tx *tx, void *arg,
                              struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &count_applied, DB_NO_ARGS, &rows, err);

    if (db_next(&rows)) {
        *(int64_t *)arg = db_get_int(&rows, 0);
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

static void close_store(struct env *env)
{
    store_close(env->store);
    env->store = NULL;
}

static void a_second_open_changes_nothing(struct env *env)
{
    int64_t before = 0;
    int64_t after = 0;

    assert_ok(store_read_system(env->store, count, &before, ERR));
    assert_true(before > 0);
    for (int i = 0; i < 3; i++) {
        close_store(env);
        assert_ok(env_reopen(env, ERR));
    }
    assert_ok(store_read_system(env->store, count, &after, ERR));
    assert_int_equal(before, after);
}

static void a_newer_schema_is_refused(struct env *env)
{
    const struct db_sql *sql = &add_future;

    assert_ok(store_write_system(env->store, run_sql, &sql, ERR));
    close_store(env);
    assert_int_equal(env_reopen(env, ERR), CLEW_NEWER_SCHEMA);
    assert_non_null(strstr(suite_error.message, "a newer clew"));
}

static void a_migration_changed_afterwards_is_refused(struct env *env)
{
    const struct db_sql *sql = &change_first;

    assert_ok(store_write_system(env->store, run_sql, &sql, ERR));
    close_store(env);
    assert_int_equal(env_reopen(env, ERR), CLEW_CORRUPT);
}

/* --- several at once ------------------------------------------------------ */

enum { N_OPENERS = 8 };

static void *open_and_add(void *arg)
{
    const struct env *env = arg;
    struct env own = *env;
    static atomic_int next_id;
    int64_t id = atomic_fetch_add(&next_id, 1);
    struct clew_error err;
    enum clew_status status = env_reopen(&own, &err);

    if (status != CLEW_OK) {
        print_message("%s\n", err.message);
    }
    assert_int_equal(status, CLEW_OK);
    assert_int_equal(probe_add(own.store, &tenant_1, id, NULL), CLEW_OK);
    store_close(own.store);
    return NULL;
}

static void many_may_open_an_empty_place_at_once(struct env *env)
{
    pthread_t threads[N_OPENERS];
    char folder[] = "/tmp/clew-store-XXXXXX";

    for (int round = 0; round < 3; round++) {
        struct env fresh = *env;

        if (env->backend == BACKEND_POSTGRES) {
            pg_new_database(fresh.location, sizeof(fresh.location));
        } else {
            (void)snprintf(folder, sizeof(folder), "/tmp/clew-store-XXXXXX");
            assert_non_null(mkdtemp(folder));
            (void)snprintf(fresh.folder, sizeof(fresh.folder), "%s", folder);
            (void)snprintf(fresh.location, sizeof(fresh.location), "%s/a/b",
                           folder);
        }
        for (int i = 0; i < N_OPENERS; i++) {
            assert_int_equal(
                pthread_create(&threads[i], NULL, open_and_add, &fresh), 0);
        }
        for (int i = 0; i < N_OPENERS; i++) {
            (void)pthread_join(threads[i], NULL);
        }
        assert_ok(env_reopen(&fresh, ERR));
        assert_int_equal(probe_count(fresh.store, &tenant_1), N_OPENERS);
        env_close(&fresh);
    }
}

/* --- not ours, or damaged ------------------------------------------------- */

static void file_of(const struct env *env, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/clew.db", env->location);
}

static void write_at(const char *path, long offset, const char *bytes,
                     size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, len, offset), (ssize_t)len);
    (void)close(fd);
}

static void a_foreign_file_is_refused_and_kept(struct env *env)
{
    char path[200];
    sqlite3 *db = NULL;
    struct stat before;
    struct stat after;

    close_store(env);
    file_of(env, path, sizeof(path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "CREATE TABLE other (x)", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(env_reopen(env, ERR), CLEW_CORRUPT);
    assert_int_equal(unlink(path), 0);
    write_at(path, 0, "This is a letter, not a database.\n", 34);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(env_reopen(env, ERR), CLEW_CORRUPT);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
}

static void a_foreign_database_is_refused(struct env *env)
{
    PGconn *pg;
    PGresult *result;

    close_store(env);
    pg_new_database(env->location, sizeof(env->location));
    pg = PQconnectdb(env->location);
    result = PQexec(pg, "CREATE TABLE schema_migrations (version text)");
    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    PQclear(result);
    PQfinish(pg);
    assert_int_equal(env_reopen(env, ERR), CLEW_CORRUPT);
}

static void an_empty_file_becomes_a_store(struct env *env)
{
    char path[200];

    close_store(env);
    file_of(env, path, sizeof(path));
    assert_int_equal(truncate(path, 0), 0);
    assert_ok(env_reopen(env, ERR));
    assert_ok(store_check(env->store, ERR));
}

static enum clew_status add_rows(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    (void)arg;
    for (int64_t i = 0; i < 2000 && status == CLEW_OK; i++) {
        struct probe row = {.id = i, .t = STR("the same text in each row")};

        status = probe_add_in(tx, &row, err);
    }
    return status;
}

static void damage_is_found(struct env *env)
{
    char path[200];
    char junk[64];
    struct stat info;
    enum clew_status status;

    assert_ok(store_write(env->store, &tenant_1, add_rows, NULL, ERR));
    assert_ok(store_check(env->store, ERR));
    close_store(env);
    file_of(env, path, sizeof(path));
    assert_int_equal(stat(path, &info), 0);
    memset(junk, 0xee, sizeof(junk));
    for (long at = 8 * 4096; at < info.st_size; at += 3 * 4096) {
        write_at(path, at, junk, sizeof(junk));
    }
    status = env_reopen(env, ERR);
    if (status == CLEW_OK) {
        status = store_check(env->store, ERR);
    }
    assert_int_equal(status, CLEW_CORRUPT);
}

static void row_level_security_that_was_lifted_is_found(struct env *env)
{
    PGconn *pg = PQconnectdb(env->location);
    PGresult *result;

    assert_ok(store_check(env->store, ERR));
    result = PQexec(pg, "ALTER TABLE turns NO FORCE ROW LEVEL SECURITY");
    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    PQclear(result);
    PQfinish(pg);
    assert_int_equal(store_check(env->store, ERR), CLEW_CORRUPT);
}

/* --- places --------------------------------------------------------------- */

static void a_place_that_cannot_be_reached_is_unavailable(struct env *env)
{
    static const char *const places[] = {
        "/dev/null/store", "postgres://nobody@/none?host=/nonexistent",
        "postgres://u:secret@localhost:1/none"};
    struct store *store = NULL;

    (void)env;
    for (size_t i = 0; i < 3; i++) {
        struct store_options options = {.location = places[i]};
        struct clew_error err;

        assert_int_equal(store_open(&options, &store, &err), CLEW_UNAVAILABLE);
        assert_null(store);
        assert_null(strstr(err.message, "secret"));
    }
    assert_int_equal(
        store_open(&(struct store_options){.location = ""}, &store, ERR),
        CLEW_INVALID);
}

static void what_must_exist_is_not_made(struct env *env)
{
    struct store_options options = {.must_exist = true};
    struct store *store = NULL;
    char place[200];

    (void)snprintf(place, sizeof(place), "%s/none", env->folder);
    options.location = place;
    assert_int_equal(store_open(&options, &store, ERR), CLEW_NOT_FOUND);
    assert_int_equal(access(place, F_OK), -1);
}

static void files_are_for_the_owner_only(struct env *env)
{
    static const char *const names[] = {"clew.db", "clew.db-wal",
                                        "clew.db-shm"};
    char path[200];
    struct stat info;

    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", env->folder, names[i]);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
}

/* --- deleting ------------------------------------------------------------- */

static const char secret[] = "the-word-that-must-not-remain";

static enum clew_status add_secret(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    (void)arg;
    for (int64_t i = 0; i < 50; i++) {
        struct probe row = {.id = i, .t = str_of(secret)};
        enum clew_status status = probe_add_in(tx, &row, err);

        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

static bool file_contains(const char *path, const char *word)
{
    static char bytes[4 * 1024 * 1024];
    int fd = open(path, O_RDONLY);
    ssize_t len = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : 0;

    if (fd >= 0) {
        (void)close(fd);
    }
    return memmem(bytes, (size_t)len, word, strlen(word)) != NULL;
}

static void deleted_text_leaves_the_file(struct env *env)
{
    const struct db_sql *sql = &forget_probe;
    char path[200];

    file_of(env, path, sizeof(path));
    assert_ok(store_write(env->store, &tenant_1, add_secret, NULL, ERR));
    close_store(env);
    assert_true(file_contains(path, secret));
    assert_ok(env_reopen(env, ERR));
    assert_ok(store_write(env->store, &tenant_1, run_sql, &sql, ERR));
    close_store(env);
    assert_false(file_contains(path, secret));
    (void)snprintf(path, sizeof(path), "%s/clew.db-wal", env->folder);
    assert_false(file_contains(path, secret));
}

/* A vacuumed table without rows has no pages left. */
static int pages_of_probe(const char *url)
{
    PGconn *pg = PQconnectdb(url);
    PGresult *result = PQexec(pg, "SELECT pg_relation_size('probe') / 8192");
    int n_pages = PQresultStatus(result) == PGRES_TUPLES_OK
                      ? (int)strtol(PQgetvalue(result, 0, 0), NULL, 10)
                      : -1;

    PQclear(result);
    PQfinish(pg);
    return n_pages;
}

static void scrubbing_removes_what_was_deleted_at_once(struct env *env)
{
    const struct db_sql *sql = &forget_probe;
    char path[200];

    assert_ok(store_write(env->store, &tenant_1, add_secret, NULL, ERR));
    assert_ok(store_write(env->store, &tenant_1, run_sql, &sql, ERR));
    assert_ok(store_scrub(env->store, ERR));
    if (env->backend == BACKEND_SQLITE) {
        file_of(env, path, sizeof(path));
        assert_false(file_contains(path, secret));
        (void)snprintf(path, sizeof(path), "%s/clew.db-wal", env->folder);
        assert_false(file_contains(path, secret));
    }
    if (env->backend == BACKEND_POSTGRES) {
        assert_int_equal(pages_of_probe(env->location), 0);
    }
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
}

const struct store_case schema_cases[] = {
    STORE_CASE(a_second_open_changes_nothing, ON_FILES),
    STORE_CASE(a_newer_schema_is_refused, ON_FILES),
    STORE_CASE(a_migration_changed_afterwards_is_refused, ON_FILES),
    STORE_CASE(many_may_open_an_empty_place_at_once, ON_FILES),
    STORE_CASE(a_foreign_file_is_refused_and_kept, ON_SQLITE),
    STORE_CASE(a_foreign_database_is_refused, ON_POSTGRES),
    STORE_CASE(an_empty_file_becomes_a_store, ON_SQLITE),
    STORE_CASE(damage_is_found, ON_SQLITE),
    STORE_CASE(row_level_security_that_was_lifted_is_found, ON_POSTGRES),
    STORE_CASE(a_place_that_cannot_be_reached_is_unavailable, ON_SQLITE),
    STORE_CASE(what_must_exist_is_not_made, ON_SQLITE),
    STORE_CASE(files_are_for_the_owner_only, ON_SQLITE),
    STORE_CASE(deleted_text_leaves_the_file, ON_SQLITE),
    STORE_CASE(scrubbing_removes_what_was_deleted_at_once, ON_ALL),
    {NULL, NULL, 0},
};
