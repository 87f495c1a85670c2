/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foundation.c - what the ground costs: ingest, durable posts, forks, start.
 *
 *   CLEW_BIN=build/clew bench_foundation [TURNS]
 *
 * Starts the real server on a folder of its own, on SQLite and on a private
 * PostgreSQL (fsync on), and measures it from outside, over HTTP. What a
 * figure is compared with is measured in the same run, in turns with it, so a
 * loaded machine slows both. First the log alone (capture.observe off): turns
 * that are kept and read when somebody first asks, then turns that are kept,
 * analysed, embedded and searchable at once; then with all that is derived
 * from them, read by rules, which goes on beside it. TURNS is the size of the
 * large chat: 100,000, or 1,000,000 with BENCH_LARGE=1; a tenth of it where
 * everything is derived.
 */
#include "base/clock.h"
#include "support/child.h"
#include "support/crowd.h"
#include "support/figure.h"
#include "support/pg.h"
#include "support/rows.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 500, POST_SECONDS = 3, N_STARTS = 5 };

struct bench {
    const char *name;
    char folder[64];
    char url[512]; /* of the store; "" on SQLite */
    struct child child;
    uint64_t n_turns;
    bool observes;
    char chat[40];
};

static double ms_since(int64_t start_ns)
{
    return (double)(clock_mono_ns() - start_ns) / 1e6;
}

static void line(const struct bench *bench, const char *what,
                 const char *verdict, double value, const char *unit)
{
    printf("%-9s %-5s %-46s %10.2f %-6s %s\n", bench->name,
           bench->observes ? "whole" : "log", what, value, unit, verdict);
    (void)fflush(stdout);
}

/* The same for the table of `make bench`. */
static void tell(const struct bench *bench, const char *what, double value,
                 const char *unit, const char *aim)
{
    char name[96];

    (void)snprintf(name, sizeof(name), "%s, %s, %s", what,
                   bench->observes ? "all derived" : "log alone",
                   bench->url[0] ? "PostgreSQL" : "SQLite");
    figure(name, value, unit, aim);
}

static const char *judge(bool is_met, const char *aim)
{
    static char text[64];

    (void)snprintf(text, sizeof(text), "%s (aim %s)", is_met ? "ok" : "MISSED",
                   aim);
    return text;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_folder(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *store_of(const struct bench *bench)
{
    return bench->url[0] ? bench->url : NULL;
}

/* --- batch ingest --- */

/* The texts of a batch and the request that carries them. */
struct load {
    struct buf bytes;
    struct buf body;
    struct str texts[BATCH];
};

static void fill_load(struct load *load, const struct bench *bench,
                      uint64_t first)
{
    size_t starts[BATCH + 1];

    buf_clear(&load->bytes);
    buf_clear(&load->body);
    buf_append_cstr(&load->body, "{\"turns\":[");
    for (int i = 0; i < BATCH; i++) {
        starts[i] = load->bytes.len;
        rows_text(&load->bytes, first + (uint64_t)i);
    }
    starts[BATCH] = load->bytes.len;
    for (int i = 0; i < BATCH; i++) {
        load->texts[i] =
            str_sub(buf_str(&load->bytes), starts[i], starts[i + 1]);
        buf_printf(&load->body,
                   "%s{\"user_id\":\"ada\",\"chat_id\":\"%s\",\"role\":\"%s\","
                   "\"content\":\"%.*s\"}",
                   i ? "," : "", bench->chat, i % 2 ? "assistant" : "user",
                   (int)load->texts[i].len, load->texts[i].s);
    }
    buf_append_cstr(&load->body, "]}");
    if (buf_status(&load->body) != CLEW_OK) {
        bench_die("out of memory");
    }
}

/* Make the large chat; its id. */
static void make_chat(struct bench *bench, struct link *link)
{
    const char *at;

    link_call(link, "POST", "/api/v1/chats",
              STR("{\"user_id\":\"ada\",\"title\":\"large\"}"));
    at = memmem(link->body.s, link->body.len, "\"id\":\"", 6);
    if (!at) {
        bench_die("no chat id in the answer");
    }
    memcpy(bench->chat, at + 6, 36);
}

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What some batches took, and what plain inserts of the same rows did. */
struct ingested {
    int64_t http_ns;
    int64_t plain_ns;
    int64_t plain_cpu_ns;
    int64_t cpu_us;
};

static struct ingested ingest_some(struct bench *bench, struct link *link,
                                   struct plain *plain, uint64_t first,
                                   uint64_t end)
{
    static struct load load;
    struct ingested sum = {.cpu_us = -child_cpu_us(&bench->child)};

    buf_init(&load.bytes, 1u << 24);
    buf_init(&load.body, 1u << 24);
    for (uint64_t n = first; n < end; n += BATCH) {
        int64_t start_cpu;
        int64_t start;

        fill_load(&load, bench, n);
        start_cpu = thread_cpu_ns();
        start = clock_mono_ns();
        plain_insert(plain, n, load.texts, BATCH);
        sum.plain_ns += clock_mono_ns() - start;
        sum.plain_cpu_ns += thread_cpu_ns() - start_cpu;
        start = clock_mono_ns();
        link_call(link, "POST", "/api/v1/turns", buf_str(&load.body));
        sum.http_ns += clock_mono_ns() - start;
    }
    sum.cpu_us += child_cpu_us(&bench->child);
    buf_release(&load.bytes);
    buf_release(&load.body);
    return sum;
}

/* Somebody asks: from here on turns are searchable as soon as they are kept. */
static double ask_once(struct link *link)
{
    int64_t start = clock_mono_ns();

    link_call(link, "POST", "/api/v1/recall",
              STR("{\"user_id\":\"ada\",\"query\":\"budget\",\"fast\":true}"));
    return ms_since(start);
}

/* Turns that wait for the first question to be read. */
static void ingest_unread(struct bench *bench, struct link *link,
                          struct plain *plain)
{
    uint64_t n = bench->n_turns / 4 / BATCH * BATCH;
    struct ingested sum =
        ingest_some(bench, link, plain, bench->n_turns, bench->n_turns + n);

    line(bench, "batch ingest before the first question / plain", "",
         (double)sum.http_ns / (double)sum.plain_ns, "x");
    line(bench, "  the same as CPU time, server / plain", "",
         (double)sum.cpu_us * 1e3 / (double)sum.plain_cpu_ns, "x");
    line(bench, "  CPU of the server a turn", "",
         (double)sum.cpu_us / (double)n, "us");
    line(bench, "  the first question, a turn it reads", "",
         ask_once(link) * 1e3 / (double)n, "us");
}

static void tell_ingest(const struct bench *bench, const struct ingested *sum)
{
    double n = (double)bench->n_turns * 1e9;
    const char *aim = store_of(bench) ? ">= 5000" : ">= 10000";

    tell(bench, "turns a second in batches", n / (double)sum->http_ns, "/s",
         bench->observes ? aim : "");
    tell(bench, "  the same as a ratio to plain SQLite + FTS5",
         (double)sum->http_ns / (double)sum->plain_ns, "x",
         bench->observes || store_of(bench) ? "" : "<= 2.5");
    if (!bench->observes && !store_of(bench)) {
        figure("turns a second in batches, plain SQLite + FTS5",
               n / (double)sum->plain_ns, "/s", NULL);
    }
}

static void ingest(struct bench *bench)
{
    struct plain *plain;
    struct ingested sum;
    struct link link;
    char path[96];
    double ratio;

    (void)snprintf(path, sizeof(path), "%s/plain.db", bench->folder);
    plain = plain_open(path);
    link_open(&link, bench->child.port);
    if (!bench->observes) {
        make_chat(bench, &link);
        ingest_unread(bench, &link, plain);
    }
    make_chat(bench, &link);
    (void)ask_once(&link);
    sum = ingest_some(bench, &link, plain, 0, bench->n_turns);
    ratio = (double)sum.http_ns / (double)sum.plain_ns;
    line(bench, "batch ingest over HTTP / plain SQLite + FTS5",
         bench->observes ? "" : judge(ratio <= 2.5, "<= 2.5"), ratio, "x");
    line(bench, "  turns a second", "",
         (double)bench->n_turns * 1e9 / (double)sum.http_ns, "/s");
    line(bench, "  the same as CPU time, server / plain", "",
         (double)sum.cpu_us * 1e3 / (double)sum.plain_cpu_ns, "x");
    line(bench, "  CPU of the server a turn", "",
         (double)sum.cpu_us / (double)bench->n_turns, "us");
    tell_ingest(bench, &sum);
    link_close(&link);
    plain_close(plain);
    (void)remove(path);
}

/* --- single durable posts --- */

static void post_body(const void *arg, int client, uint64_t n, struct buf *out)
{
    (void)arg;
    buf_printf(out,
               "{\"user_id\":\"u%d\",\"role\":\"user\",\"content\":"
               "\"note %" PRIu64 " of client %d on the budget\"}",
               client, n, client);
}

static struct crowd_result post_rate(const struct bench *bench, int n_clients)
{
    struct crowd crowd = {.child = &bench->child,
                          .path = "/api/v1/turns",
                          .body = post_body,
                          .n_clients = n_clients,
                          .seconds = POST_SECONDS};

    return crowd_run(&crowd);
}

static void posts(const struct bench *bench)
{
    struct crowd_result one = post_rate(bench, 1);
    struct crowd_result some = post_rate(bench, 16);
    struct crowd_result many = post_rate(bench, CROWD_MAX);

    line(bench, "durable posts, 1 client", "", one.rate, "/s");
    line(bench, "  p50 of one", "", one.p50_ms, "ms");
    line(bench, "durable posts, 16 clients / 1 client", "",
         some.rate / one.rate, "x");
    line(bench, "durable posts, 64 clients / 1 client", "",
         many.rate / one.rate, "x");
    line(bench, "  CPU of the server a post, 1 client", "", one.cpu_us, "us");
    line(bench, "  CPU of the server a post, 64 clients", "", many.cpu_us,
         "us");
    tell(bench, "a post alone, p50", one.p50_ms, "ms",
         bench->observes && !store_of(bench) ? "<= 1.5" : "");
    tell(bench, "posts of 64 clients against 1", many.rate / one.rate, "x", "");
}

/* How long this disk takes to make 4 kB durable. */
static void sync_time(const struct bench *bench)
{
    enum { N_SYNCS = 200 };
    char block[4096] = {0};
    char path[96];
    int64_t start;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/sync", bench->folder);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    start = clock_mono_ns();
    for (int i = 0; i < N_SYNCS; i++) {
        if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block) ||
            fdatasync(fd) != 0) {
            bench_die("could not write");
        }
    }
    line(bench, "a sync of 4 kB on this disk", "",
         ms_since(start) / N_SYNCS * 1000, "us");
    (void)close(fd);
    (void)unlink(path);
}

/* A copy of slow_sync.so that the user of the database can read as well; the
 * caller removes it. */
static void copy_slow_sync(char path[64])
{
    char from[4096];
    char bytes[65536];
    ssize_t len = readlink("/proc/self/exe", from, sizeof(from) - 16);
    char *slash;
    int in;
    int out;

    from[len > 0 ? len : 0] = '\0';
    slash = strrchr(from, '/');
    if (!slash) {
        bench_die("where is this program?");
    }
    memcpy(slash, "/slow_sync.so", sizeof("/slow_sync.so"));
    (void)snprintf(path, 64, "/tmp/clew-bench-XXXXXX.so");
    in = open(from, O_RDONLY | O_CLOEXEC);
    out = mkostemps(path, 3, O_CLOEXEC);
    len = in < 0 || out < 0 ? -1 : read(in, bytes, sizeof(bytes));
    while (len > 0 && write(out, bytes, (size_t)len) == len) {
        len = read(in, bytes, sizeof(bytes));
    }
    if (len != 0 || fchmod(out, 0644) != 0) {
        bench_die("could not copy slow_sync.so");
    }
    (void)close(in);
    (void)close(out);
}

/* Start whoever syncs, the server or its database, on the slow disk or on the
 * plain one. */
static void restart(struct bench *bench, const char *preload)
{
    child_stop(&bench->child);
    if (store_of(bench)) {
        pg_stop(false);
    }
    if (preload) {
        (void)setenv("LD_PRELOAD", preload, 1);
    }
    if (store_of(bench)) {
        pg_start();
        (void)unsetenv("LD_PRELOAD");
    }
    child_start(&bench->child, bench->folder, store_of(bench));
    (void)unsetenv("LD_PRELOAD");
}

/* The same on a disk whose sync takes 2 ms longer, as most do. */
static void slow_posts(struct bench *bench)
{
    enum { SLOWER_US = 2000 };
    char library[64];
    char us[16];
    double one;
    double some;
    double many;

    copy_slow_sync(library);
    (void)snprintf(us, sizeof(us), "%d", SLOWER_US);
    (void)setenv("SLOW_SYNC_US", us, 1);
    restart(bench, library);
    one = post_rate(bench, 1).rate;
    if (one > 1e6 / SLOWER_US) {
        bench_die("the sync was not slowed down");
    }
    some = post_rate(bench, 16).rate;
    many = post_rate(bench, CROWD_MAX).rate;
    line(bench, "durable posts, sync 2 ms longer, 1 client", "", one, "/s");
    line(bench, "durable posts, the same, 16 clients / 1 client", "",
         some / one, "x");
    line(bench, "durable posts, the same, 64 clients / 1 client",
         judge(many >= 8 * one, ">= 8"), many / one, "x");
    restart(bench, NULL);
    (void)unlink(library);
}

/* --- fork --- */

static int64_t count_turns(const struct bench *bench)
{
    return store_of(bench) ? count_in_postgres(bench->url)
                           : count_in_sqlite(bench->folder);
}

static void fork_large(const struct bench *bench)
{
    struct link link;
    char path[96];
    char body[64];
    int64_t before = count_turns(bench);
    double fork_ms = 0;
    double copy_ms;
    double share;

    (void)snprintf(path, sizeof(path), "/api/v1/chats/%s/fork", bench->chat);
    (void)snprintf(body, sizeof(body), "{\"at_seq\":%" PRIu64 "}",
                   bench->n_turns);
    link_open(&link, bench->child.port);
    for (int i = 0; i < N_STARTS; i++) {
        int64_t start = clock_mono_ns();

        link_call(&link, "POST", path, str_of(body));
        fork_ms += ms_since(start) / N_STARTS;
    }
    link_close(&link);
    if (count_turns(bench) != before) {
        bench_die("a fork copied turns");
    }
    copy_ms = (double)(store_of(bench) ? copy_in_postgres(bench->url)
                                       : copy_in_sqlite(bench->folder)) /
              1e6;
    share = 100 * fork_ms / copy_ms;
    line(bench, "fork of the large chat, no turn copied", "", fork_ms, "ms");
    line(bench, "  of the time to copy its turns", judge(share < 1, "< 1 %"),
         share, "%");
}

/* --- start and rest --- */

/* Start, ask once, and say how long that took; the server keeps running. */
static double start_and_ask(struct bench *bench, const char *method,
                            const char *path, struct str body)
{
    int64_t start = clock_mono_ns();
    struct link link;
    double spent;

    child_start(&bench->child, bench->folder, store_of(bench));
    link_open(&link, bench->child.port);
    link_call(&link, method, path, body);
    spent = ms_since(start);
    link_close(&link);
    return spent;
}

static double median_start(struct bench *bench, const char *method,
                           const char *path, struct str body)
{
    double spent[N_STARTS];

    for (int i = 0; i < N_STARTS; i++) {
        child_stop(&bench->child);
        spent[i] = start_and_ask(bench, method, path, body);
    }
    return figure_median(spent, N_STARTS);
}

static void starts(struct bench *bench)
{
    struct str none = {"", 0};
    double ms = median_start(bench, "GET", "/api/v1/chats?limit=5", none);

    line(bench, "start to the first list of chats, all turns",
         judge(ms < 50, "< 50"), ms, "ms");
    ms = median_start(bench, "POST", "/api/v1/recall",
                      STR("{\"query\":\"budget of the kitchen\","
                          "\"fast\":true}"));
    line(bench, "start to the first recall, all turns", judge(ms < 50, "< 50"),
         ms, "ms");
    tell(bench, "server start to the first recall", ms, "ms", "<= 50");
    line(bench, "RSS after it", "", (double)child_rss_kb(&bench->child) / 1024,
         "MB");
}

/* The command line on the data folder, whose server has ended. */
static void cold(const struct bench *bench)
{
    const char *args[] = {
        "recall", "--data", bench->folder, "--fast", "budget of the kitchen",
        NULL};
    double times[N_STARTS];
    double first;

    bench_drop_pages(bench->folder);
    first = child_run(args);
    for (size_t i = 0; i < N_STARTS; i++) {
        times[i] = child_run(args);
    }
    line(bench, "clew recall --fast, no page in memory",
         judge(first <= 100, "<= 100"), first, "ms");
    tell(bench, "clew recall --fast, no page in memory", first, "ms", "<= 100");
    tell(bench, "clew recall --fast, a new process",
         figure_median(times, N_STARTS), "ms", "<= 100");
}

static void rest(struct bench *bench)
{
    struct str none = {"", 0};
    double mb;

    (void)start_and_ask(bench, "GET", "/healthz", none);
    mb = (double)child_rss_kb(&bench->child) / 1024;
    line(bench, "RSS at rest, empty store", judge(mb < 20, "< 20"), mb, "MB");
}

static void run_on(const char *name, uint64_t n_turns, bool observes)
{
    struct bench bench = {
        .name = name, .n_turns = n_turns, .observes = observes};

    (void)setenv("CLEW_CAPTURE_OBSERVE", observes ? "true" : "false", 1);
    (void)snprintf(bench.folder, sizeof(bench.folder),
                   "/tmp/clew-bench-XXXXXX");
    if (!mkdtemp(bench.folder)) {
        bench_die("could not make a folder");
    }
    if (strcmp(name, "postgres") == 0) {
        pg_start();
        pg_new_database(bench.url, sizeof(bench.url));
    }
    rest(&bench);
    sync_time(&bench);
    if (observes) { /* before there is a batch that is read beside them */
        posts(&bench);
        slow_posts(&bench);
        child_wait_read(&bench.child);
        ingest(&bench);
    } else {
        ingest(&bench);
        fork_large(&bench); /* while there is no other turn */
        posts(&bench);
        slow_posts(&bench);
        starts(&bench);
    }
    child_stop(&bench.child);
    if (!observes && !store_of(&bench)) {
        cold(&bench);
    }
    remove_folder(bench.folder);
}

int main(int argc, char **argv)
{
    uint64_t n_turns = getenv("BENCH_LARGE") ? 1000000 : 100000;

    if (argc > 1) {
        n_turns = strtoull(argv[1], NULL, 10) / BATCH * BATCH;
    }
    (void)setenv("CLEW_TEST_PG_FSYNC", "1", 1);
    /* what the trained reader takes is told by bench_reader */
    (void)setenv("CLEW_READER_ON", "false", 1);
    printf("large chat of %" PRIu64 " turns, batches of %d\n", n_turns, BATCH);
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "sqlite" : "postgres";

        run_on(name, n_turns, false);
        run_on(name, n_turns / 10 / BATCH * BATCH, true);
    }
    return 0;
}
