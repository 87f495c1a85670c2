/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_around.c - what stands around the passages a model is shown.
 *
 * "8 to 12 me then" answers only beside what was said before it, and how
 * something ended is often said in words that the question does not have. So
 * each turn is shown with its neighbours, and the end of an effort that was
 * found is a passage of its own. Where a value of it changed since, what was
 * and what holds now stand beside it: not all of a passage is old because one
 * value is. All of it can be cited, and is what a sentence is held against.
 */
#include "base/utf8.h"
#include "engine/answer/answer_internal.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/memory/memory.h"
#include "engine/read/sense.h"
#include "store/db.h"

#include <string.h>

/* Of a neighbour. */
#define BESIDE_BYTES 300
/* Efforts whose end is looked for, and turns of one. */
#define MAX_ENDS 4
#define END_TURNS 24

/* Of a note, and how many of them are read for one passage. */
#define NOTE_BYTES 300
#define MAX_EDGES 24

/* Notes of one turn, or one note, and what took their place by then. CROSS:
 * SQLite reads the first table first, and one turn has few lines. */
#define REPLACED_NOTES                                                         \
    " CROSS JOIN memory_sources s CROSS JOIN memories n WHERE m.tenant = $1"   \
    " AND s.tenant = $1 AND n.tenant = $1 AND s.source_id = m.id"              \
    " AND n.id = s.memory_id AND n.created_at <= $2"                           \
    " AND n.retracted_at IS NULL AND n.user_id = m.user_id"                    \
    " AND m.retracted_at IS NULL AND m.type <> 'effort'"
#define NEWEST_FIRST " ORDER BY +n.created_at DESC, n.id LIMIT "

DB_SQL(SELECT_OF_TURN,
       "SELECT m.id, m.summary, n.id, n.summary FROM memory_refs r"
       " CROSS JOIN memories m" REPLACED_NOTES
       " AND r.tenant = $1 AND r.chat_id = $3 AND r.first_seq = $4"
       " AND r.last_seq = $4 AND m.id = r.memory_id" NEWEST_FIRST "$5");
DB_SQL(SELECT_OF_NOTE,
       "SELECT m.id, m.summary, n.id, n.summary FROM memories m" REPLACED_NOTES
       " AND m.id = $3" NEWEST_FIRST "$4");

struct around {
    struct arena *arena;
    const struct answer_query *query;
    struct answer *answer;
};

/* May what was not found itself be shown? */
static bool is_in_reach(const struct around *a, const struct turn *turn)
{
    const struct search_query *q = &a->query->search;

    return (turn->role == TURN_USER || turn->role == TURN_ASSISTANT) &&
           turn->created_at_ms <= q->at_ms &&
           turn->created_at_ms >= q->since_ms &&
           turn->created_at_ms < q->until_ms &&
           (q->user_id.len == 0 || str_eq(q->user_id, turn->user_id));
}

/* Is the question put to one line of a conversation? What other lines say after
 * a place that both have is not for it. */
static bool is_of_line(const struct around *a)
{
    return !uuid_is_nil(&a->query->search.chat_id) ||
           !uuid_is_nil(&a->query->search.seen_from);
}

static struct answer_beside beside(const struct turn *turn)
{
    struct answer_beside out = {
        .by = sense_speaker(turn->role == TURN_ASSISTANT, turn->name),
        .text = str_trim(turn->text)};

    out.text.len = utf8_cut(out.text, BESIDE_BYTES);
    return out;
}

static enum clew_status add_neighbours(struct around *a, struct store_tx *tx,
                                       struct answer_source *source,
                                       struct clew_error *err)
{
    const struct turn *turn = source->hit->turn;
    struct turn *turns = NULL;
    size_t count = 0;
    enum clew_status status;

    if (!turn) {
        return CLEW_OK;
    }
    status = turn_list_line(tx, a->arena, &turn->chat_id,
                            turn->seq > 2 ? turn->seq - 2 : 0, 3, &turns,
                            &count, err);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        if (!is_in_reach(a, &turns[i])) {
            continue;
        }
        if (turns[i].seq == turn->seq - 1) {
            source->before = beside(&turns[i]);
        } else if (turns[i].seq == turn->seq + 1 && !is_of_line(a)) {
            source->after = beside(&turns[i]);
        }
    }
    return status;
}

/* --- what of it does not hold any more --- */

struct edge {
    struct uuid was_id;
    struct uuid now_id;
    struct answer_replaced words;
};

static bool edge_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct edge *out = item;

    out->was_id = db_get_uuid(rows, 0);
    out->now_id = db_get_uuid(rows, 2);
    return rows_text(arena, rows, 1, &out->words.was) &&
           rows_text(arena, rows, 3, &out->words.now);
}

/* One line of a conversation knows of a change what its search found. */
static bool is_known(const struct around *a, const struct search_hit *hit,
                     const struct edge *edge)
{
    return !is_of_line(a) ||
           (hit->is_superseded && uuid_eq(&hit->refined_by, &edge->now_id));
}

/* Each note once, with the newest that took its place. */
static void take_replaced(const struct around *a, const struct rows_list *list,
                          struct answer_source *source)
{
    const struct edge *edges = list->items;

    for (size_t i = 0; i < list->count && source->n_replaced < ANSWER_REPLACED;
         i++) {
        struct answer_replaced *out = &source->replaced[source->n_replaced];
        bool is_new = is_known(a, source->hit, &edges[i]);

        for (size_t k = 0; k < i && is_new; k++) {
            is_new = !uuid_eq(&edges[k].was_id, &edges[i].was_id);
        }
        if (is_new) {
            *out = edges[i].words;
            out->was.len = utf8_cut(out->was, NOTE_BYTES);
            out->now.len = utf8_cut(out->now, NOTE_BYTES);
            source->n_replaced++;
        }
    }
}

static enum clew_status add_replaced(struct around *a, struct store_tx *tx,
                                     struct answer_source *source,
                                     struct clew_error *err)
{
    const struct search_query *q = &a->query->search;
    const struct search_hit *hit = source->hit;
    int64_t by_ms = q->until_ms <= q->at_ms ? q->until_ms - 1 : q->at_ms;
    struct rows_list list = {
        .arena = a->arena, .size = sizeof(struct edge), .fn = edge_of};
    enum clew_status status = CLEW_OK;

    if (hit->memory) {
        status = rows_add(tx, &list, &SELECT_OF_NOTE,
                          DB_ARGS(db_int(by_ms), db_uuid(&hit->memory->id),
                                  db_int(MAX_EDGES)),
                          err);
    } else if (hit->turn) {
        status = rows_add(tx, &list, &SELECT_OF_TURN,
                          DB_ARGS(db_int(by_ms), db_uuid(&hit->turn->chat_id),
                                  db_int(hit->turn->seq), db_int(MAX_EDGES)),
                          err);
    }
    if (status == CLEW_OK) {
        take_replaced(a, &list, source);
    }
    return status;
}

/* --- how what was found ended --- */

static bool is_shown(const struct answer *answer, const struct uuid *turn_id)
{
    for (size_t i = 0; i < answer->n_sources; i++) {
        if (uuid_eq(&answer->sources[i].hit->item.id, turn_id)) {
            return true;
        }
    }
    return false;
}

/* The turn with these words, else the last. */
static const struct turn *end_of(const struct around *a,
                                 const struct turn *turns, size_t count,
                                 struct str words)
{
    const struct turn *last = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!is_in_reach(a, &turns[i])) {
            continue;
        }
        if (str_find(turns[i].text, words, 0) != SIZE_MAX) {
            return &turns[i];
        }
        if (!last || turns[i].created_at_ms > last->created_at_ms) {
            last = &turns[i];
        }
    }
    return last;
}

static enum clew_status add_source(struct around *a, const struct turn *turn,
                                   struct str words, struct clew_error *err)
{
    struct answer *answer = a->answer;
    struct search_hit *hit = arena_zero(a->arena, 1, sizeof(*hit));
    size_t at = str_find(turn->text, words, 0);
    char chat[UUID_TEXT_SIZE];

    if (!hit) {
        return clew_no_memory(err);
    }
    uuid_format(&turn->chat_id, chat);
    hit->item = answer->sources[answer->n_sources - 1].hit->item;
    hit->item.kind = RECALL_TURN;
    hit->item.id = turn->id;
    hit->item.chat = turn->chat_id;
    hit->item.seq = turn->seq;
    hit->item.created_at_ms = turn->created_at_ms;
    hit->turn = turn;
    hit->read = -1;
    hit->speaker = sense_speaker(turn->role == TURN_ASSISTANT, turn->name);
    hit->source_ref =
        str_of(arena_printf(a->arena, "%s:lines-%lld-%lld", chat,
                            (long long)turn->seq, (long long)turn->seq));
    /* of a long one the words that end it */
    hit->passage_from =
        turn->text.len > ANSWER_SOURCE_BYTES && at != SIZE_MAX ? at : 0;
    hit->text = str_sub(turn->text, hit->passage_from, turn->text.len);
    hit->text.len = utf8_cut(hit->text, ANSWER_SOURCE_BYTES);
    hit->passage_to = hit->passage_from + hit->text.len;
    answer->sources[answer->n_sources++] =
        (struct answer_source){.hit = hit, .text = hit->text};
    return hit->source_ref.s ? CLEW_OK : clew_no_memory(err);
}

/* An effort that was found: where it ended, if it did by then. */
static enum clew_status add_end(struct around *a, struct store_tx *tx,
                                const struct uuid *id, struct clew_error *err)
{
    struct turn *turns = NULL;
    size_t count = 0;
    struct memory memory;
    const struct turn *end;
    enum clew_status status = memory_find(tx, a->arena, id, &memory, err);

    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK; /* forgotten meanwhile */
    }
    if (status != CLEW_OK || memory.resolution.len == 0 ||
        memory.updated_at_ms > a->query->search.at_ms) {
        return status;
    }
    status =
        turn_find_cited(tx, a->arena, id, 1, END_TURNS, &turns, &count, err);
    end = status == CLEW_OK ? end_of(a, turns, count, memory.resolution) : NULL;
    return end && a->answer->n_sources < ANSWER_SOURCES &&
                   !is_shown(a->answer, &end->id)
               ? add_source(a, end, memory.resolution, err)
               : status;
}

/* The efforts among the coats of what was found, each once, the best first. */
static size_t find_efforts(const struct answer *answer, struct uuid *out)
{
    size_t n = 0;

    for (size_t i = 0; i < answer->n_sources; i++) {
        const struct search_hit *hit = answer->sources[i].hit;

        for (size_t k = 0; k < hit->n_also && n < MAX_ENDS; k++) {
            const struct search_coat *coat = &hit->also[k];
            bool is_new = coat->type.s && str_eq(coat->type, STR("effort"));

            for (size_t j = 0; j < n && is_new; j++) {
                is_new = !uuid_eq(&out[j], &coat->id);
            }
            if (is_new) {
                out[n++] = coat->id;
            }
        }
        if (hit->memory && n < MAX_ENDS &&
            str_eq(hit->memory->type, STR("effort"))) {
            out[n++] = hit->memory->id;
        }
    }
    return n;
}

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct around *a = arg;
    struct uuid efforts[MAX_ENDS];
    size_t n = is_of_line(a) ? 0 : find_efforts(a->answer, efforts);
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        status = add_end(a, tx, &efforts[i], err);
    }
    for (size_t i = 0; i < a->answer->n_sources && status == CLEW_OK; i++) {
        status = add_neighbours(a, tx, &a->answer->sources[i], err);
        if (status == CLEW_OK) {
            status = add_replaced(a, tx, &a->answer->sources[i], err);
        }
    }
    return status;
}

enum clew_status
answer_look_around(struct engine *engine, const struct scope *scope,
                   struct arena *arena, const struct answer_query *query,
                   struct answer *answer, struct clew_error *err)
{
    struct around a = {.arena = arena, .query = query, .answer = answer};

    return store_read(engine->store, scope, do_look, &a, err);
}
