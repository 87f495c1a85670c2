/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_train.c - make models/intent.bin from lines of plain text.
 *
 * usage: zcat corpus.txt.gz | intent_train OUT.bin
 * The rules label each line as it is punctuated; the classifier learns to
 * tell the same from the words alone, as it is asked only where the marks are
 * missing. Same input, same output: no clock, no random source.
 */
#include "base/arena.h"
#include "model/intent_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPOCHS 6
#define RATE 0.08
#define DECAY 1e-6
#define MAX_EXAMPLES 600000

struct example {
    uint32_t first; /* in the pool */
    uint16_t count;
    uint8_t act;
};

static uint16_t *pool;
static size_t n_pool;
static size_t cap_pool;
static struct example *examples;
static size_t n_examples;
static float weights[INTENT_BUCKETS][INTENT_ACTS];
static double bias[INTENT_ACTS];

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void add_example(const struct intent_piece *piece, enum intent_act act)
{
    uint16_t found[INTENT_MAX_FEATURES];
    size_t n = intent_features(piece, found);

    if (n_examples == MAX_EXAMPLES) {
        return;
    }
    if (n_pool + n > cap_pool) {
        cap_pool = (n_pool + n) * 2;
        pool = realloc(pool, cap_pool * sizeof(*pool));
        if (!pool) {
            exit(1);
        }
    }
    memcpy(pool + n_pool, found, n * sizeof(*pool));
    examples[n_examples++] = (struct example){
        .first = (uint32_t)n_pool, .count = (uint16_t)n, .act = (uint8_t)act};
    n_pool += n;
}

/* "mitral stenosis: obstruction of ...": a dictionary, not talk. */
static bool is_gloss(struct str line)
{
    size_t colon = str_find(line, STR(": "), 0);

    return colon != SIZE_MAX && colon < 60 && colon > 0 &&
           islower((unsigned char)line.s[colon - 1]);
}

/* A label is believed if a rule is sure, or if a full stop says "statement". */
static bool is_sure(const struct intent_segment *seg, bool has_end)
{
    return seg->confidence >= 0.7f || (has_end && seg->act == INTENT_INFORM) ||
           (has_end && seg->confidence >= 0.6f);
}

static void add_segments(const struct intent_pieces *pieces,
                         const struct intent *labels)
{
    for (size_t i = 0; i < pieces->count; i++) {
        if (is_sure(&labels->segments[i], pieces->items[i].end != 0)) {
            add_example(&pieces->items[i], labels->segments[i].act);
        }
    }
}

/* The line as one piece, as it is when nobody typed the marks. */
static void add_whole(struct arena *arena, struct str line,
                      const struct intent_pieces *marked,
                      const struct intent *label)
{
    struct intent_pieces bare;
    char *copy = arena_copy(arena, line.s, line.len);
    size_t len = 0;

    if (!copy || marked->count < 2 || marked->count > 4 ||
        label->confidence < 0.7f) {
        return;
    }
    for (size_t i = 0; i < line.len; i++) {
        if (!strchr(".?!", copy[i])) {
            copy[len++] = (char)tolower((unsigned char)copy[i]);
        }
    }
    if (intent_split(arena, (struct str){copy, len}, &bare) == CLEW_OK &&
        bare.count == 1) {
        add_example(&bare.items[0], label->act);
    }
}

static void learn(double rate, const struct example *e)
{
    const uint16_t *f = pool + e->first;
    double score[INTENT_ACTS];
    double top = -1e30;
    double total = 0;

    for (int k = 0; k < INTENT_ACTS; k++) {
        score[k] = bias[k];
        for (size_t i = 0; i < e->count; i++) {
            score[k] += (double)weights[f[i]][k];
        }
        top = score[k] > top ? score[k] : top;
    }
    for (int k = 0; k < INTENT_ACTS; k++) {
        score[k] = exp(score[k] - top);
        total += score[k];
    }
    for (int k = 0; k < INTENT_ACTS; k++) {
        double step = rate * ((e->act == k ? 1.0 : 0.0) - score[k] / total);

        bias[k] += 0.1 * step;
        for (size_t i = 0; i < e->count; i++) {
            float *w = &weights[f[i]][k];

            *w = (float)((double)*w * (1.0 - rate * DECAY * 100) + step);
        }
    }
}

static void train(void)
{
    uint32_t state = 2463534242u;

    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double rate = RATE / (1.0 + epoch);

        for (size_t i = n_examples; i > 1; i--) {
            size_t k = next_random(&state) % i;
            struct example swap = examples[i - 1];

            examples[i - 1] = examples[k];
            examples[k] = swap;
        }
        for (size_t i = 0; i < n_examples; i++) {
            learn(rate, &examples[i]);
        }
    }
}

static int write_weights(const char *path)
{
    FILE *out = fopen(path, "wb");
    float scale[INTENT_ACTS];
    float biases[INTENT_ACTS];
    static signed char rows[INTENT_BUCKETS][INTENT_ACTS];

    if (!out) {
        perror(path);
        return 1;
    }
    for (int k = 0; k < INTENT_ACTS; k++) {
        float top = 1e-9f;

        for (size_t i = 0; i < INTENT_BUCKETS; i++) {
            top = fabsf(weights[i][k]) > top ? fabsf(weights[i][k]) : top;
        }
        scale[k] = top / 127.0f;
        biases[k] = (float)bias[k];
        for (size_t i = 0; i < INTENT_BUCKETS; i++) {
            rows[i][k] = (signed char)lrintf(weights[i][k] / scale[k]);
        }
    }
    fwrite(scale, sizeof(scale), 1, out);
    fwrite(biases, sizeof(biases), 1, out);
    fwrite(rows, sizeof(rows), 1, out);
    return fclose(out) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    size_t counts[INTENT_ACTS] = {0};
    struct arena arena;

    if (argc != 2) {
        fprintf(stderr, "usage: zcat corpus.txt.gz | intent_train OUT.bin\n");
        return 2;
    }
    examples = calloc(MAX_EXAMPLES, sizeof(*examples));
    if (!examples) {
        return 1;
    }
    arena_init(&arena, 1u << 26);
    while ((len = getline(&line, &cap, stdin)) > 0) {
        struct str text = str_trim((struct str){line, (size_t)len});
        struct intent label;
        struct intent_pieces pieces;

        arena_clear(&arena);
        if (is_gloss(text) ||
            intent_after(&arena, text, NULL, &label) != CLEW_OK ||
            label.level != INTENT_LEVEL_RULE ||
            intent_split(&arena, text, &pieces) != CLEW_OK ||
            label.n_segments != pieces.count) {
            continue;
        }
        add_segments(&pieces, &label);
        add_whole(&arena, text, &pieces, &label);
    }
    train();
    for (size_t i = 0; i < n_examples; i++) {
        counts[examples[i].act]++;
    }
    printf("%zu examples:", n_examples);
    for (int k = 0; k < INTENT_ACTS; k++) {
        printf(" %s %zu", intent_act_name((enum intent_act)k), counts[k]);
    }
    printf("\n");
    arena_release(&arena);
    free(line);
    free(pool);
    free(examples);
    return write_weights(argv[1]);
}
