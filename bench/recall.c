/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.c - how fast recall is at 10,000, 100,000 and a million turns of one
 * user, and what it gives up for that.
 *
 *     CLEW_BIN=build/clew bench_recall [TURNS...]   a million: BENCH_LARGE=1
 *     bench_recall dump FOLDER TURNS    the turns and questions as files
 *
 * The real server on a folder of its own, asked over a connection that is kept
 * open; beside it, in the same run and on the same turns, a bare FTS5 bm25()
 * query for the same words and an exact scan of the same vectors as float32
 * by sqlite-vec (SQLITE_VEC names its library, see tools/run-benches). The
 * quantised ranking is held against the exact one. Times are of the wall; the
 * server's CPU time tells them from the load of the machine. Rules read the
 * turns, before anything is asked; of more than 10,000 only the log is kept.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "index/doc.h"
#include "model/embed.h"
#include "recall/recall.h"
#include "support/bandwidth.h"
#include "support/child.h"
#include "support/crowd.h"
#include "support/figure.h"
#include "support/rows.h"
#include "support/talk.h"
#include "vec/vec.h"

#include <ftw.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH = 500,
    N_QUESTIONS = 200,
    N_EXACT = 50, /* questions whose exact top ten is computed */
    TOP = 10,
    MAX_SIZES = 16,
    ASK_SECONDS = 3,
    MAX_READ = 10000 /* more turns are not read: that takes minutes */
};

struct bench {
    uint64_t n_turns;
    size_t dim;
    char folder[64];
    struct child child;
    float *vectors;
    struct index_set *set; /* the vectors alone, in this process */
    sqlite3 *db;           /* FTS5, and vec0 if there is one */
    bool has_vec;
};

static struct {
    uint64_t n_turns;
    double p50_ms;
} results[MAX_SIZES];
static int n_results;

static void must(bool is_ok, const char *what)
{
    if (!is_ok) {
        bench_die(what);
    }
}

static void must_sql(sqlite3 *db, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        (void)fprintf(stderr, "bench: sqlite: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

static void line(const struct bench *bench, const char *what, double value,
                 const char *unit, const char *note)
{
    printf("%8llu  %-44s %10.3f %-6s %s\n", (unsigned long long)bench->n_turns,
           what, value, unit, note);
    (void)fflush(stdout);
}

static const char *judge(bool is_met, const char *aim)
{
    static char text[64];

    (void)snprintf(text, sizeof(text), "%s (aim %s)", is_met ? "ok" : "MISSED",
                   aim);
    return text;
}

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* p50 in milliseconds; both are printed and told to the table. */
static double show_times(const struct bench *bench, const char *what,
                         int64_t *times, const char *note, const char *aim)
{
    char title[64];
    double p50;
    double p99;

    qsort(times, N_QUESTIONS, sizeof(*times), compare_times);
    p50 = (double)times[N_QUESTIONS / 2] / 1e6;
    p99 = (double)times[N_QUESTIONS * 99 / 100] / 1e6;
    (void)snprintf(title, sizeof(title), "%s, p50", what);
    line(bench, title, p50, "ms", note);
    figure_of(title, bench->n_turns, p50, "ms", aim);
    (void)snprintf(title, sizeof(title), "%s, p99", what);
    line(bench, title, p99, "ms", "");
    if (aim) { /* what is ours */
        (void)snprintf(title, sizeof(title), "  its p99 / p50");
        figure_of(title, bench->n_turns, p99 / p50, "x", "<= 5");
    }
    return p50;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

/* --- turns into the server, and into what it is held against --- */

/* A batch of turns. */
struct load {
    struct buf bytes;
    struct buf body;
    struct str texts[BATCH];
};

static void new_chat(struct link *link, char out[40])
{
    const char *at;

    link_call(link, "POST", "/api/v1/chats", STR("{\"user_id\":\"ada\"}"));
    at = memmem(link->body.s, link->body.len, "\"id\":\"", 6);
    must(at != NULL, "no chat id in the answer");
    memcpy(out, at + 6, 36);
    out[36] = '\0';
}

static void fill_load(struct load *load, struct link *link, uint64_t first)
{
    static char chat[40];
    size_t starts[BATCH + 1];

    buf_clear(&load->bytes);
    buf_clear(&load->body);
    for (int i = 0; i < BATCH; i++) {
        starts[i] = load->bytes.len;
        talk_turn(&load->bytes, first + (uint64_t)i);
    }
    starts[BATCH] = load->bytes.len;
    buf_append_cstr(&load->body, "{\"turns\":[");
    for (int i = 0; i < BATCH; i++) {
        load->texts[i] =
            str_sub(buf_str(&load->bytes), starts[i], starts[i + 1]);
        if ((first + (uint64_t)i) % TALK_CHAT_TURNS == 0) {
            new_chat(link, chat);
        }
        buf_printf(&load->body,
                   "%s{\"user_id\":\"ada\",\"chat_id\":\"%s\",\"role\":\"%s\","
                   "\"content\":\"%.*s\"}",
                   i ? "," : "", chat, i % 2 ? "assistant" : "user",
                   (int)load->texts[i].len, load->texts[i].s);
    }
    buf_append_cstr(&load->body, "]}");
    must(buf_status(&load->body) == CLEW_OK, "out of memory");
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    must_sql(db, sqlite3_prepare_v2(db, sql, -1, &stmt, NULL));
    return stmt;
}

static void open_peers(struct bench *bench)
{
    const char *library = getenv("SQLITE_VEC");
    char sql[128];

    must_sql(NULL, sqlite3_open(":memory:", &bench->db));
    must_sql(bench->db,
             sqlite3_exec(bench->db,
                          "CREATE VIRTUAL TABLE t USING fts5(body, content='',"
                          " tokenize='unicode61')",
                          NULL, NULL, NULL));
    if (library && *library) {
        must_sql(bench->db,
                 sqlite3_db_config(bench->db,
                                   SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1,
                                   NULL));
        must_sql(bench->db, sqlite3_load_extension(bench->db, library,
                                                   "sqlite3_vec_init", NULL));
        (void)snprintf(sql, sizeof(sql),
                       "CREATE VIRTUAL TABLE v USING vec0(x float[%zu])",
                       bench->dim);
        must_sql(bench->db, sqlite3_exec(bench->db, sql, NULL, NULL, NULL));
        bench->has_vec = true;
    }
}

static void tell_peers(struct bench *bench, uint64_t first,
                       const struct load *load)
{
    static sqlite3_stmt *words;
    static sqlite3_stmt *vectors;
    static sqlite3 *db;

    if (db != bench->db) { /* another size */
        db = bench->db;
        words = prepare(db, "INSERT INTO t (rowid, body) VALUES (?, ?)");
        vectors = bench->has_vec
                      ? prepare(db, "INSERT INTO v (rowid, x) VALUES (?, ?)")
                      : NULL;
    }
    must_sql(db, sqlite3_exec(db, "BEGIN", NULL, NULL, NULL));
    for (uint64_t i = 0; i < BATCH; i++) {
        sqlite3_int64 row = (sqlite3_int64)(first + i);

        (void)sqlite3_bind_int64(words, 1, row);
        (void)sqlite3_bind_text(words, 2, load->texts[i].s,
                                (int)load->texts[i].len, SQLITE_STATIC);
        must_sql(db, sqlite3_step(words));
        (void)sqlite3_reset(words);
        if (vectors) {
            (void)sqlite3_bind_int64(vectors, 1, row);
            (void)sqlite3_bind_blob(
                vectors, 2, bench->vectors + (first + i) * bench->dim,
                (int)(bench->dim * sizeof(float)), SQLITE_STATIC);
            must_sql(db, sqlite3_step(vectors));
            (void)sqlite3_reset(vectors);
        }
    }
    must_sql(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    if (first + BATCH >= bench->n_turns) {
        (void)sqlite3_finalize(words);
        (void)sqlite3_finalize(vectors);
        db = NULL;
    }
}

/* What recall adds to a turn: analysis, vector, index; CPU nanoseconds. */
static int64_t index_load(struct bench *bench, uint64_t first,
                          const struct load *load)
{
    static struct index_doc docs[BATCH];
    int64_t start = thread_cpu_ns();
    struct uuid nil = {{0}};
    struct clew_error err;
    struct arena arena;

    arena_init(&arena, (size_t)1 << 28);
    for (uint64_t i = 0; i < BATCH; i++) {
        struct analysis_options options = {.time_ms = (int64_t)(first + i)};
        uint64_t n = first + i;
        struct analysis analysis;

        memset(&docs[i], 0, sizeof(docs[i]));
        must(analysis_run(&arena, load->texts[i], &options, &analysis, &err) ==
                     CLEW_OK &&
                 doc_fill(&arena, &analysis, options.speaker, &docs[i], &err) ==
                     CLEW_OK &&
                 embed_run(embed_static(), &load->texts[i], 1,
                           bench->vectors + n * bench->dim, &err) == CLEW_OK,
             "could not analyse a turn");
        docs[i].kind = INDEX_MEMORY; /* no neighbours: vectors alone rank */
        docs[i].id = uuid_derive((int64_t)n, &nil, "turn", n);
        docs[i].user = STR("ada");
        docs[i].created_at_ms = (int64_t)n;
        docs[i].seq = (int64_t)n;
        docs[i].change_seq = (int64_t)n + 1;
        docs[i].vector = bench->vectors + n * bench->dim;
    }
    must(index_offer(bench->set, 1, (int64_t)first, (int64_t)first + BATCH,
                     docs, BATCH, &err) == CLEW_OK,
         "could not index");
    arena_release(&arena);
    return thread_cpu_ns() - start;
}

static void ingest(struct bench *bench)
{
    static struct load load;
    struct plain *plain;
    struct link link;
    char path[96];
    int64_t http_ns = 0;
    int64_t recall_ns = 0;
    int64_t plain_ns = 0;
    int64_t cpu_us;
    double n = (double)bench->n_turns;

    buf_init(&load.bytes, 1u << 24);
    buf_init(&load.body, 1u << 24);
    (void)snprintf(path, sizeof(path), "%s/plain.db", bench->folder);
    plain = plain_open(path);
    link_open(&link, bench->child.port);
    cpu_us = child_cpu_us(&bench->child);
    for (uint64_t at = 0; at < bench->n_turns; at += BATCH) {
        int64_t start;

        fill_load(&load, &link, at);
        start = clock_mono_ns();
        link_call(&link, "POST", "/api/v1/turns", buf_str(&load.body));
        http_ns += clock_mono_ns() - start;
        recall_ns += index_load(bench, at, &load);
        start = thread_cpu_ns();
        plain_insert(plain, at, load.texts, BATCH);
        plain_ns += thread_cpu_ns() - start;
        tell_peers(bench, at, &load);
    }
    cpu_us = child_cpu_us(&bench->child) - cpu_us;
    line(bench, "ingest over HTTP in batches of 500", n * 1e9 / (double)http_ns,
         "/s", "");
    line(bench, "  CPU of the server a turn", (double)cpu_us / n, "us",
         "chats, topics, links and memories included");
    line(bench, "  of it recall: analyse, embed, index",
         (double)recall_ns / 1e3 / n, "us", "measured alone, in this process");
    line(bench, "  plain SQLite rows + FTS5, CPU a turn",
         (double)plain_ns / 1e3 / n, "us", "");
    line(bench, "  rows and recall, CPU: turns a second on a core",
         n * 1e9 / (double)(recall_ns + plain_ns), "/s",
         judge(n * 1e9 / (double)(recall_ns + plain_ns) >= 5000, ">= 5000"));
    line(bench, "  rows and recall / rows",
         (double)(recall_ns + plain_ns) / (double)plain_ns, "x", "");
    link_close(&link);
    plain_close(plain);
    buf_release(&load.bytes);
    buf_release(&load.body);
}

/* --- questions --- */

static void question_body(const void *arg, int client, uint64_t n,
                          struct buf *out)
{
    const struct bench *bench = arg;

    buf_append_cstr(out, "{\"user_id\":\"ada\",\"query\":\"");
    talk_question(out, (uint64_t)client + n, bench->n_turns, " ");
    buf_append_cstr(out, "\",\"fast\":true,\"limit\":10}");
}

/* Many clients at once against one. */
static void ask_many(const struct bench *bench)
{
    struct crowd crowd = {.child = &bench->child,
                          .path = "/api/v1/recall",
                          .body = question_body,
                          .arg = bench,
                          .n_clients = 1,
                          .seconds = ASK_SECONDS};
    double one = crowd_run(&crowd).rate;
    double many;

    crowd.n_clients = CROWD_MAX;
    many = crowd_run(&crowd).rate;
    line(bench, "recalls a second, 1 client", one, "/s", "");
    line(bench, "recalls a second, 64 clients / 1 client", many / one, "x",
         "aim >= 8 on 16 cores");
    figure_of("recall, 64 clients against 1", bench->n_turns, many / one, "x",
              sysconf(_SC_NPROCESSORS_ONLN) >= 16 ? ">= 8" : NULL);
}

static void ask_server(struct bench *bench)
{
    static const struct {
        uint64_t n_turns;
        const char *aim;
    } aims[] = {{10000, "<= 0.4"}, {100000, "<= 0.8"}, {1000000, "<= 8"}};
    const char *aim = "";
    int64_t times[N_QUESTIONS];
    struct buf body;
    struct link link;
    int64_t cpu_us = 0;

    buf_init(&body, 4096);
    link_open(&link, bench->child.port);
    for (int round = 0; round < 2; round++) { /* the first one warms up */
        cpu_us = child_cpu_us(&bench->child);
        for (uint64_t i = 0; i < N_QUESTIONS; i++) {
            int64_t start;

            buf_clear(&body);
            question_body(bench, 0, i, &body);
            start = clock_mono_ns();
            link_call(&link, "POST", "/api/v1/recall", buf_str(&body));
            times[i] = clock_mono_ns() - start;
        }
        cpu_us = child_cpu_us(&bench->child) - cpu_us;
    }
    for (size_t i = 0; i < sizeof(aims) / sizeof(aims[0]); i++) {
        aim = aims[i].n_turns == bench->n_turns ? aims[i].aim : aim;
    }
    results[n_results].n_turns = bench->n_turns;
    results[n_results++].p50_ms =
        show_times(bench, "recall (fast) over HTTP", times, aim, aim);
    line(bench, "  CPU of the server a recall",
         (double)cpu_us / 1e3 / N_QUESTIONS, "ms", "");
    link_close(&link);
    buf_release(&body);
}

static void ask_fts(const struct bench *bench)
{
    sqlite3_stmt *stmt = prepare(bench->db, "SELECT rowid FROM t WHERE t MATCH "
                                            "? ORDER BY bm25(t) LIMIT 10");
    int64_t times[N_QUESTIONS];
    struct buf words;

    buf_init(&words, 4096);
    for (uint64_t i = 0; i < N_QUESTIONS; i++) {
        int64_t start;

        buf_clear(&words);
        talk_question(&words, i, bench->n_turns, " OR ");
        start = clock_mono_ns();
        (void)sqlite3_bind_text(stmt, 1, words.data, (int)words.len,
                                SQLITE_STATIC);
        while (sqlite3_step(stmt) == SQLITE_ROW) {
        }
        (void)sqlite3_reset(stmt);
        times[i] = clock_mono_ns() - start;
    }
    (void)sqlite3_finalize(stmt);
    buf_release(&words);
    (void)show_times(bench, "FTS5 bm25(), the same words", times, "in process",
                     NULL);
}

static void embed_question(const struct bench *bench, uint64_t n, float *out)
{
    struct buf words;
    struct str text;

    buf_init(&words, 4096);
    talk_question(&words, n, bench->n_turns, " ");
    text = buf_str(&words);
    must(embed_run(embed_static(), &text, 1, out, NULL) == CLEW_OK,
         "could not embed a question");
    buf_release(&words);
}

static void ask_vec(const struct bench *bench)
{
    sqlite3_stmt *stmt;
    int64_t times[N_QUESTIONS];
    float *query = calloc(bench->dim, sizeof(*query));

    if (!bench->has_vec) {
        printf("%8llu  sqlite-vec is not there (SQLITE_VEC): left out\n",
               (unsigned long long)bench->n_turns);
        free(query);
        return;
    }
    must(query != NULL, "out of memory");
    stmt = prepare(bench->db, "SELECT rowid FROM v WHERE x MATCH ? AND k = 10");
    for (uint64_t i = 0; i < N_QUESTIONS; i++) {
        int64_t start;

        /* a scan takes as long whatever is asked */
        if (i >= 20 && bench->n_turns > 50000) {
            times[i] = times[i % 20];
            continue;
        }
        embed_question(bench, i, query);
        start = clock_mono_ns();
        (void)sqlite3_bind_blob(
            stmt, 1, query, (int)(bench->dim * sizeof(float)), SQLITE_STATIC);
        while (sqlite3_step(stmt) == SQLITE_ROW) {
        }
        (void)sqlite3_reset(stmt);
        times[i] = clock_mono_ns() - start;
    }
    (void)sqlite3_finalize(stmt);
    free(query);
    (void)show_times(bench, "sqlite-vec, exact float32", times, "in process",
                     NULL);
}

/* --- what quantising gives up --- */

/* The exact best ten, by float32. */
static void exact_top(const struct bench *bench, const float *query,
                      uint64_t out[TOP])
{
    float best[TOP];

    for (int k = 0; k < TOP; k++) {
        best[k] = -INFINITY;
    }
    for (uint64_t i = 0; i < bench->n_turns; i++) {
        const float *row = bench->vectors + i * bench->dim;
        float sum = 0;
        int k = TOP;

        for (size_t d = 0; d < bench->dim; d++) {
            sum += query[d] * row[d];
        }
        while (k > 0 && sum > best[k - 1]) {
            k--;
        }
        if (k < TOP) {
            memmove(best + k + 1, best + k,
                    (size_t)(TOP - 1 - k) * sizeof(*best));
            memmove(out + k + 1, out + k, (size_t)(TOP - 1 - k) * sizeof(*out));
            best[k] = sum;
            out[k] = i;
        }
    }
}

/* The query of the moment, for an embedder that knows no text. */
static const float *given;
static size_t given_dim;

static enum clew_status run_given(struct embedder *embedder,
                                  const struct str *texts, size_t count,
                                  float *out, struct clew_error *err)
{
    (void)embedder;
    (void)texts;
    (void)count;
    (void)err;
    memcpy(out, given, given_dim * sizeof(*out));
    return CLEW_OK;
}

static void agreement(const struct bench *bench)
{
    static const struct embedder_ops ops = {"given", run_given, NULL, NULL};
    struct embedder embedder = {.ops = &ops, .id = "given", .dim = bench->dim};
    struct recall_request request = {.query = STR(""),
                                     .user = STR("ada"),
                                     .kinds = RECALL_MEMORY,
                                     .limit = TOP,
                                     .since_ms = INT64_MIN,
                                     .until_ms = INT64_MAX,
                                     .at_ms = INT64_MAX / 4};
    float *query = calloc(bench->dim, sizeof(*query));
    struct arena arena;
    size_t n_same = 0;

    must(query != NULL, "out of memory");
    given = query;
    given_dim = bench->dim;
    arena_init(&arena, (size_t)1 << 30);
    for (uint64_t i = 0; i < N_EXACT; i++) {
        struct uuid nil = {{0}};
        struct recall_result result;
        struct index_view *view;
        uint64_t exact[TOP] = {0};

        arena_clear(&arena);
        embed_question(bench, i, query);
        exact_top(bench, query, exact);
        must(index_view_open(bench->set, 1, &view, NULL) == CLEW_OK &&
                 recall_run(view, &embedder, &arena, &request, &result, NULL) ==
                     CLEW_OK,
             "could not rank");
        for (size_t k = 0; k < result.count; k++) {
            for (int e = 0; e < TOP; e++) {
                struct uuid id =
                    uuid_derive((int64_t)exact[e], &nil, "turn", exact[e]);

                n_same += uuid_eq(&id, &result.items[k].id);
            }
        }
        index_view_close(view);
    }
    line(bench, "1-bit and int8 vectors, of the exact top ten",
         (double)n_same / (N_EXACT * TOP), "",
         judge(n_same >= N_EXACT * TOP * 99 / 100, ">= .99"));
    arena_release(&arena);
    free(query);
}

/* --- one size after another --- */

static enum clew_status latest(void *arg, int64_t tenant, int64_t *out,
                               struct clew_error *err)
{
    (void)arg;
    (void)tenant;
    (void)err;
    *out = 0; /* everything is offered */
    return CLEW_OK;
}

static enum clew_status load_none(void *arg, int64_t tenant, int64_t after,
                                  size_t max, struct arena *arena,
                                  struct index_doc **out_docs,
                                  size_t *out_count, int64_t *out_through,
                                  struct clew_error *err)
{
    (void)arg;
    (void)tenant;
    (void)after;
    (void)max;
    (void)arena;
    (void)out_docs;
    (void)out_count;
    (void)out_through;
    return clew_fail(err, CLEW_INTERNAL, "the index lost what it was given");
}

static void run_size(uint64_t n_turns)
{
    static float centre[EMBED_MAX_DIM];
    struct bench bench = {.n_turns = n_turns,
                          .dim = embed_static()->dim,
                          .folder = "/tmp/clew-bench-XXXXXX"};
    struct index_options options = {.model = "bench",
                                    .dim = bench.dim,
                                    .centre = centre,
                                    .ram_bytes = (size_t)8 << 30,
                                    .source = {NULL, latest, load_none, NULL}};
    struct index_view *view = NULL;
    struct clew_error err;

    must(embed_centre(embed_static(), centre), "no centre");
    must(mkdtemp(bench.folder) != NULL, "could not make a folder");
    bench.vectors = calloc(n_turns * bench.dim, sizeof(*bench.vectors));
    must(bench.vectors != NULL &&
             index_set_open(&options, &bench.set, &err) == CLEW_OK &&
             index_view_open(bench.set, 1, &view, &err) == CLEW_OK,
         "could not make an index");
    index_view_close(view);
    (void)setenv("CLEW_CAPTURE_OBSERVE", n_turns > MAX_READ ? "false" : "true",
                 1);
    child_start(&bench.child, bench.folder, NULL);
    open_peers(&bench);
    ingest(&bench);
    child_wait_read(&bench.child);
    ask_server(&bench);
    ask_many(&bench);
    ask_fts(&bench);
    ask_vec(&bench);
    agreement(&bench);
    line(&bench, "server, resident memory",
         (double)child_rss_kb(&bench.child) / 1e3, "MB", "");
    figure_of("private memory of the server", n_turns,
              (double)child_private_kb(&bench.child) / 1e3, "MB", "<= 120");
    child_stop(&bench.child);
    (void)sqlite3_close(bench.db);
    index_set_close(bench.set);
    free(bench.vectors);
    (void)nftw(bench.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void growth(void)
{
    for (int i = 1; i < n_results; i++) {
        printf("from %llu to %llu turns: %.0f times as many, %.1f times as "
               "long\n",
               (unsigned long long)results[0].n_turns,
               (unsigned long long)results[i].n_turns,
               (double)results[i].n_turns / (double)results[0].n_turns,
               results[i].p50_ms / results[0].p50_ms);
    }
}

int main(int argc, char **argv)
{
    talk_init();
    if (argc == 4 && strcmp(argv[1], "dump") == 0) {
        talk_dump(argv[2], strtoull(argv[3], NULL, 10), N_QUESTIONS);
        return 0;
    }
    /* what the trained reader takes is told by bench_reader */
    (void)setenv("CLEW_READER_ON", "false", 1);
    bandwidth();
    for (int i = 1; i < argc && i <= MAX_SIZES; i++) {
        uint64_t n = strtoull(argv[i], NULL, 10);

        run_size(n < BATCH ? BATCH : n / BATCH * BATCH);
    }
    if (argc < 2) {
        run_size(10000);
        run_size(100000);
        if (getenv("BENCH_LARGE")) {
            run_size(1000000);
        } else {
            printf("a million turns: with BENCH_LARGE=1\n");
        }
    }
    growth();
    return 0;
}
