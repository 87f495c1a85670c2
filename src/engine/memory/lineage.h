/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage.h - how memories supersede each other.
 *
 * A refinement has one source, a consolidation several; a memory with a valid
 * (not retracted) refiner is superseded. Nothing is deleted: lineage is looked
 * up when memories are shown, always for a whole list at once.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_LINEAGE_H
#define ENGINE_LINEAGE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/memory/memory_seen.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct batch_work;
struct engine;

/* Levels each way, the memory asked for included. */
#define LINEAGE_MAX_LEVELS 10
/* Nodes of one answer: a memory refined thousands of times is cut here. */
#define LINEAGE_MAX_NODES 500

/* Score factors of spec/lineage.md. */
#define LINEAGE_SUPERSEDED 0.7
#define LINEAGE_REFINEMENT 1.2

/* A memory on its way into an answer. */
struct lineage_mark {
    struct uuid id;
    double score; /* 0 to 1; of one that was added: as if it had matched 0 */
    bool is_superseded;
    struct uuid refined_by; /* the newest refiner; nil if there is none */
    /* Set by lineage_adjust(): */
    size_t match;    /* the mark whose match it stands for; its own if none */
    bool is_outrun;  /* a newer memory refined the same source */
    bool is_current; /* took the place of another mark */
    struct uuid end; /* what holds in its place, past all refiners; or nil */
};

/*
 * Fill is_superseded and refined_by of all marks with one query, as of `at_ms`
 * (refiners made by then and not retracted by then).
 */
enum clew_status lineage_find_refiners(struct store_tx *tx, struct arena *arena,
                                       struct lineage_mark *marks, size_t count,
                                       int64_t at_ms,
                                       struct clew_error *err) CLEW_MUST_CHECK;
/* Was the memory replaced by one that was made by then, as it is known now? A
 * history that is read once more has refiners of later turns already. */
enum clew_status lineage_was_replaced(struct store_tx *tx,
                                      const struct uuid *id, int64_t at_ms,
                                      bool *out,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* The same as seen from a chat: what only other branches of its conversation
 * say replaces nothing there. NULL sight: as above. */
enum clew_status lineage_find_seen(struct store_tx *tx, struct arena *arena,
                                   const struct sight *sight,
                                   struct lineage_mark *marks, size_t count,
                                   int64_t at_ms,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Bring what holds before what held. Fills the marks as above, then:
 *
 * - what took the place of a mark (its newest refiner, that one's newest
 *   refiner, and so on) matches at least as well as the mark did ("It is Friday
 *   now." says little itself), and is added to the list if it is missing;
 * - scores of superseded marks fall, those of refinements of something in the
 *   list rise: to 1 at most, and not past a valid memory that matches better
 *   than all of their lineage.
 *
 * As seen from a chat if there is a `sight`.
 * `*marks` is replaced by a longer array in the arena, those added at its end.
 * Does not sort.
 */
enum clew_status lineage_adjust(struct store_tx *tx, struct arena *arena,
                                const struct sight *sight,
                                struct lineage_mark **marks, size_t *count,
                                int64_t at_ms,
                                struct clew_error *err) CLEW_MUST_CHECK;

struct lineage_node {
    struct memory memory;
    struct uuid *source_ids;
    size_t n_source_ids;
    int depth; /* 0 = the one asked for, ancestors negative */
};

struct lineage {
    struct lineage_node *nodes; /* by depth, then time */
    size_t count;
    bool is_truncated;
};

/* Both ways from `id`; CLEW_NOT_FOUND (THOUGHT_NOT_FOUND) if there is none, or
 * was none then. */
enum clew_status lineage_read(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id, int64_t at_ms,
                              struct lineage *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status lineage_get(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             int64_t at_ms, struct lineage *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Take a memory back: it no longer supersedes anything and is no longer found.
 * A valid refinement of it refines its sources from then on: a line of values
 * with one taken out still ends where it ended. A consolidation does not, as it
 * says more than that line. Retracting twice changes nothing.
 * It held until `until_ms`: a value until it was taken back, what was misread
 * never (its own time), however far back somebody asks.
 */
enum clew_status lineage_take_back(struct batch_work *batch,
                                   struct memory *memory, int64_t until_ms,
                                   int64_t now_ms,
                                   struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status lineage_retract(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id,
                                 struct memory *out_memory,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/*
 * May anything be done to this memory (rate, pin, label, correct, resolve, go
 * on with it)? CLEW_CONFLICT if it no longer holds: MEMORY_RETRACTED, it was
 * taken back; MEMORY_SUPERSEDED, another holds in its place, which is named. A
 * replay does again what was done then.
 */
enum clew_status lineage_must_hold(const struct batch_work *batch,
                                   const struct memory *memory,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
