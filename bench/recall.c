/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.c - how fast recall is at 10 k, 100 k and 1 M turns of one user.
 *
 *     bench_recall [TURNS...]
 *
 * Made-up turns: words drawn by Zipf's law, chats of 20 turns, vectors around
 * 2,000 centres. Beside each figure, in the same run, the same words through a
 * bare FTS5 bm25() query, and the memory bandwidth the vector scans reach.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/rand.h"
#include "engine/recall.h"
#include "index/index.h"
#include "model/embed.h"
#include "text/token.h"
#include "vec/vec.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DIM = 256,
    N_WORDS = 100000,
    N_CENTRES = 2000,
    TURN_WORDS = 14,
    CHAT_TURNS = 20,
    BATCH = 1000,
    N_QUERIES = 200,
    QUERY_WORDS = 5
};

static char words[N_WORDS][12];
static uint64_t hashes[N_WORDS];
static double cumulative[N_WORDS];
static float *centres;
static uint64_t state = 88172645463325252ull;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double uniform(void)
{
    return (double)(next_random() >> 11) / 9007199254740992.0;
}

static int draw_word(void)
{
    double at = uniform() * cumulative[N_WORDS - 1];
    int low = 0;
    int high = N_WORDS - 1;

    while (low < high) {
        int middle = (low + high) / 2;

        if (cumulative[middle] < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void make_words(void)
{
    struct arena arena;
    double sum = 0;

    arena_init(&arena, 1u << 24);
    for (int i = 0; i < N_WORDS; i++) {
        struct tokens tokens;
        struct str *terms;
        size_t count = 0;
        int n = i;

        /* no vowels: no stop word, no stem */
        words[i][0] = 'x';
        for (int k = 1; k < 6; k++, n /= 16) {
            words[i][k] = "bcdfghjklmnpqrtv"[n % 16];
        }
        arena_clear(&arena);
        if (tokens_of(&arena, str_of(words[i]), &tokens) != CLEW_OK ||
            terms_of(&arena, &tokens, &terms, &count) != CLEW_OK ||
            count != 1) {
            (void)fprintf(stderr, "bad word %s\n", words[i]);
            exit(2);
        }
        hashes[i] = index_term_hash(terms[0]);
        sum += 1 / pow(i + 20, 1.05);
        cumulative[i] = sum;
    }
    arena_release(&arena);
}

static void make_vector(float *out)
{
    const float *centre = centres + next_random() % N_CENTRES * DIM;
    float norm = 0;

    for (int i = 0; i < DIM; i++) {
        out[i] = centre[i] + (float)(uniform() + uniform() - 1) * 2;
        norm += out[i] * out[i];
    }
    norm = 1 / sqrtf(norm);
    for (int i = 0; i < DIM; i++) {
        out[i] *= norm;
    }
}

static enum clew_status fake_run(struct embedder *embedder,
                                 const struct str *texts, size_t count,
                                 float *out, struct clew_error *err)
{
    (void)embedder;
    (void)texts;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        make_vector(out + i * DIM);
    }
    return CLEW_OK;
}

static const struct embedder_ops fake_ops = {"fake", fake_run, NULL};
static struct embedder fake = {&fake_ops, "fake", DIM};

static int64_t offered;

static enum clew_status latest(void *arg, int64_t tenant, int64_t *out,
                               struct clew_error *err)
{
    (void)arg;
    (void)tenant;
    (void)err;
    *out = offered;
    return CLEW_OK;
}

static enum clew_status load(void *arg, int64_t tenant, int64_t after,
                             size_t max, struct arena *arena,
                             struct index_doc **out_docs, size_t *out_count,
                             int64_t *out_through, struct clew_error *err)
{
    (void)arg;
    (void)tenant;
    (void)max;
    (void)arena;
    (void)out_docs;
    (void)out_count;
    *out_through = after;
    return clew_fail(err, CLEW_INTERNAL, "the index lost what it was given");
}

static void must(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(2);
    }
}

struct batch {
    struct index_doc docs[BATCH];
    struct index_term terms[BATCH][TURN_WORDS];
    float vectors[BATCH][DIM];
    char text[BATCH][TURN_WORDS * 8];
};

static void fill_batch(struct batch *b, int64_t first)
{
    for (int i = 0; i < BATCH; i++) {
        struct index_doc *doc = &b->docs[i];
        int64_t n = first + i;
        struct uuid nil = {{0}};
        size_t len = 0;

        memset(doc, 0, sizeof(*doc));
        doc->id = uuid_derive(n * 1000, &nil, "turn", (uint64_t)n);
        doc->chat = uuid_derive(n / CHAT_TURNS * CHAT_TURNS * 1000, &nil,
                                "chat", (uint64_t)(n / CHAT_TURNS));
        doc->user = STR("someone");
        doc->seq = n % CHAT_TURNS;
        doc->created_at_ms = n * 1000;
        doc->change_seq = n + 1;
        doc->length = TURN_WORDS;
        for (int k = 0; k < TURN_WORDS; k++) {
            int word = draw_word();
            size_t at = 0;

            while (at < doc->n_terms && b->terms[i][at].hash != hashes[word]) {
                at++;
            }
            b->terms[i][at].tf2 =
                at < doc->n_terms ? b->terms[i][at].tf2 + 2 : 2;
            b->terms[i][at].hash = hashes[word];
            doc->n_terms += at == doc->n_terms;
            len += (size_t)snprintf(b->text[i] + len, sizeof(b->text[i]) - len,
                                    "%s ", words[word]);
        }
        doc->terms = b->terms[i];
        make_vector(b->vectors[i]);
        doc->vector = b->vectors[i];
    }
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void show_times(const char *what, size_t n, int64_t *times)
{
    qsort(times, N_QUERIES, sizeof(*times), compare_times);
    printf("%9zu turns  %-22s p50 %8.3f ms  p99 %8.3f ms\n", n, what,
           (double)times[N_QUERIES / 2] / 1e6,
           (double)times[N_QUERIES * 99 / 100] / 1e6);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        (void)fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        exit(2);
    }
    return stmt;
}

static long resident_kb(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kb = 0;

    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "VmRSS: %ld", &kb) == 1) {
            break;
        }
    }
    if (file) {
        (void)fclose(file);
    }
    return kb;
}

static void make_query(char *text, size_t size, const char *between)
{
    size_t len = 0;

    for (int k = 0; k < QUERY_WORDS; k++) {
        len += (size_t)snprintf(text + len, size - len, "%s%s",
                                k ? between : "", words[draw_word()]);
    }
}

static void ask(struct index_set *set, size_t n, const char *what)
{
    int64_t times[N_QUERIES];
    struct clew_error err;
    struct arena arena;

    arena_init(&arena, (size_t)1 << 30);
    for (int i = 0; i < N_QUERIES; i++) {
        char text[128];
        struct recall_request request = {.user = STR("someone"),
                                         .kinds = RECALL_TURN,
                                         .limit = 10,
                                         .since_ms = INT64_MIN,
                                         .until_ms = INT64_MAX,
                                         .at_ms = INT64_MAX / 4};
        struct recall_result result;
        struct index_view *view;
        int64_t start;

        make_query(text, sizeof(text), " ");
        request.query = str_of(text);
        start = clock_mono_ns();
        must(index_view_open(set, 1, &view, &err), &err);
        must(recall_run(view, &fake, &arena, &request, &result, &err), &err);
        index_view_close(view);
        times[i] = clock_mono_ns() - start;
        arena_clear(&arena);
    }
    arena_release(&arena);
    show_times(what, n, times);
}

static void ask_fts(sqlite3 *db, size_t n)
{
    sqlite3_stmt *stmt = prepare(db, "SELECT rowid FROM t WHERE t MATCH ? "
                                     "ORDER BY bm25(t) LIMIT 10");
    int64_t times[N_QUERIES];

    for (int i = 0; i < N_QUERIES; i++) {
        char text[160];
        int64_t start;

        make_query(text, sizeof(text), " OR ");
        start = clock_mono_ns();
        sqlite3_bind_text(stmt, 1, text, -1, SQLITE_TRANSIENT);
        while (sqlite3_step(stmt) == SQLITE_ROW) {
        }
        sqlite3_reset(stmt);
        times[i] = clock_mono_ns() - start;
    }
    sqlite3_finalize(stmt);
    show_times("FTS5 bm25()", n, times);
}

static void feed(struct index_set *set, sqlite3 *db, size_t n)
{
    sqlite3_stmt *insert = prepare(db, "INSERT INTO t (body) VALUES (?)");
    struct batch *b = calloc(1, sizeof(*b));
    struct index_view *view;
    struct clew_error err;
    int64_t spent = 0;

    must(index_view_open(set, 1, &view, &err), &err);
    index_view_close(view);
    sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    for (size_t at = 0; at < n; at += BATCH) {
        bool more = true;
        int64_t start;

        fill_batch(b, (int64_t)at);
        start = clock_mono_ns();
        must(index_offer(set, 1, (int64_t)at, (int64_t)at + BATCH, b->docs,
                         BATCH, &err),
             &err);
        while (more) {
            must(index_maintain(set, 1, &more, &err), &err);
        }
        spent += clock_mono_ns() - start;
        for (int i = 0; i < BATCH; i++) {
            sqlite3_bind_text(insert, 1, b->text[i], -1, SQLITE_STATIC);
            (void)sqlite3_step(insert);
            sqlite3_reset(insert);
        }
        offered = (int64_t)at + BATCH;
    }
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_finalize(insert);
    free(b);
    printf("%9zu turns  indexed at %.0f a second\n", n,
           (double)n / ((double)spent / 1e9));
}

static void run_size(size_t n)
{
    char dir[] = "/tmp/clew-bench-XXXXXX";
    char command[64];
    struct index_options options = {
        .model = "fake", .dim = DIM, .source = {NULL, latest, load}};
    struct index_set *set;
    struct index_stats stats;
    struct clew_error err;
    sqlite3 *db;
    int64_t start;

    offered = 0;
    options.dir = mkdtemp(dir);
    if (!options.dir || sqlite3_open(":memory:", &db) != SQLITE_OK) {
        exit(2);
    }
    sqlite3_exec(db,
                 "CREATE VIRTUAL TABLE t USING fts5(body, content='', "
                 "tokenize='unicode61')",
                 NULL, NULL, NULL);
    must(index_set_open(&options, &set, &err), &err);
    feed(set, db, n);
    ask(set, n, "recall");
    ask(set, n, "recall, warm");
    ask_fts(db, n);
    index_set_close(set);
    sqlite3_close(db);

    must(index_set_open(&options, &set, &err), &err);
    long before = resident_kb();

    start = clock_mono_ns();
    struct index_view *view;

    must(index_view_open(set, 1, &view, &err), &err);
    index_view_close(view);
    printf("%9zu turns  opened in %.2f ms, %ld kB resident", n,
           (double)(clock_mono_ns() - start) / 1e6, resident_kb() - before);
    if (index_stats_get(set, 1, &stats) == CLEW_OK) {
        printf(", %.0f MB mapped, %d segments",
               (double)stats.mapped_bytes / 1e6, (int)stats.n_segments);
    }
    printf("\n");
    ask(set, n, "recall, after restart");
    index_set_close(set);
    (void)snprintf(command, sizeof(command), "rm -rf %s", dir);
    (void)!system(command);
}

static void show_bandwidth(void)
{
    size_t n = 1000000;
    int8_t *rows = malloc(n * DIM);
    int32_t *out = malloc(n * sizeof(*out));
    uint64_t planes[VEC_PLANES * DIM / 64];
    int8_t query[DIM];
    int64_t read_ns = INT64_MAX;
    int64_t i8_ns = INT64_MAX;
    int64_t bits_ns = INT64_MAX;

    memset(rows, 3, n * DIM);
    memset(query, 5, sizeof(query));
    memset(planes, 0x5a, sizeof(planes));
    for (int i = 0; i < 5; i++) {
        int64_t start = clock_mono_ns();
        uint64_t sum = 0;

        for (size_t k = 0; k < n * DIM / 8; k++) {
            sum += ((const uint64_t *)(const void *)rows)[k];
        }
        *(volatile uint64_t *)planes = sum;
        read_ns = clock_mono_ns() - start < read_ns ? clock_mono_ns() - start
                                                    : read_ns;
        start = clock_mono_ns();
        vec_ops()->scan_i8(query, rows, n, DIM, out);
        i8_ns =
            clock_mono_ns() - start < i8_ns ? clock_mono_ns() - start : i8_ns;
        start = clock_mono_ns();
        vec_ops()->scan_bits(planes, (const uint64_t *)(const void *)rows, n,
                             DIM / 64, out);
        bits_ns = clock_mono_ns() - start < bits_ns ? clock_mono_ns() - start
                                                    : bits_ns;
    }
    printf("kernel %s: read %.1f GB/s, int8 scan %.1f GB/s (%.2f ms per 1 M), "
           "bit scan %.1f GB/s (%.2f ms per 1 M)\n",
           vec_ops()->name, (double)n * DIM / (double)read_ns,
           (double)n * DIM / (double)i8_ns, (double)i8_ns / 1e6,
           (double)n * DIM / 8 / (double)bits_ns, (double)bits_ns / 1e6);
    free(rows);
    free(out);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {10000, 100000, 1000000};

    make_words();
    centres = malloc(sizeof(float) * N_CENTRES * DIM);
    for (int i = 0; i < N_CENTRES * DIM; i++) {
        centres[i] = (float)(uniform() + uniform() - 1) * 2;
    }
    show_bandwidth();
    for (int i = 1; i < argc; i++) {
        run_size(strtoul(argv[i], NULL, 10));
    }
    for (size_t i = 0; argc < 2 && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        run_size(sizes[i]);
    }
    free(centres);
    return 0;
}
