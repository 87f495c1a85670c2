/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_graph_internal.h - what the files of the vector graph share.
 */
#ifndef ENGINE_VECTOR_GRAPH_INTERNAL_H
#define ENGINE_VECTOR_GRAPH_INTERNAL_H

#include "engine/feed/vector_graph.h"
#include "store/db.h"
#include "store/vector_table.h"

#include <pthread.h>

/* HNSW over halves takes no more. */
#define VECTOR_GRAPH_MAX_DIM 4000u
/* Dimensions in use at one time. */
#define VECTOR_GRAPH_DIMS 16
/*
 * A row's bytes: scale and bias as little-endian floats, the values; of a
 * longer text then scale, bias, whole and first of its first half, and its
 * values (struct segment_half).
 */
#define VECTOR_GRAPH_HEAD 8u
#define VECTOR_GRAPH_HALF 16u
#define VECTOR_GRAPH_MAX_BYTES                                                 \
    (VECTOR_GRAPH_HEAD + VECTOR_GRAPH_HALF + 2 * VECTOR_GRAPH_MAX_DIM)

enum graph_mode { GRAPH_OFF, GRAPH_AUTO, GRAPH_ON };

/* What belongs to a dimension: vectors read before, and how to find others.
 * Never freed while the store is open. */
struct graph_dim {
    size_t dim;
    struct vector_near near;
    struct vector_cache *cache;
};

struct vector_graph {
    enum graph_mode mode;
    struct vector_table_support support;
    pthread_mutex_t lock; /* guards the dimensions */
    struct graph_dim *dims[VECTOR_GRAPH_DIMS];
    size_t n_dims;
    size_t cache_bytes; /* of each */
};

/*
 * Stands for a model, its dimension and the form vectors are kept in, so that
 * rows of another form are never taken for these.
 */
int64_t vector_graph_number(const char *model, size_t dim);

#endif
