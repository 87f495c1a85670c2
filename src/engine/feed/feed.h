/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - rows become documents of the search index.
 *
 * At commit (what a transaction wrote is offered to the index) and whenever the
 * index catches up from the tables: both ways make the same documents.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_FEED_H
#define ENGINE_FEED_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "index/index.h"
#include "model/embed.h"
#include "store/store.h"

struct engine;

/* Open and close the engine's indexes by the shipped model. */
enum clew_status feed_open(struct engine *engine,
                           struct clew_error *err) CLEW_MUST_CHECK;
void feed_close(struct engine *engine);

/* Where the documents of another model's index come from. */
struct feed_source {
    struct engine *engine;
    const char *model; /* its id; NULL = the shipped one */
    size_t dim;
    const float *centre; /* of its vectors; NULL = the origin. Set by opening */
    float own_centre[EMBED_MAX_DIM];
};
/* Set the centre of another model's source; opening its indexes does so. */
void feed_find_centre(struct feed_source *source);
/* The source's documents and tombstones after a change number, as struct
 * index_source has it. */
enum clew_status feed_load(const struct feed_source *source, int64_t tenant,
                           int64_t after, size_t max, struct arena *arena,
                           struct index_doc **out_docs, size_t *out_count,
                           int64_t *out_through,
                           struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Open the indexes of another model, in a folder of their own. Vectors come
 * from the vectors table; a document that has none yet is found by its words.
 * `source` is borrowed until the set is closed.
 */
enum clew_status feed_open_model(struct feed_source *source,
                                 struct index_set **out_set,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The folder of the store's indexes. */
void feed_dir(const struct engine *engine, char *out, size_t size);
/* "<folder>/m-<hash of the model's id>". */
void feed_model_dir(const struct engine *engine, const char *model, char *out,
                    size_t size);

#endif
