/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - the steps from a question to its answers. See search.h.
 */
#include "engine/ask/search.h"

#include "engine/ask/search_internal.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/episode/episode.h"
#include "engine/feed/model_use.h"
#include "engine/feed/vector_graph.h"
#include "engine/memory/lineage.h"
#include "engine/memory/memory.h"

#include <math.h>
#include <string.h>

/* Whole chats are ranked by their turns, and by nothing else. */
static bool is_of_chats(const struct search_query *query)
{
    return query->kinds != 0 && (query->kinds & RECALL_CHAT) == query->kinds;
}

static struct search_end end_of(const struct search_work *work,
                                const struct search_hit *hit)
{
    const struct memory *memory = hit->memory;

    if (!memory || !str_eq(memory->type, STR("effort")) ||
        memory->updated_at_ms > search_sight_ms(work->query)) {
        return (struct search_end){0};
    }
    return (struct search_end){memory->status, memory_end(memory)};
}

static struct search_coat coat_of(const struct search_work *work,
                                  const struct search_hit *hit)
{
    struct search_coat coat = {.kind = hit->item.kind,
                               .id = hit->item.id,
                               .text = hit->text,
                               .end = end_of(work, hit),
                               .is_superseded = hit->is_superseded};

    if (hit->memory) {
        coat.type = hit->memory->type;
    }
    return coat;
}

/* Behind the first answer that it belongs to. */
static enum clew_status add_coats(struct search_work *work, size_t count,
                                  struct clew_error *err)
{
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct search_hit *hit = &work->rows.hits[i];
        size_t at = 0;

        while (at < count && !search_belongs(hit, &work->matters[at])) {
            at++;
        }
        if (at == count) {
            continue;
        }
        struct search_hit *shown = &work->matters[at].hit;

        if (!shown->also) {
            shown->also =
                arena_zero(work->arena, SEARCH_MAX_COATS, sizeof(*shown->also));
            if (!shown->also) {
                return clew_no_memory(err);
            }
        }
        if (shown->n_also < SEARCH_MAX_COATS) {
            shown->also[shown->n_also++] = coat_of(work, hit);
        }
    }
    return CLEW_OK;
}

static enum search_answered answered_by(const struct search_work *work)
{
    double best = work->count > 0 ? work->matters[0].hit.item.score : 0;

    return best >= SCORE_YES     ? SEARCH_YES
           : best >= SCORE_MAYBE ? SEARCH_MAYBE
                                 : SEARCH_NO;
}

/* Not read, and promising. */
static bool is_promising(const struct search_work *work,
                         const struct matter *matter, double best)
{
    return work->query->has_unread && matter->read < 0 &&
           search_promise(matter) >= UNREAD_PROMISE * best;
}

/* Only what is good enough stays, in its order. */
static enum clew_status keep_good(struct search_work *work, double least,
                                  struct search_result *out,
                                  struct clew_error *err)
{
    double best = 0;
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->count; i++) {
        best = fmax(best, search_promise(&work->matters[i]));
    }
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        const struct matter *matter = &work->matters[i];

        if (matter->hit.item.score >= least ||
            (least < 1 && is_promising(work, matter, best))) {
            work->matters[n++] = *matter;
        } else if (work->query->is_floored) {
            status = search_leave_below(work, &matter->hit, out, err);
        }
    }
    work->count = n;
    return status;
}

/* The first that are good enough, with their passages and coats. */
static enum clew_status take_answers(struct search_work *work,
                                     struct search_result *out,
                                     struct clew_error *err)
{
    const struct search_query *query = work->query;
    double least = query->min_score;
    size_t count;
    enum clew_status status;

    out->answered = answered_by(work);
    for (size_t i = 0; i < work->count; i++) {
        out->was_asked = out->was_asked || work->matters[i].hit.is_asking;
    }
    if (query->is_floored) {
        least = out->answered == SEARCH_NO ? 1 : fmax(least, SCORE_FLOOR);
    }
    status = keep_good(work, least, out, err);
    if (status == CLEW_OK && query->is_floored) {
        status = search_keep_spoken(work, out, err);
    }
    if (status == CLEW_OK && query->is_one_matter) {
        status = search_keep_matter(work, out, err);
    }
    count = work->count < query->limit ? work->count : query->limit;
    if (status == CLEW_OK) {
        status = add_coats(work, count, err);
    }
    out->hits = arena_zero(work->arena, count + 1, sizeof(*out->hits));
    if (!out->hits) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct matter *matter = &work->matters[i];
        bool is_shown = !query->is_last_unshown || i + 1 < query->limit;

        if (matter->read < 0 && is_shown) { /* not chosen yet */
            status = search_set_passage(work, matter, err);
        }
        matter->hit.end = end_of(work, &matter->hit);
        out->hits[out->count++] = matter->hit;
    }
    return status;
}

/* Whole chats: the passage of the turn that speaks for each. */
static enum clew_status find_chats(struct search_work *work,
                                   struct search_result *out,
                                   struct clew_error *err)
{
    enum clew_status status = search_plain(work->engine, work->scope,
                                           work->arena, work->query, out, err);

    work->rows.ranking = out->ranking;
    for (size_t i = 0; status == CLEW_OK && i < out->count; i++) {
        struct search_hit *hit = &out->hits[i];

        status = search_passage(work, hit->text, &hit->passage_from,
                                &hit->passage_to, err);
        if (status == CLEW_OK) {
            hit->text = str_sub(hit->text, hit->passage_from, hit->passage_to);
        }
    }
    return status;
}

static enum clew_status do_fetch(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct search_work *work = arg;

    return search_fetch(tx, work->arena, work->query, work->pool, &work->rows,
                        err);
}

/* Read, put in order, and what was replaced behind what holds. */
static enum clew_status settle(struct search_work *work, struct clew_error *err)
{
    enum clew_status status = search_read(work, err);

    if (status == CLEW_OK) {
        status = search_order(work, err);
    }
    return status == CLEW_OK ? search_settle_told(work, err) : status;
}

/* All that needs no reading, in one transaction. */
static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct search_work *work = arg;
    enum clew_status status = do_fetch(tx, arg, err);

    work->tx = tx;
    if (status == CLEW_OK) {
        status = search_group(work, err);
        search_mark_lenders(work);
    }
    if (status == CLEW_OK) {
        status = search_find_named(work, err);
    }
    if (status == CLEW_OK) {
        status = search_find_asking(work, err);
    }
    if (status == CLEW_OK) {
        status = search_find_outcomes(work, err);
    }
    if (status == CLEW_OK && !search_reads(work)) {
        status = settle(work, err);
    }
    work->tx = NULL;
    return status;
}

struct str search_speaker(const struct search_hit *hit)
{
    const struct turn *turn = hit->turn;

    return turn && turn->name.len == 0 &&
                   (turn->role == TURN_TOOL || turn->role == TURN_SYSTEM)
               ? str_of(turn_role_name(turn->role))
               : hit->speaker;
}

bool search_is_order(const struct search_hit *hit)
{
    const struct turn *turn = hit->turn;
    const struct memory *memory = hit->memory;

    if (memory) { /* how an effort ended was said after it was stored */
        return memory->is_instruction ||
               memory_reads_like_instruction(memory->resolution);
    }
    return memory_reads_like_instruction(hit->text) ||
           (hit->episode &&
            memory_reads_like_instruction(hit->episode->meso)) ||
           (turn && (memory_reads_like_instruction(turn->text) ||
                     memory_reads_like_instruction(turn->name)));
}

enum clew_status search_run(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct search_query *query,
                            struct search_result *out, struct clew_error *err)
{
    struct search_work work = {.engine = engine,
                               .scope = scope,
                               .arena = arena,
                               .query = query,
                               .pool = query->limit + SEARCH_SPARE,
                               .asked = {.text = query->query}};
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    if (is_of_chats(query)) {
        return find_chats(&work, out, err);
    }
    if (search_reads(&work) && work.pool < SEARCH_POOL) {
        work.pool = SEARCH_POOL;
    }
    status = search_borrow(&work, err);
    if (status == CLEW_OK) {
        status = search_place(&work, err);
    }
    if (status == CLEW_OK) {
        status = search_rank(engine, scope, arena, query, work.pool,
                             &work.asked, &work.rows, err);
    }
    if (status == CLEW_OK) {
        status = store_read(engine->store, scope, do_find, &work, err);
    }
    if (status == CLEW_OK && search_reads(&work)) {
        status = settle(&work, err);
    }
    if (status == CLEW_OK) {
        search_set_scores(&work);
        status = take_answers(&work, out, err);
        out->ranking = work.rows.ranking;
        out->did_you_mean = work.asked.mended.query;
        out->lent = work.asked.lent;
    }
    return status;
}

enum clew_status search_plain(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct search_query *query,
                              struct search_result *out, struct clew_error *err)
{
    struct search_work work = {
        .arena = arena,
        .query = query,
        .pool = query->limit,
        .asked = {.text = query->query, .is_literal = true}};
    enum clew_status status = search_rank(
        engine, scope, arena, query, work.pool, &work.asked, &work.rows, err);

    memset(out, 0, sizeof(*out));
    if (status == CLEW_OK) {
        status = store_read(engine->store, scope, do_fetch, &work, err);
    }
    if (status == CLEW_OK) {
        out->hits = work.rows.hits;
        out->count = work.rows.count;
        out->ranking = work.rows.ranking;
        out->answered = out->count > 0 ? SEARCH_MAYBE : SEARCH_NO;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->hits[i].read = -1;
        out->hits[i].passage_to = out->hits[i].text.len;
    }
    return status;
}
