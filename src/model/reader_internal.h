/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_internal.h - a loaded reader: reader_load.c fills it, reader_run.c
 * runs it, reader.c asks it.
 */
#ifndef MODEL_READER_INTERNAL_H
#define MODEL_READER_INTERNAL_H

#include "model/reader.h"
#include "model/reader_kernels.h"
#include "model/wordpiece.h"

#define READER_ID_SIZE 40
/* What a model file may ask for. */
#define READER_MAX_LAYERS 24
#define READER_MAX_DIM 1024
#define READER_MAX_INNER READER_MAX_IN
/* Tokens that are computed together: enough rows to keep the products busy,
 * few enough to stay near the processor. */
#define READER_BATCH_TOKENS 256
#define READER_PAIR_TOKENS (READER_A_TOKENS + READER_B_TOKENS + 3)
/* Two small layers after the first ones; see reader_glance.c. */
#define READER_MAX_GLANCE 256

/* Questions about a sentence, about a turn, then those about a pair in their
 * enum's order. */
enum reader_head {
    READER_HEAD_KEEP,
    READER_HEAD_FLAG,
    READER_HEAD_ABOUT,
    READER_HEAD_ACT,
    READER_HEAD_GOES,
    READER_HEAD_ANSWER,
    READER_HEAD_NOTE,
    READER_HEAD_ENDING,
    READER_HEAD_MATTER,
    READER_HEAD_NEWER,
    READER_HEADS
};

/* Weights [n_outcomes][dim] over a mean of tokens. */
struct reader_question {
    const float *weights;
    const float *bias;
    size_t n_outcomes;
    bool is_choice; /* one of them is true: softmax, else each by itself */
};

/* in[n][4 dim], then out[n]. */
struct reader_promise {
    size_t layer; /* after which it is asked; 0: the file has none */
    size_t n;
    const float *in;
    const float *in_bias;
    const float *out;
    const float *out_bias;
};

/* Means after some of the layers that read a turn, to a place. */
#define READER_MAX_GIST_LAYERS 4
struct reader_gist_head {
    size_t layers[READER_MAX_GIST_LAYERS]; /* from the first to the last */
    size_t n_layers;                       /* 0: the file has none */
    const float *turn;                     /* [READER_GIST_DIM][n_layers dim] */
    const float *turn_bias;
    const float *asked; /* the same for questions */
    const float *asked_bias;
};

struct reader_layer {
    struct reader_dense qkv; /* query, key and value one below the other */
    struct reader_dense attention;
    struct reader_norm attention_norm;
    struct reader_dense inner;
    struct reader_dense outer;
    struct reader_norm outer_norm;
};

/* Every pointer but the tokens' lies in the mapped file. */
struct reader {
    const struct reader_kernels *kernels;
    struct str file;
    bool is_shipped; /* part of the program: not unmapped */
    char id[READER_ID_SIZE];
    char gist_id[READER_ID_SIZE];
    size_t dim;
    size_t inner;
    size_t n_heads;
    size_t n_layers;
    size_t read_layer;
    size_t n_tokens;
    float epsilon;
    const int8_t *words;
    const float *word_scales;
    const float *positions;
    const float *types;
    struct reader_norm norm;
    struct reader_layer layers[READER_MAX_LAYERS];
    /* … as the kinds of pairs that have a top of their own see them */
    struct reader_layer second[READER_MAX_LAYERS];
    bool is_second[READER_PAIR_KINDS];
    struct reader_question questions[READER_HEADS];
    struct reader_promise promise;
    struct reader_gist_head gist;
    struct str *tokens; /* heap, borrowed by wordpiece */
    struct wordpiece *wordpiece;
    uint32_t unknown_id; /* [UNK] */
    uint32_t first_id;   /* [CLS] */
    uint32_t last_id;    /* [SEP] */
};

/* Texts side by side, and the memory to compute them in. */
struct reader_batch {
    size_t n_texts;
    size_t n_rows;
    /* first row of each text, and the end */
    size_t starts[READER_BATCH_TOKENS + 1];
    size_t second[READER_BATCH_TOKENS]; /* first row of type 1 of each */
    uint32_t ids[READER_BATCH_TOKENS];
    size_t cap_rows;
    float *x;       /* rows * dim */
    float *wide;    /* rows * max(3 dim, inner) */
    float *mixed;   /* rows * dim */
    float *scratch; /* for attention */
    float *scales;  /* of the rounded rows */
    int8_t *rounded;
};

/* Fill a zeroed `reader`; reader_unload() also after a failure. */
enum clew_status reader_load(struct reader *reader, const char *path,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* The same over the bytes of a file, which must outlive it and be aligned. */
enum clew_status reader_parse(struct reader *reader, struct str file,
                              struct clew_error *err) CLEW_MUST_CHECK;
void reader_unload(struct reader *reader);

/* Room for up to `n_rows` (at most READER_BATCH_TOKENS), or NULL. */
struct reader_batch *reader_batch_new(const struct reader *reader,
                                      struct arena *arena,
                                      size_t n_rows) CLEW_MUST_CHECK;
/* The layers that read pairs of this kind. */
const struct reader_layer *reader_layers_of(const struct reader *reader,
                                            enum reader_pair_kind kind);
/*
 * Compute `layers` [from, to) of the texts gathered: from their tokens if from
 * is 0, else from x as `from` layers left it. In the last one only rows from
 * `needed` on are computed, the others hold nothing of use: 0 for all.
 */
void reader_run(const struct reader *reader, const struct reader_layer *layers,
                struct reader_batch *batch, size_t from, size_t to,
                size_t needed);
/* [CLS] A [SEP] B [SEP] into `ids`, which has room for READER_PAIR_TOKENS; the
 * number of them, and of the first of type 1. */
size_t reader_put_pair(const struct reader *reader,
                       const struct reader_pair *pair, uint32_t *ids,
                       size_t *out_second);
/* The place of a sum of `n_rows` means, one after another of the gist's layers.
 */
void reader_place(const struct reader *reader, const float *weights,
                  const float *bias, const float *sum, size_t n_rows,
                  struct reader_gist *out);
/* Probabilities of one question for the mean of rows [from, to) of x. */
void reader_mean(const struct reader *reader, const struct reader_batch *batch,
                 size_t from, size_t to, float *out_mean);
void reader_ask(const struct reader *reader, enum reader_head head,
                const float *mean, float *out);

#endif
