/* SPDX-License-Identifier: Apache-2.0 */
/* Later work: claimed by one, done once, given up in the end, dropped by age.
 */
#include "support/pg.h"
#include "support/one_talk.h"
#include "support/assert_ok.h"
#include "support/test.h"

#include "engine/capture/close.h"
#include "engine/chat/chat.h"
#include "engine/core/task.h"
#include "engine/key/key_cache.h"
#include "engine/key/tenant.h"
#include "store/db.h"
#include "task/worker.h"

#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define MINUTE CLOCK_MINUTE_MS
#define DAY CLOCK_DAY_MS

#define ENGINE (&talk.world.engine)
#define SCOPE (&talk.world.scope)
#define ARENA (&talk.world.arena)

struct add_work {
    const char *key;
    int64_t priority;
    int64_t at_ms;
    const char *kind; /* NULL: one that has no handler */
};

static enum clew_status do_add(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct add_work *work = arg;
    struct task_new task = {.kind = work->kind ? work->kind : "test.nothing",
                            .unique_key = str_of(work->key),
                            .payload = STR("{}"),
                            .priority = work->priority,
                            .execute_at_ms = work->at_ms,
                            .now_ms = WORLD_NOW};

    return task_add(tx, ARENA, &task, err);
}

static void add(const char *key, int64_t priority, int64_t at_ms)
{
    struct add_work work = {key, priority, WORLD_NOW + at_ms, NULL};
    struct clew_error err = {0};

    assert_ok(store_write(ENGINE->store, SCOPE, do_add, &work, &err));
}

static void add_scrub(void)
{
    struct add_work work = {"owed", 0, WORLD_NOW, "scrub"};
    struct clew_error err = {0};

    assert_ok(store_write(ENGINE->store, SCOPE, do_add, &work, &err));
}

static struct task *claim(int64_t at_ms, size_t *out_count)
{
    struct clew_error err = {0};
    struct task *tasks = NULL;

    assert_ok(
        task_claim(ENGINE, ARENA, WORLD_NOW + at_ms, &tasks, out_count, &err));
    return tasks;
}

static struct task *list(const char *status, size_t *out_count)
{
    struct task_filter filter = {.status = str_of(status), .limit = 500};
    struct clew_error err = {0};
    struct task *tasks = NULL;

    assert_ok(
        task_list(ENGINE, SCOPE, ARENA, &filter, &tasks, out_count, &err));
    return tasks;
}

static void a_hand_is_claimed_in_order_and_by_one_only(void **state)
{
    struct task *tasks;
    size_t count;

    (void)state;
    add("late", 0, 2);
    add("early", 0, 1);
    add("urgent", 5, 3);
    add("tomorrow", 9, DAY);
    tasks = claim(10, &count);
    assert_int_equal(count, 3);
    assert_true(str_eq(tasks[0].unique_key, STR("test.nothing:urgent")));
    assert_true(str_eq(tasks[1].unique_key, STR("test.nothing:early")));
    assert_true(str_eq(tasks[2].unique_key, STR("test.nothing:late")));
    assert_int_equal(tasks[0].attempts, 1);
    (void)claim(11, &count); /* they are taken */
    assert_int_equal(count, 0);
}

static void a_hand_has_a_bound(void **state)
{
    size_t count;

    (void)state;
    for (int i = 0; i < TASK_MAX_CLAIM + 3; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "%d", i);
        add(key, 0, 0);
    }
    (void)claim(1, &count);
    assert_int_equal(count, TASK_MAX_CLAIM);
    (void)claim(1, &count);
    assert_int_equal(count, 3);
}

static enum clew_status do_put_off(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    return task_put_off(tx, arg, WORLD_NOW + MINUTE, err);
}

static void what_is_put_off_waits_in_its_row(void **state)
{
    struct clew_error err = {0};
    struct task *tasks;
    size_t count;

    (void)state;
    add("a", 0, 0);
    for (int i = 0; i < 2 * TASK_MAX_ATTEMPTS; i++) {
        tasks = claim(MINUTE, &count);
        assert_int_equal(count, 1);
        assert_int_equal(tasks[0].attempts, 1); /* it was no attempt */
        assert_ok(store_write(ENGINE->store, SCOPE, do_put_off, tasks, &err));
        /* the worker says it went well: that was said of the claim */
        assert_ok(task_settle_done(ENGINE, tasks, 1, WORLD_NOW, &err));
        (void)claim(MINUTE - 1, &count);
        assert_int_equal(count, 0);
    }
    (void)list("pending", &count);
    assert_int_equal(count, 1);
    (void)list("done", &count);
    assert_int_equal(count, 0);
    assert_int_equal(store_write(ENGINE->store, SCOPE, do_put_off, tasks, &err),
                     CLEW_CONFLICT); /* it is nobody's now */
}

static void what_a_dead_worker_left_comes_back_alone(void **state)
{
    int64_t lease_ms = task_lease_ms(ENGINE);
    struct task *tasks;
    size_t count;

    (void)state;
    add("a", 0, 0);
    add("b", 0, 0);
    (void)claim(1, &count);
    assert_int_equal(count, 2); /* and its worker dies */
    (void)claim(lease_ms, &count);
    assert_int_equal(count, 0); /* not before the claim ends */
    add("c", 0, 0);
    tasks = claim(lease_ms + 1, &count);
    assert_int_equal(count, 1);
    assert_int_equal(tasks[0].attempts, 2);
}

static void a_task_that_kills_every_worker_is_given_up(void **state)
{
    int64_t at_ms = 1;
    struct task *tasks;
    size_t count;

    (void)state;
    add("poison", 9, 0);
    for (int i = 1; i <= TASK_MAX_ATTEMPTS; i++) {
        tasks = claim(at_ms, &count);
        assert_int_equal(count, 1);
        assert_int_equal(tasks[0].attempts, i);
        at_ms += task_lease_ms(ENGINE) + 1;
    }
    add("well", 0, 0);
    (void)claim(at_ms, &count);
    assert_int_equal(count, 0); /* this look gives it up */
    tasks = claim(at_ms, &count);
    assert_int_equal(count, 1);
    assert_true(str_eq(tasks[0].unique_key, STR("test.nothing:well")));
    tasks = list("failed", &count);
    assert_int_equal(count, 1);
    assert_true(
        str_eq(tasks[0].last_error, STR("no worker that ran it came back")));
}

/* What was promised is owed, however often it failed or its workers died. */
static void a_scrub_is_never_given_up(void **state)
{
    int64_t at_ms = 1;
    struct clew_error err = {0};
    struct task *tasks;
    size_t count;

    (void)state;
    add_scrub();
    for (int i = 1; i <= TASK_MAX_ATTEMPTS + 1; i++) {
        tasks = claim(at_ms, &count);
        assert_int_equal(count, 1);
        assert_int_equal(tasks[0].attempts, i);
        at_ms += task_lease_ms(ENGINE) + 1;
    }
    (void)claim(at_ms, &count);
    assert_int_equal(count, 0); /* claimed for twice as long … */
    at_ms += task_lease_ms(ENGINE);
    (void)claim(at_ms, &count);
    assert_int_equal(count, 1);
    (void)claim(at_ms + 3 * task_lease_ms(ENGINE), &count);
    assert_int_equal(count, 0); /* … and twice as long again */
    tasks = claim(at_ms + TASK_BACKOFF_MAX_MS, &count);
    assert_int_equal(count, 1);
    assert_ok(
        task_settle(ENGINE, &tasks[0], CLEW_INVALID, "no room", at_ms, &err));
    (void)list("failed", &count);
    assert_int_equal(count, 0);
    (void)claim(at_ms + 2 * TASK_BACKOFF_MAX_MS, &count);
    assert_int_equal(count, 1);
}

static void what_was_not_begun_is_given_back_as_it_was(void **state)
{
    struct clew_error err = {0};
    struct task *tasks;
    size_t count;

    (void)state;
    add("a", 0, 0);
    add("b", 0, 0);
    tasks = claim(1, &count);
    assert_ok(task_release(ENGINE, &tasks[1], 1, &err));
    tasks = claim(2, &count);
    assert_int_equal(count, 1);
    assert_int_equal(tasks[0].attempts, 1);
    assert_true(str_eq(tasks[0].unique_key, STR("test.nothing:b")));
}

static void a_slow_hand_holds_what_it_has_not_begun(void **state)
{
    int64_t lease_ms = task_lease_ms(ENGINE);
    struct clew_error err = {0};
    struct task *tasks;
    size_t count;

    (void)state;
    add("a", 0, 0);
    tasks = claim(1, &count);
    assert_ok(task_hold(ENGINE, tasks, 1, WORLD_NOW + 3 * lease_ms, &err));
    (void)claim(2 * lease_ms, &count);
    assert_int_equal(count, 0);
    (void)claim(3 * lease_ms, &count);
    assert_int_equal(count, 1);
}

static void a_kind_without_a_handler_fails_and_is_seen(void **state)
{
    struct clew_error err = {0};
    struct task *tasks;
    size_t count;
    size_t run;

    (void)state;
    add("a", 0, 0);
    assert_ok(worker_run_due(ENGINE, 10, &run, &err));
    assert_int_equal(run, 1);
    tasks = list("failed", &count);
    assert_int_equal(count, 1);
    assert_true(str_eq(tasks[0].last_error, STR("no handler for this kind")));
    assert_int_equal(tasks[0].attempts, 1);
}

static void a_failure_is_put_off_further_each_time(void **state)
{
    struct clew_error err = {0};
    int64_t now_ms = WORLD_NOW + 1;
    int64_t before = 0;
    struct task *tasks;
    size_t count;

    (void)state;
    add("a", 0, 0);
    for (int i = 1; i <= TASK_MAX_ATTEMPTS; i++) {
        int64_t wait;

        tasks = claim(now_ms - WORLD_NOW, &count);
        assert_int_equal(count, 1);
        assert_ok(task_settle(ENGINE, &tasks[0], CLEW_UNAVAILABLE, "later",
                              now_ms, &err));
        tasks = list(i < TASK_MAX_ATTEMPTS ? "pending" : "failed", &count);
        assert_int_equal(count, 1);
        wait = tasks[0].execute_at_ms - now_ms;
        if (i < TASK_MAX_ATTEMPTS) {
            assert_true(wait >= TASK_BACKOFF_MS << (i - 1));
            assert_true(wait <= (TASK_BACKOFF_MS << (i - 1)) * 5 / 4 + 1);
            assert_true(wait > before);
            before = wait;
            now_ms = tasks[0].execute_at_ms;
        }
    }
}

static int64_t prune(int64_t at_ms)
{
    struct clew_error err = {0};
    int64_t count = -1;

    assert_ok(task_prune(ENGINE, WORLD_NOW + at_ms, &count, &err));
    return count;
}

static void finished_tasks_are_dropped_by_age(void **state)
{
    struct clew_error err = {0};
    struct task *tasks;
    size_t count;

    (void)state;
    add("done", 0, 0);
    add("failed", 0, 0);
    add("open", 0, 900 * DAY);
    tasks = claim(1, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        bool is_done = str_eq(tasks[i].unique_key, STR("test.nothing:done"));

        assert_ok(task_settle(ENGINE, &tasks[i],
                              is_done ? CLEW_OK : CLEW_INVALID, "no",
                              WORLD_NOW + 1, &err));
    }
    assert_int_equal(prune(2 * DAY + 1), 0); /* to the millisecond */
    assert_int_equal(prune(2 * DAY + 2), 1);
    (void)list("done", &count);
    assert_int_equal(count, 0);
    (void)list("failed", &count);
    assert_int_equal(count, 1);
    assert_int_equal(prune(90 * DAY + 1), 0);
    assert_int_equal(prune(90 * DAY + 2), 1);
    (void)list("failed", &count);
    assert_int_equal(count, 0);
    (void)list("pending", &count);
    assert_int_equal(count, 1);
}

/* Not by one round: some hundred go at a time. */
static int64_t trim(int64_t at_ms)
{
    struct clew_error err = {0};
    int64_t all = 0;
    int64_t count = -1;

    while (count != 0) {
        assert_ok(task_trim(ENGINE, WORLD_NOW + at_ms, &count, &err));
        all += count;
    }
    return all;
}

DB_SQL(ADD_FINISHED,
       "INSERT INTO tasks (tenant, id, kind, unique_key, payload, status,"
       " priority, execute_at, attempts, created_at, finished_at) VALUES ($1,"
       " $2, 'test.nothing', 'test.nothing:x', '{}', 'done', 0, 0, 1, 0, $3)");
DB_SQL(COUNT_DONE, "SELECT COUNT(*), MIN(finished_at) FROM tasks"
                   " WHERE tenant = $1 AND status = 'done'");

struct finish_work {
    int64_t at_ms;
    int count;
    int64_t n_done; /* out, as the next */
    int64_t first_ms;
};

/* So many tasks, done one a second until a time. */
static enum clew_status do_finish(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    const struct finish_work *work = arg;
    enum clew_status status = CLEW_OK;

    for (int i = 0; i < work->count && status == CLEW_OK; i++) {
        int64_t done_ms = WORLD_NOW + work->at_ms - i * CLOCK_SECOND_MS;
        struct uuid id = uuid_new(done_ms);

        status = db_exec(tx, &ADD_FINISHED,
                         DB_ARGS(db_uuid(&id), db_int(done_ms)), err);
    }
    return status;
}

static enum clew_status do_count_done(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    struct finish_work *work = arg;
    struct db_rows rows;
    enum clew_status status = db_query(tx, &COUNT_DONE, DB_NO_ARGS, &rows, err);

    assert_int_equal(status, CLEW_OK);
    assert_true(db_next(&rows));
    work->n_done = db_get_int(&rows, 0);
    work->first_ms = db_get_int(&rows, 1);
    return db_end(&rows, err);
}

static void finish(int64_t at_ms, int count)
{
    struct finish_work work = {.at_ms = at_ms, .count = count};
    struct clew_error err = {0};

    assert_ok(store_write(ENGINE->store, SCOPE, do_finish, &work, &err));
    assert_ok(
        store_write(ENGINE->store, &talk.world.other, do_finish, &work, &err));
}

static void of_many_that_are_done_the_newest_stay(void **state)
{
    struct finish_work is = {0};
    struct clew_error err = {0};
    struct task *tasks;
    size_t count;

    (void)state;
    add("failed", 0, 0);
    add("open", 0, 900 * DAY);
    tasks = claim(1, &count);
    assert_ok(task_settle(ENGINE, &tasks[0], CLEW_INVALID, "no", WORLD_NOW + 1,
                          &err));
    finish(DAY / 2, 1000);
    assert_int_equal(trim(DAY / 2), 0); /* as many as may stay */
    finish(DAY, 600);
    assert_int_equal(trim(DAY), 2 * 600); /* of both tenants */
    assert_ok(store_read(ENGINE->store, SCOPE, do_count_done, &is, &err));
    assert_int_equal(is.n_done, 1000);
    assert_int_equal(is.first_ms, WORLD_NOW + DAY / 2 - 399 * CLOCK_SECOND_MS);
    (void)list("failed", &count);
    assert_int_equal(count, 1);
    (void)list("pending", &count);
    assert_int_equal(count, 1);
    assert_int_equal(trim(DAY + CLOCK_HOUR_MS), 0);
    finish(DAY / 2, 5); /* long ago: nobody looks there again */
    assert_int_equal(trim(DAY + CLOCK_HOUR_MS), 0);
}

/* --- several processes on one store ----------------------------------------
 */

#define N_STORES 2
#define N_THREADS 3
#define N_CHATS 30

DB_SQL(COUNT_RUNS, "SELECT COUNT(*), COUNT(DISTINCT made) FROM actions"
                   " WHERE tenant = $1 AND kind = 'task'");
DB_SQL(COUNT_TASKS, "SELECT COUNT(*), SUM(attempts) FROM tasks"
                    " WHERE tenant = $1 AND status = 'done'");

struct pair {
    int64_t first;
    int64_t second;
};

struct count_work {
    const struct db_sql *sql;
    struct pair out;
};

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct count_work *work = arg;
    struct db_rows rows;
    enum clew_status status = db_query(tx, work->sql, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        work->out = (struct pair){db_get_int(&rows, 0), db_get_int(&rows, 1)};
    }
    return db_end(&rows, err);
}

static void *run_all(void *arg)
{
    struct engine *engine = arg;
    struct clew_error err = {0};
    size_t run;

    if (worker_run_due(engine, 100000, &run, &err) != CLEW_OK) {
        print_error("%s\n", err.message);
        return arg;
    }
    return NULL;
}

static int drop(const char *path, const struct stat *info, int type,
                struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

static void several_processes_do_each_task_once(void **state)
{
    char folder[] = "/tmp/clew-task-XXXXXX";
    char url[512];
    struct store_options options = {.location = url};
    struct engine engines[N_STORES];
    pthread_t threads[N_STORES * N_THREADS];
    struct count_work runs = {.sql = &COUNT_RUNS};
    struct count_work tasks = {.sql = &COUNT_TASKS};
    struct clew_error err = {0};
    struct scope scope;

    (void)state;
    assert_non_null(mkdtemp(folder));
    if (strcmp(world_backend, "postgres") == 0) {
        pg_new_store(url, sizeof(url));
    } else {
        (void)snprintf(url, sizeof(url), "%s", folder);
    }
    for (size_t i = 0; i < N_STORES; i++) {
        engines[i] = *ENGINE;
        engines[i].indexes = NULL;
        assert_ok(store_open(&options, &engines[i].store, &err));
    }
    engines[0].keys = key_cache_new(folder);
    assert_non_null(engines[0].keys);
    assert_ok(engine_tenant(&engines[0], "default", &scope, &err));
    for (size_t i = 0; i < N_CHATS; i++) {
        struct capture_input input = {
            .user_id = STR("ada"),
            .role = TURN_USER,
            .channel = STR("web"),
            .content = {.text = STR("We decided to fly to Lisbon.")},
            .created_at_ms = WORLD_NOW};
        struct capture_result result;
        struct chat chat;

        assert_ok(capture_turns(&engines[0], &scope, ARENA, &input, 1, &result,
                                &err));
        assert_ok(chat_close(&engines[0], &scope, ARENA, &result.chat.id, &chat,
                             &err));
    }
    for (size_t i = 0; i < N_STORES * N_THREADS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, run_all, &engines[i % N_STORES]),
            0);
    }
    for (size_t i = 0; i < N_STORES * N_THREADS; i++) {
        void *failed;

        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_ok(store_read(engines[1].store, &scope, do_count, &runs, &err));
    assert_ok(store_read(engines[1].store, &scope, do_count, &tasks, &err));
    assert_true(tasks.out.first >= N_CHATS);
    assert_int_equal(tasks.out.second, tasks.out.first); /* one try each */
    assert_int_equal(runs.out.first, tasks.out.first);
    assert_int_equal(runs.out.second, tasks.out.first);
    for (size_t i = 0; i < N_STORES; i++) {
        store_close(engines[i].store);
    }
    key_cache_free(engines[0].keys);
    assert_int_equal(nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)
    static const struct CMUnitTest cases[] = {
        CASE(a_hand_is_claimed_in_order_and_by_one_only),
        CASE(a_hand_has_a_bound),
        CASE(what_is_put_off_waits_in_its_row),
        CASE(what_a_dead_worker_left_comes_back_alone),
        CASE(a_task_that_kills_every_worker_is_given_up),
        CASE(a_scrub_is_never_given_up),
        CASE(what_was_not_begun_is_given_back_as_it_was),
        CASE(a_slow_hand_holds_what_it_has_not_begun),
        CASE(a_kind_without_a_handler_fails_and_is_seen),
        CASE(a_failure_is_put_off_further_each_time),
        CASE(finished_tasks_are_dropped_by_age),
        CASE(of_many_that_are_done_the_newest_stay),
        CASE(several_processes_do_each_task_once),
    };

    return WORLD_EACH(cases);
}
