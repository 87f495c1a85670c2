/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenants.c - many tenants under one ceiling: memory, and how long the first
 * question of a tenant that is not in memory takes.
 *
 *     bench_tenants [TENANTS [TURNS [CEILING_MB]]]      default 1000 1000 64
 *
 * Made-up turns of 14 words drawn from 20,000, with vectors of 256. Each
 * tenant's index is made once from the rows and then lives in files; questions
 * go to tenants at random, so most of them find theirs unloaded.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "index/doc.h"
#include "index/index.h"
#include "model/embed.h"
#include "recall/recall.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURN_WORDS = 14, N_WORDS = 20000, N_QUESTIONS = 3000, DIM = 256 };

static int64_t n_turns = 1000;

/* splitmix64: a turn's contents depend on its tenant and number alone */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* Low numbers far more often, as words are. */
static unsigned word_at(uint64_t bits)
{
    double u = (double)(bits >> 11) / 9007199254740992.0;

    return (unsigned)(u * u * u * N_WORDS);
}

static enum clew_status latest(void *arg, int64_t tenant, int64_t *out,
                               struct clew_error *err)
{
    (void)arg;
    (void)tenant;
    (void)err;
    *out = n_turns;
    return CLEW_OK;
}

static struct index_term *draw_terms(struct arena *arena, uint64_t seed,
                                     size_t *out_count)
{
    struct index_term *terms = arena_zero(arena, TURN_WORDS, sizeof(*terms));
    size_t n = 0;

    for (unsigned i = 0; i < TURN_WORDS; i++) {
        char word[16];
        uint64_t hash;
        size_t k = 0;

        (void)snprintf(word, sizeof(word), "word%u", word_at(mix(seed + i)));
        hash = index_term_hash(str_of(word));
        while (k < n && terms[k].hash != hash) {
            k++;
        }
        terms[k].hash = hash;
        terms[k].tf2 += 2;
        n += k == n;
    }
    *out_count = n;
    return terms;
}

static void make_doc(struct arena *arena, int64_t tenant, int64_t number,
                     struct index_doc *out)
{
    uint64_t seed = mix((uint64_t)tenant << 32 | (uint64_t)number);
    float *vector = arena_zero(arena, DIM, sizeof(*vector));
    struct uuid nil = {{0}};

    for (size_t i = 0; i < DIM; i++) {
        vector[i] = (float)(mix(seed ^ (i << 40)) >> 40) / 16777216.0f - 0.5f;
    }
    out->kind = INDEX_TURN;
    out->id = uuid_derive(number, &nil, "turn", seed);
    out->chat = uuid_derive(number / 20, &nil, "chat", (uint64_t)tenant);
    out->user = STR("u");
    out->seq = number;
    out->created_at_ms = 1700000000000LL + number * 60000;
    out->change_seq = number;
    out->length = TURN_WORDS;
    out->vector = vector;
    out->terms = draw_terms(arena, seed, &out->n_terms);
}

static enum clew_status load(void *arg, int64_t tenant, int64_t after,
                             size_t max, struct arena *arena,
                             struct index_doc **out_docs, size_t *out_count,
                             int64_t *out_through, struct clew_error *err)
{
    size_t count = (size_t)(n_turns - after);
    struct index_doc *docs;

    (void)arg;
    count = count < max ? count : max;
    docs = arena_zero(arena, count + 1, sizeof(*docs));
    if (!docs) {
        return clew_fail(err, CLEW_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        make_doc(arena, tenant, after + 1 + (int64_t)i, &docs[i]);
    }
    *out_docs = docs;
    *out_count = count;
    *out_through = after + (int64_t)count;
    return CLEW_OK;
}

static double rss_mb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file) {
        if (fscanf(file, "%*s %ld", &pages) != 1) {
            pages = 0;
        }
        (void)fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576.0;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static int remove_entry(const char *path, const struct stat *info, int type,
                        struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

/* One question of a tenant; milliseconds, or a negative number on failure. */
static double ask(struct index_set *set, int64_t tenant, uint64_t seed,
                  struct arena *arena)
{
    char query[64];
    struct recall_request request = {.kinds = RECALL_TURN,
                                     .limit = 10,
                                     .since_ms = INT64_MIN,
                                     .until_ms = INT64_MAX,
                                     .at_ms = 1800000000000LL};
    struct recall_result result;
    struct index_view *view = NULL;
    int64_t start;
    enum clew_status status;

    (void)snprintf(query, sizeof(query), "word%u word%u word%u",
                   word_at(mix(seed)), word_at(mix(seed + 1)),
                   word_at(mix(seed + 2)));
    request.query = str_of(query);
    start = clock_mono_ns();
    status = index_view_open(set, tenant, &view, NULL);
    if (status == CLEW_OK) {
        status =
            recall_run(view, embed_static(), arena, &request, &result, NULL);
    }
    index_view_close(view);
    arena_clear(arena);
    return status == CLEW_OK ? (double)(clock_mono_ns() - start) / 1e6 : -1;
}

static void show(const char *name, double *times, size_t n)
{
    if (n == 0) {
        return;
    }
    qsort(times, n, sizeof(*times), by_value);
    printf("%-22s %6zu questions  p50 %7.3f ms  p99 %7.3f ms  max %7.3f ms\n",
           name, n, times[n / 2], times[n * 99 / 100], times[n - 1]);
}

static int run(struct index_set *set, int64_t n_tenants, double ceiling_mb)
{
    static double cold[N_QUESTIONS];
    static double warm[N_QUESTIONS];
    size_t n_cold = 0;
    size_t n_warm = 0;
    double before_mb = rss_mb();
    double making_mb = 0;
    double most_mb = 0;
    double most_charged = 0;
    int64_t start = clock_mono_ns();
    struct arena arena;

    arena_init(&arena, (size_t)1 << 28);
    for (int64_t i = 1; i <= n_tenants; i++) {
        if (ask(set, i, (uint64_t)i, &arena) < 0) {
            return 1;
        }
        making_mb = rss_mb() > making_mb ? rss_mb() : making_mb;
    }
    printf("made %lld indexes in %.1f s\n", (long long)n_tenants,
           (double)(clock_mono_ns() - start) / 1e9);
    for (uint64_t i = 0; i < N_QUESTIONS; i++) {
        int64_t tenant = 1 + (int64_t)(mix(i) % (uint64_t)n_tenants);
        struct index_stats stats;
        bool is_warm = index_stats_get(set, tenant, &stats) == CLEW_OK;
        uint64_t charged;
        uint64_t n_loaded;
        double ms = ask(set, tenant, i, &arena);

        if (ms < 0) {
            return 1;
        }
        if (is_warm) {
            warm[n_warm++] = ms;
        } else {
            cold[n_cold++] = ms;
        }
        index_set_usage(set, &charged, &n_loaded);
        most_mb = rss_mb() > most_mb ? rss_mb() : most_mb;
        most_charged = (double)charged / 1048576.0 > most_charged
                           ? (double)charged / 1048576.0
                           : most_charged;
    }
    show("tenant not in memory", cold, n_cold);
    show("tenant in memory", warm, n_warm);
    printf("ceiling %.0f MB, indexes at most %.1f MB; process %.1f MB before, "
           "at most %.1f MB making them and %.1f MB after\n",
           ceiling_mb, most_charged, before_mb, making_mb, most_mb);
    arena_release(&arena);
    return 0;
}

int main(int argc, char **argv)
{
    int64_t n_tenants = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000;
    size_t ceiling_mb = argc > 3 ? (size_t)strtoll(argv[3], NULL, 10) : 64;
    char folder[] = "/tmp/clew-tenants-XXXXXX";
    struct index_options options = {.dir = folder,
                                    .ram_bytes = ceiling_mb << 20,
                                    .model = "bench",
                                    .dim = DIM,
                                    .analyser = DOC_ANALYSER_VERSION,
                                    .source = {NULL, latest, load, NULL}};
    struct index_set *set = NULL;
    int failed = 1;

    n_turns = argc > 2 ? strtoll(argv[2], NULL, 10) : n_turns;
    if (!mkdtemp(folder)) {
        return 1;
    }
    printf("%lld tenants with %lld turns each\n", (long long)n_tenants,
           (long long)n_turns);
    if (index_set_open(&options, &set, NULL) == CLEW_OK) {
        failed = run(set, n_tenants, (double)ceiling_mb);
    }
    index_set_close(set);
    (void)nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return failed;
}
