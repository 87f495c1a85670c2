/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - many writers at once: group commit, isolation, change numbers.
 *
 * To make a group for certain, one write holds the gate until all the others
 * wait behind it.
 */
#include "suite.h"

#include "support/store_fault.h"

#include <sched.h>
#include <stdio.h>

enum { N_THREADS = 16 };

DB_SQL(count_and_max, "SELECT COUNT(*), COALESCE(MAX(id), 0), "
                      "(SELECT change_seq FROM tenants WHERE tenant = $1) "
                      "FROM probe WHERE tenant = $1");

/* --- a group behind a gate ------------------------------------------------ */

struct gate {
    struct store *store;
    atomic_int n_behind;
    atomic_bool is_held;
};

static enum clew_status hold_gate(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct gate *gate = arg;
    struct probe row = {.id = 1000000};

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
    enum clew_status want; /* what its function returns at the end */
    int n_runs;
    enum clew_status status;
    struct clew_error error;
    pthread_t thread;
};

static enum clew_status member_fn(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct member *member = arg;
    struct probe row = {.id = member->id};
    enum clew_status status = probe_add_in(tx, &row, err);

    member->n_runs++;
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

/* Run all members as one group. */
static void run_group(struct env *env, struct member *members, int n)
{
    struct gate gate = {.store = env->store, .n_behind = n};
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
        assert_int_equal(members[i].n_runs, 1);
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
    struct gate gate = {.n_behind = INT32_MAX};
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

/* --- change numbers ------------------------------------------------------- */

struct changer {
    struct store *store;
    unsigned seed;
    atomic_int *n_running;
    pthread_t thread;
};

/* Take 1 to 3 numbers, use them as ids; now and then give them back. */
static enum clew_status take_and_use(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    int64_t n = 1 + *(int *)arg % 3;
    int64_t first = 0;
    enum clew_status status = db_take_changes(tx, n, &first, err);

    for (int64_t i = 0; i < n && status == CLEW_OK; i++) {
        struct probe row = {.id = first + i};

        status = probe_add_in(tx, &row, err);
    }
    if (status == CLEW_OK && *(int *)arg % 7 == 0) {
        status = clew_fail(err, CLEW_INVALID, "gives them back");
    }
    return status;
}

static void *run_changer(void *arg)
{
    struct changer *changer = arg;

    for (int i = 0; i < 25; i++) {
        int dice = rand_r(&changer->seed);
        enum clew_status status =
            store_write(changer->store, &tenant_1, take_and_use, &dice, NULL);

        assert_int_equal(status, dice % 7 == 0 ? CLEW_INVALID : CLEW_OK);
    }
    atomic_fetch_sub(changer->n_running, 1);
    return NULL;
}

static enum clew_status look_at_numbers(struct store_tx *tx, void *arg,
                                        struct clew_error *err)
{
    int64_t *out = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &count_and_max, DB_NO_ARGS, &rows, err);

    if (db_next(&rows)) {
        for (int i = 0; i < 3; i++) {
            out[i] = db_get_int(&rows, i);
        }
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

/* Half of the threads write through a second store, as another process would.
 */
static void change_numbers_have_no_gaps(struct env *env)
{
    struct changer changers[N_THREADS];
    atomic_int n_running = N_THREADS;
    struct env other = *env;
    int64_t seen[3] = {0, 0, 0};

    if (env->backend != BACKEND_MEMORY) {
        assert_ok(env_reopen(&other, ERR));
    }
    for (int i = 0; i < N_THREADS; i++) {
        changers[i] =
            (struct changer){.store = i % 2 == 0 ? env->store : other.store,
                             .seed = (unsigned)i,
                             .n_running = &n_running};
        assert_int_equal(pthread_create(&changers[i].thread, NULL, run_changer,
                                        &changers[i]),
                         0);
    }
    while (atomic_load(&n_running) > 0) {
        assert_ok(
            store_read(env->store, &tenant_1, look_at_numbers, seen, ERR));
        /* Who sees number n sees all below it. */
        assert_int_equal(seen[0], seen[1]);
        assert_int_equal(seen[0], seen[2]);
    }
    for (int i = 0; i < N_THREADS; i++) {
        (void)pthread_join(changers[i].thread, NULL);
    }
    assert_ok(store_read(env->store, &tenant_1, look_at_numbers, seen, ERR));
    assert_true(seen[0] > N_THREADS * 25 / 2);
    assert_int_equal(seen[0], seen[1]);
    assert_int_equal(seen[0], seen[2]);
    if (env->backend != BACKEND_MEMORY) {
        store_close(other.store);
    }
}

/* --- readers -------------------------------------------------------------- */

static void *read_often(void *arg)
{
    struct store *store = arg;

    for (int i = 0; i < 50; i++) {
        assert_int_equal(probe_count(store, &tenant_1), 1);
    }
    return NULL;
}

static void more_readers_than_connections_take_turns(struct env *env)
{
    pthread_t threads[N_THREADS];

    assert_ok(probe_add(env->store, &tenant_1, 1, ERR));
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, read_often, env->store), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

const struct store_case thread_cases[] = {
    STORE_CASE(waiting_writes_share_one_commit, ON_ALL),
    STORE_CASE(one_that_fails_takes_none_of_the_others, ON_ALL),
    STORE_CASE(a_refused_commit_is_tried_one_by_one, ON_ALL),
    STORE_CASE(a_group_keeps_its_tenants_apart, ON_ALL),
    STORE_CASE(a_full_queue_is_busy, ON_FILES),
    STORE_CASE(change_numbers_have_no_gaps, ON_ALL),
    STORE_CASE(more_readers_than_connections_take_turns, ON_ALL),
    {NULL, NULL, 0},
};
