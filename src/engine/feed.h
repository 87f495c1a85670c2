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
#include "engine/turn.h"
#include "index/index.h"
#include "model/embed.h"
#include "store/store.h"
#include "text/analysis.h"

struct engine;
struct batch_work;
struct memory;
struct episode;

/* What is computed from a text alone. */
struct feed_text {
    struct analysis analysis;
    const float *vector; /* of the engine's embedder */
    const float *halves; /* of a longer turn, or NULL; see index_doc */
};

/* Analyse and embed a text said at `time_ms`, for the index alone: without
 * keywords; everything in the arena. */
enum clew_status feed_text_of(struct engine *engine, struct arena *arena,
                              struct str text, int64_t time_ms,
                              struct feed_text *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The same for a turn, with its speaker and zone, and with keywords where more
 * than the index wants to know it. */
enum clew_status feed_text_of_turn(struct engine *engine, struct arena *arena,
                                   const struct turn *turn, bool has_keywords,
                                   struct feed_text *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* The document of a stored turn; points into the turn and the arena. */
enum clew_status feed_doc_of_turn(struct arena *arena, const struct turn *turn,
                                  const struct feed_text *text,
                                  struct index_doc *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The document of a memory as it is stored; analyses and embeds it. */
enum clew_status feed_doc_of_memory(struct engine *engine, struct arena *arena,
                                    const struct memory *memory,
                                    struct index_doc *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The document of an episode by its summaries; analyses and embeds them. */
enum clew_status feed_doc_of_episode(struct engine *engine, struct arena *arena,
                                     const struct episode *episode,
                                     struct index_doc *out,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* May a batch leave its turns to the index unread? Where nothing is derived
 * from turns and the index is not in memory, what reading them gives would be
 * thrown away: the index reads them when somebody asks. */
bool feed_is_later(struct engine *engine, const struct scope *scope);
/* Tell the index what a transaction just committed. Never fails: what it
 * cannot take, the index reads later. */
void feed_offer(struct engine *engine, const struct scope *scope,
                const struct batch_work *work);

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
/* "<data>/index/m-<hash of the model's id>". */
void feed_model_dir(const struct engine *engine, const char *model, char *out,
                    size_t size);

#endif
