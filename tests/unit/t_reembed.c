/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_reembed.c - another model takes over while everything goes on, on both
 * backends, whatever interrupts it.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/ask/search.h"
#include "engine/capture/capture.h"
#include "engine/core/engine.h"
#include "engine/core/task.h"
#include "engine/feed/model_use.h"
#include "engine/feed/reembed.h"
#include "engine/key/tenant.h"
#include "engine/memory/memory.h"
#include "engine/open.h"
#include "engine/proof/forget.h"
#include "engine/proof/verify.h"
#include "engine/thought/thought.h"
#include "index/index.h"
#include "model/embed.h"
#include "model/model_store.h"
#include "store/db.h"
#include "support/pg.h"
#include "task/upkeep.h"
#include "task/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define NOW 1771200000000LL
#define FAKE_DIM 24

/* --- a model of its own -------------------------------------------------- */

/* "qqq" means "lighthouse" to it; everything else only itself. */
static atomic_int calls;
static atomic_int fail_at;      /* the call that fails; 0 = none */
static atomic_int fail_through; /* and those after it, up to here */

static enum clew_status fake_run(struct embedder *embedder,
                                 const struct str *texts, size_t count,
                                 float *out, struct clew_error *err)
{
    int call = atomic_fetch_add(&calls, 1) + 1;

    (void)embedder;
    if (fail_at > 0 && call >= fail_at && call <= fail_through) {
        return clew_fail(err, CLEW_UNAVAILABLE, "the fake model is away");
    }
    for (size_t i = 0; i < count; i++) {
        float *own = out + i * FAKE_DIM;
        bool is_light =
            str_find(texts[i], STR("lighthouse"), 0) < texts[i].len ||
            str_find(texts[i], STR("qqq"), 0) < texts[i].len;

        memset(own, 0, FAKE_DIM * sizeof(*own));
        if (str_find(texts[i], STR("refused"), 0) < texts[i].len) {
            return clew_fail(err, CLEW_INVALID, "the fake model refuses");
        }
        own[is_light ? 0 : 1 + str_hash(texts[i]) % (FAKE_DIM - 1)] = 1;
    }
    return CLEW_OK;
}

static void fake_free(struct embedder *embedder)
{
    alloc_free(embedder);
}

static const struct embedder_ops fake_ops = {"fake", fake_run, fake_free, NULL};

static struct embedder *fake_new(const char *id)
{
    struct embedder *fake = alloc_zero(1, sizeof(*fake));

    assert_non_null(fake);
    fake->ops = &fake_ops;
    fake->dim = FAKE_DIM;
    (void)snprintf(fake->id, sizeof(fake->id), "%s", id);
    return fake;
}

/* --- a store that can be closed and opened again ------------------------- */

static const char *backend = "sqlite";
static char folder[64];
static char url[512];
static struct config *config;
static struct clock now;
static struct engine *engine;
static struct scope scope;
static struct arena arena;

static void start(void)
{
    struct engine_options options = {
        .config = config,
        .data_dir = folder,
        .clock = &now,
        .store_url = strcmp(backend, "postgres") == 0 ? url : NULL};
    struct clew_error err = {0};

    if (engine_open(&options, &engine, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(engine_tenant(engine, "one", &scope, &err), CLEW_OK);
}

static void restart(void)
{
    engine_close(engine);
    engine = NULL;
    start();
}

static int set_up(void **state)
{
    /* what a turn means does not matter here, and reading takes its time */
    struct config_flag rules[] = {{"reader.on", "false"}};

    (void)state;
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    (void)snprintf(folder, sizeof(folder), "/tmp/clew-reembed-XXXXXX");
    assert_non_null(mkdtemp(folder));
    if (strcmp(backend, "postgres") == 0) {
        pg_new_store(url, sizeof(url));
    }
    assert_int_equal(config_load(NULL, rules, 1, &config, NULL), CLEW_OK);
    clock_init_fake(&now, NOW);
    arena_init(&arena, (size_t)1 << 30);
    calls = 0;
    fail_at = 0;
    fail_through = 0;
    start();
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    engine_close(engine);
    engine = NULL;
    arena_release(&arena);
    config_free(config);
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static struct uuid say(const char *text)
{
    struct capture_input input = {.user_id = STR("ann"),
                                  .role = TURN_USER,
                                  .content = {.text = str_of(text)},
                                  .channel = STR("sms"),
                                  .created_at_ms = CAPTURE_NOW};
    struct capture_result result;
    struct clew_error err = {0};

    if (capture_turns(engine, &scope, &arena, &input, 1, &result, &err) !=
        CLEW_OK) {
        fail_msg("%s", err.message);
    }
    return result.turn.id;
}

static void say_many(int first, int count)
{
    char text[64];

    for (int i = first; i < first + count; i++) {
        (void)snprintf(text, sizeof(text), "Parcel number%d left the depot.",
                       i);
        (void)say(text);
    }
}

static struct search_result ask(const char *query)
{
    struct search_query input = {.query = str_of(query),
                                 .kinds = RECALL_TURN,
                                 .limit = 5,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = NOW + CLOCK_DAY_MS};
    struct search_result result;
    struct clew_error err = {0};

    if (search_run(engine, &scope, &arena, &input, &result, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    return result;
}

static bool finds(const char *query, const char *text)
{
    struct search_result result = ask(query);

    return result.count > 0 && str_eq(result.hits[0].text, str_of(text));
}

/* Which model answers now. */
static bool serves(const char *id)
{
    struct model_lease lease;
    bool is_it;

    model_use_lease(engine, &scope, &lease);
    is_it = strcmp(lease.id, id) == 0;
    model_use_release(engine, &lease);
    return is_it;
}

static void use(const char *id)
{
    assert_int_equal(model_use_set(engine, id ? fake_new(id) : NULL, NULL),
                     CLEW_OK);
}

/* Do all there is to do; how many tasks were run. */
static size_t work(void)
{
    struct clew_error err = {0};
    size_t total = 0;
    size_t n = 0;

    do {
        upkeep_round(engine, NULL, true);
        if (worker_run_due(engine, 100, &n, &err) != CLEW_OK) {
            fail_msg("%s", err.message);
        }
        total += n;
    } while (n > 0);
    return total;
}

static void assert_sound(void)
{
    struct verify_report report;
    struct clew_error err = {0};

    if (verify_run(engine, &arena, NULL, &report, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    if (report.n_faults > 0) {
        fail_msg("%s", report.faults[0].rule);
    }
}

static struct reembed_progress progress_of(const char *id)
{
    struct reembed_progress progress;

    assert_int_equal(
        reembed_progress(engine, &scope, &arena, id, &progress, NULL), CLEW_OK);
    return progress;
}

#define LIGHT "We saw the lighthouse at dusk."

/* --- cases --------------------------------------------------------------- */

static void the_old_model_serves_until_the_new_one_has_everything(void **state)
{
    (void)state;
    say_many(0, 150);
    (void)say(LIGHT);
    use("fake-1");
    assert_true(serves(embed_static()->id));
    assert_true(finds("lighthouse", LIGHT));
    upkeep_round(engine, NULL, false);
    assert_true(serves(embed_static()->id));
    assert_int_equal(progress_of("fake-1").n_done, 0);
    assert_true(work() > 0);
    assert_true(serves("fake-1"));
    assert_true(finds("qqq", LIGHT));
    assert_true(ask("qqq").hits[0].item.parts.vector > 0);
    assert_true(progress_of("fake-1").n_done >= 151);
    assert_int_equal(progress_of("fake-1").n_done, progress_of("fake-1").n_all);
    assert_int_equal(work(), 0);
    assert_sound();
}

static void a_new_turn_is_found_at_once_and_embedded_later(void **state)
{
    (void)state;
    say_many(0, 10);
    use("fake-1");
    work();
    assert_true(serves("fake-1"));
    (void)say(LIGHT);
    assert_true(serves("fake-1"));
    assert_true(finds("lighthouse dusk", LIGHT));
    assert_int_equal(ask("lighthouse").hits[0].item.parts.vector, 0);
    assert_true(work() > 0);
    assert_true(finds("qqq", LIGHT));
    restart();
    use("fake-1");
    assert_true(finds("qqq", LIGHT));
    assert_sound();
}

static void memories_are_embedded_and_again_when_they_change(void **state)
{
    struct thought_input input = {
        .prompt = STR("Decision: the ferry stops at the lighthouse because "
                      "the harbour is closed for repairs this winter."),
        .agent_id = STR("a1"),
        .agent_name = STR("Ann's agent")};
    struct thought_result result;
    struct clew_error err = {0};

    (void)state;
    say_many(0, 5);
    if (thought_handle(engine, &scope, &arena, &input, &result, &err) !=
        CLEW_OK) {
        fail_msg("%s", err.message);
    }
    assert_false(uuid_is_nil(&result.contributed));
    use("fake-1");
    work();
    assert_true(progress_of("fake-1").n_all >= 6);
    assert_int_equal(progress_of("fake-1").n_done, progress_of("fake-1").n_all);
    assert_sound();
}

static void a_failing_model_leaves_the_old_one_and_says_so(void **state)
{
    struct task_filter filter = {.limit = 10};
    struct task *tasks;
    size_t n;
    char failure[MODEL_USE_TEXT];

    (void)state;
    say_many(0, 20);
    (void)say(LIGHT);
    use("fake-1");
    fail_at = 1;
    fail_through = 1000000;
    work();
    assert_true(serves(embed_static()->id));
    assert_true(finds("lighthouse", LIGHT));
    model_use_failure(engine, failure);
    assert_string_equal(failure, "the fake model is away");
    assert_int_equal(
        task_list(engine, &scope, &arena, &filter, &tasks, &n, NULL), CLEW_OK);
    assert_true(n >= 1);
    assert_true(str_eq(tasks[0].kind, STR(REEMBED_TASK)));
    assert_true(str_eq(tasks[0].last_error, STR("the fake model is away")));
    fail_at = 0;
    clock_add_ms(&now, CLOCK_DAY_MS);
    work();
    assert_true(serves("fake-1"));
    model_use_failure(engine, failure);
    assert_string_equal(failure, "");
    /* a question it cannot embed is answered by the shipped model */
    fail_at = 1;
    assert_true(finds("lighthouse", LIGHT));
}

static void it_goes_on_after_every_interruption(void **state)
{
    int64_t before = -1;

    (void)state;
    say_many(0, 5 * REEMBED_BATCH);
    (void)say(LIGHT);
    /* each time one batch succeeds, then the model is gone, then the process */
    for (int i = 0; i < 8; i++) {
        struct reembed_progress progress;

        use("fake-1");
        calls = 0;
        fail_at = 2;
        fail_through = 1000000;
        clock_add_ms(&now, CLOCK_DAY_MS);
        work();
        progress = progress_of("fake-1");
        assert_true(progress.n_done > before ||
                    progress.n_done == progress.n_all);
        before = progress.n_done;
        restart();
    }
    assert_int_equal(before, progress_of("fake-1").n_all);
    fail_at = 0;
    use("fake-1");
    work();
    assert_true(serves("fake-1"));
    assert_true(finds("qqq", LIGHT));
    assert_sound();
}

DB_SQL(DELETE_TASKS, "DELETE FROM tasks WHERE tenant = $1");
DB_SQL(UNREADY, "UPDATE vector_models SET ready_at = NULL WHERE tenant = $1");

static enum clew_status do_lose_end(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    enum clew_status status = db_exec(tx, &DELETE_TASKS, DB_NO_ARGS, err);

    (void)arg;
    return status == CLEW_OK ? db_exec(tx, &UNREADY, DB_NO_ARGS, err) : status;
}

/* Everything is embedded, but the task ended before it could say so. */
static void a_model_that_has_everything_becomes_ready(void **state)
{
    (void)state;
    say_many(0, 5);
    use("fake-1");
    work();
    assert_int_equal(
        store_write(engine->store, &scope, do_lose_end, NULL, NULL), CLEW_OK);
    assert_true(serves(embed_static()->id));
    work();
    assert_true(serves("fake-1"));
}

static void a_refused_text_holds_up_no_other(void **state)
{
    (void)state;
    say_many(0, 3);
    (void)say("This one is refused.");
    (void)say(LIGHT);
    use("fake-1");
    work();
    assert_true(serves("fake-1"));
    assert_true(finds("qqq", LIGHT));
    assert_true(finds("refused", "This one is refused."));
    assert_sound();
}

static void what_is_forgotten_loses_its_vectors(void **state)
{
    struct forget_input input = {0};
    struct forget_receipt receipt = {0};
    struct clew_error err = {0};
    struct uuid id;

    (void)state;
    say_many(0, 10);
    id = say(LIGHT);
    use("fake-1");
    work();
    input.turn_ids = &id;
    input.n_turn_ids = 1;
    if (forget_run(engine, &scope, &arena, &input, &receipt, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    assert_true(receipt.is_scrubbed);
    assert_false(finds("qqq", LIGHT));
    assert_int_equal(progress_of("fake-1").n_done, progress_of("fake-1").n_all);
    work();
    assert_sound();
}

static void the_model_before_serves_while_the_next_is_made(void **state)
{
    (void)state;
    say_many(0, 20);
    (void)say(LIGHT);
    use("fake-1");
    work();
    use("fake-2");
    assert_true(serves("fake-1"));
    assert_true(finds("qqq", LIGHT));
    work();
    assert_true(serves("fake-2"));
    assert_true(finds("qqq", LIGHT));
    use(NULL);
    assert_true(serves(embed_static()->id));
    assert_true(finds("lighthouse", LIGHT));
    /* what was made is kept: going back takes no work but the news */
    (void)say("One more thing.");
    use("fake-1");
    calls = 0;
    work();
    assert_true(serves("fake-1"));
    assert_int_equal(calls, 1);
    assert_sound();
}

struct writer {
    atomic_bool is_done;
    int n_written;
};

static void *keep_writing(void *arg)
{
    struct writer *writer = arg;
    struct arena own;
    char text[64];

    arena_init(&own, (size_t)1 << 28);
    while (!writer->is_done) {
        struct capture_input input = {.user_id = STR("ben"),
                                      .role = TURN_USER,
                                      .channel = STR("sms"),
                                      .created_at_ms = CAPTURE_NOW};
        struct capture_result result;

        (void)snprintf(text, sizeof(text), "Letter item%d was posted.",
                       writer->n_written);
        input.content.text = str_of(text);
        arena_clear(&own);
        if (capture_turns(engine, &scope, &own, &input, 1, &result, NULL) !=
            CLEW_OK) {
            break;
        }
        writer->n_written++;
    }
    arena_release(&own);
    return NULL;
}

static void recall_answers_through_a_switch_under_writes(void **state)
{
    struct writer writer = {0};
    struct worker_pool *pool = NULL;
    struct upkeep *upkeep = NULL;
    pthread_t thread;
    int n_asked = 0;

    (void)state;
    say_many(0, 300);
    (void)say(LIGHT);
    assert_int_equal(pthread_create(&thread, NULL, keep_writing, &writer), 0);
    use("fake-1");
    assert_int_equal(worker_pool_open(engine, 2, &pool, NULL), CLEW_OK);
    assert_int_equal(upkeep_open(engine, pool, &upkeep, NULL), CLEW_OK);
    while (!serves("fake-1") && n_asked < 100000) {
        assert_true(finds("lighthouse dusk", LIGHT));
        n_asked++;
        arena_clear(&arena);
    }
    assert_true(serves("fake-1"));
    assert_true(finds("qqq", LIGHT));
    writer.is_done = true;
    (void)pthread_join(thread, NULL);
    upkeep_close(upkeep);
    worker_pool_close(pool);
    assert_true(writer.n_written > 0);
    restart();
    use("fake-1");
    work();
    assert_int_equal(progress_of("fake-1").n_done, progress_of("fake-1").n_all);
    assert_sound();
}

static void an_unknown_model_is_refused_and_nothing_changes(void **state)
{
    struct config_flag settings[] = {{"embed.model", "no-such"}};
    char failure[MODEL_USE_TEXT];

    (void)state;
    (void)say(LIGHT);
    assert_int_equal(model_store_use(folder, "no-such", NULL), CLEW_NOT_FOUND);
    assert_int_equal(model_store_remove(folder, "no-such", NULL),
                     CLEW_NOT_FOUND);
    engine_close(engine);
    config_free(config);
    assert_int_equal(config_load(NULL, settings, 1, &config, NULL), CLEW_OK);
    start();
    work();
    assert_true(serves(embed_static()->id));
    assert_true(finds("lighthouse", LIGHT));
    model_use_failure(engine, failure);
    assert_string_equal(failure, "there is no model \"no-such\"");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_old_model_serves_until_the_new_one_has_everything),
        CASE(a_new_turn_is_found_at_once_and_embedded_later),
        CASE(memories_are_embedded_and_again_when_they_change),
        CASE(a_failing_model_leaves_the_old_one_and_says_so),
        CASE(it_goes_on_after_every_interruption),
        CASE(a_model_that_has_everything_becomes_ready),
        CASE(a_refused_text_holds_up_no_other),
        CASE(what_is_forgotten_loses_its_vectors),
        CASE(the_model_before_serves_while_the_next_is_made),
        CASE(recall_answers_through_a_switch_under_writes),
        CASE(an_unknown_model_is_refused_and_nothing_changes),
    };
    int failed = cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);

    backend = "postgres";
    return failed + cmocka_run_group_tests_name("postgres", tests, NULL, NULL);
}
