/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - many at once: change numbers without gaps, readers in turns.
 */
#include "suite.h"

#include "base/clock.h"
#include "store/pool.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { N_THREADS = 16 };

DB_SQL(count_and_max, "SELECT COUNT(*), COALESCE(MAX(id), 0), "
                      "(SELECT change_seq FROM tenants WHERE tenant = $1) "
                      "FROM probe WHERE tenant = $1");

/* --- change numbers ------------------------------------------------------- */

struct changer {
    struct store *store;
    struct scope scope;
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
        enum clew_status status = store_write(changer->store, &changer->scope,
                                              take_and_use, &dice, NULL);

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

/* Who sees number n sees all below it. */
static void check_numbers(struct store *store, int64_t tenant, int64_t at_least)
{
    struct scope scope = {tenant};
    int64_t seen[3] = {0, 0, 0};

    assert_ok(store_read(store, &scope, look_at_numbers, seen, ERR));
    assert_int_equal(seen[0], seen[1]);
    assert_int_equal(seen[0], seen[2]);
    assert_true(seen[0] >= at_least);
}

/* Half of the threads write through a second store, as another process would.
 */
static void change_numbers_have_no_gaps_for(struct env *env, int n_tenants)
{
    struct changer changers[N_THREADS];
    atomic_int n_running = N_THREADS;
    struct env other = *env;

    if (env->backend != BACKEND_MEMORY) {
        assert_ok(env_reopen(&other, ERR));
    }
    for (int i = 0; i < N_THREADS; i++) {
        changers[i] =
            (struct changer){.store = i % 2 == 0 ? env->store : other.store,
                             .scope = {1 + i / 2 % n_tenants},
                             .seed = (unsigned)i,
                             .n_running = &n_running};
        assert_int_equal(pthread_create(&changers[i].thread, NULL, run_changer,
                                        &changers[i]),
                         0);
    }
    while (atomic_load(&n_running) > 0) {
        check_numbers(env->store, 1, 0);
        check_numbers(env->store, n_tenants, 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        (void)pthread_join(changers[i].thread, NULL);
    }
    for (int64_t tenant = 1; tenant <= n_tenants; tenant++) {
        check_numbers(env->store, tenant, N_THREADS * 25 / n_tenants / 2);
    }
    if (env->backend != BACKEND_MEMORY) {
        store_close(other.store);
    }
}

static void change_numbers_have_no_gaps(struct env *env)
{
    change_numbers_have_no_gaps_for(env, 1);
}

DB_SQL_SYSTEM(add_tenant, "INSERT INTO tenants "
                          "(tenant, name, created_at, change_seq) "
                          "VALUES ($1, $2, 0, 0)");

static enum clew_status add_tenants(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    (void)arg;
    for (int64_t i = 3; i <= N_THREADS / 2 && status == CLEW_OK; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "t%d", (int)i);
        status =
            db_exec(tx, &add_tenant, DB_ARGS(db_int(i), db_cstr(name)), err);
    }
    return status;
}

/* More tenants than PostgreSQL has writers. */
static void change_numbers_of_many_tenants_have_no_gaps(struct env *env)
{
    assert_ok(store_write_system(env->store, add_tenants, NULL, ERR));
    change_numbers_have_no_gaps_for(env, N_THREADS / 2);
}

DB_SQL(own_number, "SELECT change_seq FROM tenants WHERE tenant = $1");
DB_SQL(skip_numbers,
       "UPDATE tenants SET change_seq = change_seq + 10 WHERE tenant = $1");

static enum clew_status stored_number(struct store_tx *tx, int64_t *out,
                                      struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(tx, &own_number, DB_NO_ARGS, &rows, err);

    *out = db_next(&rows) ? db_get_int(&rows, 0) : -1;
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

/* Numbers are counted beside the row; nobody can tell. */
static enum clew_status take_and_look(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    int64_t *out = arg;
    enum clew_status status = db_take_changes(tx, 3, &out[0], err);

    if (status == CLEW_OK) {
        status = db_take_changes(tx, 2, &out[1], err);
    }
    if (status == CLEW_OK) {
        status = stored_number(tx, &out[2], err);
    }
    if (status == CLEW_OK) {
        status = db_take_changes(tx, 1, &out[3], err);
    }
    if (status == CLEW_OK) {
        status = db_exec(tx, &skip_numbers, DB_NO_ARGS, err);
    }
    if (status == CLEW_OK) {
        status = db_take_changes(tx, 1, &out[4], err);
    }
    if (status == CLEW_OK) {
        status = db_take_changes(tx, 4, &out[5], err);
    }
    return status;
}

static void statements_see_the_numbers_taken(struct env *env)
{
    int64_t got[6] = {0};

    assert_ok(store_write(env->store, &tenant_1, take_and_look, got, ERR));
    assert_int_equal(got[0], 1);
    assert_int_equal(got[1], 4);
    assert_int_equal(got[2], 5);
    assert_int_equal(got[3], 6);
    assert_int_equal(got[4], 17);
    assert_int_equal(got[5], 18);
    assert_ok(store_write(env->store, &tenant_1, take_and_look, got, ERR));
    assert_int_equal(got[0], 22);
    assert_int_equal(
        store_write(env->store, &(struct scope){99}, take_and_look, got, ERR),
        CLEW_NOT_FOUND);
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

struct meeting {
    struct store *store;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t came;
    int n_here;
    int n_wanted;
};

static enum clew_status meet(struct store_tx *tx, void *arg,
                             struct clew_error *err)
{
    struct meeting *all = arg;
    struct timespec late;
    int64_t number = 0;
    enum clew_status status = stored_number(tx, &number, err);

    (void)clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 60;
    pthread_mutex_lock(&all->lock);
    all->n_here++;
    pthread_cond_broadcast(&all->came);
    while (all->n_here < all->n_wanted &&
           pthread_cond_timedwait(&all->came, &all->lock, &late) == 0) {
        /* the others are on their way */
    }
    if (all->n_here < all->n_wanted) {
        status = clew_fail(err, CLEW_TIMEOUT, "the others did not come");
    }
    pthread_mutex_unlock(&all->lock);
    return status;
}

static void *go_to_meet(void *arg)
{
    struct meeting *all = arg;

    assert_ok(store_read(all->store, &tenant_1, meet, all, ERR));
    return NULL;
}

/* Who reads keeps a processor busy: none is left without. */
static void as_many_read_at_once_as_there_are_processors(struct env *env)
{
    pthread_t threads[64];
    struct meeting all = {.store = env->store,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .came = PTHREAD_COND_INITIALIZER,
                          .n_wanted = pool_fitting(0)};
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    assert_int_equal(all.n_wanted, n < 4 ? 4 : n > 16 ? 16 : n);
    assert_int_equal(pool_fitting(7), 7);
    if (env->backend == BACKEND_MEMORY) {
        return; /* one connection, which all take turns with */
    }
    for (int i = 0; i < all.n_wanted; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, go_to_meet, &all),
                         0);
    }
    for (int i = 0; i < all.n_wanted; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* --- processes ------------------------------------------------------------ */

struct greedy {
    struct store *store;
    atomic_bool is_over;
};

static enum clew_status hold_the_lock(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    int64_t until_ns = clock_mono_ns() + 20 * 1000000;
    struct probe row = {.id = ++*(int64_t *)arg};
    enum clew_status status = probe_add_in(tx, &row, err);

    while (status == CLEW_OK && clock_mono_ns() < until_ns) {
        /* it has much to do */
    }
    return status;
}

static void *write_on_and_on(void *arg)
{
    struct greedy *greedy = arg;
    int64_t id = 1000;

    while (!atomic_load(&greedy->is_over)) {
        assert_int_equal(
            store_write(greedy->store, &tenant_1, hold_the_lock, &id, NULL),
            CLEW_OK);
    }
    return NULL;
}

/* As a command does beside a server that is busy. */
static void who_writes_on_and_on_lets_others_write(struct env *env)
{
    struct store_options options = {.location = env->location};
    struct greedy greedy = {.store = env->store};
    struct store *other;
    pthread_t thread;

    assert_ok(store_open(&options, &other, ERR));
    assert_int_equal(pthread_create(&thread, NULL, write_on_and_on, &greedy),
                     0);
    for (int64_t id = 1; id <= 8; id++) {
        assert_ok(probe_add(other, &tenant_2, id, ERR));
    }
    atomic_store(&greedy.is_over, true);
    (void)pthread_join(thread, NULL);
    store_close(other);
}

const struct store_case thread_cases[] = {
    STORE_CASE(who_writes_on_and_on_lets_others_write, ON_SQLITE),
    STORE_CASE(change_numbers_have_no_gaps, ON_ALL),
    STORE_CASE(change_numbers_of_many_tenants_have_no_gaps, ON_ALL),
    STORE_CASE(statements_see_the_numbers_taken, ON_ALL),
    STORE_CASE(more_readers_than_connections_take_turns, ON_ALL),
    STORE_CASE(as_many_read_at_once_as_there_are_processors, ON_ALL),
    {NULL, NULL, 0},
};
