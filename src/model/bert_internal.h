/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bert_internal.h - a loaded encoder: bert_load.c fills it, bert.c runs it.
 */
#ifndef MODEL_BERT_INTERNAL_H
#define MODEL_BERT_INTERNAL_H

#include "base/arena.h"
#include "model/embed.h"
#include "model/safetensors.h"
#include "model/wordpiece.h"

#include <jansson.h>
#include <stdbool.h>

struct bert_kernels;

/* A weight matrix in panels, and its bias. */
struct bert_dense {
    const float *panels;
    const float *bias;
    size_t n_in;
    size_t n_out;
};

struct bert_norm {
    const float *weight;
    const float *bias;
};

struct bert_layer {
    struct bert_dense qkv; /* query, key and value side by side */
    struct bert_dense attention;
    struct bert_norm attention_norm;
    struct bert_dense inner;
    struct bert_dense outer;
    struct bert_norm outer_norm;
};

struct bert_config {
    size_t dim;
    size_t n_layers;
    size_t n_heads;
    size_t inner;
    size_t n_positions;
    size_t n_tokens;
    float epsilon;
    bool is_cased;
    bool takes_first; /* pool by the first token, not the mean */
};

struct bert {
    struct embedder base;
    const struct bert_kernels *kernels;
    struct bert_config config;
    struct arena arena; /* tokens and all weights but the word vectors */
    struct str weights_file;
    struct str vocab_file;
    struct safetensors *tensors;
    struct safetensors_tensor words;
    const float *positions; /* with the vector of the first token type */
    struct bert_norm norm;
    struct bert_layer *layers;
    struct wordpiece *wordpiece;
    uint32_t first_id; /* [CLS] */
    uint32_t last_id;  /* [SEP] */
};

/* Fill a zeroed `bert` from the folder; bert_unload() also after a failure. */
enum clew_status bert_load(struct bert *bert, const char *folder,
                           struct clew_error *err) CLEW_MUST_CHECK;
void bert_unload(struct bert *bert);
/* The tokeniser of a folder or its tokenizer.json alone; see bert_vocab.c. */
enum clew_status bert_load_vocab(struct bert *bert, const char *folder,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Tokens of a tokenizer.json in the order of their ids, in the arena. */
enum clew_status bert_read_tokenizer(const json_t *tokenizer,
                                     struct arena *arena, struct str **out,
                                     size_t *out_count,
                                     struct clew_error *err) CLEW_MUST_CHECK;

#endif
