/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gist.h - where turns lie among turns, by the reader (model/reader.h).
 *
 * Made when a turn is read and kept with a change number of its own, so that
 * the index learns of it as it learns of rows: the turn's document is made
 * again, with its gist. A gist is only of use beside those of the same reader.
 * Thread-safety: as store.h; inside one transaction.
 */
#ifndef ENGINE_GIST_H
#define ENGINE_GIST_H

#include "base/arena.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "index/index.h"

#include <stddef.h>
#include <stdint.h>

struct engine;
struct store_tx;

/* As tombstones and exports have it. */
#define GIST_KIND "gist"

struct gist {
    struct uuid id; /* the turn's */
    int64_t change_seq;
    const int8_t *place; /* INDEX_GIST_DIM values; NULL: it is gone, or by
                            another reader */
};

/* Whose gists the engine's are; 0 if it makes none. */
int64_t gist_model(const struct engine *engine);
/* Keep the gist of a turn in place of an older one. */
enum clew_status gist_put(struct store_tx *tx, const struct gist *gist,
                          int64_t model,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* Those with change numbers above `after`, in that order. */
enum clew_status gist_list_changes(struct store_tx *tx, struct arena *arena,
                                   int64_t model, int64_t after, int64_t limit,
                                   struct gist **out_gists, size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
