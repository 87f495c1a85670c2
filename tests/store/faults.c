/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - failing calls, no memory, full disks, killed processes.
 *
 * The rule each case checks: what was acknowledged is there, what was not is
 * not (unless its outcome is unknown), and the store works on afterwards.
 */
#include "suite.h"

#include "base/alloc.h"
#include "support/store_fault.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

DB_SQL(count_above, "SELECT COUNT(*) FROM probe WHERE tenant = $1 AND id > $2 "
                    "AND id = ANY($3)");
DB_SQL(delete_all, "DELETE FROM probe WHERE tenant = $1");

/* --- one failing call ----------------------------------------------------- */

/* A write with a bit of everything: three rows, numbers, a query, a count. */
static enum clew_status bit_of_everything(struct store_tx *tx, void *arg,
                                          struct clew_error *err)
{
    static const int64_t ids[] = {1, 2, 3};
    int64_t first = 0;
    int64_t count = 0;
    struct db_rows rows;
    enum clew_status status = db_take_changes(tx, 3, &first, err);

    *(int64_t *)arg = 0;
    if (status == CLEW_OK) {
        status = db_exec_count(tx, &delete_all, DB_NO_ARGS, &count, err);
    }
    for (int i = 0; i < 3 && status == CLEW_OK; i++) {
        struct probe row = {.id = ids[i], .t = STR("text"), .b = STR("bytes")};

        status = probe_add_in(tx, &row, err);
    }
    if (status == CLEW_OK) {
        status = db_query(tx, &count_above, DB_ARGS(db_int(1), db_ints(ids, 3)),
                          &rows, err);
        while (db_next(&rows)) {
            *(int64_t *)arg = db_get_int(&rows, 0);
        }
        if (status == CLEW_OK) {
            status = db_end(&rows, err);
        }
    }
    return status;
}

static void check_it_works(struct env *env)
{
    int64_t count = 0;

    assert_ok(
        store_write(env->store, &tenant_1, bit_of_everything, &count, ERR));
    assert_int_equal(count, 2);
    assert_int_equal(probe_count(env->store, &tenant_1), 3);
}

static enum clew_status empty_out(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    (void)arg;
    return db_exec(tx, &delete_all, DB_NO_ARGS, err);
}

static void each_failing_call_fails_the_write_and_no_more(struct env *env)
{
    static const enum clew_status statuses[] = {
        CLEW_UNAVAILABLE, CLEW_NO_MEMORY, CLEW_BUSY, CLEW_CORRUPT};

    for (size_t s = 0; s < 4; s++) {
        int n = 0;

        do {
            int64_t count = 0;
            struct clew_error err;
            enum clew_status status;

            assert_ok(store_write(env->store, &tenant_1, empty_out, NULL, ERR));
            store_fault_at(++n, statuses[s]);
            status = store_write(env->store, &tenant_1, bit_of_everything,
                                 &count, &err);
            store_fault_at(0, CLEW_OK);
            if (status == CLEW_OK) {
                assert_int_equal(probe_count(env->store, &tenant_1), 3);
                break;
            }
            assert_int_equal(status, statuses[s]);
            assert_int_equal(err.status, statuses[s]);
            assert_int_equal(probe_count(env->store, &tenant_1), 0);
            check_it_works(env);
        } while (n < 100);
        assert_in_range(n, 8, 99);
    }
}

/* --- no memory ------------------------------------------------------------ */

static void each_failed_allocation_is_survived(struct env *env)
{
    int64_t count = 0;
    uint64_t n = 0;
    bool has_fired;

    check_it_works(env); /* everything is prepared */
    do {
        struct clew_error err;
        enum clew_status status;

        assert_ok(store_write(env->store, &tenant_1, empty_out, NULL, ERR));
        alloc_fail_at(++n);
        status =
            store_write(env->store, &tenant_1, bit_of_everything, &count, &err);
        has_fired = alloc_fail_fired();
        alloc_fail_at(0);
        if (status != CLEW_OK) {
            assert_int_equal(status, CLEW_NO_MEMORY);
        }
        assert_int_equal(probe_count(env->store, &tenant_1),
                         status == CLEW_OK ? 3 : 0);
    } while (has_fired);
    check_it_works(env);
    assert_ok(store_check(env->store, ERR));
}

static void each_failed_allocation_of_opening_is_survived(struct env *env)
{
    int64_t live;
    uint64_t n = 0;
    bool has_fired;

    check_it_works(env);
    store_close(env->store);
    env->store = NULL;
    live = alloc_live_count();
    do {
        struct store_options options = {.location = env->location};
        struct store *store = NULL;
        enum clew_status status;

        alloc_fail_at(++n);
        status = store_open(&options, &store, ERR);
        if (status == CLEW_OK) {
            /* A write with nothing prepared yet. */
            int64_t count = 0;

            status =
                store_write(store, &tenant_1, bit_of_everything, &count, ERR);
        }
        has_fired = alloc_fail_fired();
        alloc_fail_at(0);
        if (status != CLEW_OK) {
            assert_int_equal(status, CLEW_NO_MEMORY);
        }
        store_close(store);
        assert_int_equal(alloc_live_count(), live);
    } while (has_fired);
    assert_ok(env_reopen(env, ERR));
    assert_int_equal(probe_count(env->store, &tenant_1), 3);
    check_it_works(env);
    assert_ok(store_check(env->store, ERR));
}

/* --- full disk ------------------------------------------------------------ */

static enum clew_status add_megabyte(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    static char megabyte[1024 * 1024];
    struct probe row = {.id = *(int64_t *)arg,
                        .b = {megabyte, sizeof(megabyte)}};

    memset(megabyte, 'x', sizeof(megabyte));
    return probe_add_in(tx, &row, err);
}

static void a_full_disk_refuses_and_recovers(struct env *env)
{
    int64_t id = 1;

    store_close(env->store);
    store_fault_on_connect("PRAGMA max_page_count = 120");
    assert_ok(env_reopen(env, ERR));
    assert_ok(probe_add(env->store, &tenant_1, 2, ERR));
    assert_int_equal(store_write(env->store, &tenant_1, add_megabyte, &id, ERR),
                     CLEW_UNAVAILABLE);
    assert_false(probe_has(env->store, &tenant_1, 1));
    assert_ok(probe_add(env->store, &tenant_1, 3, ERR));
    assert_int_equal(probe_count(env->store, &tenant_1), 2);
    assert_ok(store_check(env->store, ERR));
    store_close(env->store);
    store_fault_on_connect(NULL);
    assert_ok(env_reopen(env, ERR));
    assert_ok(store_write(env->store, &tenant_1, add_megabyte, &id, ERR));
    assert_int_equal(probe_count(env->store, &tenant_1), 3);
}

/* The operating system's own refusal, in the middle of a commit. */
static void a_file_that_cannot_grow_refuses_and_recovers(struct env *env)
{
    struct rlimit before;
    struct rlimit small;
    int64_t id = 1;

    assert_ok(probe_add(env->store, &tenant_1, 2, ERR));
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 600 * 1024;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            store_write(env->store, &tenant_1, add_megabyte, &id, ERR),
            CLEW_UNAVAILABLE);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(probe_has(env->store, &tenant_1, 1));
    assert_true(probe_has(env->store, &tenant_1, 2));
    assert_ok(store_write(env->store, &tenant_1, add_megabyte, &id, ERR));
    assert_ok(store_check(env->store, ERR));
}

/* --- a process that is killed --------------------------------------------- */

static void write_until_killed(const struct env *env, int fd)
{
    struct store_options options = {.location = env->location};
    struct store *store = NULL;

    if (store_open(&options, &store, NULL) != CLEW_OK) {
        _exit(1);
    }
    for (int64_t id = 1;; id++) {
        if (probe_add(store, &tenant_1, id, NULL) != CLEW_OK ||
            write(fd, &id, sizeof(id)) != sizeof(id)) {
            _exit(1);
        }
    }
}

static void what_a_killed_process_acknowledged_is_there(struct env *env)
{
    int pipe_fds[2];
    int64_t last = 0;
    int64_t id = 0;
    pid_t child;
    int status = 0;

    store_close(env->store);
    env->store = NULL;
    assert_int_equal(pipe(pipe_fds), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        write_until_killed(env, pipe_fds[1]);
    }
    (void)close(pipe_fds[1]);
    while (read(pipe_fds[0], &id, sizeof(id)) == sizeof(id)) {
        assert_int_equal(id, last + 1);
        last = id;
        if (last == 40) {
            assert_int_equal(kill(child, SIGKILL), 0);
        }
    }
    (void)close(pipe_fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_true(last >= 40);
    assert_ok(env_reopen(env, ERR));
    /* One more may be there: committed, but killed before it could say so. */
    assert_in_range(probe_count(env->store, &tenant_1), last, last + 1);
    assert_ok(store_check(env->store, ERR));
}

const struct store_case fault_cases[] = {
    STORE_CASE(each_failing_call_fails_the_write_and_no_more, ON_ALL),
    STORE_CASE(each_failed_allocation_is_survived, ON_ALL),
    STORE_CASE(each_failed_allocation_of_opening_is_survived, ON_FILES),
    STORE_CASE(a_full_disk_refuses_and_recovers, ON_SQLITE),
    STORE_CASE(a_file_that_cannot_grow_refuses_and_recovers, ON_SQLITE),
    STORE_CASE(what_a_killed_process_acknowledged_is_there, ON_FILES),
    {NULL, NULL, 0},
};
