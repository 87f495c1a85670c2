/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.h - stored vectors, and how far each model has come.
 *
 * Vectors of the shipped model are never stored: making one is cheaper than
 * reading it. Those of other models are, quantised to int8 with one scale. A
 * vector belongs to one state of its row (`source_change`); it has a change
 * number of its own, taken when it was made, so that indexes learn of it as
 * they learn of rows.
 * Thread-safety: as db.h; inside one transaction.
 */
#ifndef ENGINE_VECTOR_H
#define ENGINE_VECTOR_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "index/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_tx;

struct vector {
    enum index_kind kind;
    struct uuid id;
    int64_t source_change; /* of the row whose text it stands for */
    int64_t change_seq;    /* its own */
    size_t dim;            /* 0: the model refuses this text */
    const float *values;   /* NULL if dim is 0 */
};

/* Keep a vector in place of an older one, unless the row is gone or its text
 * has changed since: then nothing happens. */
enum clew_status vector_put(struct store_tx *tx, const char *model,
                            const struct vector *vector,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The model's vectors with change_seq > after, in that order. */
enum clew_status vector_list_changes(struct store_tx *tx, struct arena *arena,
                                     const char *model, int64_t after,
                                     int64_t limit, struct vector **out_vectors,
                                     size_t *out_count,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* Remove all of a model: vectors and how far it has come. */
enum clew_status vector_remove_model(struct store_tx *tx, const char *model,
                                     struct clew_error *err) CLEW_MUST_CHECK;

/* How far a model has come with a tenant. */
struct vector_progress {
    int64_t latest;   /* the tenant's change number */
    int64_t through;  /* everything up to here has its vector */
    int64_t ready_at; /* 0: not yet */
};
/* All zero but `latest` for a model that has not begun. */
enum clew_status vector_progress_get(struct store_tx *tx, const char *model,
                                     struct vector_progress *out,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* `ready_at_ms` 0 leaves a moment that was set. */
enum clew_status vector_progress_set(struct store_tx *tx, const char *model,
                                     size_t dim, int64_t through,
                                     int64_t ready_at_ms,
                                     struct clew_error *err) CLEW_MUST_CHECK;

#endif
