/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_rows.c - from the ranking back to rows. See search_internal.h.
 */
#include "engine/ask/search_internal.h"

#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/episode/episode.h"
#include "engine/memory/lineage.h"
#include "engine/memory/memory.h"
#include "engine/feed/model_use.h"
#include "engine/feed/vector_graph.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* Ranked beyond the limit, so that retracted memories leave no gap. */
#define SPARE_MEMORIES 20

struct fetch_work {
    struct arena *arena;
    const struct search_query *query;
    size_t pool; /* hits wanted */
    const struct recall_result *ranking;
    struct search_hit *hits; /* in order of score; rows are filled in */
    size_t n_hits;
    struct turn *turns;
    size_t n_turns;
    struct memory *memories;
    size_t n_memories;
    struct uuid *ref_owners;
    struct memory_ref *refs;
    size_t n_refs;
    struct episode *episodes;
    size_t n_episodes;
    struct lineage_mark *marks; /* of the memories */
    size_t n_marks;
    struct search_sight from; /* where it is asked */
};

/* The chat asked about, as stretches of chats. */
struct line_work {
    struct arena *arena;
    const struct search_query *query;
    struct recall_line *lines;
    size_t n_lines;
};

static enum clew_status do_line(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct line_work *work = arg;
    struct chat_part *parts;
    enum clew_status status = chat_line(tx, work->arena, &work->query->chat_id,
                                        &parts, &work->n_lines, err);

    if (status != CLEW_OK) {
        return status;
    }
    work->lines = arena_zero(work->arena, work->n_lines, sizeof(*work->lines));
    if (!work->lines) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->n_lines; i++) {
        work->lines[i].chat = parts[i].chat_id;
        work->lines[i].max_seq =
            i + 1 == work->n_lines ? INT64_MAX : parts[i].to_seq;
    }
    return CLEW_OK;
}

/* The ids of hits whose rows stand in one table. */
static size_t ids_of(const struct search_hit *hits, size_t count,
                     uint32_t kinds, struct uuid *out)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct recall_item *item = &hits[i].item;

        if (item->kind & kinds) {
            out[n++] = item->kind == RECALL_CHAT ? item->best_turn : item->id;
        }
    }
    return n;
}

/* The memories of the ranking and what took their place, with references. */
static enum clew_status fetch_memories(struct store_tx *tx,
                                       struct fetch_work *work, size_t count,
                                       struct clew_error *err)
{
    const struct recall_result *ranking = work->ranking;
    struct uuid *ids;
    enum clew_status status;

    work->marks = arena_zero(work->arena, count, sizeof(*work->marks));
    work->n_marks = count;
    if (!work->marks) {
        return clew_no_memory(err);
    }
    for (size_t i = 0, n = 0; i < ranking->count; i++) {
        if (ranking->items[i].kind == RECALL_MEMORY) {
            work->marks[n].id = ranking->items[i].id;
            work->marks[n++].score = ranking->items[i].score;
        }
    }
    status = lineage_adjust(
        tx, work->arena, work->from.is_parted ? &work->from.sight : NULL,
        &work->marks, &work->n_marks, search_sight_ms(work->query), err);
    ids = arena_zero(work->arena, work->n_marks, sizeof(*ids));
    if (status != CLEW_OK || !ids) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    for (size_t i = 0; i < work->n_marks; i++) {
        ids[i] = work->marks[i].id;
    }
    status = memory_find_many(tx, work->arena, ids, work->n_marks,
                              &work->memories, &work->n_memories, err);
    if (status == CLEW_OK) {
        status =
            memory_refs(tx, work->arena, ids, work->n_marks, &work->ref_owners,
                        &work->refs, &work->n_refs, err);
    }
    return status;
}

static const struct turn *turn_of(const struct fetch_work *work,
                                  const struct uuid *id)
{
    for (size_t i = 0; i < work->n_turns; i++) {
        if (uuid_eq(&work->turns[i].id, id)) {
            return &work->turns[i];
        }
    }
    return NULL;
}

struct str search_ref(struct arena *arena, const struct memory_ref *ref)
{
    char chat[UUID_TEXT_SIZE];

    uuid_format(&ref->chat_id, chat);
    return str_of(arena_printf(arena, "%s:lines-%lld-%lld", chat,
                               (long long)ref->first_seq,
                               (long long)ref->last_seq));
}

static bool fill_turn(const struct fetch_work *work, struct search_hit *hit)
{
    const struct uuid *id =
        hit->item.kind == RECALL_CHAT ? &hit->item.best_turn : &hit->item.id;
    struct memory_ref ref;

    hit->turn = turn_of(work, id);
    if (!hit->turn) {
        return false;
    }
    ref =
        (struct memory_ref){hit->turn->chat_id, hit->turn->seq, hit->turn->seq};
    hit->text = hit->turn->text;
    hit->source_ref = search_ref(work->arena, &ref);
    return true;
}

/* Was this memory valid at the moment asked about? */
static bool is_valid_at(const struct memory *memory,
                        const struct search_query *query)
{
    return (memory->retracted_at_ms == 0 ||
            memory->retracted_at_ms > search_sight_ms(query)) &&
           (memory->expires_at_ms == 0 || memory->expires_at_ms > query->at_ms);
}

static bool fill_memory(const struct fetch_work *work, struct search_hit *hit)
{
    for (size_t i = 0; i < work->n_memories && !hit->memory; i++) {
        if (uuid_eq(&work->memories[i].id, &hit->item.id)) {
            hit->memory = &work->memories[i];
        }
    }
    if (!hit->memory || !is_valid_at(hit->memory, work->query)) {
        return false;
    }
    hit->text = hit->memory->summary;
    for (size_t i = 0; i < work->n_refs; i++) {
        if (uuid_eq(&work->ref_owners[i], &hit->item.id)) {
            hit->refs = hit->n_refs ? hit->refs : &work->refs[i];
            hit->n_refs++; /* those of one memory stand together */
        }
    }
    if (hit->n_refs > 0) {
        hit->source_ref = search_ref(work->arena, hit->refs);
    }
    return true;
}

/* An episode answers by its paragraph and says which lines it covers. */
static bool fill_episode(const struct fetch_work *work, struct search_hit *hit)
{
    for (size_t i = 0; i < work->n_episodes && !hit->episode; i++) {
        if (uuid_eq(&work->episodes[i].id, &hit->item.id)) {
            hit->episode = &work->episodes[i];
        }
    }
    if (!hit->episode || !hit->episode->meso.s) {
        return false;
    }
    hit->text = hit->episode->meso;
    if (episode_is_primary(hit->episode)) {
        struct memory_ref ref = {hit->episode->chat_id, hit->episode->first_seq,
                                 hit->episode->compacted_seq};

        hit->source_ref = search_ref(work->arena, &ref);
    }
    return true;
}

static bool fill_hit(const struct fetch_work *work, struct search_hit *hit)
{
    switch (hit->item.kind) {
    case RECALL_MEMORY:
        return hit->memory != NULL; /* filled when they were ranked anew */
    case RECALL_EPISODE:
        return fill_episode(work, hit);
    default:
        return fill_turn(work, hit);
    }
}

int search_tell_apart(const struct search_hit *left,
                      const struct search_hit *right)
{
    int order = str_cmp(left->text, right->text);

    if (!order && left->item.kind != right->item.kind) {
        order = left->item.kind < right->item.kind ? -1 : 1;
    }
    if (!order && left->memory && right->memory) {
        order = str_cmp(left->memory->type, right->memory->type);
    }
    return order ? order : uuid_cmp(&left->item.id, &right->item.id);
}

/* Lineage makes equal scores, up to its bounds: then the better match. */
static int by_score(const void *a, const void *b)
{
    const struct search_hit *left = a;
    const struct search_hit *right = b;

    if (left->item.score != right->item.score) {
        return left->item.score > right->item.score ? -1 : 1;
    }
    if (left->match != right->match) {
        return left->match > right->match ? -1 : 1;
    }
    if (left->item.created_at_ms != right->item.created_at_ms) {
        return left->item.created_at_ms > right->item.created_at_ms ? -1 : 1;
    }
    if (left->item.seq != right->item.seq) {
        return left->item.seq > right->item.seq ? -1 : 1;
    }
    return search_tell_apart(left, right);
}

static double sum_of(const struct recall_parts *parts)
{
    return (double)parts->lexical + (double)parts->neighbour +
           (double)parts->vector + (double)parts->window + (double)parts->gist +
           (double)parts->time + (double)parts->prior + (double)parts->chat;
}

static void set_mark(struct search_hit *hit, const struct lineage_mark *mark,
                     const struct recall_item *match)
{
    hit->item.score = mark->score;
    hit->match = sum_of(&match->parts);
    hit->is_superseded = mark->is_superseded;
    hit->refined_by = mark->refined_by;
    hit->is_outrun = mark->is_outrun;
}

/* May the answer hold a memory that was not ranked itself? */
static bool is_asked_for(const struct search_query *query,
                         const struct memory *memory)
{
    return uuid_is_nil(&query->chat_id) &&
           (query->user_id.len == 0 ||
            str_eq(query->user_id, memory->user_id)) &&
           memory->created_at_ms >= query->since_ms &&
           memory->created_at_ms < query->until_ms;
}

/* What took the place of something ranked, as if it had matched like it. */
static void add_successors(struct fetch_work *work,
                           const struct recall_item **items, size_t n_items)
{
    for (size_t i = n_items; i < work->n_marks; i++) {
        const struct lineage_mark *mark = &work->marks[i];
        struct search_hit *hit = &work->hits[work->n_hits];

        memset(hit, 0, sizeof(*hit));
        hit->item.kind = RECALL_MEMORY;
        hit->item.id = mark->id;
        hit->item.parts = items[mark->match]->parts;
        if (fill_memory(work, hit) && is_asked_for(work->query, hit->memory)) {
            hit->item.chat = hit->memory->chat_id;
            hit->item.created_at_ms = hit->memory->created_at_ms;
            set_mark(hit, mark, items[mark->match]);
            work->n_hits++;
        }
    }
}

/*
 * The ranking as hits. Memories have their rows already: those no longer valid
 * are left out, lineage has moved others and brought in what took their place.
 */
static enum clew_status settle(struct fetch_work *work, struct clew_error *err)
{
    const struct recall_result *ranking = work->ranking;
    const struct recall_item **items = /* of the marks */
        arena_zero(work->arena, ranking->count + 1, sizeof(*items));
    size_t n_items = 0;

    work->hits = arena_zero(work->arena, ranking->count + work->n_marks + 1,
                            sizeof(*work->hits));
    work->n_hits = 0;
    if (!work->hits || !items) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < ranking->count; i++) {
        if (ranking->items[i].kind == RECALL_MEMORY) {
            items[n_items++] = &ranking->items[i];
        }
    }
    for (size_t i = 0, k = 0; i < ranking->count; i++) {
        struct search_hit *hit = &work->hits[work->n_hits];

        memset(hit, 0, sizeof(*hit));
        hit->item = ranking->items[i];
        hit->match = sum_of(&hit->item.parts);
        if (hit->item.kind == RECALL_MEMORY) {
            set_mark(hit, &work->marks[k], items[work->marks[k].match]);
            k++;
        }
        work->n_hits +=
            hit->item.kind != RECALL_MEMORY || fill_memory(work, hit);
    }
    add_successors(work, items, n_items);
    if (work->n_marks > 0) {
        qsort(work->hits, work->n_hits, sizeof(*work->hits), by_score);
    }
    return CLEW_OK;
}

/* Asked as of a moment, what was summed up of later turns is not known yet. Of
 * sums over several chats nobody knows which turns they tell. */
DB_SQL(TOLD_LATER,
       "SELECT e.id FROM episodes e WHERE e.tenant = $1 AND e.id = ANY($2)"
       " AND (EXISTS (SELECT 1 FROM turns t WHERE t.tenant = $1"
       " AND t.chat_id = e.chat_id AND t.seq BETWEEN e.first_seq"
       " AND e.compacted_seq AND t.created_at > $3)"
       " OR EXISTS (SELECT 1 FROM episode_chats c CROSS JOIN chats h"
       " WHERE c.tenant = $1 AND c.episode_id = e.id AND h.tenant = $1"
       " AND h.id = c.chat_id AND h.last_activity_at > $3))");

static enum clew_status drop_later(struct store_tx *tx, struct fetch_work *work,
                                   const struct uuid *ids, size_t count,
                                   struct clew_error *err)
{
    struct rows_list later = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status = rows_add(
        tx, &later, &TOLD_LATER,
        DB_ARGS(db_uuids(ids, count), db_int(work->query->at_ms)), err);
    size_t n = 0;

    for (size_t i = 0; i < work->n_episodes && status == CLEW_OK; i++) {
        bool is_later = false;

        for (size_t k = 0; k < later.count && !is_later; k++) {
            is_later = uuid_eq(&work->episodes[i].id,
                               (const struct uuid *)later.items + k);
        }
        if (!is_later) {
            work->episodes[n++] = work->episodes[i];
        }
    }
    work->n_episodes = status == CLEW_OK ? n : work->n_episodes;
    return status;
}

/* The rows of turns and episodes among some hits. */
static enum clew_status fetch_rows(struct store_tx *tx, struct fetch_work *work,
                                   const struct search_hit *hits, size_t count,
                                   struct uuid *ids, struct clew_error *err)
{
    size_t n = ids_of(hits, count, RECALL_TURN | RECALL_CHAT, ids);
    enum clew_status status = CLEW_OK;

    work->n_turns = 0;
    work->n_episodes = 0;
    if (n > 0) {
        status = turn_find_many(tx, work->arena, ids, n, &work->turns,
                                &work->n_turns, err);
    }
    n = ids_of(hits, count, RECALL_EPISODE, ids);
    if (n > 0 && status == CLEW_OK) {
        status = episode_find_shown(tx, work->arena, ids, n, &work->episodes,
                                    &work->n_episodes, err);
        if (status == CLEW_OK && work->query->ahead_ms == 0) {
            status = drop_later(tx, work, ids, n, err);
        }
    }
    return status;
}

/* Rows for the best hits, until there are enough; what was forgotten
 * meanwhile is left out. */
static enum clew_status fill_hits(struct store_tx *tx, struct fetch_work *work,
                                  struct uuid *ids, struct clew_error *err)
{
    size_t n_settled = work->n_hits;
    size_t at = 0;

    work->n_hits = 0;
    while (work->n_hits < work->pool && at < n_settled) {
        size_t lacking = work->pool - work->n_hits;
        size_t end = n_settled - at < lacking ? n_settled : at + lacking;
        enum clew_status status =
            fetch_rows(tx, work, work->hits + at, end - at, ids, err);

        if (status != CLEW_OK) {
            return status;
        }
        for (; at < end; at++) {
            struct search_hit hit = work->hits[at];

            if (fill_hit(work, &hit)) {
                work->hits[work->n_hits++] = hit;
            }
        }
    }
    return CLEW_OK;
}

/* Rank; if the question has words that nobody knows, once more as it was
 * probably meant. */
static enum clew_status
rank_meant(struct index_view *view, struct embedder *embedder,
           struct arena *arena, struct recall_request *request,
           struct search_asked *asked, struct recall_result *out,
           struct clew_error *err)
{
    enum clew_status status =
        recall_run(view, embedder, arena, request, out, err);

    if (status == CLEW_OK && !asked->is_literal) {
        status = recall_mend(view, arena, request, out, &asked->mended, err);
    }
    if (status != CLEW_OK || asked->mended.count == 0) {
        return status;
    }
    asked->text = asked->mended.query;
    request->query = asked->text;
    request->mended = asked->mended.words;
    request->n_mended = asked->mended.count;
    return recall_run(view, embedder, arena, request, out, err);
}

static enum clew_status
rank_with(struct engine *engine, const struct scope *scope,
          const struct model_lease *model, struct arena *arena,
          const struct recall_request *request, struct search_asked *asked,
          struct recall_result *out, struct clew_error *err)
{
    struct recall_request with_far = *request;
    struct embedder *embedder = NULL;
    struct index_view *view = NULL;
    enum clew_status status =
        model_use_embedder(engine, model, true, &embedder, err);

    if (status == CLEW_OK) {
        status = feed_view_open(engine, scope, model, arena, &view,
                                &with_far.far, err);
    }
    if (status == CLEW_OK) {
        status = rank_meant(view, embedder, arena, &with_far, asked, out, err);
    }
    index_view_close(view);
    return status;
}

/* By the model that serves this tenant; if it fails, by the shipped one. */
static enum clew_status rank(struct engine *engine, const struct scope *scope,
                             struct arena *arena,
                             const struct recall_request *request,
                             struct search_asked *asked,
                             struct recall_result *out, struct clew_error *err)
{
    struct clew_error failure = {.status = CLEW_OK};
    struct model_lease model;
    enum clew_status status;

    model_use_lease(engine, scope, &model);
    if (model.slot) {
        status = rank_with(engine, scope, &model, arena, request, asked, out,
                           &failure);
        model_use_report(engine, status == CLEW_OK ? NULL : failure.message);
        model_use_release(engine, &model);
        if (status == CLEW_OK) {
            return CLEW_OK;
        }
        model = (struct model_lease){.indexes = engine->indexes};
    }
    return rank_with(engine, scope, &model, arena, request, asked, out, err);
}

enum clew_status search_rank(struct engine *engine, const struct scope *scope,
                             struct arena *arena,
                             const struct search_query *query, size_t pool,
                             struct search_asked *asked,
                             struct search_rows *out, struct clew_error *err)
{
    struct line_work work = {.arena = arena, .query = query};
    struct recall_request request = {
        .query = asked->text,
        .lent = asked->lent,
        .gist = asked->gist.is_known ? asked->gist.at : NULL,
        .user = query->user_id,
        .timezone = query->timezone,
        .kinds = query->kinds,
        .limit = pool,
        .since_ms = query->since_ms,
        .until_ms = query->until_ms,
        .at_ms = query->at_ms,
        .ahead_ms = query->ahead_ms};
    enum clew_status status = CLEW_OK;

    memset(out, 0, sizeof(*out));
    if (query->kinds == 0 || (query->kinds & RECALL_MEMORY)) {
        request.spare = SPARE_MEMORIES; /* for those no longer valid */
    }
    if (!uuid_is_nil(&query->chat_id)) {
        status = store_read(engine->store, scope, do_line, &work, err);
        request.lines = work.lines;
        request.n_lines = work.n_lines;
    }
    if (status == CLEW_OK) {
        status =
            rank(engine, scope, arena, &request, asked, &out->ranking, err);
        out->lines = work.lines;
        out->n_lines = work.n_lines;
    }
    return status;
}

enum clew_status search_fetch(struct store_tx *tx, struct arena *arena,
                              const struct search_query *query, size_t pool,
                              struct search_rows *rows, struct clew_error *err)
{
    struct fetch_work work = {.arena = arena,
                              .query = query,
                              .pool = pool,
                              .ranking = &rows->ranking};
    struct uuid *ids = arena_zero(arena, rows->ranking.count + 1, sizeof(*ids));
    size_t n_memories = 0;
    enum clew_status status = ids ? CLEW_OK : clew_no_memory(err);

    if (status == CLEW_OK && rows->ranking.count > 0) {
        status = search_look(tx, arena, query, &work.from, err);
    }
    for (size_t i = 0; i < rows->ranking.count; i++) {
        n_memories += rows->ranking.items[i].kind == RECALL_MEMORY;
    }
    if (status == CLEW_OK && n_memories > 0) {
        status = fetch_memories(tx, &work, n_memories, err);
    }
    if (status == CLEW_OK) {
        status = settle(&work, err);
    }
    if (status == CLEW_OK && work.from.is_parted) {
        status = search_drop_unseen(tx, arena, &work.from, work.hits,
                                    &work.n_hits, err);
    }
    if (status == CLEW_OK) {
        status = fill_hits(tx, &work, ids, err);
        rows->hits = work.hits;
        rows->count = work.n_hits;
    }
    return status;
}
