/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - how long the reader takes, and how fast its products are.
 *
 *   bench_reader [FILE]    without a file: the shipped size, random weights
 */
#include "base/alloc.h"
#include "model/reader.h"
#include "model/reader_kernels.h"
#include "support/reader_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define ROWS 104
#define N_IN 384
#define N_OUT 1536
#define PAIRS 20
#define SINGLES 13

static const char *const words[] = {"the", "cat", "will", "ship",
                                    "it",  "on",  "we",   "not"};

static void write_model(const char *path)
{
    struct reader_model model = {.dim = 384,
                                 .inner = 1536,
                                 .heads = 12,
                                 .layers = 6,
                                 .read_layer = 3,
                                 .n_tokens = 29192,
                                 .seed = 7};
    FILE *file = fopen(path, "w");
    struct buf bytes;

    buf_init(&bytes, 256u * 1024 * 1024);
    if (!file || !reader_model_write(&model, &bytes) ||
        fwrite(bytes.data, 1, bytes.len, file) != bytes.len ||
        fclose(file) != 0) {
        exit(1);
    }
    buf_release(&bytes);
}

/* `count` words, a full stop after every tenth. */
static struct str talk(struct arena *arena, size_t count)
{
    char *text = arena_alloc(arena, count * 8 + 1);
    size_t len = 0;

    if (!text) {
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(text + len, 8, "%s%s", words[i * 5 % 8],
                                i % 10 == 9 ? "." : " ");
    }
    return (struct str){text, len};
}

/* Time on the processor, so that what else the machine does counts less. */
static int64_t cpu_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        exit(1);
    }
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The quickest round. */
static double best_ms(const int64_t *ns)
{
    int64_t best = ns[0];

    for (size_t i = 1; i < ROUNDS; i++) {
        best = ns[i] < best ? ns[i] : best;
    }
    return (double)best / 1e6;
}

static void bench_read(const struct reader *reader, struct arena *arena)
{
    struct arena texts;
    struct reader_said turn = {STR("user"), {0}};
    struct reader_said before = {STR("user"), {0}};
    struct reader_span spans[4];
    struct reader_sentence out[4];
    int64_t ns[ROUNDS];

    arena_init(&texts, 1 << 20);
    turn.text = talk(&texts, 40);
    before.text = talk(&texts, 60);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t quarter = (uint32_t)turn.text.len / 4;

        spans[i] = (struct reader_span){i * quarter, (i + 1) * quarter};
    }
    for (size_t i = 0; i < ROUNDS; i++) {
        int64_t start = cpu_ns();

        arena_clear(arena);
        if (reader_read(reader, arena, &turn, &before, 1, spans, 4, out,
                        NULL) != CLEW_OK) {
            exit(1);
        }
        ns[i] = cpu_ns() - start;
    }
    printf("read_turn_ms %.2f\n", best_ms(ns));
    arena_release(&texts);
}

static void bench_compare(const struct reader *reader, struct arena *arena)
{
    struct arena texts;
    struct reader_pair pairs[PAIRS];
    struct reader_verdict out[PAIRS];
    int64_t ns[ROUNDS];

    arena_init(&texts, 1 << 20);
    for (size_t i = 0; i < PAIRS; i++) {
        pairs[i].a = talk(&texts, 20); /* 22 tokens, 39 and three marks */
        pairs[i].b = talk(&texts, 36);
    }
    for (size_t i = 0; i < ROUNDS; i++) {
        int64_t start = cpu_ns();

        arena_clear(arena);
        if (reader_compare(reader, arena, READER_ANSWER, pairs, PAIRS, out,
                           NULL) != CLEW_OK) {
            exit(1);
        }
        ns[i] = cpu_ns() - start;
    }
    printf("compare_20_ms %.2f\n", best_ms(ns));
    arena_release(&texts);
}

/* Pairs of 96 tokens one by one, as a question asks for them. */
static void bench_singles(const struct reader *reader, struct arena *arena)
{
    struct arena texts;
    struct reader_pair pair;
    struct reader_verdict out;
    int64_t ns[ROUNDS];

    arena_init(&texts, 1 << 20);
    pair.a = talk(&texts, 20); /* 22 tokens, 71 and three marks */
    pair.b = talk(&texts, 65);
    for (size_t i = 0; i < ROUNDS; i++) {
        int64_t start = cpu_ns();

        for (size_t j = 0; j < SINGLES; j++) {
            arena_clear(arena);
            if (reader_compare(reader, arena, READER_ANSWER, &pair, 1, &out,
                               NULL) != CLEW_OK) {
                exit(1);
            }
        }
        ns[i] = cpu_ns() - start;
    }
    printf("compare_single_ms %.2f\n", best_ms(ns));
    arena_release(&texts);
}

static double bench_product(const struct reader_kernels *kernels)
{
    struct reader_dense dense = {.n_in = N_IN, .n_out = N_OUT};
    int8_t *weights = alloc_zero(N_OUT, N_IN);
    float *scales = alloc_zero(N_OUT, sizeof(float));
    float *in = alloc_zero(ROWS * N_IN, sizeof(float));
    float *in_scales = alloc_zero(ROWS, sizeof(float));
    float *out = alloc_zero(ROWS * N_OUT, sizeof(float));
    int8_t *q = alloc_zero(reader_rounded_bytes(ROWS, N_IN), 1);
    int64_t ns[ROUNDS];
    double ms;

    if (!weights || !scales || !in || !in_scales || !out || !q) {
        exit(1);
    }
    for (size_t i = 0; i < N_OUT * N_IN; i++) {
        weights[i] = (int8_t)(i * 7 % 255 - 127);
    }
    for (size_t i = 0; i < ROWS * N_IN; i++) {
        in[i] = (float)(i * 31 % 1000) - 500.0f;
    }
    dense.weights = weights;
    dense.scales = scales;
    dense.bias = scales;
    kernels->round(in, ROWS, N_IN, q, in_scales);
    for (size_t i = 0; i < ROUNDS; i++) {
        int64_t start = cpu_ns();

        kernels->product(&dense, q, in_scales, ROWS, out);
        ns[i] = cpu_ns() - start;
    }
    ms = best_ms(ns);
    alloc_free(weights);
    alloc_free(scales);
    alloc_free(in);
    alloc_free(in_scales);
    alloc_free(out);
    alloc_free(q);
    return 2.0 * ROWS * N_IN * N_OUT / ms / 1e6;
}

/* Resident kilobytes of this process. */
static long resident_kb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0;
    long pages = 0;

    if (file) {
        if (fscanf(file, "%ld %ld", &size, &pages) != 2) {
            pages = 0;
        }
        (void)fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static void bench_products(void)
{
    static const char *const names[] = {"amx", "vnni", "avx2", "i8mm",
                                        "dotprod"};
    double scalar = bench_product(reader_kernels_named("scalar"));

    printf("product_gops scalar %.1f\n", scalar);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct reader_kernels *kernels = reader_kernels_named(names[i]);

        if (kernels) {
            double gops = bench_product(kernels);

            printf("product_gops %s %.1f, %.1f times scalar\n", names[i], gops,
                   gops / scalar);
        }
    }
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/clew-bench-reader-XXXXXX";
    const char *used = argc > 1 ? argv[1] : path;
    struct clew_error err = {0};
    struct reader *reader = NULL;
    struct arena arena;
    long before_kb;

    if (argc < 2) {
        int fd = mkstemp(path);

        if (fd < 0 || close(fd) != 0) {
            return 1;
        }
        write_model(path);
    }
    before_kb = resident_kb();
    if (reader_open(used, &reader, &err) != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("model %s\n", reader_id(reader));
    printf("open_resident_kb %ld\n", resident_kb() - before_kb);
    arena_init(&arena, 256u * 1024 * 1024);
    bench_read(reader, &arena);
    bench_compare(reader, &arena);
    bench_singles(reader, &arena);
    bench_products();
    printf("used_resident_kb %ld\n", resident_kb() - before_kb);
    arena_release(&arena);
    reader_close(reader);
    if (argc < 2) {
        (void)unlink(path); /* a file left in /tmp is no failure */
    }
    return 0;
}
