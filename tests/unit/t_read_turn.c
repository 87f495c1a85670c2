/* SPDX-License-Identifier: Apache-2.0 */
/* Turns that wait are read: each once, in order, whatever comes between. */
#include "support/one_talk.h"
#include "support/assert_ok.h"
#include "support/test.h"

#include "base/alloc.h"
#include "base/config.h"
#include "base/json.h"
#include "engine/capture/read_task.h"
#include "engine/capture/read_turn.h"
#include "engine/core/task.h"
#include "engine/proof/export.h"
#include "engine/proof/forget.h"
#include "engine/proof/rebuild.h"
#include "engine/proof/restore.h"
#include "engine/proof/verify.h"
#include "store/db.h"
#include "task/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define ENGINE (&talk.world.engine)
#define SCOPE (&talk.world.scope)
#define ARENA (&talk.world.arena)

/* From now on a call with more than `n` turns is not read before it returns. */
static void set_live(const char *n)
{
    struct config_flag flag = {"reader.live_turns", n};
    struct clew_error err = {0};

    config_free(talk.world.config);
    assert_ok(config_load(NULL, &flag, 1, &talk.world.config, &err));
    ENGINE->config = talk.world.config;
}

static struct read_task_counts counted(void)
{
    struct read_task_counts counts = {0};
    struct clew_error err = {0};

    assert_ok(read_task_count(ENGINE, &counts, &err));
    return counts;
}

#define n_waiting() (counted().n_waiting)
#define n_given_up() (counted().n_given_up)

static size_t n_tasks(const char *status)
{
    struct task_filter filter = {.status = str_of(status), .limit = 100};
    struct clew_error err = {0};
    struct task *tasks = NULL;
    size_t count = 0;
    size_t n = 0;

    assert_ok(task_list(ENGINE, SCOPE, ARENA, &filter, &tasks, &count, &err));
    for (size_t i = 0; i < count; i++) {
        n += str_eq(tasks[i].kind, STR(READ_TURN_TASK));
    }
    return n;
}

static void run_tasks(void)
{
    struct clew_error err = {0};
    size_t run;

    assert_ok(worker_run_due(ENGINE, 1000, &run, &err));
}

static void read_it(const struct scope *scope, const struct uuid *id)
{
    struct clew_error err = {0};

    assert_ok(read_turn(ENGINE, scope, ARENA, id, NULL, &err));
}

static void expect_same_after_rebuild(void)
{
    struct rebuild_options options = {.is_dry_run = true};
    struct rebuild_report report = {0};
    struct verify_report verified = {0};
    struct clew_error err = {0};

    assert_ok(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err));
    for (size_t i = 0; i < report.n_shown; i++) {
        print_message("%s %s: %s\n", report.shown[i].what, report.shown[i].type,
                      report.shown[i].key);
    }
    /* tasks are not exported: see what_waits_is_exported...() */
    assert_int_equal(report.n_differences - report.n_tasks, 0);
    assert_ok(verify_run(ENGINE, ARENA, NULL, &verified, &err));
    assert_int_equal(verified.n_faults, 0);
}

/* --- what waits ------------------------------------------------------------
 */

static void a_short_call_is_read_before_it_returns(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(talk_count(&talk, "fact"), 1);
    assert_int_equal(talk.last.updates.n_memories, 1);
    assert_int_equal(n_tasks("pending"), 0);
}

static void a_long_one_is_read_by_the_task(void **state)
{
    (void)state;
    set_live("0");
    talk_script(&talk, "u:My sister Greta lives in Bremen.|a:Nice."
                       "|u:My brother Omar works in Lisbon.");
    assert_int_equal(n_waiting(), 3);
    assert_int_equal(talk.last.updates.n_memories, 0);
    assert_int_equal(talk_count(&talk, "fact"), 0);
    assert_int_equal(n_tasks("pending"), 1); /* one for all */
    run_tasks();
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(talk_count(&talk, "fact"), 2);
    assert_int_equal(n_tasks("pending"), 0);
    assert_int_equal(n_tasks("done"), 1);
    run_tasks(); /* nothing more comes of it */
    assert_int_equal(talk_count(&talk, "fact"), 2);
    expect_same_after_rebuild();
}

static void only_talk_waits_and_only_if_it_is_observed(void **state)
{
    struct config_flag flag = {"capture.observe", "false"};
    struct clew_error err = {0};

    (void)state;
    set_live("0");
    talk_say(&talk, 's', "You help the people of Bremen.");
    assert_int_equal(n_waiting(), 0);
    config_free(talk.world.config);
    assert_ok(config_load(NULL, &flag, 1, &talk.world.config, &err));
    ENGINE->config = talk.world.config;
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(n_tasks("pending"), 1); /* of the system's turn */
    run_tasks();
    assert_int_equal(n_tasks("pending"), 0);
}

/* --- order -----------------------------------------------------------------
 */

static void what_was_said_first_is_read_first(void **state)
{
    struct uuid first;
    struct uuid second;

    (void)state;
    set_live("0");
    talk_say(&talk, 'u', "I live in Bremen.");
    first = talk.last.turn.id;
    talk_say(&talk, 'u', "I live in Hamburg now.");
    second = talk.last.turn.id;
    read_it(SCOPE, &second); /* not yet */
    assert_int_equal(n_waiting(), 2);
    read_it(SCOPE, &first);
    assert_int_equal(n_waiting(), 1);
    read_it(SCOPE, &second);
    assert_int_equal(n_waiting(), 0);
    assert_string_equal(talk_memory(&talk, "fact", 0)->summary.s,
                        "I live in Bremen.");
    assert_int_equal(talk_count(&talk, "fact"), 2);
    read_it(SCOPE, &second); /* once only */
    assert_int_equal(talk_count(&talk, "fact"), 2);
    expect_same_after_rebuild();
}

static void a_call_reads_what_waited_before_it(void **state)
{
    (void)state;
    set_live("0");
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    set_live("8");
    talk_say(&talk, 'u', "My brother Omar works in Lisbon.");
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(talk_count(&talk, "fact"), 2);
    /* told is what this call said */
    assert_int_equal(talk.last.updates.n_memories, 1);
    assert_non_null(strstr(talk.last.updates.memories[0].summary.s, "Omar"));
    run_tasks(); /* the first one's: nothing is left to do */
    assert_int_equal(n_tasks("pending"), 0);
    expect_same_after_rebuild();
}

static void a_call_does_not_stay_for_a_history(void **state)
{
    (void)state;
    set_live("0");
    for (int i = 0; i < 12; i++) {
        talk_say(&talk, i % 2 ? 'a' : 'u', "My sister Greta lives in Bremen.");
    }
    set_live("8");
    talk_say(&talk, 'u', "My brother Omar works in Lisbon.");
    assert_int_equal(n_waiting(), 13);
    assert_int_equal(n_tasks("pending"), 1);
    run_tasks();
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(talk_count(&talk, "fact"), 2);
    expect_same_after_rebuild();
}

/* --- walls, and what is gone -----------------------------------------------
 */

static void nobody_reads_anothers_turns(void **state)
{
    struct uuid id;

    (void)state;
    set_live("0");
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    id = talk.last.turn.id;
    read_it(&talk.world.other, &id);
    assert_int_equal(n_waiting(), 1);
    assert_int_equal(talk_count(&talk, "fact"), 0);
}

static void what_is_forgotten_is_not_read(void **state)
{
    struct forget_receipt receipt;
    struct clew_error err = {0};
    struct uuid id;
    struct forget_input input = {.turn_ids = &id, .n_turn_ids = 1};

    (void)state;
    set_live("0");
    talk_say(&talk, 'u', "My secret is called Zebulon.");
    id = talk.last.turn.id;
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    assert_ok(forget_run(ENGINE, SCOPE, ARENA, &input, &receipt, &err));
    assert_int_equal(n_waiting(), 1);
    read_it(SCOPE, &id); /* nothing happens */
    clock_add_ms(&talk.world.clock, 2 * CLOCK_DAY_MS);
    run_tasks(); /* with the rebuild that forgetting asks for */
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(talk_count(&talk, "fact"), 1);
    assert_null(strstr(talk_memory(&talk, "fact", 0)->summary.s, "Zebulon"));
    expect_same_after_rebuild();
}

static void what_is_read_can_be_forgotten(void **state)
{
    struct forget_receipt receipt;
    struct clew_error err = {0};
    struct forget_input input = {.turn_ids = &talk.last.turn.id,
                                 .n_turn_ids = 1};

    (void)state;
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    assert_ok(forget_run(ENGINE, SCOPE, ARENA, &input, &receipt, &err));
    clock_add_ms(&talk.world.clock, 2 * CLOCK_DAY_MS);
    run_tasks(); /* with the rebuild that forgetting asks for */
    assert_int_equal(talk_count(&talk, "fact"), 0);
    expect_same_after_rebuild();
}

static void a_rebuild_leaves_what_waits_waiting(void **state)
{
    struct rebuild_report report = {0};
    struct clew_error err = {0};

    (void)state;
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    set_live("0");
    talk_say(&talk, 'u', "My brother Omar works in Lisbon.");
    expect_same_after_rebuild();
    assert_ok(rebuild_run(ENGINE, SCOPE, ARENA, &(struct rebuild_options){0},
                          &report, &err));
    assert_int_equal(n_waiting(), 1);
    assert_int_equal(talk_count(&talk, "fact"), 1);
    run_tasks();
    assert_int_equal(talk_count(&talk, "fact"), 2);
}

/* Every row of an export into the store at hand. */
static void restore(FILE *file)
{
    char line[65536];
    json_t *rows = json_array();
    struct restore_report report;
    struct clew_error err = {0};

    rewind(file);
    while (fgets(line, sizeof(line), file)) {
        json_t *row = NULL;
        const char *type;

        assert_ok(json_parse(str_of(line), &row, &err));
        type = json_string_value(json_object_get(row, "type"));
        if (type && strcmp(type, "export") != 0 && strcmp(type, "end") != 0) {
            assert_int_equal(json_array_append_new(rows, row), 0);
        } else {
            json_decref(row);
        }
    }
    assert_ok(restore_rows(ENGINE, SCOPE, ARENA,
                           &(struct restore_input){.lines = rows}, &report,
                           &err));
    json_decref(rows);
}

static void what_waits_is_exported_and_read_where_it_goes(void **state)
{
    struct clew_error err = {0};
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    set_live("0");
    talk_script(&talk, "u:My sister Greta lives in Bremen.|a:Nice.");
    assert_ok(export_write(ENGINE, SCOPE, ARENA, fileno(file), &err));
    close_talk(NULL);
    open_talk(NULL);
    restore(file);
    (void)fclose(file);
    assert_int_equal(n_waiting(), 2);
    assert_int_equal(talk_count(&talk, "fact"), 0);
    assert_ok(read_task_resume(ENGINE, ARENA, &err)); /* as a server starts */
    run_tasks();
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(talk_count(&talk, "fact"), 1);
    expect_same_after_rebuild();
}

/* --- failures --------------------------------------------------------------
 */

static void it_goes_on_after_every_failure(void **state)
{
    struct uuid ids[40];
    size_t n = 0;
    uint64_t step = 0;
    size_t n_failed = 0;

    (void)state;
    set_live("0");
    for (int i = 0; i < 10; i++) {
        char text[100];

        (void)snprintf(text, sizeof(text), "Shelf %d is called Zebulon%c.", i,
                       'a' + i);
        talk_say(&talk, 'u', text);
        ids[n++] = talk.last.turn.id;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t before = n_waiting();

        for (int tries = 0; tries < 500 && n_waiting() == before; tries++) {
            struct arena own;
            struct clew_error err = {0};
            enum clew_status status;

            arena_init(&own, 1 << 26);
            step += 1 + step / 7;
            alloc_fail_at(step);
            status = read_turn(ENGINE, SCOPE, &own, &ids[i], NULL, &err);
            if (!alloc_fail_fired()) {
                assert_int_equal(status, CLEW_OK);
                step = i;
            }
            alloc_fail_at(0);
            n_failed += status != CLEW_OK;
            arena_release(&own);
        }
        assert_int_equal(n_waiting(), before - 1);
    }
    assert_true(n_failed > 20);
    assert_int_equal(talk_count(&talk, "fact"), 10);
    expect_same_after_rebuild();
}

/* --- what cannot be read ---------------------------------------------------
 */

/* With it no second decision can be kept: reading one fails every time. */
DB_SQL_SYSTEM(FORBID, "CREATE UNIQUE INDEX one_decision ON memories (tenant)"
                      " WHERE type = 'decision'");
DB_SQL_SYSTEM(ALLOW, "DROP INDEX one_decision");

static enum clew_status do_sql(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct db_sql *const *sql = arg;

    return db_exec(tx, *sql, DB_NO_ARGS, err);
}

/* Statements are known by where they stand: no copies. */
static void run_sql(const struct db_sql *sql)
{
    struct clew_error err = {0};

    assert_ok(store_write_system(ENGINE->store, do_sql, &sql, &err));
}

/* Let tasks run as they come due; how often until nothing waits, at most 30. */
static int run_until_read(void)
{
    int n = 0;

    for (; n < 30 && n_waiting() > 0; n++) {
        run_tasks();
        clock_add_ms(&talk.world.clock, 2 * TASK_BACKOFF_MAX_MS);
    }
    return n;
}

/* A decision is kept, and from now on no other can be. */
static void allow_one_decision(void)
{
    set_live("0");
    talk_say(&talk, 'u', "We decided to use PostgreSQL for the archive.");
    run_tasks();
    assert_int_equal(talk_count(&talk, "decision"), 1);
    run_sql(&FORBID);
}

static void what_cannot_be_read_is_given_up_and_the_rest_is_read(void **state)
{
    struct task_filter filter = {.status = STR("failed"), .limit = 10};
    struct read_task_again again;
    struct clew_error err = {0};
    struct task *tasks = NULL;
    char text[UUID_TEXT_SIZE];
    size_t count = 0;

    (void)state;
    allow_one_decision();
    talk_say(&talk, 'u', "We decided to rent the office in Lisbon.");
    uuid_format(&talk.last.turn.id, text);
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    assert_int_equal(n_waiting(), 2);
    /* its first try, those that are counted, and the run that gives it up */
    assert_int_equal(run_until_read(), READ_TASK_TRIES + 2);
    assert_int_equal(n_given_up(), 1);
    assert_int_equal(talk_count(&talk, "decision"), 1);
    assert_int_equal(talk_count(&talk, "fact"), 1);
    /* it is told */
    assert_ok(task_list(ENGINE, SCOPE, ARENA, &filter, &tasks, &count, &err));
    assert_int_equal(count, 1);
    assert_non_null(strstr(tasks[0].payload.s, text));
    assert_true(tasks[0].last_error.len > 0);
    assert_int_equal(n_tasks("pending"), 0);
    expect_same_after_rebuild();
    /* nobody waits for it any more */
    set_live("8");
    talk_say(&talk, 'u', "My brother Omar works in Lisbon.");
    assert_int_equal(talk.last.updates.n_memories, 1);
    assert_int_equal(n_waiting(), 0);
    /* once more, in vain and then not */
    assert_ok(read_task_anew(ENGINE, SCOPE, &again, &err));
    assert_int_equal(again.n_read, 0);
    assert_int_equal(again.n_left, 1);
    run_sql(&ALLOW);
    assert_ok(read_task_anew(ENGINE, &talk.world.other, &again, &err));
    assert_int_equal(again.n_read, 0);
    assert_ok(read_task_anew(ENGINE, SCOPE, &again, &err));
    assert_int_equal(again.n_read, 1);
    assert_int_equal(again.n_left, 0);
    assert_int_equal(n_given_up(), 0);
    assert_int_equal(talk_count(&talk, "decision"), 2);
    expect_same_after_rebuild();
}

static void each_that_cannot_be_read_is_given_up(void **state)
{
    (void)state;
    allow_one_decision();
    talk_script(&talk, "u:We decided to rent the office in Lisbon."
                       "|u:My sister Greta lives in Bremen."
                       "|u:We decided to sell the old printer."
                       "|u:We decided to hire Wanda Quill."
                       "|u:My brother Omar works in Lisbon.");
    assert_true(run_until_read() < 30);
    assert_int_equal(n_given_up(), 3);
    assert_int_equal(talk_count(&talk, "fact"), 2);
    assert_int_equal(n_tasks("failed"), 3);
    expect_same_after_rebuild();
}

/* Its workers die, each after a turn: that is no failure of the task. */
static void workers_that_die_are_no_reason_to_give_up(void **state)
{
    struct uuid ids[3 * TASK_MAX_ATTEMPTS];
    struct clew_error err = {0};
    int n = 0;

    (void)state;
    set_live("0");
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
        ids[i] = talk.last.turn.id;
    }
    for (; n < 100 && n_waiting() > 0; n++) {
        int64_t before = n_waiting();
        struct task *tasks = NULL;
        size_t count = 0;
        size_t n_gone;

        assert_ok(task_claim(ENGINE, ARENA, clock_now_ms(ENGINE->clock), &tasks,
                             &count, &err));
        while (count > 0 && !str_eq(tasks->kind, STR(READ_TURN_TASK))) {
            tasks++; /* of the chat that time ended */
            count--;
        }
        if (count > 0 && tasks->attempts > 1) {
            assert_ok(read_task(ENGINE, tasks, ARENA, &n_gone, &err));
            assert_int_equal(n_gone, 0);
            /* it begins anew after the first that was read */
            assert_int_equal(n_waiting(), before - 1);
        } else if (count > 0) {
            /* one turn is read, then it is dead */
            read_it(SCOPE, &ids[sizeof(ids) / sizeof(ids[0]) - (size_t)before]);
        }
        clock_add_ms(&talk.world.clock, 2 * TASK_BACKOFF_MAX_MS);
    }
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(n_given_up(), 0);
    assert_int_equal(n_tasks("failed"), 0);
}

static void a_server_that_ends_does_not_read_all_that_waits(void **state)
{
    struct clew_error err = {0};
    size_t n_run;

    (void)state;
    set_live("0");
    talk_say(&talk, 'u', "My sister Greta lives in Bremen.");
    talk_say(&talk, 'u', "My brother Omar works in Lisbon.");
    atomic_store(&ENGINE->is_stopping, true);
    assert_ok(worker_run_due(ENGINE, 1, &n_run, &err));
    assert_int_equal(n_waiting(), 2);
    assert_int_equal(n_tasks("pending"), 1); /* of the next start */
    assert_int_equal(n_tasks("failed"), 0);
    atomic_store(&ENGINE->is_stopping, false);
    run_tasks();
    assert_int_equal(n_waiting(), 0);
}

/* A turn that is stored is told as stored, whatever fails after. */
static void a_call_that_stored_never_fails_for_reading(void **state)
{
    int64_t n_stored = 0;
    bool is_done = false;

    (void)state;
    talk_say(&talk, 'u', "hello");
    for (uint64_t step = 1; !is_done; step += 1 + step / 9) {
        struct capture_input input = {
            .user_id = STR("ada"),
            .role = TURN_USER,
            .content = {.text = STR("My sister Greta lives in Bremen.")},
            .chat_id = talk.chat_id,
            .created_at_ms = talk.at_ms};
        struct capture_result result;
        struct clew_error err = {0};
        struct arena own;
        enum clew_status status;

        arena_init(&own, 1 << 26);
        alloc_fail_at(step);
        status = capture_turns(ENGINE, SCOPE, &own, &input, 1, &result, &err);
        is_done = !alloc_fail_fired();
        alloc_fail_at(0);
        if (status == CLEW_OK) {
            n_stored++;
            assert_int_equal(result.turn.seq, n_stored + 1);
        }
        arena_release(&own);
    }
    assert_true(n_stored > 1);
    run_tasks();
    talk_say(&talk, 'u', "hello again"); /* reads what had no task either */
    run_tasks();
    assert_int_equal(talk.last.turn.seq, n_stored + 2);
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(talk_count(&talk, "fact"), 1); /* said again and again */
    expect_same_after_rebuild();
}

/* --- at once ---------------------------------------------------------------
 */

#define N_TURNS 12
static struct uuid all[N_TURNS];

static void *read_all(void *arg)
{
    struct arena own;

    (void)arg;
    arena_init(&own, 1 << 28);
    for (int round = 0; round < N_TURNS; round++) {
        for (size_t i = 0; i < N_TURNS; i++) {
            struct clew_error err = {0};

            /* whoever comes second finds nothing to do */
            if (read_turn(ENGINE, SCOPE, &own, &all[i], NULL, &err) !=
                CLEW_OK) {
                return all; /* anything but NULL */
            }
            arena_clear(&own);
        }
    }
    arena_release(&own);
    return NULL;
}

static void two_at_once_read_each_turn_once(void **state)
{
    pthread_t threads[2];

    (void)state;
    set_live("0");
    for (size_t i = 0; i < N_TURNS; i++) {
        char text[100];

        (void)snprintf(text, sizeof(text), "Shelf %zu is called Zebulon%c.", i,
                       'a' + (char)i);
        talk_say(&talk, 'u', text);
        all[i] = talk.last.turn.id;
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, NULL), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        void *failed = NULL;

        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(n_waiting(), 0);
    assert_int_equal(talk_count(&talk, "fact"), N_TURNS);
    expect_same_after_rebuild();
}

/* --- by the model ----------------------------------------------------------
 */

static void what_the_model_read_is_read_the_same_again(void **state)
{
    (void)state;
    world_use_reader(&talk.world);
    talk_script(&talk, "u:I need to fix the login page, it shows a 500 error."
                       "|a:Clear the cookies of the login page."
                       "|u:The meeting with Wanda Quill is on Monday at ten."
                       "|u:Clearing the cookies fixed the login page, it works "
                       "now.|a:Glad to hear it.");
    set_live("0");
    talk_script(&talk, "u:We decided to use PostgreSQL instead of MySQL for "
                       "the archive.|u:Greta is allergic to peanuts.");
    run_tasks();
    expect_same_after_rebuild();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)
    const struct CMUnitTest tests[] = {
        CASE(a_short_call_is_read_before_it_returns),
        CASE(a_long_one_is_read_by_the_task),
        CASE(only_talk_waits_and_only_if_it_is_observed),
        CASE(what_was_said_first_is_read_first),
        CASE(a_call_reads_what_waited_before_it),
        CASE(a_call_does_not_stay_for_a_history),
        CASE(nobody_reads_anothers_turns),
        CASE(what_is_forgotten_is_not_read),
        CASE(what_is_read_can_be_forgotten),
        CASE(a_rebuild_leaves_what_waits_waiting),
        CASE(what_waits_is_exported_and_read_where_it_goes),
        CASE(it_goes_on_after_every_failure),
        CASE(what_cannot_be_read_is_given_up_and_the_rest_is_read),
        CASE(each_that_cannot_be_read_is_given_up),
        CASE(workers_that_die_are_no_reason_to_give_up),
        CASE(a_server_that_ends_does_not_read_all_that_waits),
        CASE(a_call_that_stored_never_fails_for_reading),
        CASE(two_at_once_read_each_turn_once),
        CASE(what_the_model_read_is_read_the_same_again),
    };

    return WORLD_EACH(tests);
}
