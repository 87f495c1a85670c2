/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bert.c - run the encoder on a batch of texts. See bert.h.
 *
 * The tokens of all texts of a batch lie end to end in one matrix, so the
 * large products see many rows and nothing is spent on padding; only
 * attention goes text by text.
 */
#include "model/bert.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "model/bert_internal.h"
#include "model/bert_kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A batch is closed when it has this many tokens: enough rows to keep the
 * products busy, few enough to stay in the cache. */
#define BATCH_TOKENS 384
#define HASH_DIGITS 12

/* The texts of one run of the encoder, and its working memory. */
struct batch {
    const struct bert *bert;
    size_t n_texts;
    size_t n_rows;
    size_t starts[BATCH_TOKENS + 1]; /* first row of each text, and the end */
    uint32_t ids[BATCH_TOKENS + BERT_MAX_TOKENS];
    float *x;       /* rows * dim */
    float *wide;    /* rows * max(3 dim, inner) */
    float *mixed;   /* rows * dim */
    float *scratch; /* for attention */
};

static size_t max_tokens(const struct bert *bert)
{
    size_t positions = bert->config.n_positions;

    return positions < BERT_MAX_TOKENS ? positions : BERT_MAX_TOKENS;
}

/* [CLS] text [SEP] at the end of the batch. */
static void add_text(struct batch *batch, struct str text)
{
    const struct bert *bert = batch->bert;
    uint32_t *ids = batch->ids + batch->n_rows;
    size_t n =
        wordpiece_run(bert->wordpiece, text, ids + 1, max_tokens(bert) - 2);

    ids[0] = bert->first_id;
    ids[n + 1] = bert->last_id;
    batch->n_rows += n + 2;
    batch->n_texts++;
    batch->starts[batch->n_texts] = batch->n_rows;
}

static void look_up(struct batch *batch)
{
    const struct bert *bert = batch->bert;
    size_t dim = bert->config.dim;

    for (size_t t = 0; t < batch->n_texts; t++) {
        for (size_t r = batch->starts[t]; r < batch->starts[t + 1]; r++) {
            float *row = batch->x + r * dim;
            const float *position =
                bert->positions + (r - batch->starts[t]) * dim;

            safetensors_read(&bert->words, batch->ids[r] * dim, dim, row);
            for (size_t i = 0; i < dim; i++) {
                row[i] += position[i];
            }
        }
    }
    bert->kernels->add_norm(batch->x, NULL, batch->n_rows, dim,
                            bert->norm.weight, bert->norm.bias,
                            bert->config.epsilon);
}

static void run_dense(const struct batch *batch, const struct bert_dense *dense,
                      const float *in, float *out)
{
    batch->bert->kernels->product(in, batch->n_rows, dense->n_in, dense->panels,
                                  dense->bias, dense->n_out, out);
}

static void attend(struct batch *batch)
{
    const struct bert_config *c = &batch->bert->config;
    size_t width = c->dim / c->n_heads;
    float scale = 1.0f / sqrtf((float)width);

    for (size_t t = 0; t < batch->n_texts; t++) {
        size_t from = batch->starts[t];
        size_t rows = batch->starts[t + 1] - from;

        for (size_t h = 0; h < c->n_heads; h++) {
            batch->bert->kernels->attend(
                batch->wide + from * 3 * c->dim, rows, c->dim, h * width, width,
                scale, batch->mixed + from * c->dim, batch->scratch);
        }
    }
}

static void run_layer(struct batch *batch, const struct bert_layer *layer)
{
    const struct bert_kernels *kernels = batch->bert->kernels;
    size_t dim = batch->bert->config.dim;
    float epsilon = batch->bert->config.epsilon;

    run_dense(batch, &layer->qkv, batch->x, batch->wide);
    attend(batch);
    run_dense(batch, &layer->attention, batch->mixed, batch->wide);
    kernels->add_norm(batch->x, batch->wide, batch->n_rows, dim,
                      layer->attention_norm.weight, layer->attention_norm.bias,
                      epsilon);
    run_dense(batch, &layer->inner, batch->x, batch->wide);
    kernels->gelu(batch->wide, batch->n_rows * layer->inner.n_out);
    run_dense(batch, &layer->outer, batch->wide, batch->mixed);
    kernels->add_norm(batch->x, batch->mixed, batch->n_rows, dim,
                      layer->outer_norm.weight, layer->outer_norm.bias,
                      epsilon);
}

static void pool(const struct batch *batch, size_t text, float *out)
{
    const struct bert_config *c = &batch->bert->config;
    size_t from = batch->starts[text];
    size_t to = c->takes_first ? from + 1 : batch->starts[text + 1];
    double squares = 0.0;
    float scale;

    memset(out, 0, c->dim * sizeof(float));
    for (size_t r = from; r < to; r++) {
        for (size_t i = 0; i < c->dim; i++) {
            out[i] += batch->x[r * c->dim + i];
        }
    }
    for (size_t i = 0; i < c->dim; i++) {
        squares += (double)out[i] * (double)out[i];
    }
    /* also false for weights that are not numbers */
    scale = squares > 0.0 ? (float)(1.0 / sqrt(squares)) : 0.0f;
    for (size_t i = 0; i < c->dim; i++) {
        out[i] *= scale;
    }
}

static void free_rows(struct batch *batch)
{
    alloc_free(batch->x);
    alloc_free(batch->wide);
    alloc_free(batch->mixed);
    alloc_free(batch->scratch);
    batch->x = NULL;
    batch->wide = NULL;
    batch->mixed = NULL;
    batch->scratch = NULL;
}

static bool make_rows(struct batch *batch)
{
    const struct bert_config *c = &batch->bert->config;
    size_t rows = (batch->n_rows + BERT_ROWS - 1) / BERT_ROWS * BERT_ROWS;
    size_t wide = 3 * c->dim > c->inner ? 3 * c->dim : c->inner;
    size_t width = c->dim / c->n_heads;

    batch->x = alloc_zero(rows * c->dim, sizeof(float));
    batch->wide = alloc_zero(rows * wide, sizeof(float));
    batch->mixed = alloc_zero(rows * c->dim, sizeof(float));
    batch->scratch =
        alloc_zero((width + 1) * (BERT_MAX_TOKENS + 16), sizeof(float));
    return batch->x && batch->wide && batch->mixed && batch->scratch;
}

/* Encode what was gathered into `out`, and empty the batch. */
static enum clew_status run_batch(struct batch *batch, float *out)
{
    const struct bert *bert = batch->bert;
    enum clew_status status = CLEW_NO_MEMORY;

    if (make_rows(batch)) {
        look_up(batch);
        for (size_t i = 0; i < bert->config.n_layers; i++) {
            run_layer(batch, &bert->layers[i]);
        }
        for (size_t t = 0; t < batch->n_texts; t++) {
            pool(batch, t, out + t * bert->config.dim);
        }
        status = CLEW_OK;
    }
    free_rows(batch);
    batch->n_texts = 0;
    batch->n_rows = 0;
    return status;
}

static enum clew_status run(struct embedder *embedder, const struct str *texts,
                            size_t count, float *out, struct clew_error *err)
{
    struct batch *batch = alloc_zero(1, sizeof(*batch));
    enum clew_status status = CLEW_OK;
    size_t done = 0;

    (void)err; /* only memory can fail */
    if (!batch) {
        return CLEW_NO_MEMORY;
    }
    batch->bert = (const struct bert *)embedder;
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        add_text(batch, texts[i]);
        if (batch->n_rows >= BATCH_TOKENS || i + 1 == count) {
            status = run_batch(batch, out + done * embedder->dim);
            done = i + 1;
        }
    }
    alloc_free(batch);
    return status;
}

static void free_bert(struct embedder *embedder)
{
    struct bert *bert = (struct bert *)embedder;

    bert_unload(bert);
    alloc_free(bert);
}

static const struct embedder_ops ops = {"bert", run, free_bert, NULL};

enum clew_status bert_open(const char *folder, const char *name,
                           struct embedder **out_embedder,
                           struct clew_error *err)
{
    struct bert *bert = alloc_zero(1, sizeof(*bert));
    char hash[SHA256_HEX_SIZE];
    enum clew_status status;

    if (!bert) {
        return CLEW_NO_MEMORY;
    }
    bert->base.ops = &ops;
    bert->kernels = bert_kernels();
    status = bert_load(bert, folder, err);
    if (status != CLEW_OK) {
        free_bert(&bert->base);
        return status;
    }
    sha256_hex_of(bert->weights_file, hash);
    bert->base.dim = bert->config.dim;
    (void)snprintf(bert->base.id, sizeof(bert->base.id), "%.64s@%.*s", name,
                   HASH_DIGITS, hash);
    *out_embedder = &bert->base;
    return CLEW_OK;
}
