/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage.c - sources and refiners of memories. See lineage.h.
 */
#include "engine/memory/lineage_internal.h"

#include "base/clock.h"
#include "engine/core/action.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* The newest valid refiner of each memory; NULL if it has none. */
DB_SQL(SELECT_NEWEST, "SELECT m.id, (SELECT s.memory_id" SEEN_REFINERS("m.id")
                          NEWEST_FIRST "1) FROM memories m WHERE m.tenant = $1"
                                       " AND m.id = ANY($2)");
/* By the time of the memory: an edge may have been carried over later. */
DB_SQL(COUNT_REPLACED,
       "SELECT COUNT(*) FROM memory_sources s WHERE s.tenant = $1"
       " AND s.source_id = $2 AND (SELECT 1 FROM memories r WHERE r.tenant = $1"
       " AND r.id = s.memory_id AND r.created_at <= $3"
       " AND r.retracted_at IS NULL) = 1");
/* Edges from a level of nodes upwards and downwards. */
DB_SQL(SELECT_UP, "SELECT memory_id, source_id FROM memory_sources"
                  " WHERE tenant = $1 AND memory_id = ANY($2)"
                  " ORDER BY memory_id, ordinal LIMIT $3");
/* The newest first, so that a cut loses the oldest. One source is read in the
 * order of the index; for several, the order by time keeps SQLite from reading
 * all edges in the order of their primary key. */
DB_SQL(SELECT_DOWN_ONE,
       "SELECT s.memory_id, s.source_id" REFINERS "$2" NEWEST_FIRST "$4");
DB_SQL(SELECT_DOWN, "SELECT s.memory_id, s.source_id" REFINERS "ANY($2)"
                    " ORDER BY s.created_at DESC, s.memory_id DESC LIMIT $4");

/* Valid refinements of a memory refine its sources too. */
DB_SQL(CARRY_OVER,
       "INSERT INTO memory_sources (tenant, memory_id, source_id, ordinal,"
       " created_at) SELECT r.tenant, r.memory_id, s.source_id, (SELECT"
       " COUNT(*) FROM memory_sources o WHERE o.tenant = $1"
       " AND o.memory_id = r.memory_id) + s.ordinal,"
       " CASE WHEN r.created_at > $3 THEN r.created_at ELSE $3 END"
       " FROM memory_sources r CROSS JOIN memory_sources s CROSS JOIN"
       " memories m WHERE r.tenant = $1 AND r.source_id = $2"
       " AND s.tenant = r.tenant AND s.memory_id = $2"
       " AND m.tenant = r.tenant AND m.id = r.memory_id"
       " AND m.retracted_at IS NULL AND m.lineage = 'refinement'"
       " ON CONFLICT DO NOTHING");

/* Sources whose refiners are read one source at a time, so that many refiners
 * of one cost no more than those shown. */
#define MAX_ONE_BY_ONE 8

static bool edge_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct edge *out = item;

    (void)arena;
    out->from = db_get_uuid(rows, 0);
    out->to = db_get_uuid(rows, 1);
    return true;
}

struct rows_list edge_list(struct arena *arena)
{
    return (struct rows_list){
        .arena = arena, .size = sizeof(struct edge), .fn = edge_of};
}

static int by_from(const void *a, const void *b)
{
    const struct edge *left = a;
    const struct edge *right = b;

    return uuid_cmp(&left->from, &right->from);
}

const struct edge *edge_from(const struct rows_list *edges,
                             const struct uuid *id)
{
    struct edge key = {.from = *id};

    return edges->count
               ? bsearch(&key, edges->items, edges->count, sizeof(key), by_from)
               : NULL;
}

const struct edge *edge_all_from(const struct rows_list *list,
                                 const struct uuid *id, size_t *out_count)
{
    const struct edge *edges = list->items;
    const struct edge *any = edge_from(list, id);
    size_t first = any ? (size_t)(any - edges) : 0;
    size_t end = first;

    while (any && first > 0 && uuid_eq(&edges[first - 1].from, id)) {
        first--;
    }
    while (any && end < list->count && uuid_eq(&edges[end].from, id)) {
        end++;
    }
    *out_count = end - first;
    return any ? edges + first : NULL;
}

void edge_sort(struct rows_list *edges)
{
    if (edges->count > 0) {
        qsort(edges->items, edges->count, sizeof(struct edge), by_from);
    }
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

void lineage_set_refiners(struct lineage_mark *marks, size_t count,
                          const struct rows_list *newest)
{
    for (size_t i = 0; i < count; i++) {
        const struct edge *edge = edge_from(newest, &marks[i].id);

        if (edge && !uuid_is_nil(&edge->to)) {
            marks[i].is_superseded = true;
            marks[i].refined_by = edge->to;
        }
    }
}

enum clew_status lineage_find_refiners(struct store_tx *tx, struct arena *arena,
                                       struct lineage_mark *marks, size_t count,
                                       int64_t at_ms, struct clew_error *err)
{
    return lineage_find_seen(tx, arena, NULL, marks, count, at_ms, err);
}

enum clew_status lineage_was_replaced(struct store_tx *tx,
                                      const struct uuid *id, int64_t at_ms,
                                      bool *out, struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status = rows_number(
        tx, &COUNT_REPLACED, DB_ARGS(db_uuid(id), db_int(at_ms)), &count, err);

    *out = count > 0;
    return status;
}

enum clew_status lineage_find_seen(struct store_tx *tx, struct arena *arena,
                                   const struct sight *sight,
                                   struct lineage_mark *marks, size_t count,
                                   int64_t at_ms, struct clew_error *err)
{
    struct rows_list list = edge_list(arena);
    struct uuid *ids = ids_of_marks(arena, marks, count);
    struct uuid *unseen = NULL;
    size_t n_unseen = 0;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    if (count == 0) {
        return CLEW_OK;
    }
    status = memory_list_unseen(tx, arena, sight, &unseen, &n_unseen, err);
    if (status == CLEW_OK) {
        status = rows_add(tx, &list, &SELECT_NEWEST,
                          DB_ARGS(db_uuids(ids, count), db_int(at_ms),
                                  db_uuids(unseen, n_unseen)),
                          err);
    }
    if (status == CLEW_OK) {
        edge_sort(&list);
        lineage_set_refiners(marks, count, &list);
    }
    return status;
}

/* Add the edges from memories to their sources, sorted. */
static enum clew_status lineage_add_sources(struct store_tx *tx,
                                            struct rows_list *edges,
                                            const struct uuid *ids,
                                            size_t count, int64_t limit,
                                            struct clew_error *err)
{
    return rows_add(tx, edges, &SELECT_UP,
                    DB_ARGS(db_uuids(ids, count), db_int(limit)), err);
}

/* --- the tree around one memory ---------------------------------------------
 */

/* Slots of a walk's table: a power of two, never more than half full. */
#define WALK_SLOTS 1024
_Static_assert(WALK_SLOTS >= 2 * LINEAGE_MAX_NODES, "the table must have room");

/* Ids found so far with their depths. */
struct walk {
    struct store_tx *tx;
    struct arena *arena;
    int64_t at_ms;
    struct uuid *ids;
    int *depths;
    size_t count;    /* of LINEAGE_MAX_NODES */
    uint16_t *table; /* 1 + where an id is, by the end of the id */
    struct rows_list edges;
    bool is_truncated;
};

/* The table's slot of an id, or the free one where it belongs. */
static uint16_t *slot_of_id(const struct walk *walk, const struct uuid *id)
{
    uint64_t tail;
    size_t at;

    memcpy(&tail, id->b + 8, sizeof(tail)); /* the random part */
    for (at = (size_t)(tail * 0x9e3779b97f4a7c15u >> 40) % WALK_SLOTS;
         walk->table[at] != 0; at = (at + 1) % WALK_SLOTS) {
        if (uuid_eq(&walk->ids[walk->table[at] - 1], id)) {
            break;
        }
    }
    return &walk->table[at];
}

static void add_id(struct walk *walk, const struct uuid *id, int depth)
{
    uint16_t *slot = slot_of_id(walk, id);

    walk->ids[walk->count] = *id;
    walk->depths[walk->count] = depth;
    *slot = (uint16_t)++walk->count;
}

/* One level further from the nodes [first, last). */
static enum clew_status step(struct walk *walk, int direction, size_t first,
                             size_t last, struct clew_error *err)
{
    struct db_value limit = db_int(LINEAGE_MAX_NODES + 1);
    struct db_value at_ms = db_int(walk->at_ms);

    if (direction > 0 && last - first <= MAX_ONE_BY_ONE) {
        enum clew_status status = CLEW_OK;

        for (size_t i = first; i < last && status == CLEW_OK; i++) {
            status =
                rows_add(walk->tx, &walk->edges, &SELECT_DOWN_ONE,
                         DB_ARGS(db_uuid(&walk->ids[i]), at_ms, limit), err);
        }
        return status;
    }
    if (direction > 0) {
        return rows_add(
            walk->tx, &walk->edges, &SELECT_DOWN,
            DB_ARGS(db_uuids(walk->ids + first, last - first), at_ms, limit),
            err);
    }
    return lineage_add_sources(walk->tx, &walk->edges, walk->ids + first,
                               last - first, LINEAGE_MAX_NODES + 1, err);
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

            if (*slot_of_id(walk, next) != 0) {
                continue;
            }
            if (level == LINEAGE_MAX_LEVELS ||
                walk->count == LINEAGE_MAX_NODES) {
                walk->is_truncated = true;
                return CLEW_OK;
            }
            add_id(walk, next, direction * level);
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
    struct uuid *sources;
    enum clew_status status = lineage_add_sources(
        walk->tx, &list, walk->ids, walk->count, LINEAGE_MAX_EDGES, err);

    sources = arena_zero(walk->arena, list.count, sizeof(*sources));
    if (status != CLEW_OK || !sources) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    edges = list.items;
    for (size_t i = 0; i < list.count; i++) {
        sources[i] = edges[i].to;
    }
    for (size_t n = 0; n < out->count; n++) {
        struct lineage_node *node = &out->nodes[n];
        size_t first;

        node->n_source_ids = 0;
        edges = edge_all_from(&list, &node->memory.id, &node->n_source_ids);
        first = edges ? (size_t)(edges - (struct edge *)list.items) : 0;
        node->source_ids = edges ? sources + first : NULL;
    }
    return CLEW_OK;
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
        out->nodes[i].depth =
            walk->depths[*slot_of_id(walk, &memories[i].id) - 1];
    }
    qsort(out->nodes, out->count, sizeof(*out->nodes), by_depth);
    return fill_sources(walk, out, err);
}

enum clew_status lineage_read(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id, int64_t at_ms,
                              struct lineage *out, struct clew_error *err)
{
    struct walk walk = {.tx = tx, .arena = arena, .at_ms = at_ms};
    struct memory memory;
    enum clew_status status = memory_find(tx, arena, id, &memory, err);

    memset(out, 0, sizeof(*out));
    if (status == CLEW_NOT_FOUND ||
        (status == CLEW_OK && memory.created_at_ms > at_ms)) {
        return clew_fail_code(err, CLEW_NOT_FOUND, "THOUGHT_NOT_FOUND",
                              status == CLEW_OK
                                  ? "there was no such thought then"
                                  : "there is no such thought");
    }
    if (status != CLEW_OK) {
        return status;
    }
    walk.edges = edge_list(arena);
    walk.ids = arena_zero(arena, LINEAGE_MAX_NODES, sizeof(*walk.ids));
    walk.depths = arena_zero(arena, LINEAGE_MAX_NODES, sizeof(*walk.depths));
    walk.table = arena_zero(arena, WALK_SLOTS, sizeof(*walk.table));
    if (!walk.ids || !walk.depths || !walk.table) {
        return clew_no_memory(err);
    }
    add_id(&walk, id, 0);
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

enum clew_status lineage_take_back(struct batch_work *batch,
                                   struct memory *memory, int64_t until_ms,
                                   int64_t now_ms, struct clew_error *err)
{
    enum clew_status status;

    if (memory->retracted_at_ms != 0) {
        return CLEW_OK;
    }
    memory->retracted_at_ms = until_ms;
    memory->updated_at_ms = now_ms;
    status = memory_update(batch, memory, err);
    return status == CLEW_OK
               ? db_exec(batch->tx, &CARRY_OVER,
                         DB_ARGS(db_uuid(&memory->id), db_int(until_ms)), err)
               : status;
}

static enum clew_status do_retract(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct get_work *work = arg;
    struct action_new action = {.kind = ACTION_MEMORY_RETRACT,
                                .subject = work->id,
                                .at_ms = work->time_ms};
    enum clew_status status;

    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
    status = memory_find(tx, work->arena, work->id, &work->memory, err);
    if (status != CLEW_OK || work->memory.retracted_at_ms != 0) {
        return status;
    }
    status = lineage_take_back(&work->batch, &work->memory, work->time_ms,
                               work->time_ms, err);
    return status == CLEW_OK ? action_add(tx, &action, err) : status;
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
        commit_write(engine, scope, do_retract, &work, &work.batch, err);

    if (status == CLEW_OK) {
        *out_memory = work.memory;
    }
    return status;
}

enum clew_status lineage_must_hold(const struct batch_work *batch,
                                   const struct memory *memory,
                                   struct clew_error *err)
{
    struct lineage_mark mark = {.id = memory->id};
    char holder[UUID_TEXT_SIZE];
    enum clew_status status;

    if (batch->engine->replay) {
        return CLEW_OK;
    }
    if (memory->retracted_at_ms != 0) {
        return clew_fail_code(err, CLEW_CONFLICT, "MEMORY_RETRACTED",
                              "it was taken back");
    }
    status = lineage_find_refiners(batch->tx, batch->arena, &mark, 1, INT64_MAX,
                                   err);
    if (status != CLEW_OK || !mark.is_superseded) {
        return status;
    }
    uuid_format(&mark.refined_by, holder);
    return clew_fail_code(err, CLEW_CONFLICT, "MEMORY_SUPERSEDED",
                          "another took its place: %s", holder);
}
