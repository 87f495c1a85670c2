/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_outcome.c - what came of the matters that were found. See
 * search_internal.h.
 *
 * "Did that thing with the gate get sorted?" finds where the trouble was told,
 * by its words. How it ended was told weeks later and in others ("it was the
 * transformer"). The effort knows both. So of each effort that has a turn among
 * the first, its last turn is brought in: it borrows a part of that turn's
 * match, and is read with the turn that opened the effort in place of the one
 * before. Whether it answers is for the reader to say.
 */
#include "engine/ask/search_internal.h"

#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* CROSS: SQLite reads the first table first; the lines of a turn are few. The
 * subquery is looked up, see lineage_internal.h. */
DB_SQL(SELECT_EFFORTS_OF,
       "SELECT t.id, r.memory_id FROM turns t CROSS JOIN memory_refs r"
       " WHERE t.tenant = $1 AND r.tenant = $1 AND t.id = ANY($2)"
       " AND r.chat_id = t.chat_id AND r.first_seq <= t.seq"
       " AND r.last_seq >= t.seq AND (SELECT 1 FROM memories m"
       " WHERE m.tenant = $1 AND m.id = r.memory_id AND m.type = 'effort'"
       " AND m.parent_id IS NULL AND m.retracted_at IS NULL) = 1"
       " ORDER BY r.memory_id LIMIT $3");
/* CROSS and the plus: SQLite would walk the tenant's turns by time. */
DB_SQL(SELECT_THREADS,
       "SELECT r.memory_id, t.id, t.created_at, t.chat_id, t.seq"
       " FROM memory_refs r CROSS JOIN turns t"
       " WHERE t.tenant = $1 AND t.chat_id = r.chat_id"
       " AND t.seq BETWEEN r.first_seq AND r.last_seq"
       " AND r.tenant = $1 AND r.memory_id = ANY($2)"
       " ORDER BY +t.created_at DESC, t.seq DESC LIMIT $3");

/* A turn that was found, or one of a thread, and an effort of its. */
struct knot {
    struct uuid turn_id;
    struct uuid effort_id;
    int64_t at_ms;
    struct sight_place place;
};

/* An effort with a turn among the first. */
struct thread {
    struct uuid id;
    double promise;     /* of the best of its turns */
    struct uuid opened; /* nil: the question sees no turn of it */
    struct uuid last;
};

struct outcomes {
    struct search_work *work;
    struct thread threads[OUTCOME_EFFORTS];
    size_t count;
    struct turn *turns; /* all that opened one, and the last of each */
    size_t n_turns;
};

static bool effort_row(struct arena *arena, const struct db_rows *rows,
                       void *item)
{
    struct knot *out = item;

    (void)arena;
    out->turn_id = db_get_uuid(rows, 0);
    out->effort_id = db_get_uuid(rows, 1);
    return true;
}

static bool thread_row(struct arena *arena, const struct db_rows *rows,
                       void *item)
{
    struct knot *out = item;

    (void)arena;
    out->effort_id = db_get_uuid(rows, 0);
    out->turn_id = db_get_uuid(rows, 1);
    out->at_ms = db_get_int(rows, 2);
    out->place.chat_id = db_get_uuid(rows, 3);
    out->place.seq = db_get_int(rows, 4);
    return true;
}

static struct thread *find_thread(struct outcomes *out, const struct uuid *id)
{
    for (size_t i = 0; i < out->count; i++) {
        if (uuid_eq(&out->threads[i].id, id)) {
            return &out->threads[i];
        }
    }
    return NULL;
}

static void add_thread(struct outcomes *out, const struct uuid *id,
                       double promise)
{
    struct thread *thread = find_thread(out, id);

    if (!thread && out->count < OUTCOME_EFFORTS) {
        thread = &out->threads[out->count++];
        *thread = (struct thread){.id = *id};
    }
    if (thread && promise > thread->promise) {
        thread->promise = promise;
    }
}

/* The efforts of the first turns. */
static enum clew_status find_efforts(struct outcomes *out, struct store_tx *tx,
                                     struct clew_error *err)
{
    const struct search_work *work = out->work;
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct knot), .fn = effort_row};
    struct uuid ids[OUTCOME_AMONG];
    const struct knot *knots;
    size_t n = 0;
    enum clew_status status;

    for (size_t i = 0; i < work->count && n < OUTCOME_AMONG; i++) {
        if (work->matters[i].hit.turn) {
            ids[n++] = work->matters[i].hit.turn->id;
        }
    }
    if (n == 0) {
        return CLEW_OK;
    }
    status = rows_add(
        tx, &list, &SELECT_EFFORTS_OF,
        DB_ARGS(db_uuids(ids, n), db_int(OUTCOME_EFFORTS * OUTCOME_AMONG)),
        err);
    knots = list.items;
    /* by promise: when there are too many, those of the first turns stay */
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        size_t at = search_find(work, &ids[i]);

        for (size_t k = 0; k < list.count; k++) {
            if (uuid_eq(&knots[k].turn_id, &ids[i])) {
                add_thread(out, &knots[k].effort_id,
                           search_promise(&work->matters[at]));
            }
        }
    }
    return status;
}

/* What other branches say of an effort is not for this one. */
static enum clew_status hide(struct search_work *work, struct store_tx *tx,
                             struct knot *knots, size_t count,
                             struct clew_error *err)
{
    struct sight_place *places =
        arena_zero(work->arena, count + 1, sizeof(*places));
    struct search_sight from = {0};
    enum clew_status status =
        search_look(tx, work->arena, work->query, &from, err);

    if (status != CLEW_OK || !from.is_parted) {
        return status;
    }
    if (!places) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        places[i] = knots[i].place;
    }
    status = sight_hide(tx, work->arena, &from.sight, places, count, err);
    for (size_t i = 0; i < count; i++) {
        knots[i].place = places[i];
    }
    return status;
}

/* Which turn opened each, and which are its last, as of when it is asked. */
static enum clew_status find_ends(struct outcomes *out, struct store_tx *tx,
                                  struct clew_error *err)
{
    struct search_work *work = out->work;
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct knot), .fn = thread_row};
    struct uuid ids[OUTCOME_EFFORTS];
    struct knot *knots;
    enum clew_status status;

    for (size_t i = 0; i < out->count; i++) {
        ids[i] = out->threads[i].id;
    }
    status = rows_add(
        tx, &list, &SELECT_THREADS,
        DB_ARGS(db_uuids(ids, out->count), db_int(OUTCOME_MAX_REFS)), err);
    knots = list.items;
    if (status == CLEW_OK) {
        status = hide(work, tx, knots, list.count, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        struct thread *thread = find_thread(out, &knots[i].effort_id);

        if (knots[i].at_ms > search_sight_ms(work->query) ||
            knots[i].place.is_hidden) {
            continue;
        }
        if (uuid_is_nil(&thread->opened)) { /* the newest come first */
            thread->last = knots[i].turn_id;
        }
        thread->opened = knots[i].turn_id;
    }
    return status;
}

static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct outcomes *out = arg;
    struct uuid ids[OUTCOME_EFFORTS * 2];
    size_t n = 0;
    enum clew_status status = find_efforts(out, tx, err);

    if (status != CLEW_OK || out->count == 0) {
        return status;
    }
    status = find_ends(out, tx, err);
    for (size_t i = 0; i < out->count; i++) {
        const struct thread *thread = &out->threads[i];

        if (!uuid_is_nil(&thread->opened)) {
            ids[n++] = thread->opened;
            ids[n++] = thread->last;
        }
    }
    return status != CLEW_OK || n == 0
               ? status
               : turn_find_many(tx, out->work->arena, ids, n, &out->turns,
                                &out->n_turns, err);
}

static const struct turn *turn_of(const struct outcomes *out,
                                  const struct uuid *id)
{
    for (size_t i = 0; i < out->n_turns; i++) {
        if (uuid_eq(&out->turns[i].id, id)) {
            return &out->turns[i];
        }
    }
    return NULL;
}

/* Bring a last turn in, or let the one found speak for the effort's end. */
static enum clew_status add_end(struct outcomes *out,
                                const struct thread *thread,
                                const struct turn *end, struct clew_error *err)
{
    struct search_work *work = out->work;
    const struct turn *opened = turn_of(out, &thread->opened);
    double lent = OUTCOME_SHARE * thread->promise;
    enum clew_status status = search_add_turn(work, end, err);
    size_t at = search_find(work, &end->id);

    if (status == CLEW_OK && opened && at < work->count &&
        lent > work->matters[at].lent &&
        lent > search_promise(&work->matters[at])) {
        work->matters[at].lent = lent;
        work->matters[at].opened = opened;
    }
    return status;
}

enum clew_status search_find_outcomes(struct search_work *work,
                                      struct clew_error *err)
{
    struct outcomes *out;
    uint32_t kinds = work->query->kinds;
    enum clew_status status;

    if (work->count == 0 || !search_reads(work) ||
        !(kinds == 0 || kinds & RECALL_TURN)) {
        return CLEW_OK;
    }
    out = arena_zero(work->arena, 1, sizeof(*out));
    if (!out) {
        return clew_no_memory(err);
    }
    out->work = work;
    search_sort_by_promise(work);
    status = search_tx(work, do_find, out, err);
    for (size_t i = 0; status == CLEW_OK && i < out->count; i++) {
        const struct thread *thread = &out->threads[i];
        const struct turn *end = turn_of(out, &thread->last);

        if (end && !uuid_eq(&thread->last, &thread->opened)) {
            status = add_end(out, thread, end, err);
        }
    }
    return status;
}
