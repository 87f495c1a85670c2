/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_told.c - notes that a model read. See keep_told.h.
 */
#include "engine/keep/keep_told.h"

#include "base/json.h"
#include "engine/chat/turn.h"
#include "engine/core/rows.h"
#include "engine/keep/keep_internal.h"
#include "engine/memory/lineage.h"
#include "engine/understand/observation.h"
#include "store/db.h"
#include "talk/effort_words.h"

#include <string.h>

/* Words that lie over each other by half of the shorter are the same note; ones
 * that say half as much again say more. */
#define SAME_PART 2
#define MORE_TIMES 3
#define MORE_OF 2

/* CROSS: SQLite reads the first table first; the lines of a turn are few. */
DB_SQL(SELECT_HERE,
       "SELECT m.id FROM memory_refs r CROSS JOIN memories m"
       " WHERE r.tenant = $1 AND m.tenant = $1 AND m.id = r.memory_id"
       " AND r.chat_id = $2 AND r.first_seq = $3 AND r.last_seq = $3"
       " AND m.type <> 'effort' AND m.retracted_at IS NULL"
       " AND m.origin IN ('extracted', 'llm')"
       " ORDER BY +m.created_at, m.id LIMIT $4");

/* What guesses replaced, and what replaced them since, as far as it holds. The
 * plus keeps SQLite from walking all edges in their order. */
DB_SQL(SELECT_OLDER,
       "SELECT s.source_id FROM memory_sources s WHERE s.tenant = $1"
       " AND s.memory_id = ANY($2) AND (SELECT 1 FROM memories m"
       " WHERE m.tenant = $1 AND m.id = s.source_id"
       " AND m.retracted_at IS NULL) = 1 ORDER BY +s.created_at, s.source_id"
       " LIMIT $3");
DB_SQL(SELECT_NEWER,
       "SELECT s.memory_id FROM memory_sources s WHERE s.tenant = $1"
       " AND s.source_id = ANY($2) AND (SELECT 1 FROM memories m"
       " WHERE m.tenant = $1 AND m.id = s.memory_id"
       " AND m.retracted_at IS NULL) = 1 ORDER BY +s.created_at, s.memory_id"
       " LIMIT $3");

/* What lies over the words told. */
struct covered {
    struct uuid ids[KEEP_TOLD_MOST];
    size_t count;
    size_t bytes;             /* of the longest of them */
    struct select_cite place; /* … and where it stands */
    bool is_guess;            /* all of them are the reader's, nobody's else */
    size_t n_gone;            /* that do not count: they are taken back */
    struct memory first;      /* the first of those that count */
};

/* Where a stored note's words stand in this turn; false: they do not. */
static bool place_of(const struct observation *o, const struct memory *memory,
                     struct select_cite *out)
{
    json_t *fields = NULL;
    const json_t *said;
    struct str words = {NULL, 0};
    size_t at = SIZE_MAX;

    if (memory->fields.s &&
        json_parse(memory->fields, &fields, NULL) == CLEW_OK) {
        said = json_object_get(fields, "statement");
        words = json_text(said);
    }
    if (words.s && words.len > 0) {
        at = str_find(o->turn.text, words, 0);
    }
    if (at != SIZE_MAX) {
        *out = (struct select_cite){(uint32_t)at, (uint32_t)(at + words.len)};
    }
    json_decref(fields);
    return at != SIZE_MAX;
}

static bool is_over(const struct select_cite *a, const struct select_cite *b)
{
    uint32_t from = a->from > b->from ? a->from : b->from;
    uint32_t to = a->to < b->to ? a->to : b->to;
    uint32_t shorter =
        a->to - a->from < b->to - b->from ? a->to - a->from : b->to - b->from;

    return to > from && (to - from) * SAME_PART >= shorter;
}

static bool is_gone(const struct keep_told *told, const struct uuid *id)
{
    for (size_t i = 0; i < told->n_gone; i++) {
        if (uuid_eq(&told->gone[i], id)) {
            return true;
        }
    }
    return false;
}

static enum clew_status find_covered(struct observation *o,
                                     const struct keep_told *told,
                                     struct covered *out,
                                     struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct rows_list list = {
        .arena = o->arena, .size = sizeof(struct uuid), .fn = rows_id};
    const struct uuid *ids;
    enum clew_status status =
        rows_add(o->tx, &list, &SELECT_HERE,
                 DB_ARGS(db_uuid(&turn->chat_id), db_int(turn->seq),
                         db_int(KEEP_TOLD_MOST)),
                 err);

    memset(out, 0, sizeof(*out));
    out->is_guess = true;
    ids = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        struct select_cite place;
        struct memory memory;

        status = memory_find(o->tx, o->arena, &ids[i], &memory, err);
        if (status != CLEW_OK || !place_of(o, &memory, &place) ||
            !is_over(&place, &told->cite)) {
            continue;
        }
        if (is_gone(told, &ids[i])) {
            out->n_gone++;
        } else {
            out->first = out->count == 0 ? memory : out->first;
            out->is_guess = out->is_guess && memory.pinned_at_ms == 0 &&
                            str_eq(memory.origin, STR("extracted"));
            out->ids[out->count++] = ids[i];
            if (place.to - place.from > out->bytes) {
                out->bytes = place.to - place.from;
                out->place = place;
            }
        }
    }
    return status;
}

/* The note takes the place of those it covers. */
static enum clew_status say_more(struct observation *o,
                                 const struct keep_note *note,
                                 const struct covered *covered,
                                 struct uuid *out_id, struct clew_error *err)
{
    struct keep_near near = {.refined = covered->ids[0]};
    enum clew_status status = keep_insert(o, note, &near, out_id, err);

    for (size_t i = 1; i < covered->count && status == CLEW_OK; i++) {
        status = memory_add_source(o->tx, out_id, &covered->ids[i], err);
    }
    return status;
}

/* May it take the place of `id`? Only if that was said before, and was not
 * replaced before: nothing can stand before itself. */
static enum clew_status may_update(struct observation *o, const struct uuid *id,
                                   bool *out, struct clew_error *err)
{
    int64_t at_ms = o->work->turn->created_at_ms;
    bool was_replaced = false;
    int64_t said_ms = 0;
    enum clew_status status = memory_last_said(o->tx, id, &said_ms, err);

    if (status == CLEW_OK) {
        status = lineage_was_replaced(o->tx, id, at_ms - 1, &was_replaced, err);
    }
    *out = said_ms < at_ms && !was_replaced;
    return status;
}

/* Those that it may take the place of, of those named. */
static enum clew_status find_replaced(struct observation *o,
                                      const struct keep_told *told,
                                      struct uuid *out, size_t *out_count,
                                      struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    *out_count = 0;
    for (size_t i = 0;
         i < told->n_updates && i < KEEP_TOLD_UPDATES && status == CLEW_OK;
         i++) {
        bool is_ok = false;

        status = may_update(o, &told->updates[i], &is_ok, err);
        if (is_ok) {
            out[(*out_count)++] = told->updates[i];
        }
    }
    return status;
}

static bool holds(const struct select_cite *a, const struct select_cite *b)
{
    return a->from <= b->from && b->to <= a->to;
}

/* Did one guess hold these words together with others that are a note of their
 * own? */
static bool is_split(const struct keep_told *told,
                     const struct covered *covered)
{
    if (!covered->is_guess || covered->count != 1 ||
        !holds(&covered->place, &told->cite)) {
        return false;
    }
    for (size_t i = 0; i < told->n_others; i++) {
        const struct select_cite *other = &told->others[i];

        if (holds(&covered->place, other) &&
            (other->to <= told->cite.from || told->cite.to <= other->from)) {
            return true;
        }
    }
    return false;
}

/* Was the note of just these words guessed wrongly? */
static bool is_corrected(const struct keep_told *told,
                         const struct select_note *words,
                         const struct covered *covered)
{
    const struct memory *m = &covered->first;

    return covered->count == 1 &&
           (!str_eq(m->type, str_of(select_note_type(words))) ||
            (told->aside.len > 0 &&
             str_find(m->summary, told->aside, 0) == SIZE_MAX));
}

/* One side of a guess's lineage becomes the note's. Where the guess held more
 * than its words, what speaks of them. */
static enum clew_status inherit_side(struct observation *o,
                                     const struct covered *covered,
                                     struct str words, bool is_part,
                                     bool is_newer, const struct uuid *id,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = o->arena, .size = sizeof(struct uuid), .fn = rows_id};
    const struct uuid *others;
    enum clew_status status =
        rows_add(o->tx, &list, is_newer ? &SELECT_NEWER : &SELECT_OLDER,
                 DB_ARGS(db_uuids(covered->ids, covered->count),
                         db_int(KEEP_TOLD_UPDATES)),
                 err);

    others = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        struct memory other;
        bool is_ok = true;

        if (is_part) {
            status = memory_find(o->tx, o->arena, &others[i], &other, err);
        }
        if (is_part && status == CLEW_OK &&
            effort_words_meet(o->arena, words, other.summary, &is_ok) !=
                CLEW_OK) {
            return clew_no_memory(err);
        }
        if (status == CLEW_OK && is_ok) {
            status = is_newer ? memory_add_source(o->tx, &others[i], id, err)
                              : memory_add_source(o->tx, id, &others[i], err);
        }
    }
    return status;
}

/* The note stands in the place of guesses, so in their lineage too. */
static enum clew_status inherit(struct observation *o,
                                const struct covered *covered,
                                const struct keep_note *note, bool is_part,
                                const struct uuid *id, struct clew_error *err)
{
    struct str words = note->note->summary;
    enum clew_status status =
        inherit_side(o, covered, words, is_part, false, id, err);

    return status == CLEW_OK
               ? inherit_side(o, covered, words, is_part, true, id, err)
               : status;
}

/* The words are held by notes of this turn. */
static enum clew_status keep_over(struct observation *o,
                                  const struct keep_told *told,
                                  const struct keep_note *note,
                                  const struct covered *covered, bool is_part,
                                  bool is_better, struct keep_told_row *out,
                                  struct clew_error *err)
{
    struct keep_near none = {0};
    enum clew_status status;
    bool is_more = (told->cite.to - told->cite.from) * MORE_OF >
                   covered->bytes * MORE_TIMES;

    if (covered->is_guess && (is_more || is_part || is_better ||
                              is_corrected(told, note->note, covered))) {
        out->fate = KEEP_INSTEAD;
        out->n_instead = covered->count;
        memcpy(out->instead, covered->ids, sizeof(out->instead));
        status = keep_insert(o, note, &none, &out->id, err);
        return status == CLEW_OK
                   ? inherit(o, covered, note, is_part, &out->id, err)
                   : status;
    }
    if (is_more) {
        out->fate = KEEP_REFINED;
        return say_more(o, note, covered, &out->id, err);
    }
    out->fate = KEEP_KNOWN;
    out->id = covered->ids[0];
    return CLEW_OK;
}

/* A note of the turn, whoever read it, takes the place of earlier ones. */
static enum clew_status replace(struct observation *o, const struct uuid *id,
                                const struct uuid *earlier, size_t count,
                                struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        if (!uuid_eq(id, &earlier[i])) {
            status = memory_add_source(o->tx, id, &earlier[i], err);
        }
    }
    return status;
}

/* The note of these words of the turn. */
static enum clew_status make_note(struct observation *o,
                                  const struct keep_told *told,
                                  const struct select_cite *cite,
                                  struct select_note *words,
                                  struct keep_note *out, struct clew_error *err)
{
    if (select_words(o->arena, &o->select, cite, told->aside, words) !=
        CLEW_OK) {
        return clew_no_memory(err);
    }
    words->keep = told->keep;
    words->is_told = true;
    words->confidence = told->confidence;
    words->is_hedged = told->is_hedged;
    *out = keep_note_of(o, words);
    return CLEW_OK;
}

enum clew_status keep_told(struct observation *o, const struct keep_told *told,
                           struct keep_told_row *out, struct clew_error *err)
{
    struct uuid replaced[KEEP_TOLD_UPDATES];
    struct select_cite cite = told->cite;
    struct select_note words;
    struct keep_note note;
    struct covered covered;
    size_t n_replaced = 0;
    bool is_part = false;
    bool is_new = false;
    enum clew_status status = find_covered(o, told, &covered, err);

    *out = (struct keep_told_row){.fate = KEEP_REFINED};
    if (status == CLEW_OK) {
        status = find_replaced(o, told, replaced, &n_replaced, err);
    }
    if (status == CLEW_OK) {
        is_part = is_split(told, &covered);
        /* a guess that replaces something keeps all of its words */
        if (n_replaced > 0 && covered.count == 1 && covered.is_guess &&
            !is_part && holds(&covered.place, &cite)) {
            cite = covered.place;
        }
        status = make_note(o, told, &cite, &words, &note, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (covered.count > 0) {
        status = keep_over(o, told, &note, &covered, is_part, n_replaced > 0,
                           out, err);
    } else if (n_replaced > 0 || covered.n_gone > 0) {
        struct keep_near near = {0};

        if (n_replaced > 0) {
            near.refined = replaced[--n_replaced];
        }
        status = keep_insert(o, &note, &near, &out->id, err);
    } else {
        status = keep_note(o, &words, &out->id, &is_new, err);
        out->fate = is_new ? KEEP_NEW : KEEP_KNOWN;
    }
    return status == CLEW_OK ? replace(o, &out->id, replaced, n_replaced, err)
                             : status;
}
