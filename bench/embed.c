/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c - the shipped embedder: microseconds a text, and its Spearman
 * correlation with people's judgement of sentence pairs.
 *
 *   bench_embed [PAIRS.csv]     "sentence,sentence,similarity" a line
 *
 * Without a file it times its own sentences only.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "model/embed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_PAIRS 20000

static const char *const own[] = {
    "I went hiking in the mountains last weekend with my sister.",
    "Can you help me fix the failing test in src/store/sqlite.c?",
    "We decided to move the launch to the second week of March.",
    "What did Caroline say about the adoption agency?",
    "Thanks! That sounds great, see you on Friday at noon then.",
};

struct pair {
    double cosine;
    double score;
};

static size_t n_texts;
static int64_t spent_ns;

static void embed_one(const char *text, size_t len, float *out)
{
    struct str s = {text, len};
    int64_t start = clock_mono_ns();

    if (embed_run(embed_static(), &s, 1, out, NULL) != CLEW_OK) {
        exit(1);
    }
    spent_ns += clock_mono_ns() - start;
    n_texts++;
}

/* One CSV field from `*at`, unquoted into `out`. */
static void read_field(const char **at, struct buf *out)
{
    const char *p = *at;
    int quoted = *p == '"';

    buf_clear(out);
    p += quoted;
    while (*p && *p != '\n' && (quoted || (*p != ',' && *p != '\r'))) {
        if (quoted && *p == '"') {
            p++;
            if (*p != '"') {
                break;
            }
        }
        (void)buf_append_char(out, *p);
        p++;
    }
    *at = *p == ',' ? p + 1 : p;
}

static double value_of(const struct pair *pair, int which)
{
    return which ? pair->score : pair->cosine;
}

static int compare_cosine(const void *a, const void *b)
{
    double x = ((const struct pair *)a)->cosine;
    double y = ((const struct pair *)b)->cosine;

    return (x > y) - (x < y);
}

static int compare_score(const void *a, const void *b)
{
    double x = ((const struct pair *)a)->score;
    double y = ((const struct pair *)b)->score;

    return (x > y) - (x < y);
}

/* Replace one value of each pair by its rank, equal ones sharing their mean. */
static void rank(struct pair *pairs, size_t count, int which)
{
    qsort(pairs, count, sizeof(*pairs), which ? compare_score : compare_cosine);
    for (size_t i = 0; i < count;) {
        size_t end = i;

        while (end < count &&
               value_of(&pairs[end], which) <= value_of(&pairs[i], which)) {
            end++;
        }
        double mean = (double)(i + end - 1) / 2;
        for (; i < end; i++) {
            *(which ? &pairs[i].score : &pairs[i].cosine) = mean;
        }
    }
}

static double spearman(struct pair *pairs, size_t count)
{
    double mean = (double)(count - 1) / 2;
    double xy = 0;
    double xx = 0;
    double yy = 0;

    rank(pairs, count, 0);
    rank(pairs, count, 1);
    for (size_t i = 0; i < count; i++) {
        xy += (pairs[i].cosine - mean) * (pairs[i].score - mean);
        xx += (pairs[i].cosine - mean) * (pairs[i].cosine - mean);
        yy += (pairs[i].score - mean) * (pairs[i].score - mean);
    }
    return xy / sqrt(xx * yy);
}

static size_t read_pairs(FILE *file, struct pair *pairs)
{
    size_t dim = embed_static()->dim;
    float a[EMBED_MAX_DIM];
    float b[EMBED_MAX_DIM];
    char line[16384];
    struct buf field;
    size_t count = 0;

    buf_init(&field, sizeof(line));
    while (count < MAX_PAIRS && fgets(line, sizeof(line), file)) {
        const char *at = line;
        double cosine = 0;

        read_field(&at, &field);
        embed_one(field.data, field.len, a);
        read_field(&at, &field);
        embed_one(field.data, field.len, b);
        read_field(&at, &field);
        for (size_t i = 0; i < dim; i++) {
            cosine += (double)a[i] * (double)b[i];
        }
        pairs[count].cosine = cosine;
        pairs[count].score = strtod(field.data, NULL);
        count++;
    }
    buf_release(&field);
    return count;
}

int main(int argc, char **argv)
{
    struct pair *pairs = alloc_zero(MAX_PAIRS, sizeof(*pairs));
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    float out[EMBED_MAX_DIM];

    if (!pairs || (argc > 1 && !file)) {
        return 1;
    }
    embed_one("warm", 4, out);
    spent_ns = 0;
    n_texts = 0;
    for (size_t i = 0; i < 50000; i++) {
        const char *text = own[i % 5];

        embed_one(text, strlen(text), out);
    }
    printf("embed_us_per_text %.2f\n",
           (double)spent_ns / 1e3 / (double)n_texts);
    if (file) {
        size_t count;

        spent_ns = 0;
        n_texts = 0;
        count = read_pairs(file, pairs);
        printf("pairs_us_per_text %.2f\n",
               (double)spent_ns / 1e3 / (double)n_texts);
        printf("pairs %zu spearman %.4f\n", count, spearman(pairs, count));
        (void)fclose(file);
    }
    alloc_free(pairs);
    return 0;
}
