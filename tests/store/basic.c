/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basic.c - transactions, tenants, and what the wrappers refuse.
 */
#include "suite.h"

#include "store/stmt_cache.h"
#include "support/store_fault.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

DB_SQL(add_unchecked, "INSERT INTO probe (tenant, id) VALUES ($1, $2)");
DB_SQL(add_quietly, "INSERT INTO probe (tenant, id) VALUES ($1, $2) "
                    "ON CONFLICT DO NOTHING");
DB_SQL(without_tenant, "SELECT COUNT(*) FROM probe");
DB_SQL(almost_tenant, "SELECT COUNT(*) FROM probe WHERE id = $10");
DB_SQL(list_ids, "SELECT id FROM probe WHERE tenant = $1 ORDER BY id");
DB_SQL(add_returning,
       "INSERT INTO probe (tenant, id) VALUES ($1, $2) RETURNING id");
DB_SQL(all_of_any_tenant,
       "SELECT COUNT(*) FROM probe WHERE tenant = $1 OR tenant <> $1");
DB_SQL(update_all, "UPDATE probe SET i = $2 WHERE tenant = $1");
DB_SQL(bad_syntax, "SELEC $1");
DB_SQL_SYSTEM(count_tenants, "SELECT COUNT(*) FROM tenants");
DB_SQL_SYSTEM(count_probe_as_system, "SELECT COUNT(*) FROM probe");
DB_SQL(lock_rows, "SELECT id FROM probe WHERE tenant = $1 ORDER BY id LIMIT 1 "
                  "FOR UPDATE SKIP LOCKED");

/* Run one statement with one number and return its first number. */
struct one {
    const struct db_sql *sql;
    int64_t arg;
    bool has_arg;
    int64_t result;
    int64_t n_rows;
};

static enum clew_status run_one(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct one *one = arg;
    struct db_value value = db_int(one->arg);
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, one->sql, &value, one->has_arg ? 1 : 0, &rows, err);

    one->n_rows = 0;
    one->result = -1;
    while (db_next(&rows)) {
        one->result = db_get_int(&rows, 0);
        one->n_rows++;
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

static void a_committed_write_is_seen_and_outlives_the_store(struct env *env)
{
    assert_ok(probe_add(env->store, &tenant_1, 7, ERR));
    assert_true(probe_has(env->store, &tenant_1, 7));
    if (env->backend != BACKEND_MEMORY) {
        store_close(env->store);
        env->store = NULL;
        assert_ok(env_reopen(env, ERR));
        assert_true(probe_has(env->store, &tenant_1, 7));
    }
}

static enum clew_status add_then_give_up(struct store_tx *tx, void *arg,
                                         struct clew_error *err)
{
    struct probe row = {.id = 1};
    enum clew_status status = probe_add_in(tx, &row, err);

    (void)arg;
    if (status != CLEW_OK) {
        return status;
    }
    return clew_fail(err, CLEW_NOT_FOUND, "changed its mind");
}

static void a_function_that_fails_leaves_nothing(struct env *env)
{
    struct clew_error err;

    assert_int_equal(
        store_write(env->store, &tenant_1, add_then_give_up, NULL, &err),
        CLEW_NOT_FOUND);
    assert_string_equal(err.message, "changed its mind");
    assert_int_equal(probe_count(env->store, &tenant_1), 0);
}

static void tenants_do_not_see_each_other(struct env *env)
{
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    assert_ok(probe_add(env->store, &tenant_2, 1, ERR));
    assert_ok(probe_add(env->store, &tenant_2, 2, ERR));
    assert_int_equal(probe_count(env->store, &tenant_1), 1);
    assert_int_equal(probe_count(env->store, &tenant_2), 2);
    assert_false(probe_has(env->store, &tenant_1, 2));
}

/* A statement that asks for every tenant's rows still gets only its own. */
static void row_level_security_is_a_second_fence(struct env *env)
{
    struct one all = {.sql = &all_of_any_tenant};
    struct one as_system = {.sql = &count_probe_as_system};
    struct one tenants = {.sql = &count_tenants};

    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    assert_ok(probe_add(env->store, &tenant_2, 1, ERR));
    assert_ok(store_read(env->store, &tenant_1, run_one, &all, ERR));
    assert_int_equal(all.result, 1);
    assert_ok(store_write(env->store, &tenant_2, run_one, &all, ERR));
    assert_int_equal(all.result, 1);
    /* The system sees the tenants, and nothing of what is theirs. */
    assert_ok(store_read_system(env->store, run_one, &as_system, ERR));
    assert_int_equal(as_system.result, 0);
    assert_ok(store_read_system(env->store, run_one, &tenants, ERR));
    assert_int_equal(tenants.result, 2);
}

static int64_t count_directly(const char *url, const char *before)
{
    PGconn *pg = PQconnectdb(url);
    PGresult *result;
    int64_t count = -1;

    PQclear(PQexec(pg, before));
    result = PQexec(pg, "SELECT COUNT(*) FROM probe");
    if (PQresultStatus(result) == PGRES_TUPLES_OK) {
        count = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    }
    PQclear(result);
    PQfinish(pg);
    return count;
}

static void a_connection_that_names_no_tenant_sees_nothing(struct env *env)
{
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    assert_int_equal(count_directly(env->location, "SELECT 1"), 0);
    assert_int_equal(count_directly(env->location, "SET clew.tenant = ''"), 0);
    assert_int_equal(count_directly(env->location, "SET clew.tenant = '2'"), 0);
    assert_int_equal(count_directly(env->location, "SET clew.tenant = '1'"), 1);
}

static void a_statement_without_its_tenant_is_refused(struct env *env)
{
    struct one none = {.sql = &without_tenant};
    struct one almost = {.sql = &almost_tenant};

    assert_int_equal(store_read(env->store, &tenant_1, run_one, &none, ERR),
                     CLEW_INTERNAL);
    assert_int_equal(store_read(env->store, &tenant_1, run_one, &almost, ERR),
                     CLEW_INTERNAL);
}

static void scopes_are_not_mixed(struct env *env)
{
    struct one system = {.sql = &count_tenants};
    struct one tenant = {.sql = &list_ids};
    struct scope nobody = {0};
    struct scope negative = {-1};

    assert_int_equal(store_read(env->store, &tenant_1, run_one, &system, ERR),
                     CLEW_INTERNAL);
    assert_int_equal(store_read_system(env->store, run_one, &tenant, ERR),
                     CLEW_INTERNAL);
    assert_int_equal(store_read(env->store, &nobody, run_one, &tenant, ERR),
                     CLEW_INTERNAL);
    assert_int_equal(store_write(env->store, &negative, run_one, &tenant, ERR),
                     CLEW_INTERNAL);
    assert_int_equal(store_write(env->store, NULL, run_one, &tenant, ERR),
                     CLEW_INTERNAL);
}

static enum clew_status exec_in_read(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    (void)arg;
    return db_exec(tx, &add_unchecked, DB_ARGS(db_int(1)), err);
}

static void a_read_cannot_write(struct env *env)
{
    struct one returning = {.sql = &add_returning, .arg = 5, .has_arg = true};

    assert_int_equal(store_read(env->store, &tenant_1, exec_in_read, NULL, ERR),
                     CLEW_INTERNAL);
    assert_int_equal(
        store_read(env->store, &tenant_1, run_one, &returning, ERR),
        CLEW_INTERNAL);
    assert_int_equal(probe_count(env->store, &tenant_1), 0);
    assert_ok(store_write(env->store, &tenant_1, run_one, &returning, ERR));
    assert_int_equal(returning.result, 5);
}

static void a_duplicate_is_a_conflict(struct env *env)
{
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    assert_int_equal(probe_add(env->store, &tenant_1, 1, ERR), CLEW_CONFLICT);
    assert_ok(probe_add(env->store, &tenant_1, 2, ERR));
    assert_int_equal(probe_count(env->store, &tenant_1), 2);
}

static enum clew_status ignore_a_conflict(struct store_tx *tx, void *arg,
                                          struct clew_error *err)
{
    int64_t count = -1;
    enum clew_status status;

    (void)arg;
    status = db_exec_count(tx, &add_unchecked, DB_ARGS(db_int(1)), &count, err);
    assert_int_equal(status, CLEW_OK);
    assert_int_equal(count, 1);
    status = db_exec_count(tx, &add_unchecked, DB_ARGS(db_int(1)), &count, err);
    assert_int_equal(status, CLEW_CONFLICT);
    /* From here on nothing works, and returning CLEW_OK does not help. */
    status = db_exec_count(tx, &add_unchecked, DB_ARGS(db_int(2)), &count, err);
    assert_int_equal(status, CLEW_CONFLICT);
    return CLEW_OK;
}

static void a_failed_statement_fails_its_transaction(struct env *env)
{
    assert_int_equal(
        store_write(env->store, &tenant_1, ignore_a_conflict, NULL, ERR),
        CLEW_CONFLICT);
    assert_int_equal(probe_count(env->store, &tenant_1), 0);
}

static enum clew_status count_quiet(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    int64_t counts[3] = {-1, -1, -1};
    int64_t updated = -1;

    (void)arg;
    for (int i = 0; i < 3; i++) {
        enum clew_status status = db_exec_count(
            tx, &add_quietly, DB_ARGS(db_int(i / 2)), &counts[i], err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 0);
    assert_int_equal(counts[2], 1);
    if (db_exec_count(tx, &update_all, DB_ARGS(db_int(9)), &updated, err) !=
        CLEW_OK) {
        return err->status;
    }
    assert_int_equal(updated, 2);
    return CLEW_OK;
}

static void counts_are_of_rows_touched(struct env *env)
{
    assert_ok(store_write(env->store, &tenant_1, count_quiet, NULL, ERR));
}

static enum clew_status deferred_conflict(struct store_tx *tx, void *arg,
                                          struct clew_error *err)
{
    static const int64_t ids[] = {1, 1, 2};

    (void)arg;
    for (int i = 0; i < 3; i++) {
        /* Whether this notices is up to the backend; the commit must. */
        if (db_exec(tx, &add_unchecked, DB_ARGS(db_int(ids[i])), err) !=
            CLEW_OK) {
            continue;
        }
    }
    return CLEW_OK;
}

static void a_deferred_failure_surfaces_at_the_commit(struct env *env)
{
    assert_int_equal(
        store_write(env->store, &tenant_1, deferred_conflict, NULL, ERR),
        CLEW_CONFLICT);
    assert_int_equal(probe_count(env->store, &tenant_1), 0);
}

static enum clew_status see_own_write(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    struct one list = {.sql = &list_ids};
    struct probe row = {.id = 3};
    enum clew_status status = probe_add_in(tx, &row, err);

    (void)arg;
    if (status == CLEW_OK) {
        status = run_one(tx, &list, err);
    }
    assert_int_equal(list.n_rows, 1);
    assert_int_equal(list.result, 3);
    return status;
}

static void a_write_sees_its_own_effects(struct env *env)
{
    assert_ok(store_write(env->store, &tenant_1, see_own_write, NULL, ERR));
}

struct snapshot {
    struct store *store;
    int64_t before;
    int64_t after;
};

static void *write_aside(void *arg)
{
    struct store *store = arg;

    assert_int_equal(probe_add(store, &tenant_1, 99, NULL), CLEW_OK);
    return NULL;
}

static enum clew_status look_twice(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct snapshot *snapshot = arg;
    struct one list = {.sql = &list_ids};
    pthread_t thread;
    enum clew_status status = run_one(tx, &list, err);

    snapshot->before = list.n_rows;
    assert_int_equal(
        pthread_create(&thread, NULL, write_aside, snapshot->store), 0);
    (void)pthread_join(thread, NULL);
    if (status == CLEW_OK) {
        status = run_one(tx, &list, err);
    }
    snapshot->after = list.n_rows;
    return status;
}

/* Not on memory, where a write waits for the read to end. */
static void a_read_is_a_snapshot(struct env *env)
{
    struct snapshot snapshot = {.store = env->store};

    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    assert_ok(store_read(env->store, &tenant_1, look_twice, &snapshot, ERR));
    assert_int_equal(snapshot.before, 1);
    assert_int_equal(snapshot.after, 1);
    assert_int_equal(probe_count(env->store, &tenant_1), 2);
}

static enum clew_status leave_open(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct db_rows *rows = arg;
    enum clew_status status = db_query(tx, &list_ids, DB_NO_ARGS, rows, err);

    (void)db_next(rows);
    return status;
}

static void a_query_left_open_is_a_failure_and_no_more(struct env *env)
{
    struct db_rows rows;

    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    assert_int_equal(store_write(env->store, &tenant_1, leave_open, &rows, ERR),
                     CLEW_INTERNAL);
    assert_ok(probe_add(env->store, &tenant_1, 2, ERR));
    assert_int_equal(probe_count(env->store, &tenant_1), 2);
}

static void bad_sql_is_an_internal_error(struct env *env)
{
    struct one bad = {.sql = &bad_syntax};

    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_read(env->store, &tenant_1, run_one, &bad, ERR),
                         CLEW_INTERNAL);
        assert_int_equal(store_write(env->store, &tenant_1, run_one, &bad, ERR),
                         CLEW_INTERNAL);
    }
    assert_ok(probe_add(env->store, &tenant_1, 2, ERR));
}

static void row_locks_are_understood(struct env *env)
{
    struct one lock = {.sql = &lock_rows};

    assert_ok(probe_add(env->store, &tenant_1, 4, ERR));
    assert_ok(store_write(env->store, &tenant_1, run_one, &lock, ERR));
    assert_int_equal(lock.result, 4);
}

static enum clew_status take_three(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    return db_take_changes(tx, 3, arg, err);
}

static void change_numbers_belong_to_the_tenant(struct env *env)
{
    struct scope unknown = {77};
    int64_t first = 0;

    assert_ok(store_write(env->store, &tenant_1, take_three, &first, ERR));
    assert_int_equal(first, 1);
    assert_ok(store_write(env->store, &tenant_1, take_three, &first, ERR));
    assert_int_equal(first, 4);
    assert_ok(store_write(env->store, &tenant_2, take_three, &first, ERR));
    assert_int_equal(first, 1);
    assert_int_equal(store_write(env->store, &unknown, take_three, &first, ERR),
                     CLEW_NOT_FOUND);
    assert_int_equal(store_read(env->store, &tenant_1, take_three, &first, ERR),
                     CLEW_INTERNAL);
}

static void a_store_open_for_reading_refuses_writes(struct env *env)
{
    struct store_options options = {.location = env->location,
                                    .is_read_only = true};
    struct store *reader = NULL;

    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    assert_ok(store_open(&options, &reader, ERR));
    assert_int_equal(probe_count(reader, &tenant_1), 1);
    assert_int_equal(probe_add(reader, &tenant_1, 2, ERR), CLEW_FORBIDDEN);
    store_close(reader);
}

static void it_says_whether_it_is_well(struct env *env)
{
    assert_true(store_is_healthy(env->store));
    assert_ok(store_check(env->store, ERR));
    assert_string_equal(store_backend(env->store),
                        env->backend == BACKEND_POSTGRES ? "postgres"
                                                         : "sqlite");
}

static void a_backup_is_a_store(struct env *env)
{
    struct store_options options = {.must_exist = true};
    struct store *copy = NULL;
    char folder[] = "/tmp/clew-backup-XXXXXX";
    char path[64];

    if (env->backend != BACKEND_SQLITE) {
        assert_int_equal(store_backup(env->store, "x", ERR), CLEW_UNSUPPORTED);
        return;
    }
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/clew.db", folder);
    options.location = folder;
    assert_int_equal(store_open(&options, &copy, ERR), CLEW_NOT_FOUND);
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    assert_ok(store_backup(env->store, path, ERR));
    assert_ok(probe_add(env->store, &tenant_1, 2, ERR));
    assert_ok(store_open(&options, &copy, ERR));
    assert_int_equal(probe_count(copy, &tenant_1), 1);
    assert_ok(store_check(copy, ERR));
    store_close(copy);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
}

/* More statements than a connection keeps. */
struct many {
    struct db_sql *kinds;
    size_t n;
    int64_t row; /* to add after them; 0: none */
};

static enum clew_status run_many(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    const struct many *many = arg;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < many->n && status == CLEW_OK; i++) {
        struct one one = {.sql = &many->kinds[i]};

        status = run_one(tx, &one, err);
    }
    if (status == CLEW_OK && many->row > 0) {
        status = db_exec(tx, &add_unchecked, DB_ARGS(db_int(many->row)), err);
    }
    return status;
}

static void statements_give_way_to_others(struct env *env)
{
    struct db_sql kind = {"SELECT COUNT(*) FROM probe WHERE tenant = $1",
                          DB_TENANT};
    struct many many = {.n = 3 * STMT_CACHE_SETS * STMT_CACHE_WAYS};

    many.kinds = calloc(many.n, sizeof(*many.kinds));
    assert_non_null(many.kinds);
    for (size_t i = 0; i < many.n; i++) {
        memcpy(&many.kinds[i], &kind, sizeof(kind));
    }
    for (int64_t round = 1; round <= 3; round++) {
        many.row = round;
        assert_ok(store_write(env->store, &tenant_1, run_many, &many, ERR));
        assert_int_equal(
            store_write(env->store, &tenant_1, run_many, &many, ERR),
            CLEW_CONFLICT);
        many.row = 0;
        assert_ok(store_read(env->store, &tenant_1, run_many, &many, ERR));
        assert_int_equal(probe_count(env->store, &tenant_1), round);
    }
    free(many.kinds);
}

const struct store_case basic_cases[] = {
    STORE_CASE(a_committed_write_is_seen_and_outlives_the_store, ON_ALL),
    STORE_CASE(a_function_that_fails_leaves_nothing, ON_ALL),
    STORE_CASE(tenants_do_not_see_each_other, ON_ALL),
    STORE_CASE(row_level_security_is_a_second_fence, ON_POSTGRES),
    STORE_CASE(a_connection_that_names_no_tenant_sees_nothing, ON_POSTGRES),
    STORE_CASE(a_statement_without_its_tenant_is_refused, ON_ALL),
    STORE_CASE(scopes_are_not_mixed, ON_ALL),
    STORE_CASE(a_read_cannot_write, ON_ALL),
    STORE_CASE(a_duplicate_is_a_conflict, ON_ALL),
    STORE_CASE(a_failed_statement_fails_its_transaction, ON_ALL),
    STORE_CASE(counts_are_of_rows_touched, ON_ALL),
    STORE_CASE(a_deferred_failure_surfaces_at_the_commit, ON_ALL),
    STORE_CASE(a_write_sees_its_own_effects, ON_ALL),
    STORE_CASE(a_read_is_a_snapshot, ON_FILES),
    STORE_CASE(a_query_left_open_is_a_failure_and_no_more,
               ON_SQLITE | ON_MEMORY),
    STORE_CASE(bad_sql_is_an_internal_error, ON_ALL),
    STORE_CASE(row_locks_are_understood, ON_ALL),
    STORE_CASE(change_numbers_belong_to_the_tenant, ON_ALL),
    STORE_CASE(a_store_open_for_reading_refuses_writes, ON_FILES),
    STORE_CASE(it_says_whether_it_is_well, ON_ALL),
    STORE_CASE(a_backup_is_a_store, ON_ALL),
    STORE_CASE(statements_give_way_to_others, ON_ALL),
    {NULL, NULL, 0},
};
