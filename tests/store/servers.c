/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers.c - PostgreSQL servers that go away, come back, or are replaced.
 *
 * What was acknowledged must be there afterwards; what was refused must have
 * been refused with a status that invites another try.
 */
#include "suite.h"

#include "store/stmt_cache.h"
#include "support/pg.h"
#include "support/store_fault.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static char terminate_url[200];

/* End all sessions of the case's database, as an operator would. */
static void terminate_sessions(void)
{
    PGconn *pg = PQconnectdb(terminate_url);
    PGresult *result = PQexec(
        pg, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()");

    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    PQfinish(pg);
}

/* Stop (or go on with) the processes that serve the case's database. */
static void signal_sessions(int signal)
{
    PGconn *pg = PQconnectdb(terminate_url);
    PGresult *result = PQexec(
        pg, "SELECT pid FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()");

    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(result); i++) {
        pid_t pid = (pid_t)strtol(PQgetvalue(result, i, 0), NULL, 10);

        assert_int_equal(kill(pid, signal), 0);
    }
    PQclear(result);
    PQfinish(pg);
}

static void freeze_sessions(void)
{
    signal_sessions(SIGSTOP);
}

DB_SQL(add_plain, "INSERT INTO probe (tenant, id) VALUES ($1, $2)");

struct counted {
    int n_runs;
    int64_t id;
    bool is_awaited; /* wait for the answer before the commit */
};

static enum clew_status add_counted(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    struct counted *counted = arg;
    struct db_value id = db_int(counted->id);

    counted->n_runs++;
    return counted->is_awaited
               ? db_exec_count(tx, &add_plain, &id, 1, NULL, err)
               : db_exec(tx, &add_plain, &id, 1, err);
}

static void idle_connections_that_were_cut_are_replaced(struct env *env)
{
    pg_admin_url(env->location, terminate_url, sizeof(terminate_url));
    for (int64_t i = 1; i <= 3; i++) {
        assert_ok(probe_add(env->store, &tenant_1, i, ERR));
        assert_int_equal(probe_count(env->store, &tenant_1), i);
        terminate_sessions();
    }
    assert_int_equal(probe_count(env->store, &tenant_1), 3);
}

static void a_connection_lost_before_the_commit_is_tried_again(struct env *env)
{
    pg_admin_url(env->location, terminate_url, sizeof(terminate_url));
    assert_ok(probe_add(env->store, &tenant_1, 9, ERR)); /* connects */
    /* Before any of the calls begin, exec, commit: all that precedes the commit
     * waits in the pipeline, so the server ends before it sees the commit. */
    for (int at = 1; at <= 3; at++) {
        struct counted counted = {.id = at};

        store_fault_hook_at(at, terminate_sessions);
        assert_ok(
            store_write(env->store, &tenant_1, add_counted, &counted, ERR));
        assert_true(store_fault_has_fired());
        assert_int_equal(counted.n_runs, 2);
        assert_true(probe_has(env->store, &tenant_1, at));
    }
}

static void a_connection_lost_in_the_commit_is_not_tried_again(struct env *env)
{
    struct counted counted = {.id = 1, .is_awaited = true};

    assert_ok(probe_add(env->store, &tenant_1, 2, ERR));
    pg_admin_url(env->location, terminate_url, sizeof(terminate_url));
    store_fault_hook_at_commit(1, terminate_sessions);
    assert_int_equal(
        store_write(env->store, &tenant_1, add_counted, &counted, ERR),
        CLEW_UNAVAILABLE);
    assert_true(store_fault_has_fired());
    assert_int_equal(counted.n_runs, 1);
    assert_false(probe_has(env->store, &tenant_1, 1));
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
}

/* What a session that stands still had not begun to commit is done on another
 * one; a commit is not, since it may yet happen. */
static void a_session_that_stands_still_is_given_up(struct env *env)
{
    struct store_options options = {.location = env->location,
                                    .answer_ms = 100};
    struct counted counted = {.is_awaited = true};

    pg_admin_url(env->location, terminate_url, sizeof(terminate_url));
    store_close(env->store);
    assert_ok(store_open_driver(store_fault_ops(&postgres_driver), &options,
                                &env->store, ERR));
    assert_ok(probe_add(env->store, &tenant_1, 9, ERR)); /* connects */
    assert_int_equal(probe_count(env->store, &tenant_1), 1);
    freeze_sessions();
    assert_int_equal(probe_count(env->store, &tenant_1), 1);
    for (int at = 1; at <= 3; at++) {
        enum clew_status status;

        counted = (struct counted){.id = at, .is_awaited = true};
        if (at < 3) {
            store_fault_hook_at(at, freeze_sessions);
        } else {
            store_fault_hook_at_commit(1, freeze_sessions);
        }
        status = store_write(env->store, &tenant_1, add_counted, &counted, ERR);
        signal_sessions(SIGCONT); /* else nobody could stop the server */
        terminate_sessions();
        assert_true(store_fault_has_fired());
        assert_int_equal(status, at < 3 ? CLEW_OK : CLEW_UNAVAILABLE);
    }
    assert_int_equal(counted.n_runs, 1);
    assert_in_range(probe_count(env->store, &tenant_1), 3, 4);
    assert_true(store_is_healthy(env->store));
}

static void a_server_that_is_down_is_unavailable(struct env *env)
{
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    pg_stop(false);
    assert_false(store_is_healthy(env->store));
    assert_int_equal(probe_add(env->store, &tenant_1, 2, ERR),
                     CLEW_UNAVAILABLE);
    pg_start();
    assert_true(store_is_healthy(env->store));
    assert_true(probe_has(env->store, &tenant_1, 1));
    assert_false(probe_has(env->store, &tenant_1, 2));
}

enum { N_WRITERS = 8, MAX_IDS = 100000 };

struct stubborn {
    struct store *store;
    int64_t first_id;
    int64_t n_acknowledged;
    int64_t n_refused;
    atomic_bool *must_stop;
    pthread_t thread;
};

/* Write on and on; after a refusal, the same id again. */
static void *write_stubbornly(void *arg)
{
    struct stubborn *s = arg;

    while (!atomic_load(s->must_stop)) {
        enum clew_status status = probe_add(
            s->store, &tenant_1, s->first_id + s->n_acknowledged, NULL);

        /* A conflict tells that one of unknown outcome had been kept. */
        if (status == CLEW_OK || (status == CLEW_CONFLICT && s->n_refused)) {
            s->n_acknowledged++;
        } else {
            assert_true(clew_status_retryable(status));
            s->n_refused++;
        }
    }
    return NULL;
}

static void start_writers(struct stubborn *writers, struct store *const *stores,
                          int n_stores, atomic_bool *must_stop)
{
    for (int i = 0; i < N_WRITERS; i++) {
        writers[i] = (struct stubborn){.store = stores[i % n_stores],
                                       .first_id = (int64_t)i * MAX_IDS,
                                       .must_stop = must_stop};
        assert_int_equal(pthread_create(&writers[i].thread, NULL,
                                        write_stubbornly, &writers[i]),
                         0);
    }
}

/* All that was acknowledged is there, and at most one per writer besides. */
static void stop_and_check_writers(struct stubborn *writers,
                                   struct store *store, atomic_bool *must_stop)
{
    int64_t n_acknowledged = 0;
    int64_t n_refused = 0;

    atomic_store(must_stop, true);
    for (int i = 0; i < N_WRITERS; i++) {
        (void)pthread_join(writers[i].thread, NULL);
        n_acknowledged += writers[i].n_acknowledged;
        n_refused += writers[i].n_refused;
        for (int64_t j = 0; j < writers[i].n_acknowledged; j += 10) {
            assert_true(probe_has(store, &tenant_1, writers[i].first_id + j));
        }
    }
    assert_true(n_refused > 0);
    assert_in_range(probe_count(store, &tenant_1), n_acknowledged,
                    n_acknowledged + N_WRITERS);
}

static void wait_for_more(struct store *store, int64_t n_more)
{
    int64_t before = probe_count(store, &tenant_1);

    while (probe_count(store, &tenant_1) < before + n_more) {
        continue;
    }
}

static void
nothing_acknowledged_is_lost_when_the_server_crashes(struct env *env)
{
    struct stubborn writers[N_WRITERS];
    atomic_bool must_stop = false;

    start_writers(writers, &env->store, 1, &must_stop);
    for (int round = 0; round < 3; round++) {
        wait_for_more(env->store, 100);
        pg_stop(true);
        pg_start();
    }
    stop_and_check_writers(writers, env->store, &must_stop);
}

/* Two stores, as two processes, know both servers by their URL. */
static void a_promoted_standby_is_found(struct env *env)
{
    struct stubborn writers[N_WRITERS];
    struct store *stores[2] = {NULL, NULL};
    struct store_options options = {0};
    atomic_bool must_stop = false;
    char url[300];

    pg_start_pair();
    pg_pair_url(env->location, url, sizeof(url));
    options.location = url;
    assert_ok(store_open(&options, &stores[0], ERR));
    assert_ok(store_open(&options, &stores[1], ERR));
    start_writers(writers, stores, 2, &must_stop);
    wait_for_more(stores[0], 100);
    pg_fail_over();
    wait_for_more(stores[0], 100);
    wait_for_more(stores[1], 100);
    stop_and_check_writers(writers, stores[0], &must_stop);
    store_close(stores[0]);
    store_close(stores[1]);
    pg_end_pair();
}

/* --- statements that the server keeps prepared --- */

enum { N_KINDS = 2 * STMT_CACHE_SETS * STMT_CACHE_WAYS, N_ROUNDS = 40 };

DB_SQL(count_prepared, "SELECT COUNT(*) FROM pg_prepared_statements"
                       " WHERE $1 = $1");

struct crowd {
    struct db_sql kinds[N_KINDS];
    int at;
    int64_t n_prepared; /* on the connection this runs on */
};

/* Statements that others have to give way to. */
static enum clew_status run_crowd(struct store_tx *tx, struct crowd *crowd,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (int i = 0; i < 40 && status == CLEW_OK; i++) {
        crowd->at = (crowd->at + 1) % N_KINDS;
        status = db_exec(tx, &crowd->kinds[crowd->at], DB_NO_ARGS, err);
    }
    return status;
}

/* They stand behind one that fails, before anybody waits for its answer. */
static enum clew_status fail_in_a_crowd(struct store_tx *tx, void *arg,
                                        struct clew_error *err)
{
    enum clew_status status = db_exec(tx, &add_plain, DB_ARGS(db_int(1)), err);

    return status == CLEW_OK ? run_crowd(tx, arg, err) : status;
}

static enum clew_status ask_prepared(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    struct crowd *crowd = arg;
    struct db_rows rows;
    enum clew_status status = run_crowd(tx, crowd, err);

    if (status == CLEW_OK) {
        status = db_query(tx, &count_prepared, DB_NO_ARGS, &rows, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    crowd->n_prepared = db_next(&rows) ? db_get_int(&rows, 0) : -1;
    return db_end(&rows, err);
}

/* What a failed transaction skipped, among it that a statement is let go, is
 * made up for: the server's memory does not grow with failures. */
static void failures_leave_no_statement_behind(struct env *env)
{
    struct db_sql kind = {"UPDATE probe SET i = 1 WHERE tenant = $1 AND id = 0",
                          DB_TENANT};
    struct crowd *crowd = calloc(1, sizeof(*crowd));

    assert_non_null(crowd);
    for (int i = 0; i < N_KINDS; i++) {
        memcpy(&crowd->kinds[i], &kind, sizeof(kind));
    }
    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    for (int i = 0; i < N_ROUNDS; i++) {
        assert_int_equal(
            store_write(env->store, &tenant_1, fail_in_a_crowd, crowd, ERR),
            CLEW_CONFLICT);
        assert_ok(store_write(env->store, &tenant_1, ask_prepared, crowd, ERR));
    }
    assert_in_range(crowd->n_prepared, 1,
                    STMT_CACHE_SETS * STMT_CACHE_WAYS + 100);
    free(crowd);
}

const struct store_case server_cases[] = {
    /* First: a standby is a copy of all databases made so far. */
    STORE_CASE(a_promoted_standby_is_found, ON_POSTGRES),
    STORE_CASE(idle_connections_that_were_cut_are_replaced, ON_POSTGRES),
    STORE_CASE(a_connection_lost_before_the_commit_is_tried_again, ON_POSTGRES),
    STORE_CASE(a_connection_lost_in_the_commit_is_not_tried_again, ON_POSTGRES),
    STORE_CASE(a_session_that_stands_still_is_given_up, ON_POSTGRES),
    STORE_CASE(a_server_that_is_down_is_unavailable, ON_POSTGRES),
    STORE_CASE(nothing_acknowledged_is_lost_when_the_server_crashes,
               ON_POSTGRES),
    STORE_CASE(failures_leave_no_statement_behind, ON_POSTGRES),
    {NULL, NULL, 0},
};
