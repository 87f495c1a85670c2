/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_vector_graph.c - vectors found by pgvector: they rank as those in the
 * process do, and the table follows the log whatever interrupts it.
 *
 * Most cases need a PostgreSQL that has pgvector and say so where it has not;
 * CLEW_TEST_PG_BIN names the programs of another server.
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
#include "engine/feed/vector_graph.h"
#include "engine/key/tenant.h"
#include "engine/open.h"
#include "engine/proof/forget.h"
#include "engine/proof/verify.h"
#include "index/index.h"
#include "model/embed.h"
#include "store/db.h"
#include "support/pg.h"
#include "task/upkeep.h"
#include "task/worker.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW 1771200000000LL
/* More than are compared one by one. */
#define MANY 6000
#define TOP 10

static char folder[64];
static char url[512];
static struct config *config;
static struct clock now;
static struct engine *engine;
static struct scope scope;
static struct arena arena;

/* --- a store that can be closed and opened again ------------------------- */

/* The first value of a statement by the superuser, in the test's database. */
static int64_t admin(const char *sql)
{
    char where[512];
    PGconn *pg;
    PGresult *result;
    int64_t value = 0;

    pg_admin_url(url, where, sizeof(where));
    pg = PQconnectdb(where);
    result = PQexec(pg, sql);
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0) {
        value = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    } else if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        fail_msg("%s", PQerrorMessage(pg));
    }
    PQclear(result);
    PQfinish(pg);
    return value;
}

static void set_mode(const char *mode, const char *ram)
{
    const struct config_flag flags[] = {{"index.pgvector", mode},
                                        {"capture.observe", "false"},
                                        {"index.ram_bytes", ram}};

    config_free(config);
    config = NULL;
    assert_int_equal(config_load(NULL, flags, 3, &config, NULL), CLEW_OK);
}

static enum clew_status try_start(struct clew_error *err)
{
    struct engine_options options = {
        .config = config, .data_dir = folder, .clock = &now, .store_url = url};

    return engine_open(&options, &engine, err);
}

static void start(void)
{
    struct clew_error err = {0};

    if (try_start(&err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(engine_tenant(engine, "one", &scope, &err), CLEW_OK);
}

static void stop(void)
{
    engine_close(engine);
    engine = NULL;
}

static int set_up(void **state)
{
    (void)state;
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    (void)snprintf(folder, sizeof(folder), "/tmp/clew-graph-XXXXXX");
    assert_non_null(mkdtemp(folder));
    pg_new_store(url, sizeof(url));
    clock_init_fake(&now, NOW);
    arena_init(&arena, (size_t)1 << 30);
    set_mode("on", "2G");
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    stop();
    arena_release(&arena);
    config_free(config);
    config = NULL;
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

/* The extension in the test's database, or the case ends here. */
static void need_pgvector(void)
{
    if (admin("SELECT COUNT(*) FROM pg_available_extensions"
              " WHERE name = 'vector'") == 0) {
        print_message("[  SKIP  ] this PostgreSQL has no pgvector\n");
        skip();
    }
    (void)admin("CREATE EXTENSION vector");
}

/* --- talk ---------------------------------------------------------------- */

static const char *const who[] = {"Maria",        "the plumber", "my brother",
                                  "our landlord", "Doctor Ames", "the team",
                                  "grandmother",  "a neighbour"};
static const char *const does[] = {
    "repaired", "painted", "sold",     "lost",         "ordered", "cancelled",
    "measured", "forgot",  "returned", "photographed", "planted", "reviewed"};
static const char *const what[] = {
    "the kitchen sink", "a red bicycle",          "the quarterly report",
    "an apple tree",    "two train tickets",      "the garden fence",
    "a violin",         "the tax form",           "the old laptop",
    "a box of oranges", "the wedding invitation", "a pair of skis",
    "the blood test",   "an espresso machine"};
static const char *const where[] = {
    "in Lisbon",    "before breakfast", "at the harbour",    "on Friday",
    "in the attic", "near the station", "after the meeting", "by mistake",
    "in the rain",  "for the museum",   "at school"};

#define PICK(list, n) list[(n) % (sizeof(list) / sizeof((list)[0]))]

static void sentence(unsigned n, char *out, size_t size)
{
    unsigned mix = n * 2654435761u;

    int len = snprintf(out, size, "%s %s %s %s, item %u.", PICK(who, mix >> 3),
                       PICK(does, mix >> 9), PICK(what, mix >> 15),
                       PICK(where, mix >> 21), n);

    if (n % 4 == 0) { /* long enough to be found by either half */
        (void)snprintf(out + len, size - (size_t)len,
                       " Nobody expected that, but nobody minded either. Later"
                       " the same day %s %s %s %s, and that was the end of it.",
                       PICK(who, mix >> 5), PICK(does, mix >> 11),
                       PICK(what, mix >> 17), PICK(where, mix >> 23));
    }
}

/* Turns of two users in several chats; every twentieth is Ben's. */
static void say_many(unsigned first, unsigned count)
{
    enum { BATCH = 100 };
    static struct capture_result results[BATCH];
    static char texts[BATCH][400];
    struct capture_input inputs[BATCH];
    struct clew_error err = {0};

    for (unsigned at = 0; at < count; at += BATCH) {
        unsigned n = count - at < BATCH ? count - at : BATCH;
        struct arena own;

        memset(inputs, 0, sizeof(inputs));
        for (unsigned i = 0; i < n; i++) {
            unsigned number = first + at + i;

            sentence(number, texts[i], sizeof(texts[i]));
            inputs[i] = (struct capture_input){
                .user_id = number % 20 == 7 ? STR("ben") : STR("ann"),
                .role = TURN_USER,
                .content = {.text = str_of(texts[i])},
                .channel = STR("api"),
                .created_at_ms = NOW - (int64_t)(2 * MANY - number) * 60000};
        }
        arena_init(&own, (size_t)1 << 28);
        if (capture_turns(engine, &scope, &own, inputs, n, results, &err) !=
            CLEW_OK) {
            fail_msg("%s", err.message);
        }
        arena_release(&own);
    }
}

static struct uuid say(const char *text)
{
    struct capture_input input = {.user_id = STR("ann"),
                                  .role = TURN_USER,
                                  .content = {.text = str_of(text)},
                                  .channel = STR("api"),
                                  .created_at_ms = NOW};
    struct capture_result result;
    struct clew_error err = {0};

    if (capture_turns(engine, &scope, &arena, &input, 1, &result, &err) !=
        CLEW_OK) {
        fail_msg("%s", err.message);
    }
    return result.turn.id;
}

/* --- asking -------------------------------------------------------------- */

struct request {
    const char *user; /* NULL: all */
    int64_t since_ms;
    int64_t at_ms;
};
static const struct request whole = {NULL, INT64_MIN, NOW + CLOCK_DAY_MS};

struct answer {
    struct uuid ids[TOP];
    double scores[TOP];
    size_t count;
    float best_vector;
};

static struct answer ask(const char *text, const struct request *request)
{
    struct search_query input = {
        .query = str_of(text),
        .user_id = request->user ? str_of(request->user) : STR(""),
        .kinds = RECALL_TURN,
        .limit = TOP,
        .since_ms = request->since_ms,
        .until_ms = INT64_MAX,
        .at_ms = request->at_ms};
    struct search_result result;
    struct clew_error err = {0};
    struct answer answer = {.count = 0};
    struct arena own;

    arena_init(&own, (size_t)1 << 28);
    if (search_run(engine, &scope, &own, &input, &result, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    for (size_t i = 0; i < result.count && i < TOP; i++) {
        answer.ids[answer.count] = result.hits[i].item.id;
        answer.scores[answer.count++] = result.hits[i].item.score;
    }
    answer.best_vector =
        result.count > 0 ? result.hits[0].item.parts.vector : 0;
    arena_release(&own);
    return answer;
}

/* How many of the first are among the second. */
static size_t shared(const struct answer *a, const struct answer *b)
{
    size_t n = 0;

    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            n += uuid_eq(&a->ids[i], &b->ids[k]);
        }
    }
    return n;
}

static void assert_same(const struct answer *a, const struct answer *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_true(uuid_eq(&a->ids[i], &b->ids[i]));
        assert_true(a->scores[i] == b->scores[i]);
    }
}

/* Do all there is to do. */
static void work(void)
{
    struct clew_error err = {0};
    size_t n = 0;

    (void)ask("anything", &whole); /* only what is in memory is looked after */
    do {
        upkeep_round(engine, NULL, true);
        if (worker_run_due(engine, 100, &n, &err) != CLEW_OK) {
            fail_msg("%s", err.message);
        }
    } while (n > 0);
    /* the index hears how far the table is, then lets go of its vectors */
    upkeep_round(engine, NULL, true);
    upkeep_round(engine, NULL, true);
}

static struct index_stats stats(void)
{
    struct index_stats out;

    assert_int_equal(index_stats_get(engine->indexes, scope.tenant, &out),
                     CLEW_OK);
    return out;
}

static void assert_sound(void)
{
    struct verify_options options = {.is_quick = true};
    struct verify_report report;
    struct clew_error err = {0};

    if (verify_run(engine, &arena, &options, &report, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    if (report.n_faults > 0) {
        fail_msg("%s", report.faults[0].rule);
    }
}

/* Questions in other words than the turns have, mostly. */
#define N_QUESTIONS 40
static void question(unsigned n, char *out, size_t size)
{
    static const char *const asks[] = {"who fixed", "what happened to",
                                       "tell me about", "when did somebody buy",
                                       "was there trouble with"};
    static const char *const things[] = {"the tap",
                                         "a bike",
                                         "the finances",
                                         "fruit",
                                         "the railway journey",
                                         "the wall outside",
                                         "music lessons",
                                         "the computer",
                                         "a marriage",
                                         "winter sports",
                                         "the hospital",
                                         "coffee"};

    (void)snprintf(out, size, "%s %s", PICK(asks, n), PICK(things, n / 5 + n));
}

/* --- cases --------------------------------------------------------------- */

static void without_the_extension_on_is_refused_and_auto_is_not(void **state)
{
    struct clew_error err = {0};

    (void)state;
    assert_int_equal(try_start(&err), CLEW_UNSUPPORTED);
    assert_non_null(strstr(err.message, "index.pgvector is on, but"));
    set_mode("auto", "2G");
    start();
    assert_int_equal(ask("anything", &whole).count, 0);
    assert_sound();
}

static void on_is_refused_with_sqlite(void **state)
{
    struct engine_options options = {
        .config = config, .data_dir = folder, .clock = &now};
    struct clew_error err = {0};

    (void)state;
    assert_int_equal(engine_open(&options, &engine, &err), CLEW_UNSUPPORTED);
    assert_non_null(strstr(err.message, "the store is not PostgreSQL"));
}

static void answers_agree_with_those_of_the_process(void **state)
{
    const struct request ben = {"ben", INT64_MIN, NOW + CLOCK_DAY_MS};
    const struct request early = {NULL, INT64_MIN,
                                  NOW - (int64_t)MANY * 60000 - 5000LL * 60000};
    struct answer before[N_QUESTIONS];
    struct answer before_ben[N_QUESTIONS];
    struct answer before_early[N_QUESTIONS];
    size_t n_shared = 0;
    size_t n_shared_early = 0;
    size_t n_all = 0;
    char text[96];

    (void)state;
    need_pgvector();
    start();
    say_many(0, MANY);
    for (unsigned i = 0; i < N_QUESTIONS; i++) {
        question(i, text, sizeof(text));
        before[i] = ask(text, &whole);
        before_ben[i] = ask(text, &ben);
        before_early[i] = ask(text, &early);
    }
    assert_int_equal(stats().n_bare, 0);
    work();
    assert_int_equal(stats().n_bare, MANY);
    assert_int_equal(admin("SELECT COUNT(*) FROM graph_vectors"), MANY);
    for (unsigned i = 0; i < N_QUESTIONS; i++) {
        struct answer after;

        question(i, text, sizeof(text));
        after = ask(text, &whole);
        n_shared += shared(&before[i], &after);
        n_all += before[i].count;
        /* few in reach: the very same */
        after = ask(text, &ben);
        assert_same(&before_ben[i], &after);
        assert_int_equal(after.count, TOP);
        after = ask(text, &early);
        /* compared one by one here, by a sieve of signs in the process */
        n_shared_early += shared(&before_early[i], &after);
        assert_int_equal(after.count, TOP);
    }
    print_message("top %d agreement: %.3f\n", TOP,
                  (double)n_shared / (double)n_all);
    /* near copies of each other: bench_graph has turns that are not */
    assert_true((double)n_shared >= 0.90 * (double)n_all);
    assert_true((double)n_shared_early >= 0.90 * (double)n_all);
    assert_sound();
}

static void what_is_new_is_found_at_once(void **state)
{
    struct answer answer;
    struct uuid id;

    (void)state;
    need_pgvector();
    start();
    say_many(0, 300);
    work();
    assert_int_equal(stats().n_bare, 300);
    id = say("We watched the lighthouse from the cliffs at dusk.");
    answer = ask("a beacon by the sea in the evening", &whole);
    assert_true(uuid_eq(&answer.ids[0], &id));
    assert_true(answer.best_vector > 0);
    /* the process that comes after finds it too */
    stop();
    start();
    answer = ask("a beacon by the sea in the evening", &whole);
    assert_true(uuid_eq(&answer.ids[0], &id));
    assert_true(stats().n_bare >= 300);
    assert_sound();
}

static void forget_one(const struct uuid *id)
{
    struct forget_input input = {.turn_ids = id, .n_turn_ids = 1};
    struct forget_receipt receipt;
    struct clew_error err = {0};

    if (forget_run(engine, &scope, &arena, &input, &receipt, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    assert_true(receipt.is_scrubbed);
}

static void what_is_forgotten_leaves_the_table(void **state)
{
    struct answer answer;
    struct uuid id;

    (void)state;
    need_pgvector();
    start();
    say_many(0, 200);
    id = say("We watched the lighthouse from the cliffs at dusk.");
    work();
    assert_int_equal(admin("SELECT COUNT(*) FROM graph_vectors"), 201);
    forget_one(&id);
    assert_int_equal(admin("SELECT COUNT(*) FROM graph_vectors"), 200);
    answer = ask("a beacon by the sea in the evening", &whole);
    for (size_t i = 0; i < answer.count; i++) {
        assert_false(uuid_eq(&answer.ids[i], &id));
    }
    work();
    assert_sound();
}

static void off_reads_the_vectors_back_and_auto_waits_for_need(void **state)
{
    struct answer with;
    struct answer without;

    (void)state;
    need_pgvector();
    start();
    say_many(0, 300);
    work();
    assert_int_equal(stats().n_bare, 300);
    with = ask("who fixed the tap", &whole);
    stop();
    set_mode("off", "2G");
    start();
    without = ask("who fixed the tap", &whole);
    assert_same(&with, &without);
    assert_int_equal(stats().n_bare, 0);
    /* the table is not fed now, but forgotten from */
    say_many(300, 10);
    stop();
    set_mode("auto", "2G");
    start();
    work();
    assert_int_equal(stats().n_bare, 0);
    say_many(310, 5000);
    stop();
    set_mode("auto", "1M");
    start();
    work();
    assert_true(stats().n_bare >= 5000);
    assert_sound();
}

static void a_table_that_was_lost_is_noticed(void **state)
{
    struct answer with;
    struct answer without;

    (void)state;
    need_pgvector();
    start();
    say_many(0, 300);
    work();
    with = ask("who fixed the tap", &whole);
    assert_int_equal(stats().n_bare, 300);
    (void)admin("DELETE FROM vector_graphs");
    (void)admin("DROP TABLE graph_vectors");
    without = ask("who fixed the tap", &whole);
    assert_same(&with, &without);
    assert_int_equal(stats().n_bare, 0);
    work();
    assert_int_equal(stats().n_bare, 300);
    assert_sound();
}

static void rows_of_another_form_are_made_anew(void **state)
{
    struct answer before;
    struct answer after;

    (void)state;
    need_pgvector();
    start();
    say_many(0, 300);
    work();
    before = ask("who fixed the tap", &whole);
    (void)admin("UPDATE graph_vectors SET model = model + 1");
    (void)admin("UPDATE vector_graphs SET number = number + 1");
    after = ask("who fixed the tap", &whole);
    assert_same(&before, &after);
    assert_int_equal(stats().n_bare, 0);
    work();
    assert_int_equal(stats().n_bare, 300);
    assert_int_equal(admin("SELECT COUNT(*) FROM graph_vectors"), 300);
    assert_sound();
}

static enum clew_status do_peek(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    DB_SQL(COUNT_ANY, "SELECT COUNT(*) FROM graph_vectors WHERE $1 > 0");
    struct db_rows rows;
    enum clew_status status = db_query(tx, &COUNT_ANY, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *(int64_t *)arg = db_next(&rows) ? db_get_int(&rows, 0) : -1;
    return db_end(&rows, err);
}

static void tenants_do_not_see_each_other(void **state)
{
    struct scope other;
    int64_t count = -1;

    (void)state;
    need_pgvector();
    start();
    assert_int_equal(engine_tenant(engine, "two", &other, NULL), CLEW_OK);
    say_many(0, 50);
    work();
    assert_int_equal(store_read(engine->store, &scope, do_peek, &count, NULL),
                     CLEW_OK);
    assert_int_equal(count, 50);
    assert_int_equal(store_read(engine->store, &other, do_peek, &count, NULL),
                     CLEW_OK);
    assert_int_equal(count, 0);
    assert_int_equal(store_check(engine->store, NULL), CLEW_OK);
}

/* A process that fills the table, killed as soon as a statement counts. */
static void fill_until(const char *sql)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        size_t n = 0;

        start();
        (void)ask("anything", &whole);
        for (;;) {
            /* a task whose worker died too often is given up for a while */
            clock_add_ms(&now, 2 * CLOCK_MINUTE_MS);
            upkeep_round(engine, NULL, true);
            if (worker_run_due(engine, 100, &n, NULL) != CLEW_OK) {
                _exit(1);
            }
        }
    }
    while (admin(sql) == 0) {
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    }
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    clock_add_ms(&now, CLOCK_DAY_MS); /* its claim is over */
}

/* As if the rows had just come in. */
static void lose_graphs(void)
{
    (void)admin("UPDATE vector_graphs SET graph_at = NULL");
    (void)admin("DO $do$ DECLARE t text; BEGIN FOR t IN SELECT"
                " oid::regclass::text FROM pg_class WHERE relname LIKE"
                " 'graph\\_1\\_%' LOOP EXECUTE 'DROP INDEX ' || t;"
                " END LOOP; END $do$");
}

/* While rows come in, and twice while a graph is being made. */
static void it_goes_on_after_being_killed(void **state)
{
    enum { N = 6001 };
    struct answer answer;
    struct uuid id;
    char sql[160];

    (void)state;
    need_pgvector();
    start();
    say_many(0, N - 1);
    id = say("We watched the lighthouse from the cliffs at dusk.");
    stop();
    fill_until("SELECT COUNT(*) FROM pg_class WHERE relname ="
               " 'graph_vectors_1'");
    for (int i = 1; i < N; i += 500) {
        (void)snprintf(sql, sizeof(sql),
                       "SELECT COUNT(*) FROM vector_graphs g JOIN tenants n"
                       " ON n.tenant = g.tenant WHERE g.through * %d >"
                       " n.change_seq * %d",
                       N, i);
        fill_until(sql);
    }
    lose_graphs();
    fill_until("SELECT COUNT(*) FROM pg_stat_progress_create_index");
    lose_graphs();
    fill_until("SELECT COUNT(pg_terminate_backend(pid))"
               " FROM pg_stat_progress_create_index");
    start();
    for (int i = 0; i < 3; i++) {
        clock_add_ms(&now, CLOCK_DAY_MS);
        work();
    }
    assert_int_equal(admin("SELECT COUNT(*) FROM graph_vectors"), N);
    assert_int_equal(admin("SELECT COUNT(*) FROM pg_index"
                           " WHERE NOT indisvalid"),
                     0);
    answer = ask("a beacon by the sea in the evening", &whole);
    assert_true(uuid_eq(&answer.ids[0], &id));
    assert_true(stats().n_bare > 0);
    assert_sound();
}

/* --- another model ------------------------------------------------------- */

#define FAKE_DIM 24

static enum clew_status fake_run(struct embedder *embedder,
                                 const struct str *texts, size_t count,
                                 float *out, struct clew_error *err)
{
    (void)embedder;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        float *own = out + i * FAKE_DIM;
        bool is_light =
            str_find(texts[i], STR("lighthouse"), 0) < texts[i].len ||
            str_find(texts[i], STR("qqq"), 0) < texts[i].len;

        memset(own, 0, FAKE_DIM * sizeof(*own));
        own[is_light ? 0 : 1 + str_hash(texts[i]) % (FAKE_DIM - 1)] = 1;
    }
    return CLEW_OK;
}

static void fake_free(struct embedder *embedder)
{
    alloc_free(embedder);
}

static const struct embedder_ops fake_ops = {"fake", fake_run, fake_free, NULL};

static void use_fake(void)
{
    struct embedder *fake = alloc_zero(1, sizeof(*fake));

    assert_non_null(fake);
    fake->ops = &fake_ops;
    fake->dim = FAKE_DIM;
    (void)snprintf(fake->id, sizeof(fake->id), "fake-1");
    assert_int_equal(model_use_set(engine, fake, NULL), CLEW_OK);
}

static void each_model_has_its_own_graph(void **state)
{
    struct answer answer;
    struct uuid id;

    (void)state;
    need_pgvector();
    start();
    use_fake();
    say_many(0, 300);
    id = say("We watched the lighthouse from the cliffs at dusk.");
    work();
    work();
    assert_int_equal(admin("SELECT COUNT(*) FROM vector_graphs"
                           " WHERE graph_at IS NOT NULL"),
                     2);
    answer = ask("qqq", &whole);
    assert_true(uuid_eq(&answer.ids[0], &id));
    assert_true(answer.best_vector > 0);
    assert_sound();
    forget_one(&id);
    assert_int_equal(admin("SELECT COUNT(*) FROM graph_vectors"), 600);
    work();
    assert_sound();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(without_the_extension_on_is_refused_and_auto_is_not),
        CASE(on_is_refused_with_sqlite),
        CASE(answers_agree_with_those_of_the_process),
        CASE(what_is_new_is_found_at_once),
        CASE(what_is_forgotten_leaves_the_table),
        CASE(off_reads_the_vectors_back_and_auto_waits_for_need),
        CASE(a_table_that_was_lost_is_noticed),
        CASE(rows_of_another_form_are_made_anew),
        CASE(tenants_do_not_see_each_other),
        CASE(it_goes_on_after_being_killed),
        CASE(each_model_has_its_own_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
