/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_run.c - the forward pass over a batch, and the questions asked of it.
 *
 * The tokens of all texts of a batch lie end to end in one matrix, so the
 * large products see many rows and nothing is spent on padding; only attention
 * goes text by text. Each row is computed by itself, so that no text shows in
 * another's numbers.
 */
#include "model/reader_internal.h"

#include <math.h>
#include <string.h>

/* Rows whose inner values are made, bent and rounded while they are in a cache
 * of a megabyte: whole tiles of 6 and of 8, and most pairs at once, as the
 * weights are laid out anew for each such stretch. */
#define INNER_ROWS 144
/* A line of the nearest cache. */
#define LINE_BYTES 64

static size_t wide_of(const struct reader *reader)
{
    size_t qkv = 3 * reader->dim;

    return qkv > reader->inner ? qkv : reader->inner;
}

/* Registers are as wide as a line: what begins within one costs two. */
static void *alloc_lines(struct arena *arena, size_t size)
{
    uintptr_t at = (uintptr_t)arena_alloc(arena, size + LINE_BYTES);

    return at ? (void *)((at + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES)
              : NULL;
}

struct reader_batch *reader_batch_new(const struct reader *reader,
                                      struct arena *arena, size_t n_rows)
{
    struct reader_batch *batch = arena_zero(arena, 1, sizeof(*batch));
    size_t dim = reader->dim;
    size_t width = dim / reader->n_heads;
    size_t widest = dim > reader->inner ? dim : reader->inner;

    if (!batch) {
        return NULL;
    }
    batch->cap_rows = n_rows;
    batch->x = alloc_lines(arena, n_rows * dim * sizeof(float));
    batch->wide = alloc_lines(arena, n_rows * wide_of(reader) * sizeof(float));
    batch->mixed = alloc_lines(arena, n_rows * dim * sizeof(float));
    batch->scratch = alloc_lines(arena, reader_scratch_floats(n_rows, width) *
                                            sizeof(float));
    batch->scales = arena_alloc(arena, n_rows * sizeof(float));
    batch->rounded = alloc_lines(arena, reader_rounded_bytes(n_rows, widest));
    return batch->x && batch->wide && batch->mixed && batch->scratch &&
                   batch->scales && batch->rounded
               ? batch
               : NULL;
}

static void look_up(const struct reader *reader, struct reader_batch *batch)
{
    size_t dim = reader->dim;

    for (size_t t = 0; t < batch->n_texts; t++) {
        for (size_t r = batch->starts[t]; r < batch->starts[t + 1]; r++) {
            const int8_t *word = reader->words + batch->ids[r] * dim;
            float scale = reader->word_scales[batch->ids[r]];
            const float *type =
                reader->types + (r >= batch->second[t] ? dim : 0);
            const float *position =
                reader->positions + (r - batch->starts[t]) * dim;
            float *row = batch->x + r * dim;

            for (size_t i = 0; i < dim; i++) {
                row[i] = (float)word[i] * scale + position[i] + type[i];
            }
        }
    }
    reader->kernels->add_norm(batch->x, NULL, batch->n_rows, dim, &reader->norm,
                              reader->epsilon);
}

/* Rows [from, end) of `in` through a dense into rows of `out`. */
static void run_dense(const struct reader *reader, struct reader_batch *batch,
                      const struct reader_dense *dense, size_t from,
                      const float *in, float *out)
{
    size_t n = batch->n_rows - from;

    reader->kernels->round(in + from * dense->n_in, n, dense->n_in,
                           batch->rounded, batch->scales);
    reader->kernels->product(dense, batch->rounded, batch->scales, n,
                             out + from * dense->n_out);
}

static void attend(const struct reader *reader, struct reader_batch *batch,
                   size_t needed)
{
    for (size_t t = 0; t < batch->n_texts; t++) {
        size_t from = batch->starts[t];
        struct reader_heads heads = {
            .qkv = batch->wide + from * 3 * reader->dim,
            .n_rows = batch->starts[t + 1] - from,
            .dim = reader->dim,
            .n_heads = reader->n_heads,
            .from = needed > from ? needed - from : 0,
            .out = batch->mixed + from * reader->dim,
            .scratch = batch->scratch,
        };

        reader->kernels->attend(&heads);
    }
}

/* inner, gelu, outer: x to mixed, some rows at a time. */
static void think(const struct reader *reader, struct reader_batch *batch,
                  const struct reader_layer *layer, size_t from)
{
    const struct reader_kernels *k = reader->kernels;
    size_t inner = reader->inner;

    for (size_t r = from; r < batch->n_rows; r += INNER_ROWS) {
        size_t n =
            batch->n_rows - r < INNER_ROWS ? batch->n_rows - r : INNER_ROWS;

        k->round(batch->x + r * reader->dim, n, reader->dim, batch->rounded,
                 batch->scales);
        k->product(&layer->inner, batch->rounded, batch->scales, n,
                   batch->wide);
        k->bend(batch->wide, n, inner, batch->rounded, batch->scales);
        k->product(&layer->outer, batch->rounded, batch->scales, n,
                   batch->mixed + r * reader->dim);
    }
}

static void run_layer(const struct reader *reader, struct reader_batch *batch,
                      const struct reader_layer *layer, size_t needed)
{
    const struct reader_kernels *k = reader->kernels;
    size_t dim = reader->dim;
    size_t n = batch->n_rows - needed;
    float *x = batch->x + needed * dim;

    run_dense(reader, batch, &layer->qkv, 0, batch->x, batch->wide);
    attend(reader, batch, needed);
    run_dense(reader, batch, &layer->attention, needed, batch->mixed,
              batch->wide);
    k->add_norm(x, batch->wide + needed * dim, n, dim, &layer->attention_norm,
                reader->epsilon);
    think(reader, batch, layer, needed);
    k->add_norm(x, batch->mixed + needed * dim, n, dim, &layer->outer_norm,
                reader->epsilon);
}

const struct reader_layer *reader_layers_of(const struct reader *reader,
                                            enum reader_pair_kind kind)
{
    return reader->is_second[kind] ? reader->second : reader->layers;
}

void reader_run(const struct reader *reader, const struct reader_layer *layers,
                struct reader_batch *batch, size_t from, size_t to,
                size_t needed)
{
    if (from == 0) {
        look_up(reader, batch);
    }
    for (size_t i = from; i < to; i++) {
        run_layer(reader, batch, &layers[i], i + 1 == to ? needed : 0);
    }
}

void reader_mean(const struct reader *reader, const struct reader_batch *batch,
                 size_t from, size_t to, float *out_mean)
{
    size_t dim = reader->dim;

    memset(out_mean, 0, dim * sizeof(float));
    for (size_t r = from; r < to; r++) {
        for (size_t i = 0; i < dim; i++) {
            out_mean[i] += batch->x[r * dim + i];
        }
    }
    for (size_t i = 0; i < dim; i++) {
        out_mean[i] /= (float)(to - from);
    }
}

static void choose(float *logits, size_t n)
{
    float top = logits[0];
    float sum = 0.0f;

    for (size_t i = 1; i < n; i++) {
        top = logits[i] > top ? logits[i] : top;
    }
    for (size_t i = 0; i < n; i++) {
        logits[i] = reader_exp(logits[i] - top);
        sum += logits[i];
    }
    for (size_t i = 0; i < n; i++) {
        logits[i] /= sum;
    }
}

static float sigmoid(float x)
{
    float e = reader_exp(x < 0.0f ? x : -x);

    return x < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e);
}

void reader_ask(const struct reader *reader, enum reader_head head,
                const float *mean, float *out)
{
    const struct reader_question *question = &reader->questions[head];

    for (size_t i = 0; i < question->n_outcomes; i++) {
        out[i] = reader->kernels->dot(question->weights + i * reader->dim, mean,
                                      reader->dim) +
                 question->bias[i];
    }
    if (question->is_choice) {
        choose(out, question->n_outcomes);
    } else {
        for (size_t i = 0; i < question->n_outcomes; i++) {
            out[i] = sigmoid(out[i]);
        }
    }
}

void reader_place(const struct reader *reader, const float *weights,
                  const float *bias, const float *sum, size_t n_rows,
                  struct reader_gist *out)
{
    size_t n_in = reader->gist.n_layers * reader->dim;
    float mean[READER_MAX_GIST_LAYERS * READER_MAX_DIM];
    float at[READER_GIST_DIM];
    float square = 0.0f;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; n_rows > 0 && i < n_in; i++) {
        mean[i] = sum[i] / (float)n_rows;
    }
    for (size_t i = 0; n_rows > 0 && i < READER_GIST_DIM; i++) {
        at[i] = reader->kernels->dot(weights + i * n_in, mean, n_in) + bias[i];
    }
    if (n_rows > 0) {
        square = reader->kernels->dot(at, at, READER_GIST_DIM);
    }
    if (!(square > 0.0f)) {
        return;
    }
    square = sqrtf(square);
    for (size_t i = 0; i < READER_GIST_DIM; i++) {
        float value = at[i] / square * (float)READER_GIST_STEPS;

        value = value > 127.0f ? 127.0f : value < -127.0f ? -127.0f : value;
        out->at[i] = (int8_t)(value < 0.0f ? value - 0.5f : value + 0.5f);
    }
    out->is_known = true;
}
