/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - what it costs to find vectors by pgvector instead of in the
 * process, and how far the answers agree.
 *
 *     bench_graph [TURNS]                                  100,000 by default
 *
 * Brings a PostgreSQL of its own, which must have pgvector: CLEW_TEST_PG_BIN
 * names the programs of another server. One tenant on the engine itself; the
 * same questions are asked while all vectors are in the process and again
 * when none are.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/ask/search.h"
#include "engine/capture/capture.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"
#include "engine/open.h"
#include "engine/proof/forget.h"
#include "index/index.h"
#include "support/pg.h"
#include "support/talk.h"
#include "task/upkeep.h"
#include "task/worker.h"

#include <ftw.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BATCH = 500, N_QUESTIONS = 200, TOP = 10, N_LATER = 5000 };

static struct engine *engine;
static struct scope scope;
static uint64_t n_turns = 100000;

struct answer {
    struct uuid ids[TOP];
    size_t count;
};
static struct answer before[3][N_QUESTIONS];

static char url[512];

static void must(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        (void)fprintf(stderr, "bench: %s\n", err->message);
        exit(1);
    }
}

static void line(const char *what, double value, const char *unit)
{
    printf("%8llu  %-48s %10.3f %s\n", (unsigned long long)n_turns, what, value,
           unit);
    (void)fflush(stdout);
}

static double seconds_since(int64_t start_ns)
{
    return (double)(clock_mono_ns() - start_ns) / 1e9;
}

/* Seconds of processor time that the database's connections and this process
 * have used: the wall's depend on who else works here. */
static double cpu_seconds(void)
{
    char where[512];
    struct rusage own;
    double total;
    PGconn *pg;
    PGresult *result;

    (void)getrusage(RUSAGE_SELF, &own); /* cannot fail */
    total = (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
            (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) / 1e6;
    pg_admin_url(url, where, sizeof(where));
    pg = PQconnectdb(where);
    result = PQexec(pg, "SELECT pid FROM pg_stat_activity"
                        " WHERE application_name = 'clew'");
    for (int i = 0; i < PQntuples(result); i++) {
        unsigned long user = 0;
        unsigned long system = 0;
        char path[64];
        FILE *file;

        (void)snprintf(path, sizeof(path), "/proc/%s/stat",
                       PQgetvalue(result, i, 0));
        file = fopen(path, "r");
        if (file && fscanf(file,
                           "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u"
                           " %*u %*u %lu %lu",
                           &user, &system) == 2) {
            total += (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
        }
        if (file) {
            (void)fclose(file);
        }
    }
    PQclear(result);
    PQfinish(pg);
    return total;
}

static void add_turns(uint64_t first, uint64_t count)
{
    static struct capture_input inputs[BATCH];
    static struct capture_result results[BATCH];
    static char users[BATCH][24];
    struct clew_error err = {0};

    for (uint64_t at = first; at < first + count; at += BATCH) {
        struct buf texts[BATCH];
        struct arena arena;

        memset(inputs, 0, sizeof(inputs));
        for (uint64_t i = 0; i < BATCH; i++) {
            buf_init(&texts[i], 65536);
            talk_turn(&texts[i], at + i);
            /* ten users share the tenant, one has a hundredth of it */
            (void)snprintf(users[i], sizeof(users[i]), "user%d",
                           (at + i) % 100 == 0 ? 99 : (int)((at / BATCH) % 10));
            inputs[i].user_id = str_of(users[i]);
            inputs[i].role = TURN_USER;
            inputs[i].content.text = (struct str){texts[i].data, texts[i].len};
            inputs[i].channel = STR("api");
            inputs[i].created_at_ms =
                1700000000000LL + (int64_t)(at + i) * 1000;
        }
        arena_init(&arena, (size_t)1 << 30);
        must(
            capture_turns(engine, &scope, &arena, inputs, BATCH, results, &err),
            &err);
        arena_release(&arena);
        for (uint64_t i = 0; i < BATCH; i++) {
            buf_release(&texts[i]);
        }
    }
}

/* What a request leaves of the tenant. */
static const struct {
    const char *name;
    const char *user; /* NULL: all */
    bool is_recent;   /* only the newest hundredth */
} reaches[3] = {{"whole tenant", NULL, false},
                {"a user with a tenth", "user3", false},
                {"the newest hundredth", NULL, true}};

static struct answer ask(uint64_t n, int reach)
{
    struct search_query query = {.kinds = RECALL_TURN,
                                 .limit = TOP,
                                 .since_ms = reaches[reach].is_recent
                                                 ? 1700000000000LL +
                                                       (int64_t)(n_turns * 990)
                                                 : INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = INT64_MAX};
    struct search_result result;
    struct clew_error err = {0};
    struct answer answer = {.count = 0};
    struct arena arena;
    struct buf text;

    buf_init(&text, 65536);
    talk_question(&text, n, n_turns, " ");
    arena_init(&arena, (size_t)1 << 30);
    query.query = (struct str){text.data, text.len};
    query.user_id = reaches[reach].user ? str_of(reaches[reach].user) : STR("");
    must(search_run(engine, &scope, &arena, &query, &result, &err), &err);
    for (size_t i = 0; i < result.count && i < TOP; i++) {
        answer.ids[answer.count++] = result.hits[i].item.id;
    }
    arena_release(&arena);
    buf_release(&text);
    return answer;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void ask_all(int reach, const char *how, struct answer *out)
{
    double ms[N_QUESTIONS];
    double cpu = cpu_seconds();
    char what[96];

    for (uint64_t i = 0; i < N_QUESTIONS; i++) {
        int64_t start = clock_mono_ns();

        out[i] = ask(i, reach);
        ms[i] = seconds_since(start) * 1e3;
    }
    cpu = (cpu_seconds() - cpu) * 1e3 / N_QUESTIONS;
    qsort(ms, N_QUESTIONS, sizeof(ms[0]), by_value);
    (void)snprintf(what, sizeof(what), "%s, %s, p50", reaches[reach].name, how);
    line(what, ms[N_QUESTIONS / 2], "ms");
    (void)snprintf(what, sizeof(what), "%s, %s, p99", reaches[reach].name, how);
    line(what, ms[N_QUESTIONS * 99 / 100], "ms");
    (void)snprintf(what, sizeof(what), "%s, %s, processor", reaches[reach].name,
                   how);
    line(what, cpu, "ms");
}

static void compare(int reach, const struct answer *after)
{
    size_t n_shared = 0;
    size_t n_first = 0;
    size_t n_all = 0;
    char what[96];

    for (int i = 0; i < N_QUESTIONS; i++) {
        const struct answer *a = &before[reach][i];

        for (size_t k = 0; k < a->count; k++) {
            for (size_t j = 0; j < after[i].count; j++) {
                n_shared += uuid_eq(&a->ids[k], &after[i].ids[j]);
            }
        }
        n_all += a->count;
        n_first += a->count > 0 && after[i].count > 0 &&
                   uuid_eq(&a->ids[0], &after[i].ids[0]);
    }
    (void)snprintf(what, sizeof(what), "%s, top ten that agree",
                   reaches[reach].name);
    line(what, (double)n_shared / (double)n_all, "");
    (void)snprintf(what, sizeof(what), "%s, same first", reaches[reach].name);
    line(what, (double)n_first / N_QUESTIONS, "");
}

static void show_memory(const char *how)
{
    struct index_stats stats;
    char what[96];

    if (index_stats_get(engine->indexes, scope.tenant, &stats) == CLEW_OK) {
        (void)snprintf(what, sizeof(what), "index in the process, %s", how);
        line(what,
             (double)(stats.heap_bytes + stats.mapped_bytes) /
                 (double)stats.n_docs,
             "bytes a turn");
        (void)snprintf(what, sizeof(what), "documents without vectors, %s",
                       how);
        line(what, (double)stats.n_bare, "");
    }
}

/* All there is to do, until no task is left. */
static void work(void)
{
    struct clew_error err = {0};
    size_t n = 0;

    do {
        upkeep_round(engine, NULL, true);
        must(worker_run_due(engine, 100, &n, &err), &err);
    } while (n > 0);
    for (int i = 0; i < 4; i++) {
        upkeep_round(engine, NULL, true);
    }
}

static bool make_extension(void)
{
    char where[512];
    PGconn *pg;
    PGresult *result;
    bool is_ok;

    pg_admin_url(url, where, sizeof(where));
    pg = PQconnectdb(where);
    result = PQexec(pg, "CREATE EXTENSION vector");
    is_ok = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    PQfinish(pg);
    return is_ok;
}

/* What is forgotten leaves the graph's pages as well: they are read. */
static void forget_one(void)
{
    struct answer answer = ask(0, 0);
    struct forget_input input = {.turn_ids = answer.ids, .n_turn_ids = 1};
    struct forget_receipt receipt;
    struct clew_error err = {0};
    struct arena arena;
    int64_t start = clock_mono_ns();

    arena_init(&arena, (size_t)1 << 30);
    must(forget_run(engine, &scope, &arena, &input, &receipt, &err), &err);
    line("a turn forgotten and scrubbed in", seconds_since(start), "s");
    arena_release(&arena);
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    static const struct config_flag flags[] = {{"index.pgvector", "on"},
                                               {"capture.observe", "false"}};
    static struct answer after[N_QUESTIONS];
    char folder[] = "/tmp/clew-bench-XXXXXX";
    struct config *config = NULL;
    struct clew_error err = {0};
    double cpu;
    int64_t start;

    n_turns = argc > 1 ? strtoull(argv[1], NULL, 10) / BATCH * BATCH : n_turns;
    (void)setenv("CLEW_TEST_PG_BUFFERS", "1GB", 0); /* as it would have */
    pg_start();
    pg_new_database(url, sizeof(url));
    if (!make_extension()) {
        printf("this PostgreSQL has no pgvector: nothing to measure\n");
        return 0;
    }
    talk_init();
    if (!mkdtemp(folder)) {
        return 1;
    }
    must(config_load(NULL, flags, 2, &config, &err), &err);
    must(engine_open(&(struct engine_options){.config = config,
                                              .data_dir = folder,
                                              .store_url = url},
                     &engine, &err),
         &err);
    must(engine_tenant(engine, "one", &scope, &err), &err);
    start = clock_mono_ns();
    add_turns(0, n_turns);
    line("turns stored", (double)n_turns / seconds_since(start), "a second");
    (void)ask(0, 0); /* reads the index */
    for (int i = 0; i < 3; i++) {
        ask_all(i, "in the process", before[i]);
    }
    show_memory("with vectors");
    start = clock_mono_ns();
    work();
    line("rows put in and graphs made in", seconds_since(start), "s");
    show_memory("with a graph");
    for (int i = 0; i < 3; i++) {
        ask_all(i, "by the graph", after);
        compare(i, after);
    }
    start = clock_mono_ns();
    add_turns(n_turns, N_LATER);
    line("turns stored later", N_LATER / seconds_since(start), "a second");
    start = clock_mono_ns();
    cpu = cpu_seconds();
    work();
    line("each of them put into the graph in",
         seconds_since(start) * 1e3 / N_LATER, "ms");
    line("each of them put into the graph, processor",
         (cpu_seconds() - cpu) * 1e3 / N_LATER, "ms");
    forget_one();
    engine_close(engine);
    config_free(config);
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
