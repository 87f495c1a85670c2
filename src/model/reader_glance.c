/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_glance.c - reading in two steps. See reader.h.
 *
 * Of a dozen passages one or two answer a question, and after the first layers
 * most of the others can be told: by the mean of the question's tokens, that of
 * the passage's, the first token, and the product of the two means, through two
 * small layers (models/train/train_glance.py). The rows that all layers so far
 * have made are kept, so that reading on repeats nothing.
 */
#include "model/reader_internal.h"

#include "base/limits.h"

#include <string.h>

bool reader_can_glance(const struct reader *reader)
{
    return reader->promise.layer > 0;
}

static float promise_of(const struct reader *reader, const float *in)
{
    const struct reader_promise *promise = &reader->promise;
    size_t n_in = 4 * reader->dim;
    float inner[READER_MAX_GLANCE];
    float sum;
    float e;

    for (size_t i = 0; i < promise->n; i++) {
        sum = reader->kernels->dot(promise->in + i * n_in, in, n_in) +
              promise->in_bias[i];
        inner[i] = sum > 0.0f ? sum : 0.0f;
    }
    sum = reader->kernels->dot(promise->out, inner, promise->n) +
          promise->out_bias[0];
    e = reader_exp(sum < 0.0f ? sum : -sum);
    return sum < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e);
}

/* The mean of rows [from, to); nothing where a side has no token. */
static void mean_of(const struct reader *reader,
                    const struct reader_batch *batch, size_t from, size_t to,
                    float *out)
{
    if (from < to) {
        reader_mean(reader, batch, from, to, out);
    } else {
        memset(out, 0, reader->dim * sizeof(*out));
    }
}

static float look(const struct reader *reader, const struct reader_batch *batch)
{
    size_t dim = reader->dim;
    size_t second = batch->second[0];
    float in[4 * READER_MAX_DIM];

    mean_of(reader, batch, 1, second - 1, in);
    mean_of(reader, batch, second, batch->n_rows - 1, in + dim);
    memcpy(in + 2 * dim, batch->x, dim * sizeof(*in));
    for (size_t i = 0; i < dim; i++) {
        in[3 * dim + i] = in[i] * in[dim + i];
    }
    return promise_of(reader, in);
}

enum clew_status reader_glance(const struct reader *reader, struct arena *arena,
                               const struct reader_pair *pair,
                               struct reader_glance *out,
                               struct clew_error *err)
{
    uint32_t ids[READER_PAIR_TOKENS];
    size_t second;
    size_t n = reader_put_pair(reader, pair, ids, &second);
    struct reader_batch *batch;
    struct arena own;

    out->n_rows = n;
    out->x = arena_alloc(arena, n * reader->dim * sizeof(*out->x));
    arena_init(&own, LIMIT_REQUEST_ARENA_BYTES);
    batch = out->x ? reader_batch_new(reader, &own, n) : NULL;
    if (!batch) {
        arena_release(&own);
        return clew_no_memory(err);
    }
    memcpy(batch->ids, ids, n * sizeof(*ids));
    batch->n_texts = 1;
    batch->n_rows = n;
    batch->starts[1] = n;
    batch->second[0] = second;
    reader_run(reader, reader_layers_of(reader, READER_ANSWER), batch, 0,
               reader->promise.layer, 0);
    out->promise = look(reader, batch);
    memcpy(out->x, batch->x, n * reader->dim * sizeof(*out->x));
    arena_release(&own);
    return CLEW_OK;
}

enum clew_status reader_read_on(const struct reader *reader,
                                const struct reader_glance *glance,
                                struct reader_verdict *out,
                                struct clew_error *err)
{
    size_t n = glance->n_rows;
    float mean[READER_MAX_DIM];
    struct reader_batch *batch;
    struct arena own;

    arena_init(&own, LIMIT_REQUEST_ARENA_BYTES);
    batch = reader_batch_new(reader, &own, n);
    if (!batch) {
        arena_release(&own);
        return clew_no_memory(err);
    }
    batch->n_texts = 1;
    batch->n_rows = n;
    batch->starts[1] = n;
    memcpy(batch->x, glance->x, n * reader->dim * sizeof(*glance->x));
    reader_run(reader, reader_layers_of(reader, READER_ANSWER), batch,
               reader->promise.layer, reader->n_layers, 0);
    reader_mean(reader, batch, 0, n, mean);
    memset(out, 0, sizeof(*out));
    reader_ask(reader, READER_HEAD_ANSWER, mean, out->p);
    arena_release(&own);
    return CLEW_OK;
}
