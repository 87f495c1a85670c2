/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bert_load.c - read an encoder from its folder and pack its weights.
 *
 * Every size comes from config.json within limits, and every tensor must have
 * exactly the shape those sizes ask for. Word vectors stay in the mapped file;
 * a run reads only the rows it needs.
 */
#include "model/bert_internal.h"

#include "base/alloc.h"
#include "base/json.h"
#include "model/bert.h"
#include "model/bert_kernels.h"
#include "model/model_file.h"

#include <stdio.h>
#include <string.h>

#define MAX_LAYERS 48
#define MAX_INNER 16384
#define MAX_HEADS 64
#define MAX_POSITIONS 8192
/* All weights of the largest encoder allowed by the file's own limit. */
#define ARENA_BYTES (10ULL << 30)
#define NAME_SIZE 128

static enum clew_status read_count(const json_t *config, const char *field,
                                   int64_t max, size_t *out,
                                   struct clew_error *err)
{
    int64_t value = 0;
    enum clew_status status =
        json_get_int(config, field, JSON_REQUIRED, 1, max, &value, err);

    if (status == CLEW_OK) {
        *out = (size_t)value;
    }
    return status;
}

static enum clew_status check_config(const struct bert_config *c,
                                     const json_t *config,
                                     struct clew_error *err)
{
    const char *act = json_string_value(json_object_get(config, "hidden_act"));
    const char *type = json_string_value(json_object_get(config, "model_type"));
    const char *where =
        json_string_value(json_object_get(config, "position_embedding_type"));

    if (type && strcmp(type, "bert") != 0) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "the model is of type \"%.40s\", not bert", type);
    }
    if ((act && strcmp(act, "gelu") != 0) ||
        (where && strcmp(where, "absolute") != 0)) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "only gelu and absolute positions are supported");
    }
    if (c->dim % BERT_PANEL != 0 || c->inner % BERT_PANEL != 0 ||
        c->dim % c->n_heads != 0) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "sizes must be multiples of %d and of the heads",
                         BERT_PANEL);
    }
    return CLEW_OK;
}

static enum clew_status read_config(struct bert_config *c, const json_t *config,
                                    struct clew_error *err)
{
    double epsilon = 1e-12;
    const char *origin =
        json_string_value(json_object_get(config, "_name_or_path"));
    enum clew_status status =
        read_count(config, "hidden_size", EMBED_MAX_DIM, &c->dim, err);

    if (status == CLEW_OK) {
        status = read_count(config, "num_hidden_layers", MAX_LAYERS,
                            &c->n_layers, err);
    }
    if (status == CLEW_OK) {
        status = read_count(config, "num_attention_heads", MAX_HEADS,
                            &c->n_heads, err);
    }
    if (status == CLEW_OK) {
        status =
            read_count(config, "intermediate_size", MAX_INNER, &c->inner, err);
    }
    if (status == CLEW_OK) {
        status = read_count(config, "max_position_embeddings", MAX_POSITIONS,
                            &c->n_positions, err);
    }
    if (status == CLEW_OK) {
        status = read_count(config, "vocab_size", WORDPIECE_MAX_TOKENS,
                            &c->n_tokens, err);
    }
    if (status == CLEW_OK) {
        status = json_get_real(config, "layer_norm_eps", JSON_OPTIONAL, 0, 1,
                               &epsilon, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    c->epsilon = (float)epsilon;
    c->takes_first = origin && strstr(origin, "bge") != NULL;
    if (c->n_positions < 3) {
        return clew_fail(err, CLEW_INVALID, "the model has too few positions");
    }
    return check_config(c, config, err);
}

static void read_pooling(struct bert_config *c, const char *folder)
{
    json_t *pooling = NULL;

    if (model_file_json(folder, "1_Pooling/config.json", &pooling, NULL) ==
        CLEW_OK) {
        c->takes_first =
            json_is_true(json_object_get(pooling, "pooling_mode_cls_token"));
        json_decref(pooling);
    }
}

/* --- tensors ------------------------------------------------------------- */

/* Find "NAME" or "bert.NAME" of exactly rows * cols (cols 0: a vector). */
static enum clew_status find(struct bert *bert, const char *name, size_t rows,
                             size_t cols, struct safetensors_tensor *out,
                             struct clew_error *err)
{
    char longer[NAME_SIZE + 8];
    enum clew_status status = safetensors_find(bert->tensors, name, out, err);

    if (status == CLEW_NOT_FOUND) {
        (void)snprintf(longer, sizeof(longer), "bert.%s", name);
        status = safetensors_find(bert->tensors, longer, out, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (!safetensors_is_float(out->type)) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "tensor \"%s\" is not F32, F16 or BF16", name);
    }
    if (out->n_dims != (cols ? 2u : 1u) || out->dims[0] != rows ||
        (cols && out->dims[1] != cols)) {
        return clew_fail(err, CLEW_CORRUPT, "tensor \"%s\" has another shape",
                         name);
    }
    return CLEW_OK;
}

/* A vector into `out`, which has room for it. */
static enum clew_status read_vector(struct bert *bert, const char *name,
                                    size_t count, float *out,
                                    struct clew_error *err)
{
    struct safetensors_tensor tensor;
    enum clew_status status = find(bert, name, count, 0, &tensor, err);

    if (status == CLEW_OK) {
        safetensors_read(&tensor, 0, count, out);
    }
    return status;
}

static float *make_floats(struct bert *bert, size_t count)
{
    return arena_zero(&bert->arena, count, sizeof(float));
}

static enum clew_status read_norm(struct bert *bert, const char *prefix,
                                  struct bert_norm *out, struct clew_error *err)
{
    size_t dim = bert->config.dim;
    float *both = make_floats(bert, 2 * dim);
    char name[NAME_SIZE];
    enum clew_status status;

    if (!both) {
        return CLEW_NO_MEMORY;
    }
    (void)snprintf(name, sizeof(name), "%s.weight", prefix);
    status = read_vector(bert, name, dim, both, err);
    if (status == CLEW_OK) {
        (void)snprintf(name, sizeof(name), "%s.bias", prefix);
        status = read_vector(bert, name, dim, both + dim, err);
    }
    out->weight = both;
    out->bias = both + dim;
    return status;
}

/* One matrix and its bias into the part of a dense that starts at output
 * `from`. */
static enum clew_status read_part(struct bert *bert, const char *prefix,
                                  size_t from, size_t n_out, size_t n_in,
                                  const struct bert_dense *dense,
                                  struct clew_error *err)
{
    struct safetensors_tensor tensor;
    char name[NAME_SIZE];
    float *plain = NULL;
    enum clew_status status;

    (void)snprintf(name, sizeof(name), "%s.bias", prefix);
    status = read_vector(bert, name, n_out,
                         (float *)(uintptr_t)dense->bias + from, err);
    if (status == CLEW_OK) {
        (void)snprintf(name, sizeof(name), "%s.weight", prefix);
        status = find(bert, name, n_out, n_in, &tensor, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    plain = alloc_array(NULL, n_out * n_in, sizeof(float));
    if (!plain) {
        return CLEW_NO_MEMORY;
    }
    safetensors_read(&tensor, 0, n_out * n_in, plain);
    bert_pack(plain, n_out, n_in,
              (float *)(uintptr_t)dense->panels + from * n_in);
    alloc_free(plain);
    return CLEW_OK;
}

static bool make_dense(struct bert *bert, size_t n_in, size_t n_out,
                       struct bert_dense *out)
{
    out->n_in = n_in;
    out->n_out = n_out;
    out->panels = make_floats(bert, n_in * n_out);
    out->bias = make_floats(bert, n_out);
    return out->panels && out->bias;
}

static enum clew_status read_attention(struct bert *bert, size_t at,
                                       struct bert_layer *layer,
                                       struct clew_error *err)
{
    static const char *const parts[] = {"query", "key", "value"};
    size_t dim = bert->config.dim;
    char name[NAME_SIZE];
    enum clew_status status = CLEW_OK;

    if (!make_dense(bert, dim, 3 * dim, &layer->qkv) ||
        !make_dense(bert, dim, dim, &layer->attention)) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < 3 && status == CLEW_OK; i++) {
        (void)snprintf(name, sizeof(name),
                       "encoder.layer.%zu.attention.self.%s", at, parts[i]);
        status = read_part(bert, name, i * dim, dim, dim, &layer->qkv, err);
    }
    if (status == CLEW_OK) {
        (void)snprintf(name, sizeof(name),
                       "encoder.layer.%zu.attention.output.dense", at);
        status = read_part(bert, name, 0, dim, dim, &layer->attention, err);
    }
    if (status == CLEW_OK) {
        (void)snprintf(name, sizeof(name),
                       "encoder.layer.%zu.attention.output.LayerNorm", at);
        status = read_norm(bert, name, &layer->attention_norm, err);
    }
    return status;
}

static enum clew_status read_inner(struct bert *bert, size_t at,
                                   struct bert_layer *layer,
                                   struct clew_error *err)
{
    size_t dim = bert->config.dim;
    size_t inner = bert->config.inner;
    char name[NAME_SIZE];
    enum clew_status status;

    if (!make_dense(bert, dim, inner, &layer->inner) ||
        !make_dense(bert, inner, dim, &layer->outer)) {
        return CLEW_NO_MEMORY;
    }
    (void)snprintf(name, sizeof(name), "encoder.layer.%zu.intermediate.dense",
                   at);
    status = read_part(bert, name, 0, inner, dim, &layer->inner, err);
    if (status == CLEW_OK) {
        (void)snprintf(name, sizeof(name), "encoder.layer.%zu.output.dense",
                       at);
        status = read_part(bert, name, 0, dim, inner, &layer->outer, err);
    }
    if (status == CLEW_OK) {
        (void)snprintf(name, sizeof(name), "encoder.layer.%zu.output.LayerNorm",
                       at);
        status = read_norm(bert, name, &layer->outer_norm, err);
    }
    return status;
}

/* Words stay in the file; positions get the first token type added. */
static enum clew_status read_embeddings(struct bert *bert,
                                        struct clew_error *err)
{
    const struct bert_config *c = &bert->config;
    struct safetensors_tensor tensor;
    float *positions = make_floats(bert, c->n_positions * c->dim);
    float *type = make_floats(bert, c->dim);
    enum clew_status status = find(bert, "embeddings.word_embeddings.weight",
                                   c->n_tokens, c->dim, &bert->words, err);

    if (status == CLEW_OK && (!positions || !type)) {
        return CLEW_NO_MEMORY;
    }
    if (status == CLEW_OK) {
        status = find(bert, "embeddings.position_embeddings.weight",
                      c->n_positions, c->dim, &tensor, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    safetensors_read(&tensor, 0, c->n_positions * c->dim, positions);
    status = find(bert, "embeddings.token_type_embeddings.weight", 2, c->dim,
                  &tensor, err);
    if (status != CLEW_OK) {
        return status;
    }
    safetensors_read(&tensor, 0, c->dim, type);
    for (size_t i = 0; i < c->n_positions * c->dim; i++) {
        positions[i] += type[i % c->dim];
    }
    bert->positions = positions;
    return read_norm(bert, "embeddings.LayerNorm", &bert->norm, err);
}

static enum clew_status read_weights(struct bert *bert, struct clew_error *err)
{
    enum clew_status status =
        safetensors_new(bert->weights_file, &bert->tensors, err);

    if (status == CLEW_OK) {
        status = read_embeddings(bert, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    bert->layers =
        arena_zero(&bert->arena, bert->config.n_layers, sizeof(*bert->layers));
    if (!bert->layers) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < bert->config.n_layers && status == CLEW_OK; i++) {
        status = read_attention(bert, i, &bert->layers[i], err);
        if (status == CLEW_OK) {
            status = read_inner(bert, i, &bert->layers[i], err);
        }
    }
    return status;
}

enum clew_status bert_load(struct bert *bert, const char *folder,
                           struct clew_error *err)
{
    json_t *config = NULL;
    enum clew_status status;

    arena_init(&bert->arena, ARENA_BYTES);
    status = model_file_json(folder, "config.json", &config, err);
    if (status == CLEW_OK) {
        status = read_config(&bert->config, config, err);
        json_decref(config);
    }
    if (status == CLEW_OK) {
        read_pooling(&bert->config, folder);
        status = bert_load_vocab(bert, folder, err);
    }
    if (status == CLEW_OK) {
        status =
            model_file_map(folder, "model.safetensors", MODEL_FILE_MAX_WEIGHTS,
                           &bert->weights_file, err);
    }
    if (status == CLEW_OK) {
        status = read_weights(bert, err);
    }
    return status;
}

void bert_unload(struct bert *bert)
{
    wordpiece_free(bert->wordpiece);
    safetensors_free(bert->tensors);
    model_file_unmap(bert->weights_file);
    model_file_unmap(bert->vocab_file);
    arena_release(&bert->arena);
}
