/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.c - group commit: many writes in one transaction.
 *
 * To make a group for certain, one write holds the gate until all the others
 * wait behind it.
 */
#include "suite.h"

#include "base/clock.h"
#include "support/pg.h"
#include "support/store_fault.h"

#include <libpq-fe.h>
#include <sched.h>
#include <stdio.h>

enum { N_THREADS = 16 };

/* --- a group behind a gate ------------------------------------------------ */

struct gate {
    struct store *store;
    int64_t id;
    atomic_int n_behind;
    atomic_bool is_held;
};

static enum clew_status hold_gate(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct gate *gate = arg;
    struct probe row = {.id = gate->id};

    atomic_store(&gate->is_held, true);
    while (store_waiting(gate->store) < atomic_load(&gate->n_behind)) {
        (void)sched_yield();
    }
    return probe_add_in(tx, &row, err);
}

static void *run_gate(void *arg)
{
    struct gate *gate = arg;

    assert_int_equal(store_write(gate->store, &tenant_1, hold_gate, gate, NULL),
                     CLEW_OK);
    return NULL;
}

/* One member of the group: what it does, and what became of it. */
struct member {
    struct store *store;
    struct scope scope;
    int64_t id;
    enum clew_status want;     /* what its function returns at the end */
    bool is_early;             /* … and it returns that before it writes */
    int64_t spin_ns;           /* it takes at least so long */
    const struct db_sql *also; /* a query it makes, NULL = none */
    int n_runs;
    enum clew_status status;
    struct clew_error error;
    pthread_t thread;
};

static enum clew_status ask_also(struct store_tx *tx,
                                 const struct member *member,
                                 struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status;

    if (!member->also) {
        return CLEW_OK;
    }
    status = db_query(tx, member->also, DB_NO_ARGS, &rows, err);
    while (db_next(&rows)) {
        continue;
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

static enum clew_status member_fn(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct member *member = arg;
    struct probe row = {.id = member->id};
    int64_t until_ns = clock_mono_ns() + member->spin_ns;
    enum clew_status status;

    member->n_runs++;
    while (clock_mono_ns() < until_ns) {
        continue;
    }
    if (member->is_early) {
        return clew_fail(err, member->want, "as told");
    }
    status = probe_add_in(tx, &row, err);
    if (status == CLEW_OK) {
        status = ask_also(tx, member, err);
    }
    if (status == CLEW_OK && member->want != CLEW_OK) {
        return clew_fail(err, member->want, "as told");
    }
    return status;
}

static void *run_member(void *arg)
{
    struct member *member = arg;

    member->status = store_write(member->store, &member->scope, member_fn,
                                 member, &member->error);
    return NULL;
}

/* Run all members as one group behind a gate that writes row `id`. */
static void run_group_of(struct env *env, struct member *members, int n,
                         int64_t id)
{
    struct gate gate = {.store = env->store, .id = id, .n_behind = n};
    pthread_t holder;

    assert_int_equal(pthread_create(&holder, NULL, run_gate, &gate), 0);
    while (!atomic_load(&gate.is_held)) {
        (void)sched_yield();
    }
    for (int i = 0; i < n; i++) {
        members[i].store = env->store;
        if (members[i].scope.tenant == 0) {
            members[i].scope = tenant_1;
        }
        assert_int_equal(
            pthread_create(&members[i].thread, NULL, run_member, &members[i]),
            0);
    }
    for (int i = 0; i < n; i++) {
        (void)pthread_join(members[i].thread, NULL);
    }
    (void)pthread_join(holder, NULL);
}

static void run_group(struct env *env, struct member *members, int n)
{
    run_group_of(env, members, n, 1000000);
}

static void waiting_writes_share_one_commit(struct env *env)
{
    struct member members[N_THREADS] = {0};
    int before = store_fault_commits();

    for (int i = 0; i < N_THREADS; i++) {
        members[i].id = i;
    }
    run_group(env, members, N_THREADS);
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(members[i].status, CLEW_OK);
    }
    assert_int_equal(store_fault_commits() - before, 2);
    assert_int_equal(probe_count(env->store, &tenant_1), N_THREADS + 1);
}

static void one_that_fails_takes_none_of_the_others(struct env *env)
{
    struct member members[N_THREADS] = {0};
    int before = store_fault_commits();

    assert_ok(probe_add(env->store, &tenant_1, 500, ERR));
    for (int i = 0; i < N_THREADS; i++) {
        members[i].id = i;
        if (i % 4 == 1) {
            members[i].want = CLEW_NOT_FOUND;
        } else if (i % 4 == 2) {
            members[i].id = 500; /* is there already */
        }
    }
    run_group(env, members, N_THREADS);
    for (int i = 0; i < N_THREADS; i++) {
        enum clew_status want = i % 4 == 1   ? CLEW_NOT_FOUND
                                : i % 4 == 2 ? CLEW_CONFLICT
                                             : CLEW_OK;

        assert_int_equal(members[i].status, want);
        assert_in_range(members[i].n_runs, 1, 2);
        if (want != CLEW_OK) {
            assert_int_equal(members[i].error.status, want);
        }
        if (want == CLEW_NOT_FOUND) {
            assert_string_equal(members[i].error.message, "as told");
        }
        if (want != CLEW_CONFLICT) {
            assert_int_equal(probe_has(env->store, &tenant_1, i),
                             want == CLEW_OK);
        }
    }
    assert_int_equal(store_fault_commits() - before, 3);
}

static void a_refused_commit_is_tried_one_by_one(struct env *env)
{
    struct member members[N_THREADS] = {0};

    for (int i = 0; i < N_THREADS; i++) {
        members[i].id = i;
    }
    /* The gate's own goes through, the group's does not. */
    store_fault_at_commit(2, CLEW_UNAVAILABLE);
    run_group(env, members, N_THREADS);
    assert_true(store_fault_has_fired());
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(members[i].status, CLEW_OK);
        assert_int_equal(members[i].n_runs, 2);
        assert_true(probe_has(env->store, &tenant_1, i));
    }
}

static void a_group_keeps_its_tenants_apart(struct env *env)
{
    struct member members[N_THREADS] = {0};

    /* 1, 5 and 9 meet in one writer of PostgreSQL; 9 always fails. */
    for (int i = 0; i < N_THREADS; i++) {
        members[i].id = i;
        members[i].scope.tenant = 1 + 4 * (i % 3);
        members[i].want = i % 3 == 2 ? CLEW_INVALID : CLEW_OK;
    }
    run_group(env, members, N_THREADS);
    for (int i = 0; i < N_THREADS; i++) {
        for (int64_t tenant = 1; tenant <= 9; tenant += 4) {
            struct scope scope = {tenant};
            bool is_own = members[i].scope.tenant == tenant;

            assert_int_equal(members[i].status, members[i].want);
            assert_int_equal(probe_has(env->store, &scope, i),
                             is_own && members[i].want == CLEW_OK);
        }
    }
}

static void a_full_queue_is_busy(struct env *env)
{
    enum { ROOM = 4 };
    struct member members[ROOM + 1] = {0};
    struct store_options options = {.location = env->location,
                                    .max_waiting = ROOM};
    struct gate gate = {.id = 1000000, .n_behind = INT32_MAX};
    struct store *own = NULL;
    pthread_t holder;

    assert_ok(store_open(&options, &own, ERR));
    gate.store = own;
    assert_int_equal(pthread_create(&holder, NULL, run_gate, &gate), 0);
    while (!atomic_load(&gate.is_held)) {
        (void)sched_yield();
    }
    for (int i = 0; i < ROOM; i++) {
        members[i] = (struct member){.store = own, .scope = tenant_1, .id = i};
        assert_int_equal(
            pthread_create(&members[i].thread, NULL, run_member, &members[i]),
            0);
    }
    while (store_waiting(own) < ROOM) {
        (void)sched_yield();
    }
    assert_int_equal(probe_add(own, &tenant_1, 99, ERR), CLEW_BUSY);
    atomic_store(&gate.n_behind, 0);
    for (int i = 0; i < ROOM; i++) {
        (void)pthread_join(members[i].thread, NULL);
        assert_int_equal(members[i].status, CLEW_OK);
    }
    (void)pthread_join(holder, NULL);
    assert_int_equal(probe_count(own, &tenant_1), ROOM + 1);
    store_close(own);
}

/* What changed nothing leaves nothing to undo, so the others go on. */
static void one_that_fails_early_costs_the_others_nothing(struct env *env)
{
    struct member members[N_THREADS] = {0};
    int before = store_fault_commits();

    for (int i = 0; i < N_THREADS; i++) {
        members[i].id = i;
        members[i].is_early = i % 3 == 1;
        members[i].want = i % 3 == 1 ? CLEW_NOT_FOUND : CLEW_OK;
    }
    run_group(env, members, N_THREADS);
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(members[i].status, members[i].want);
        assert_int_equal(members[i].n_runs, 1);
        assert_int_equal(probe_has(env->store, &tenant_1, i), i % 3 != 1);
    }
    assert_int_equal(store_fault_commits() - before, 2);
}

static void a_group_in_which_all_fail_commits_nothing(struct env *env)
{
    struct member members[N_THREADS] = {0};
    int before = store_fault_commits();

    for (int i = 0; i < N_THREADS; i++) {
        members[i].id = i;
        members[i].want = CLEW_INVALID;
    }
    run_group(env, members, N_THREADS);
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(members[i].status, CLEW_INVALID);
    }
    assert_int_equal(store_fault_commits() - before, 1);
    assert_int_equal(probe_count(env->store, &tenant_1), 1);
}

/* Long writes do not pile up: a group ends when its time is over. */
static void a_group_takes_no_more_than_its_time(struct env *env)
{
    struct store_options options = {.location = env->location, .group_ms = 1};
    struct member members[N_THREADS] = {0};
    struct env own = *env;
    int before;

    assert_ok(store_open_driver(store_fault_ops(env->backend == BACKEND_POSTGRES
                                                    ? &postgres_driver
                                                    : &sqlite_driver),
                                &options, &own.store, ERR));
    before = store_fault_commits();
    for (int i = 0; i < N_THREADS; i++) {
        members[i].id = i;
        members[i].spin_ns = 2000000;
        members[i].scope.tenant = 1 + 4 * (i % 3);
    }
    run_group(&own, members, N_THREADS);
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(members[i].status, CLEW_OK);
        assert_int_equal(members[i].n_runs, 1);
    }
    /* one by one, and the gate's */
    assert_int_equal(store_fault_commits() - before, N_THREADS + 1);
    store_close(own.store);
}

/* --- PostgreSQL's own failures -------------------------------------------- */

static char admin_url[200];

static void as_admin(const char *sql)
{
    PGconn *pg = PQconnectdb(admin_url);
    PGresult *result = PQexec(pg, sql);

    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    }
    PQclear(result);
    PQfinish(pg);
}

static void terminate_sessions(void)
{
    as_admin("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
             "WHERE datname = current_database() AND pid <> pg_backend_pid()");
}

/* The first two calls fail as a serialisation failure does; sequences do not
 * roll back. */
static const char stumble[] =
    "CREATE SEQUENCE stumbles; GRANT ALL ON stumbles TO clew;"
    "CREATE FUNCTION stumble(tenant bigint) RETURNS bigint LANGUAGE plpgsql AS "
    "$f$ BEGIN IF nextval('stumbles') <= 2 THEN RAISE EXCEPTION 'stumbled' "
    "USING ERRCODE = '40001'; END IF; RETURN tenant; END $f$";
DB_SQL(ask_stumble, "SELECT stumble($1)");

static void a_serialisation_failure_is_tried_again(struct env *env)
{
    struct member members[N_THREADS] = {0};

    pg_admin_url(env->location, admin_url, sizeof(admin_url));
    as_admin(stumble);
    for (int i = 0; i < N_THREADS; i++) {
        members[i].id = i;
        members[i].want = i == 3 ? CLEW_NOT_FOUND : CLEW_OK;
    }
    members[7].also = &ask_stumble;
    run_group(env, members, N_THREADS);
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(members[i].status, members[i].want);
        assert_int_equal(probe_has(env->store, &tenant_1, i), i != 3);
    }
    assert_int_equal(members[7].n_runs, 3); /* together, carefully, alone */
}

DB_SQL(ask_nothing, "SELECT $1");

/* Before each of the first calls of the group: nothing was kept, all is done
 * again on another connection. */
static void a_group_whose_connection_is_cut_is_run_again(struct env *env)
{
    pg_admin_url(env->location, admin_url, sizeof(admin_url));
    assert_ok(probe_add(env->store, &tenant_1, 100, ERR)); /* connects */
    for (int at = 4; at < 12; at++) {
        struct member members[4] = {{0}};

        for (int i = 0; i < 4; i++) {
            members[i].id = at * 4 + i;
            members[i].also = &ask_nothing;
        }
        /* the gate's begin, exec and commit come first */
        store_fault_hook_at(at, terminate_sessions);
        run_group_of(env, members, 4, 1000 + at);
        assert_true(store_fault_has_fired());
        for (int i = 0; i < 4; i++) {
            assert_int_equal(members[i].status, CLEW_OK);
            assert_true(probe_has(env->store, &tenant_1, at * 4 + i));
        }
    }
}

/* All were answered but the commit: it may have happened, so nobody is told
 * that it did, and nothing is done twice. */
static void a_group_whose_commit_is_lost_is_unavailable(struct env *env)
{
    struct member members[4] = {{0}};
    int n_runs = 0;

    pg_admin_url(env->location, admin_url, sizeof(admin_url));
    assert_ok(probe_add(env->store, &tenant_1, 100, ERR)); /* connects */
    for (int i = 0; i < 4; i++) {
        members[i].id = i;
        members[i].also = &ask_nothing; /* so that no failure is deferred */
        members[i].want = i == 2 ? CLEW_NOT_FOUND : CLEW_OK;
        members[i].is_early = i == 2;
    }
    store_fault_hook_at_commit(2, terminate_sessions);
    run_group(env, members, 4);
    assert_true(store_fault_has_fired());
    for (int i = 0; i < 4; i++) {
        assert_int_equal(members[i].status,
                         i == 2 ? CLEW_NOT_FOUND : CLEW_UNAVAILABLE);
        assert_false(probe_has(env->store, &tenant_1, i));
        n_runs += members[i].n_runs;
    }
    assert_int_equal(n_runs, 4);
    assert_ok(probe_add(env->store, &tenant_1, 0, ERR));
}

/* Each would wait until it is refused, one after the other. */
static void behind_a_lock_that_stays_nobody_waits_for_all(struct env *env)
{
    enum { N = 6 };
    struct store_options options = {
        .location = env->location, .group_ms = 1, .wait_ms = 1};
    struct member members[N] = {0};
    struct env own = *env;
    PGconn *pg;
    int n_runs = 0;

    pg_admin_url(env->location, admin_url, sizeof(admin_url));
    pg = PQconnectdb(admin_url);
    PQclear(PQexec(pg, "INSERT INTO tenants (tenant, name, created_at, "
                       "change_seq) VALUES (5, 'five', 0, 0)"));
    PQclear(PQexec(pg, "BEGIN"));
    PQclear(PQexec(pg, "SELECT * FROM tenants WHERE tenant = 5 FOR UPDATE"));
    store_fault_on_connect("SET lock_timeout = '50ms'");
    assert_ok(store_open_driver(store_fault_ops(&postgres_driver), &options,
                                &own.store, ERR));
    for (int i = 0; i < N; i++) {
        members[i].id = i;
        members[i].scope.tenant = 5; /* the gate's is not locked */
        members[i].also = &ask_nothing;
    }
    run_group(&own, members, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(members[i].status, CLEW_BUSY);
        n_runs += members[i].n_runs;
    }
    assert_int_equal(n_runs, 2); /* one of them, with the others and alone */
    PQclear(PQexec(pg, "COMMIT"));
    PQfinish(pg);
    assert_ok(probe_add(own.store, &members[0].scope, 1, ERR));
    store_close(own.store);
}

const struct store_case group_cases[] = {
    STORE_CASE(waiting_writes_share_one_commit, ON_ALL),
    STORE_CASE(one_that_fails_takes_none_of_the_others, ON_ALL),
    STORE_CASE(one_that_fails_early_costs_the_others_nothing, ON_ALL),
    STORE_CASE(a_group_in_which_all_fail_commits_nothing, ON_ALL),
    STORE_CASE(a_refused_commit_is_tried_one_by_one, ON_ALL),
    STORE_CASE(a_group_keeps_its_tenants_apart, ON_ALL),
    STORE_CASE(a_group_takes_no_more_than_its_time, ON_FILES),
    STORE_CASE(a_full_queue_is_busy, ON_FILES),
    STORE_CASE(a_serialisation_failure_is_tried_again, ON_POSTGRES),
    STORE_CASE(a_group_whose_connection_is_cut_is_run_again, ON_POSTGRES),
    STORE_CASE(a_group_whose_commit_is_lost_is_unavailable, ON_POSTGRES),
    STORE_CASE(behind_a_lock_that_stays_nobody_waits_for_all, ON_POSTGRES),
    {NULL, NULL, 0},
};
