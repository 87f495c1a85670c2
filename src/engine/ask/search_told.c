/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_told.c - what a language model read that replaces what was found. See
 * search_internal.h.
 *
 * A model says which notes a new one replaces, in whatever words the new one is
 * said ("then eight"). So the turn that held may be found, and the one that
 * holds not. Where the notes of a turn among the first were replaced so, each
 * of them is read with the question: if one that answers it about best no
 * longer holds, the turn that does goes right before. Other values of the same
 * turn may have changed or not: they say nothing.
 * Without notes of a model nothing is done here.
 */
#include "engine/ask/search_internal.h"

#include "base/crew.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/memory/lineage.h"
#include "engine/memory/memory.h"
#include "engine/read/verdicts.h"
#include "store/db.h"
#include "talk/effort_words.h"

#include <string.h>

/* CROSS: SQLite reads the first table first; the lines of a turn are few. The
 * subqueries are looked up, see lineage_internal.h. `before` has a row if there
 * is anything to look for. */
#define NOTES_OF_TURNS(before)                                                 \
    "SELECT t.id, r.memory_id FROM " before "turns t CROSS JOIN memory_refs r" \
    " WHERE t.tenant = $1 AND r.tenant = $1 AND t.id = ANY($2)"                \
    " AND r.chat_id = t.chat_id AND r.first_seq = t.seq"                       \
    " AND r.last_seq = t.seq AND (SELECT 1 FROM memories m"                    \
    " WHERE m.tenant = $1 AND m.id = r.memory_id AND m.type <> 'effort'"       \
    " AND m.type <> 'skill' AND m.retracted_at IS NULL) = 1"

DB_SQL(SELECT_TURNS_NOTES, NOTES_OF_TURNS("") " ORDER BY r.memory_id LIMIT $3");
/* … only those that a note of a model's replaced. Most stores have none
 * (memories_told), and then no turn is looked up. */
#define TOLD                                                                   \
    "(SELECT 1 FROM memories WHERE tenant = $1 AND origin = 'llm' LIMIT 1) AS" \
    " told CROSS JOIN "
DB_SQL(
    SELECT_REPLACED,
    NOTES_OF_TURNS(
        TOLD) " AND EXISTS (SELECT 1 FROM memory_sources s WHERE s.tenant = $1"
              " AND s.source_id = r.memory_id AND (SELECT 1 FROM memories n"
              " WHERE n.tenant = $1 AND n.id = s.memory_id AND n.origin = 'llm'"
              " AND n.retracted_at IS NULL) = 1) ORDER BY r.memory_id LIMIT "
              "$3");

/* A note of a turn that was found. */
struct drawn {
    struct uuid turn_id;
    struct uuid id;
    const struct memory *memory; /* NULL: it is not valid then */
    struct uuid end;             /* what holds in its place; nil: it does */
    float answers;
};

/* A turn that held, and the one that holds. */
struct change {
    struct uuid held;
    struct uuid by; /* the note that replaced its own */
    struct turn *turn;
};

struct told {
    struct search_work *work;
    struct drawn *notes;
    size_t n_notes;
    struct memory *memories;
    size_t n_memories;
    struct reader_pair pairs[TOLD_MAX_NOTES];
    struct change changes[TOLD_AMONG];
    size_t n_changes;
    _Atomic bool has_failed;
};

static bool drawn_row(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct drawn *out = item;

    (void)arena;
    out->turn_id = db_get_uuid(rows, 0);
    out->id = db_get_uuid(rows, 1);
    return true;
}

static enum clew_status select_notes(struct told *told, struct store_tx *tx,
                                     const struct db_sql *sql,
                                     const struct uuid *ids, size_t count,
                                     struct clew_error *err)
{
    struct rows_list list = {.arena = told->work->arena,
                             .size = sizeof(struct drawn),
                             .fn = drawn_row};
    enum clew_status status =
        rows_add(tx, &list, sql,
                 DB_ARGS(db_uuids(ids, count), db_int(TOLD_MAX_NOTES)), err);

    told->notes = list.items;
    told->n_notes = list.count;
    return status;
}

/* Which turns have a note that was replaced; then all notes of those. */
static enum clew_status find_notes(struct told *told, struct store_tx *tx,
                                   struct clew_error *err)
{
    const struct search_work *work = told->work;
    struct uuid ids[TOLD_AMONG > TOLD_MAX_NOTES ? TOLD_AMONG : TOLD_MAX_NOTES];
    size_t n = 0;
    enum clew_status status;

    for (size_t i = 0; i < work->count && i < TOLD_AMONG; i++) {
        if (work->matters[i].hit.turn) {
            ids[n++] = work->matters[i].hit.turn->id;
        }
    }
    if (n == 0) {
        return CLEW_OK;
    }
    status = select_notes(told, tx, &SELECT_REPLACED, ids, n, err);
    if (status != CLEW_OK || told->n_notes == 0) {
        return status;
    }
    for (n = 0; n < told->n_notes; n++) {
        ids[n] = told->notes[n].turn_id;
    }
    return select_notes(told, tx, &SELECT_TURNS_NOTES, ids, n, err);
}

static bool was_so(const struct memory *memory,
                   const struct search_query *query)
{
    return memory->created_at_ms <= search_sight_ms(query) &&
           (memory->expires_at_ms == 0 || memory->expires_at_ms > query->at_ms);
}

/* What holds in the place of each, as seen from where it is asked. */
static enum clew_status find_ends(struct told *told, struct store_tx *tx,
                                  struct clew_error *err)
{
    struct search_work *work = told->work;
    struct search_sight from = {0};
    struct lineage_mark *marks =
        arena_zero(work->arena, told->n_notes, sizeof(*marks));
    struct uuid *ids = arena_zero(work->arena, told->n_notes, sizeof(*ids));
    size_t n_marks = told->n_notes;
    enum clew_status status;

    if (!marks || !ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < told->n_notes; i++) {
        ids[i] = told->notes[i].id;
        marks[i].id = ids[i];
    }
    status = search_look(tx, work->arena, work->query, &from, err);
    if (status == CLEW_OK) {
        status =
            lineage_adjust(tx, work->arena, from.is_parted ? &from.sight : NULL,
                           &marks, &n_marks, search_sight_ms(work->query), err);
    }
    if (status == CLEW_OK) {
        status = memory_find_many(tx, work->arena, ids, told->n_notes,
                                  &told->memories, &told->n_memories, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < told->n_notes; i++) {
        struct drawn *note = &told->notes[i];

        note->end = marks[i].is_superseded ? marks[i].end : (struct uuid){0};
        for (size_t k = 0; k < told->n_memories; k++) {
            if (uuid_eq(&told->memories[k].id, &note->id) &&
                was_so(&told->memories[k], work->query)) {
                note->memory = &told->memories[k];
            }
        }
    }
    return status;
}

static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct told *told = arg;
    enum clew_status status = find_notes(told, tx, err);

    return status == CLEW_OK && told->n_notes > 0 ? find_ends(told, tx, err)
                                                  : status;
}

/* --- which of them answers --- */

static void read_note(void *arg, size_t step)
{
    struct told *told = arg;
    const struct search_work *work = told->work;
    struct reader_verdict verdict;

    if (!told->notes[step].memory) {
        return;
    }
    if (verdicts_compare(work->engine->verdicts, work->engine->reader,
                         work->scope->tenant, READER_ANSWER, &told->pairs[step],
                         &verdict) != CLEW_OK) {
        told->has_failed = true;
        return;
    }
    told->notes[step].answers = verdict.p[0];
}

/* How likely each answers: by the reader, or by the words they share. */
static enum clew_status judge(struct told *told, struct clew_error *err)
{
    struct search_work *work = told->work;
    bool is_read = search_reads(work);

    for (size_t i = 0; i < told->n_notes; i++) {
        struct drawn *note = &told->notes[i];
        bool is_shared = false;

        if (!note->memory) {
            continue;
        }
        if (is_read) {
            told->pairs[i] = search_note_pair(work, note->memory->summary,
                                              note->memory->created_at_ms);
            if (!told->pairs[i].b.s) {
                return clew_no_memory(err);
            }
        } else if (effort_words_meet(work->arena, work->query->query,
                                     note->memory->summary,
                                     &is_shared) != CLEW_OK) {
            return clew_no_memory(err);
        }
        note->answers = is_shared ? 1 : 0;
    }
    if (is_read) {
        crew_run(work->engine->crew, read_note, told, told->n_notes);
    }
    return told->has_failed ? clew_no_memory(err) : CLEW_OK;
}

/* Of the notes of a turn that hold, or of those that do not, the one that
 * answers best; NULL: none. */
static const struct drawn *best_of(const struct told *told,
                                   const struct uuid *turn_id, bool holds)
{
    const struct drawn *best = NULL;

    for (size_t i = 0; i < told->n_notes; i++) {
        const struct drawn *note = &told->notes[i];

        if (note->memory && uuid_eq(&note->turn_id, turn_id) &&
            uuid_is_nil(&note->end) == holds &&
            (double)note->answers >= TOLD_MIN_READ &&
            (!best || note->answers > best->answers)) {
            best = note;
        }
    }
    return best;
}

/* The note of a turn that was replaced and is what the question is about, as
 * far as can be told from notes: of two that answer much alike, either may be
 * meant, and what is new stands beside what is not. */
static const struct drawn *replaced_of(const struct told *told,
                                       const struct uuid *turn_id)
{
    const struct drawn *gone = best_of(told, turn_id, false);
    const struct drawn *holds = best_of(told, turn_id, true);
    float share = search_reads(told->work) ? TOLD_SHARE : 1;

    if (gone && holds &&
        (gone->answers < share * holds->answers ||
         (share >= 1 && gone->answers <= holds->answers))) {
        return NULL; /* words alone tell too little to choose the other one */
    }
    return gone;
}

/* --- what holds before what held --- */

static enum clew_status do_turns(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct told *told = arg;
    const struct search_work *work = told->work;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->count && i < TOLD_AMONG && status == CLEW_OK;
         i++) {
        const struct turn *turn = work->matters[i].hit.turn;
        const struct drawn *note = turn ? replaced_of(told, &turn->id) : NULL;
        struct change *change = &told->changes[told->n_changes];
        size_t count = 0;

        if (!note) {
            continue;
        }
        *change = (struct change){.held = turn->id, .by = note->end};
        status = turn_find_cited(tx, work->arena, &note->end, 1, 1,
                                 &change->turn, &count, err);
        told->n_changes += count > 0;
    }
    return status;
}

static enum clew_status put_before(struct search_work *work,
                                   const struct change *change,
                                   struct clew_error *err)
{
    enum clew_status status = search_add_turn(work, change->turn, err);
    size_t earlier = search_find(work, &change->held);
    size_t later = search_find(work, &change->turn->id);
    struct matter *held;
    struct matter *holds;

    if (status != CLEW_OK || later == work->count || earlier == work->count ||
        later == earlier) {
        return status; /* the question may not see it, or both were said in one
                          breath */
    }
    held = &work->matters[earlier];
    holds = &work->matters[later];
    if (search_is_outside(holds, held) ||
        holds->hit.item.created_at_ms < held->hit.item.created_at_ms) {
        return CLEW_OK;
    }
    holds->read = holds->read < 0 ? held->read : holds->read;
    held->hit.refined_by = change->by;
    search_overtake(work, earlier, later, true);
    return CLEW_OK;
}

enum clew_status search_settle_told(struct search_work *work,
                                    struct clew_error *err)
{
    struct told *told;
    enum clew_status status;

    if (work->count == 0) {
        return CLEW_OK;
    }
    told = arena_zero(work->arena, 1, sizeof(*told));
    if (!told) {
        return clew_no_memory(err);
    }
    told->work = work;
    status = search_tx(work, do_find, told, err);
    if (status != CLEW_OK || told->n_notes == 0) {
        return status;
    }
    status = judge(told, err);
    if (status == CLEW_OK) {
        status = search_tx(work, do_turns, told, err);
    }
    for (size_t i = 0; i < told->n_changes && status == CLEW_OK; i++) {
        status = put_before(work, &told->changes[i], err);
    }
    return status;
}
