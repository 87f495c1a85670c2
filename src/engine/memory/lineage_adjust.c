/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage_adjust.c - what holds before what held, in a list of answers.
 *
 * A refinement says little of its own at times ("It is Friday now."); what it
 * refines was found for it. So what holds stands where the best of what it
 * replaced stood.
 */
#include "engine/memory/lineage_internal.h"

#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* The newest valid refiner of each memory, and that of each refiner found, down
 * to those without one (NULL). The limit bounds the walk: rows come level by
 * level. */
DB_SQL(SELECT_NEWEST_DOWN,
       "WITH RECURSIVE down (id, next) AS ("
       "SELECT m.id, (SELECT s.memory_id" SEEN_REFINERS("m.id") NEWEST_FIRST
       "1) FROM memories m WHERE m.tenant = $1 AND m.id = ANY($2)"
       " UNION SELECT d.next, (SELECT s.memory_id" SEEN_REFINERS("d.next")
           NEWEST_FIRST "1) FROM down d WHERE d.next IS NOT NULL)"
                        " SELECT id, next FROM down LIMIT $5");

/* The sources of memories, each of which is named once, and for one that has a
 * refiner, if any has, (it, NULL). Most lists have neither: walking the list is
 * then a tenth of what SQLite takes to make a table of it, twice, for ANY. */
DB_SQL(SELECT_AROUND,
       "SELECT s.memory_id, s.source_id FROM UNNEST($2) AS value CROSS JOIN"
       " memory_sources s WHERE s.tenant = $1 AND s.memory_id = value UNION ALL"
       " SELECT source_id, NULL FROM (SELECT s.source_id FROM UNNEST($2) AS"
       " value CROSS JOIN memory_sources s WHERE s.tenant = $1"
       " AND s.source_id = value LIMIT 1) AS refined LIMIT $3");

/* Refiners followed beyond those of the marks themselves; and, if that does not
 * reach an end, from the newest of them on. */
#define MAX_STEPS 256
#define MAX_FAR_STEPS 2000

/* Where in a list of marks an id is. */
struct spot {
    struct uuid id;
    size_t index;
};

/* A list of marks while it is adjusted. */
struct adjustment {
    struct store_tx *tx;
    struct arena *arena;
    int64_t at_ms;
    struct uuid *unseen; /* replace nothing here */
    size_t n_unseen;
    struct lineage_mark *marks; /* room for twice as many as were given */
    size_t count;
    struct rows_list sources; /* (mark, source), by mark */
    struct rows_list newest;  /* (memory, its newest refiner), by memory */
    struct spot *spots;       /* of the marks given, by id */
    size_t n_spots;
};

static int by_id(const void *a, const void *b)
{
    const struct spot *left = a;
    const struct spot *right = b;

    return uuid_cmp(&left->id, &right->id);
}

/* Which mark has this id; SIZE_MAX if none. */
static size_t spot_of(const struct adjustment *a, const struct uuid *id)
{
    struct spot key = {.id = *id};
    const struct spot *spot =
        bsearch(&key, a->spots, a->n_spots, sizeof(key), by_id);

    if (spot) {
        return spot->index;
    }
    for (size_t i = a->n_spots; i < a->count; i++) { /* those added */
        if (uuid_eq(&a->marks[i].id, id)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static enum clew_status make_spots(struct adjustment *a, struct clew_error *err)
{
    a->spots = arena_zero(a->arena, a->count, sizeof(*a->spots));
    if (!a->spots) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < a->count; i++) {
        a->spots[i] = (struct spot){a->marks[i].id, i};
    }
    a->n_spots = a->count;
    qsort(a->spots, a->count, sizeof(*a->spots), by_id);
    return CLEW_OK;
}

/* The source of a refinement; NULL for originals and consolidations. */
static const struct uuid *only_source(const struct adjustment *a,
                                      const struct uuid *id)
{
    size_t count;
    const struct edge *edges = edge_all_from(&a->sources, id, &count);

    return count == 1 ? &edges->to : NULL;
}

/* Sources of the marks; whether a mark has a refiner. */
static enum clew_status read_sources(struct adjustment *a, bool *out_refined,
                                     struct clew_error *err)
{
    struct uuid *ids = arena_zero(a->arena, a->n_spots, sizeof(*ids));
    struct edge *edges;
    size_t n = 0;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < a->n_spots; i++) {
        if (n == 0 || !uuid_eq(&ids[n - 1], &a->spots[i].id)) {
            ids[n++] = a->spots[i].id;
        }
    }
    status =
        rows_add(a->tx, &a->sources, &SELECT_AROUND,
                 DB_ARGS(db_uuids(ids, n), db_int(LINEAGE_MAX_EDGES)), err);
    edges = a->sources.items;
    n = 0;
    for (size_t i = 0; status == CLEW_OK && i < a->sources.count; i++) {
        if (!uuid_is_nil(&edges[i].to)) {
            edges[n++] = edges[i];
        }
    }
    *out_refined = n < a->sources.count;
    a->sources.count = n;
    edge_sort(&a->sources);
    return status;
}

/* Sources of the marks; newest refiners of both, and of those. Without any
 * source or refiner there is nothing more to know. */
static enum clew_status read_edges(struct adjustment *a, struct clew_error *err)
{
    bool is_refined = false;
    struct uuid *ids = arena_zero(a->arena, 2 * a->count, sizeof(*ids));
    size_t n = a->count;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < a->count; i++) {
        ids[i] = a->marks[i].id;
    }
    a->sources = edge_list(a->arena);
    a->newest = edge_list(a->arena);
    status = read_sources(a, &is_refined, err);
    if (status != CLEW_OK || (a->sources.count == 0 && !is_refined)) {
        return status;
    }
    for (size_t i = 0; status == CLEW_OK && i < a->count; i++) {
        const struct uuid *source = only_source(a, &a->marks[i].id);

        if (source && spot_of(a, source) == SIZE_MAX) {
            ids[n++] = *source;
        }
    }
    if (status == CLEW_OK) {
        status = rows_add(a->tx, &a->newest, &SELECT_NEWEST_DOWN,
                          DB_ARGS(db_uuids(ids, n), db_int(a->at_ms),
                                  db_uuids(a->unseen, a->n_unseen),
                                  db_int((int64_t)n + MAX_STEPS)),
                          err);
    }
    edge_sort(&a->newest);
    return status;
}

/* Follow newest refiners to their end; NULL if it was not reached. */
static const struct uuid *end_of(const struct adjustment *a,
                                 const struct uuid *id)
{
    for (size_t step = 0; step <= a->newest.count; step++) {
        const struct edge *edge = edge_from(&a->newest, id);

        if (!edge) {
            return NULL;
        }
        if (uuid_is_nil(&edge->to)) {
            return &edge->from;
        }
        id = &edge->to;
    }
    return NULL;
}

/* A line with more versions than steps: its newest version in the list is the
 * nearest to its end. */
static enum clew_status read_further(struct adjustment *a,
                                     struct clew_error *err)
{
    const struct lineage_mark *newest = NULL;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < a->count; i++) {
        const struct lineage_mark *mark = &a->marks[i];

        if (mark->is_superseded &&
            (!newest || uuid_cmp(&mark->id, &newest->id) > 0) &&
            !end_of(a, &mark->refined_by)) {
            newest = mark;
        }
    }
    if (newest) {
        status = rows_add(
            a->tx, &a->newest, &SELECT_NEWEST_DOWN,
            DB_ARGS(db_uuids(&newest->refined_by, 1), db_int(a->at_ms),
                    db_uuids(a->unseen, a->n_unseen), db_int(MAX_FAR_STEPS)),
            err);
        edge_sort(&a->newest);
    }
    return status;
}

/* What took the place of mark `i`; NULL if nothing did, or it is unknown. */
static const struct uuid *successor_of(struct adjustment *a, size_t i)
{
    struct lineage_mark *mark = &a->marks[i];
    const struct uuid *source;
    const struct uuid *end;

    if (mark->is_superseded) {
        return end_of(a, &mark->refined_by);
    }
    source = only_source(a, &mark->id);
    end = source ? end_of(a, source) : NULL;
    if (!end || uuid_cmp(end, &mark->id) <= 0) {
        return NULL; /* the newest of its branch is it, or older */
    }
    mark->is_outrun = true;
    return end;
}

/* What holds matches as well as what it replaces. */
static void hand_over(struct adjustment *a)
{
    size_t n_given = a->count;

    for (size_t i = 0; i < n_given; i++) {
        const struct uuid *id = successor_of(a, i);
        size_t k = id ? spot_of(a, id) : SIZE_MAX;
        struct lineage_mark *to;

        if (!id) {
            continue;
        }
        a->marks[i].end = *id;
        if (k == SIZE_MAX) {
            k = a->count++;
            a->marks[k] = (struct lineage_mark){.id = *id, .match = i};
        }
        to = &a->marks[k];
        to->is_current = true;
        if (a->marks[i].score > a->marks[to->match].score) {
            to->match = i;
        }
    }
}

/* Refinements of something in the list, and what replaced something in it. */
static bool is_raised(const struct adjustment *a, const struct lineage_mark *m)
{
    size_t count;
    const struct edge *edges = edge_all_from(&a->sources, &m->id, &count);

    for (size_t i = 0; i < count; i++) {
        if (spot_of(a, &edges[i].to) != SIZE_MAX) {
            return true;
        }
    }
    return m->is_current;
}

/* Valid marks by what they match, best first. */
struct standing {
    size_t index;
    double match;
    bool is_raised;
    struct uuid id;
};

static int by_match(const void *a, const void *b)
{
    const struct standing *left = a;
    const struct standing *right = b;

    if (left->match != right->match) {
        return left->match > right->match ? -1 : 1;
    }
    return -uuid_cmp(&left->id, &right->id); /* the newer first */
}

static enum clew_status set_scores(struct adjustment *a, struct clew_error *err)
{
    struct standing *standings =
        arena_zero(a->arena, a->count, sizeof(*standings));
    double bound = 1;
    size_t n = 0;

    if (!standings) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < a->count; i++) {
        const struct lineage_mark *mark = &a->marks[i];

        if (!mark->is_superseded) {
            standings[n++] = (struct standing){i, a->marks[mark->match].score,
                                               is_raised(a, mark), mark->id};
        }
    }
    qsort(standings, n, sizeof(*standings), by_match);
    for (size_t i = 0; i < a->count; i++) {
        if (a->marks[i].is_superseded) {
            a->marks[i].score *= LINEAGE_SUPERSEDED;
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct lineage_mark *mark = &a->marks[standings[i].index];
        double raised = mark->score * LINEAGE_REFINEMENT;

        raised = raised < bound ? raised : bound;
        mark->score = standings[i].is_raised && raised > standings[i].match
                          ? raised
                          : standings[i].match;
        bound = mark->score;
    }
    return CLEW_OK;
}

enum clew_status lineage_adjust(struct store_tx *tx, struct arena *arena,
                                const struct sight *sight,
                                struct lineage_mark **marks, size_t *count,
                                int64_t at_ms, struct clew_error *err)
{
    struct adjustment a = {
        .tx = tx, .arena = arena, .at_ms = at_ms, .count = *count};
    enum clew_status status;

    if (*count == 0) {
        return CLEW_OK;
    }
    a.marks = arena_zero(arena, 2 * a.count, sizeof(*a.marks));
    if (!a.marks) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < a.count; i++) {
        a.marks[i] = (*marks)[i];
        a.marks[i].match = i;
    }
    status = make_spots(&a, err);
    if (status == CLEW_OK) {
        status =
            memory_list_unseen(tx, arena, sight, &a.unseen, &a.n_unseen, err);
    }
    if (status == CLEW_OK) {
        status = read_edges(&a, err);
    }
    if (status == CLEW_OK) {
        lineage_set_refiners(a.marks, a.count, &a.newest);
        status = read_further(&a, err);
    }
    if (status == CLEW_OK) {
        hand_over(&a);
        status = set_scores(&a, err);
    }
    if (status == CLEW_OK) {
        *marks = a.marks;
        *count = a.count;
    }
    return status;
}
