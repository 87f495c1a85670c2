/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_model.h - a reader's file with random weights, of any size.
 *
 * The same sizes and seed give the same bytes.
 */
#ifndef SUPPORT_READER_MODEL_H
#define SUPPORT_READER_MODEL_H

#include "base/buf.h"

#include <stdint.h>

struct reader_model {
    size_t dim;
    size_t inner;
    size_t heads;
    size_t layers;
    size_t read_layer;
    size_t glance;           /* its rows; 0: the file has none */
    size_t glance_layer;     /* … after which it is asked */
    const char *top_kinds;   /* with a second top; NULL: the file has none */
    size_t top_layer;        /* … whose first layer is this */
    const char *gist_layers; /* "1 2"; NULL: it has no gists */
    const char *gist_of;     /* the file they came with; NULL: this one */
    size_t n_tokens;         /* those past the known ones are "w123" */
    uint32_t seed;
};

/* Append a whole file; false if the buffer's ceiling is in the way. */
bool reader_model_write(const struct reader_model *model, struct buf *out);

#endif
