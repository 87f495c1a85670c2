/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h - text to vector: one interface, several models.
 *
 * The shipped static model runs in-process, deterministic on every machine.
 * Others (a BERT-class encoder from a folder, an HTTP endpoint) have the same
 * interface. Vectors are L2-normalised; each carries its model's id.
 * Thread-safety: an embedder is immutable after it is made (HTTP: internally
 * locked); embed_run() may be called from any thread.
 */
#ifndef MODEL_EMBED_H
#define MODEL_EMBED_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EMBED_MAX_DIM 4096

struct embedder;

/* A stretch of a text, in bytes; and what embed_near() says of it. */
struct embed_stretch {
    size_t from;
    size_t to;
    float cosine;
    float off; /* at most so far from what embed_run() would have given */
};

struct embedder_ops {
    const char *kind; /* "static", "bert", "http" */
    /* Vectors of `count` texts, row by row, dim floats each. */
    enum clew_status (*run)(struct embedder *embedder, const struct str *texts,
                            size_t count, float *out, struct clew_error *err);
    void (*free)(struct embedder *embedder);
    /* embed_near(); NULL if the model has no quicker way. */
    bool (*near)(const struct embedder *embedder, struct str text,
                 const float *asked, struct embed_stretch *stretches,
                 size_t count);
};

/* Base; the first member of each implementation. */
struct embedder {
    const struct embedder_ops *ops;
    char id[96]; /* model id stored beside every vector: "clew-static-1" */
    size_t dim;
    /* what its vectors of ordinary text have in common (their mean), in
     * 1/10000 an axis; NULL if that is not known */
    const int16_t *centre;
};

/* The shipped model, from the weights compiled into the binary; a shared
 * immutable object that is never freed. */
struct embedder *embed_static(void);

/* The model's centre as dim floats: cosines are told apart better, and kept in
 * fewer bits, by what is left without it. False, and 0, if it has none. */
bool embed_centre(const struct embedder *embedder, float *out);
/*
 * A centre for a model that came without: the middle of its vectors of a few
 * dozen everyday sentences, dim values as in `centre`. Keep it with the model:
 * elsewhere one of them may be rounded otherwise.
 */
enum clew_status embed_find_centre(struct embedder *embedder, int16_t *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

enum clew_status embed_run(struct embedder *embedder, const struct str *texts,
                           size_t count, float *out,
                           struct clew_error *err) CLEW_MUST_CHECK;
/*
 * About how near stretches of one text are to `asked`, a vector of this model:
 * the text is gone through once, however they overlap. Not in every bit what
 * embed_run() and a product give, but told how far off at most. False if the
 * model cannot, or not vouch for it.
 */
bool embed_near(const struct embedder *embedder, struct str text,
                const float *asked, struct embed_stretch *stretches,
                size_t count);
/* As embed_run(), each without what all texts share (embed_centre()), and of
 * length 1: their products are cosines. */
enum clew_status embed_run_centred(struct embedder *embedder,
                                   const struct str *texts, size_t count,
                                   float *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/*
 * A question's vector turned towards what answers it (embed_ask.h), dim floats
 * of length 1: for looking up turns, never to be stored. Only the shipped model
 * has this: of others, and where its file is absent or broken, `out` is a copy
 * and the answer false.
 */
bool embed_ask(const struct embedder *embedder, const float *vector,
               float *out);
/* NULL and the shared static model are no-ops. */
void embed_free(struct embedder *embedder);

/* `clew model embed`: one text a line in, one JSON array a line out. */
enum clew_status embed_lines(struct embedder *embedder, FILE *in, FILE *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
