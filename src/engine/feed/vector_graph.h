/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_graph.h - vectors kept in PostgreSQL and found by pgvector's HNSW.
 *
 * For tenants whose vectors are too many for the memory of a process
 * (`index.pgvector`: auto), or for all (on). The table graph_vectors is derived
 * data like an index: fed by change number from the same documents, with a
 * mark of how far it has come (vector_graphs.through), moved on in the
 * transaction that stores the vectors. Documents up to the mark need no vectors
 * in the process (index_set_far); those after it keep them there, so nothing
 * waits for the graph. What is forgotten leaves the table with its row, in one
 * transaction.
 *
 * The graph only names candidates. Vectors come over in the form the index
 * would hold and recall scores them by the code it uses without a graph.
 * Thread-safety: internally locked; functions on a transaction as db.h.
 */
#ifndef ENGINE_VECTOR_GRAPH_H
#define ENGINE_VECTOR_GRAPH_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "recall/recall.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct index_set;
struct index_view;
struct model_lease;
struct task;

#define VECTOR_GRAPH_TASK "vectors.graph"

/*
 * Look for the extension, as `index.pgvector` says. Where it is missing that is
 * no failure but for "on": then CLEW_UNSUPPORTED.
 */
enum clew_status vector_graph_open(struct engine *engine,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* After the store is closed, which knows statements of this. */
void vector_graph_close(struct engine *engine);

/* May vectors of this dimension be kept in the database? */
bool vector_graph_is_on(const struct engine *engine, size_t dim);
/* The extension's version, "" if it is not used. */
const char *vector_graph_version(const struct engine *engine);

/* What the table holds of a tenant and model. */
struct vector_graph_state {
    int64_t latest;   /* the tenant's change number */
    int64_t number;   /* stands for the model in graph_vectors; 0: no state */
    int64_t through;  /* every document up to here is in it */
    int64_t graph_at; /* when the graphs were made; 0: not yet */
};
enum clew_status vector_graph_get(struct store_tx *tx, const char *model,
                                  struct vector_graph_state *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Remove a model's vectors. */
enum clew_status vector_graph_remove(struct store_tx *tx, const char *model,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* Remove the vectors of what is in forget_set. */
enum clew_status vector_graph_forget(struct store_tx *tx,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* Documents the table should hold and does not, or the other way round. */
enum clew_status vector_graph_check(struct store_tx *tx, int64_t *out_broken,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/*
 * A view of the tenant's index, and where to find the vectors it is without
 * (`*out_far` NULL: it has all). An index that lacks vectors which are not in
 * the table either is dropped and made anew. The caller closes the view.
 */
enum clew_status
feed_view_open(struct engine *engine, const struct scope *scope,
               const struct model_lease *model, struct arena *arena,
               struct index_view **out_view, const struct recall_far **out_far,
               struct clew_error *err) CLEW_MUST_CHECK;

/* --- vector_graph_fill.c ------------------------------------------------- */

/*
 * Look after one loaded tenant of a model's indexes: tell the index how far
 * the table has come, and add a task if it has fallen behind
 * (`*out_is_added`). Nothing for tenants whose vectors fit into memory.
 */
enum clew_status vector_graph_keep(struct engine *engine,
                                   struct index_set *indexes, const char *model,
                                   size_t dim, int64_t tenant,
                                   bool *out_is_added,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Do such a task, or a part of it that takes some seconds: then the rest is a
 * task again. */
enum clew_status vector_graph_task(struct engine *engine,
                                   const struct task *task, struct arena *arena,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* Counts over all tenants, for /metrics. */
struct vector_graph_counts {
    int64_t n_graphs; /* of tenants and models, made */
    int64_t n_behind; /* changes they have not come to */
};
enum clew_status vector_graph_count(struct engine *engine,
                                    struct vector_graph_counts *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
