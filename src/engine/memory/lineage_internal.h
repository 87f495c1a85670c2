/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage_internal.h - edges between memories, for lineage.c (the tree around
 * one) and lineage_adjust.c (a list of answers).
 */
#ifndef ENGINE_LINEAGE_INTERNAL_H
#define ENGINE_LINEAGE_INTERNAL_H

#include "engine/core/rows.h"
#include "engine/memory/lineage.h"

/*
 * Ids carry the time their memory was made at, so that the order of ids is the
 * order of times; memory_sources_by_source has refiners in that order, and a
 * memory with thousands of them is read from one end only. The memory is looked
 * up in a subquery, which no planner turns into a join that starts with it.
 * An edge is never older than its memory.
 */
#define REFINERS                                                               \
    " FROM memory_sources s WHERE s.tenant = $1 AND s.created_at <= $3"        \
    " AND (SELECT 1 FROM memories r WHERE r.tenant = $1 AND r.id ="            \
    " s.memory_id AND (r.retracted_at IS NULL OR r.retracted_at > $3)) = 1"    \
    " AND s.source_id = "
/* Without those in the list $4: what a chat does not see replaces nothing. */
#define SEEN_REFINERS(of) REFINERS of " AND s.memory_id <> ALL($4)"
#define NEWEST_FIRST " ORDER BY s.memory_id DESC LIMIT "

/* Sources read of one list. */
#define LINEAGE_MAX_EDGES 100000

/* A pair of ids: (memory, source) or (source, refiner). */
struct edge {
    struct uuid from;
    struct uuid to;
};

/* An empty list of edges; its rows are two ids. */
struct rows_list edge_list(struct arena *arena);
void edge_sort(struct rows_list *edges);
/* Of edges sorted by `from`, one that leaves `id`; NULL if none does. */
const struct edge *edge_from(const struct rows_list *edges,
                             const struct uuid *id);
/* All that leave `id`. */
const struct edge *edge_all_from(const struct rows_list *edges,
                                 const struct uuid *id, size_t *out_count);

/* `newest` has the newest refiner of each mark, nil where there is none. */
void lineage_set_refiners(struct lineage_mark *marks, size_t count,
                          const struct rows_list *newest);

#endif
