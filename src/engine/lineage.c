/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage.c - sources and refiners of memories. See lineage.h.
 */
#include "engine/lineage.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/rows.h"
#include "engine/feed.h"
#include "engine/work.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* The newest valid refiner of each source. CROSS JOIN: SQLite must start from
 * the few sources, not from all memories by their time. */
DB_SQL(SELECT_NEWEST,
       "SELECT source_id, id FROM (SELECT s.source_id, m.id, ROW_NUMBER() OVER"
       " (PARTITION BY s.source_id ORDER BY m.created_at DESC, m.id DESC) AS n"
       " FROM memory_sources s CROSS JOIN memories m"
       " WHERE s.tenant = $1 AND s.source_id = ANY($2)"
       " AND m.tenant = s.tenant AND m.id = s.memory_id AND m.created_at <= $3"
       " AND (m.retracted_at IS NULL OR m.retracted_at > $3)) AS ranked"
       " WHERE n = 1");
/* Edges from a level of nodes upwards and downwards. */
DB_SQL(SELECT_UP, "SELECT memory_id, source_id FROM memory_sources"
                  " WHERE tenant = $1 AND memory_id = ANY($2)"
                  " ORDER BY memory_id, ordinal LIMIT $3");
DB_SQL(SELECT_DOWN,
       "SELECT s.memory_id, s.source_id FROM memory_sources s CROSS JOIN"
       " memories m WHERE s.tenant = $1 AND s.source_id = ANY($2)"
       " AND m.tenant = s.tenant AND m.id = s.memory_id AND m.created_at <= $3"
       " AND (m.retracted_at IS NULL OR m.retracted_at > $3)"
       " ORDER BY m.created_at, m.id LIMIT $4");

/* A pair of ids: (memory, source) or (source, refiner). */
struct edge {
    struct uuid from;
    struct uuid to;
};

static bool edge_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct edge *out = item;

    (void)arena;
    out->from = db_get_uuid(rows, 0);
    out->to = db_get_uuid(rows, 1);
    return true;
}

static struct rows_list edge_list(struct arena *arena)
{
    return (struct rows_list){
        .arena = arena, .size = sizeof(struct edge), .fn = edge_of};
}

static struct uuid *ids_of_marks(struct arena *arena,
                                 const struct lineage_mark *marks, size_t count)
{
    struct uuid *ids = arena_zero(arena, count, sizeof(*ids));

    for (size_t i = 0; ids && i < count; i++) {
        ids[i] = marks[i].id;
    }
    return ids;
}

static struct lineage_mark *mark_of(struct lineage_mark *marks, size_t count,
                                    const struct uuid *id)
{
    for (size_t i = 0; i < count; i++) {
        if (uuid_eq(&marks[i].id, id)) {
            return &marks[i];
        }
    }
    return NULL;
}

enum clew_status lineage_find_refiners(struct store_tx *tx, struct arena *arena,
                                       struct lineage_mark *marks, size_t count,
                                       int64_t at_ms, struct clew_error *err)
{
    struct rows_list list = edge_list(arena);
    struct uuid *ids = ids_of_marks(arena, marks, count);
    const struct edge *edges;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    if (count == 0) {
        return CLEW_OK;
    }
    status = rows_add(tx, &list, &SELECT_NEWEST,
                      DB_ARGS(db_uuids(ids, count), db_int(at_ms)), err);
    edges = list.items;
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        struct lineage_mark *mark = mark_of(marks, count, &edges[i].from);

        if (mark) {
            mark->is_superseded = true;
            mark->refined_by = edges[i].to;
        }
    }
    return status;
}

enum clew_status lineage_adjust(struct store_tx *tx, struct arena *arena,
                                struct lineage_mark *marks, size_t count,
                                struct clew_error *err)
{
    struct rows_list list = edge_list(arena);
    struct uuid *ids = ids_of_marks(arena, marks, count);
    bool *is_raised = arena_zero(arena, count, sizeof(*is_raised));
    const struct edge *edges;
    enum clew_status status;

    if (!ids || !is_raised) {
        return clew_no_memory(err);
    }
    if (count == 0) {
        return CLEW_OK;
    }
    status = rows_add(tx, &list, &SELECT_UP,
                      DB_ARGS(db_uuids(ids, count), db_int(100000)), err);
    if (status != CLEW_OK) {
        return status;
    }
    edges = list.items;
    for (size_t i = 0; i < list.count; i++) {
        struct lineage_mark *mark = mark_of(marks, count, &edges[i].from);

        if (mark && mark_of(marks, count, &edges[i].to)) {
            is_raised[mark - marks] = true;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (marks[i].is_superseded) {
            marks[i].score *= LINEAGE_SUPERSEDED;
        } else if (is_raised[i]) {
            double raised = marks[i].score * LINEAGE_REFINEMENT;

            /* raised to 1 at most, but never lowered */
            if (raised > 1) {
                raised = marks[i].score > 1 ? marks[i].score : 1;
            }
            marks[i].score = raised;
        }
    }
    return CLEW_OK;
}

/* --- the tree around one memory ---------------------------------------------
 */

/* Ids found so far with their depths. */
struct walk {
    struct store_tx *tx;
    struct arena *arena;
    int64_t at_ms;
    struct uuid *ids;
    int *depths;
    size_t count; /* of LINEAGE_MAX_NODES */
    struct rows_list edges;
    bool is_truncated;
};

static bool is_known(const struct walk *walk, const struct uuid *id)
{
    for (size_t i = 0; i < walk->count; i++) {
        if (uuid_eq(&walk->ids[i], id)) {
            return true;
        }
    }
    return false;
}

/* One level further from the nodes [first, last). */
static enum clew_status step(struct walk *walk, int direction, size_t first,
                             size_t last, struct clew_error *err)
{
    struct db_value frontier = db_uuids(walk->ids + first, last - first);

    if (direction < 0) {
        return rows_add(walk->tx, &walk->edges, &SELECT_UP,
                        DB_ARGS(frontier, db_int(LINEAGE_MAX_NODES + 1)), err);
    }
    return rows_add(
        walk->tx, &walk->edges, &SELECT_DOWN,
        DB_ARGS(frontier, db_int(walk->at_ms), db_int(LINEAGE_MAX_NODES + 1)),
        err);
}

/* Walk one way from the first node, level by level. */
static enum clew_status go(struct walk *walk, int direction,
                           struct clew_error *err)
{
    size_t first = 0;
    size_t last = 1;

    for (int level = 1; level <= LINEAGE_MAX_LEVELS && first < last; level++) {
        size_t seen = walk->edges.count;
        size_t start = walk->count;
        const struct edge *edges;
        enum clew_status status = step(walk, direction, first, last, err);

        if (status != CLEW_OK) {
            return status;
        }
        edges = walk->edges.items;
        for (size_t i = seen; i < walk->edges.count; i++) {
            const struct uuid *next =
                direction < 0 ? &edges[i].to : &edges[i].from;

            if (is_known(walk, next)) {
                continue;
            }
            if (level == LINEAGE_MAX_LEVELS ||
                walk->count == LINEAGE_MAX_NODES) {
                walk->is_truncated = true;
                return CLEW_OK;
            }
            walk->depths[walk->count] = direction * level;
            walk->ids[walk->count++] = *next;
        }
        first = start;
        last = walk->count;
    }
    return CLEW_OK;
}

static int by_depth(const void *a, const void *b)
{
    const struct lineage_node *left = a;
    const struct lineage_node *right = b;

    if (left->depth != right->depth) {
        return left->depth < right->depth ? -1 : 1;
    }
    if (left->memory.created_at_ms != right->memory.created_at_ms) {
        return left->memory.created_at_ms < right->memory.created_at_ms ? -1
                                                                        : 1;
    }
    return uuid_cmp(&left->memory.id, &right->memory.id);
}

/* All sources of all nodes, also those beyond the cap, with one query. */
static enum clew_status fill_sources(struct walk *walk, struct lineage *out,
                                     struct clew_error *err)
{
    struct rows_list list = edge_list(walk->arena);
    const struct edge *edges;
    enum clew_status status = rows_add(
        walk->tx, &list, &SELECT_UP,
        DB_ARGS(db_uuids(walk->ids, walk->count), db_int(100000)), err);

    edges = list.items;
    for (size_t n = 0; status == CLEW_OK && n < out->count; n++) {
        struct lineage_node *node = &out->nodes[n];
        size_t cap = 0;

        for (size_t i = 0; i < list.count; i++) {
            struct uuid *grown;

            if (!uuid_eq(&edges[i].from, &node->memory.id)) {
                continue;
            }
            grown = arena_grow(walk->arena, node->source_ids,
                               node->n_source_ids, &cap, sizeof(*grown));
            if (!grown) {
                return clew_no_memory(err);
            }
            node->source_ids = grown;
            node->source_ids[node->n_source_ids++] = edges[i].to;
        }
    }
    return status;
}

/* Read the memories of all ids found. */
static enum clew_status fill_nodes(struct walk *walk, struct lineage *out,
                                   struct clew_error *err)
{
    struct memory *memories;
    size_t count;
    enum clew_status status = memory_find_many(
        walk->tx, walk->arena, walk->ids, walk->count, &memories, &count, err);

    if (status != CLEW_OK) {
        return status;
    }
    out->nodes = arena_zero(walk->arena, count, sizeof(*out->nodes));
    if (!out->nodes) {
        return clew_no_memory(err);
    }
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        out->nodes[i].memory = memories[i];
        for (size_t k = 0; k < walk->count; k++) {
            if (uuid_eq(&walk->ids[k], &memories[i].id)) {
                out->nodes[i].depth = walk->depths[k];
                break;
            }
        }
    }
    qsort(out->nodes, out->count, sizeof(*out->nodes), by_depth);
    return fill_sources(walk, out, err);
}

enum clew_status lineage_read(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id, int64_t at_ms,
                              struct lineage *out, struct clew_error *err)
{
    struct walk walk = {.tx = tx, .arena = arena, .at_ms = at_ms, .count = 1};
    struct memory memory;
    enum clew_status status = memory_find(tx, arena, id, &memory, err);

    memset(out, 0, sizeof(*out));
    if (status == CLEW_NOT_FOUND) {
        return clew_fail_code(err, CLEW_NOT_FOUND, "THOUGHT_NOT_FOUND",
                              "there is no such thought");
    }
    if (status != CLEW_OK) {
        return status;
    }
    walk.edges = edge_list(arena);
    walk.ids = arena_zero(arena, LINEAGE_MAX_NODES, sizeof(*walk.ids));
    walk.depths = arena_zero(arena, LINEAGE_MAX_NODES, sizeof(*walk.depths));
    if (!walk.ids || !walk.depths) {
        return clew_no_memory(err);
    }
    walk.ids[0] = *id;
    status = go(&walk, -1, err);
    if (status == CLEW_OK) {
        status = go(&walk, 1, err);
    }
    if (status == CLEW_OK) {
        out->is_truncated = walk.is_truncated;
        status = fill_nodes(&walk, out, err);
    }
    return status;
}

struct get_work {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *id;
    int64_t time_ms;
    struct lineage *out;
    struct memory memory;
    struct batch_work batch;
};

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct get_work *work = arg;

    return lineage_read(tx, work->arena, work->id, work->time_ms, work->out,
                        err);
}

enum clew_status lineage_get(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             int64_t at_ms, struct lineage *out,
                             struct clew_error *err)
{
    struct get_work work = {
        .arena = arena, .id = id, .time_ms = at_ms, .out = out};

    return store_read(engine->store, scope, do_get, &work, err);
}

static enum clew_status do_retract(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct get_work *work = arg;
    enum clew_status status;

    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
    status = memory_find(tx, work->arena, work->id, &work->memory, err);
    if (status != CLEW_OK || work->memory.retracted_at_ms != 0) {
        return status;
    }
    work->memory.retracted_at_ms = work->time_ms;
    work->memory.updated_at_ms = work->time_ms;
    return memory_update(&work->batch, &work->memory, err);
}

enum clew_status lineage_retract(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id,
                                 struct memory *out_memory,
                                 struct clew_error *err)
{
    struct get_work work = {.engine = engine,
                            .arena = arena,
                            .id = id,
                            .time_ms = clock_now_ms(engine->clock)};
    enum clew_status status =
        store_write(engine->store, scope, do_retract, &work, err);

    if (status == CLEW_OK) {
        feed_offer(engine, scope, &work.batch);
        *out_memory = work.memory;
    }
    return status;
}
