/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_observe.c - a turn's claims find their chains. See chain.h.
 *
 * The claims of a turn share one decision, unless a later sentence says itself
 * that the topic changes. The nearest chain below `continue` is extended if it
 * is open, comes back if it rests, is branched from if it is concluded; else
 * the claims start a chain, branching from the nearest one below `branch`.
 * Which one that is, chain_judge.h says; what it does to the chains is in
 * chain_change.c.
 */
#include "engine/topic/chain.h"

#include "base/clock.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "engine/topic/chain_change.h"
#include "engine/topic/chain_fork.h"
#include "engine/topic/chain_judge.h"
#include "engine/topic/chain_name.h"
#include "engine/topic/chain_sense.h"
#include "store/db.h"

DB_SQL(SELECT_HOLDERS,
       "SELECT DISTINCT COALESCE(moved_to, chain_id) AS held_by FROM"
       " chain_steps WHERE tenant = $1 AND chat_id = $2 AND seq >= $3 AND"
       " seq <= $4 AND claims <> '' ORDER BY held_by LIMIT 8");
DB_SQL(SELECT_LAST_CHAIN,
       "SELECT COALESCE(moved_to, chain_id) FROM chain_steps WHERE tenant = $1"
       " AND chat_id = $2 AND seq = $3 AND claims <> '' ORDER BY position DESC"
       " LIMIT 1");
DB_SQL(SELECT_KNOWN,
       "SELECT 1 FROM chain_steps WHERE tenant = $1 AND chat_id = $2"
       " AND seq = $3 AND claims <> '' LIMIT 1");

/* --- trace ------------------------------------------------------------------
 */

/* What was considered: added to the turn's trace where one is kept. Topics are
 * not: they are words of other turns, which may be forgotten. */
static bool trace(const struct chain_group *group,
                  const struct chain_verdict *verdict)
{
    const struct chain_session *session = group->session;
    json_t *entry = json_object();
    json_t *considered = json_array();
    bool is_ok = entry && considered;

    for (size_t i = 0; is_ok && i < session->n_open; i++) {
        json_t *item = json_object();

        is_ok =
            item &&
            json_set_uuid(item, "chain_id", &session->open[i]->chain.id) &&
            json_set_score(item, "distance", verdict->decision.distance[i]) &&
            (i > 0 || verdict->same < 0 ||
             json_set_score(item, "same_matter", verdict->same));
        is_ok = json_array_append_new(considered, item) == 0 && is_ok;
    }
    is_ok = json_set(entry, "considered", considered) && is_ok;
    if (is_ok && !uuid_is_nil(&verdict->resting.id)) {
        is_ok = json_set_uuid(entry, "resting_id", &verdict->resting.id) &&
                json_set_score(entry, "resting_distance",
                               verdict->resting_distance) &&
                (verdict->resting_same < 0 ||
                 json_set_score(entry, "resting_same_matter",
                                verdict->resting_same));
    }
    is_ok = is_ok &&
            json_set_cstr(entry, "rule",
                          group->work->batch->chains->is_seed ? "seed"
                                                              : "default") &&
            json_set_score(entry, "continue",
                           group->work->batch->chains->continue_below) &&
            json_set_score(entry, "branch",
                           group->work->batch->chains->branch_below);
    return json_set(group->work->trace, "chains", entry) && is_ok;
}

/* --- the step ---------------------------------------------------------------
 */

/* A chain that rests comes back, or is gone on with in a new one. */
static enum clew_status take_up(const struct chain_group *group,
                                struct chain_verdict *verdict,
                                struct clew_error *err)
{
    struct chain *resting = &verdict->resting;

    if (resting->phase != CHAIN_CONCLUDED) {
        return chain_change_revive(group, resting, verdict->resting_distance,
                                   err);
    }
    /* a twin that is not there yet is told by what it parts from */
    if (resting->is_unmade) {
        resting->id = resting->twin_of;
    }
    return chain_change_start(group, resting, verdict->resting_distance, err);
}

/* The chain that the turn just before concluded, if this turn replies to it. */
static enum clew_status find_ended(const struct chain_group *group,
                                   struct chain *out, bool *out_found,
                                   struct clew_error *err)
{
    const struct batch_work *batch = group->work->batch;
    const struct turn *turn = group->work->turn;
    struct uuid id;
    enum clew_status status = CLEW_NOT_FOUND;

    *out_found = false;
    if (turn->role == TURN_ASSISTANT) {
        status =
            rows_one(batch->tx, batch->arena, &SELECT_LAST_CHAIN,
                     DB_ARGS(db_uuid(&turn->chat_id), db_int(turn->seq - 1)),
                     rows_id, &id, sizeof(id), "claim", NULL);
    }
    if (status == CLEW_OK) {
        status = chain_find(batch->tx, batch->arena, &id, out, err);
        *out_found = status == CLEW_OK && out->phase == CHAIN_CONCLUDED &&
                     uuid_is_nil(&out->merged_into) &&
                     uuid_eq(&out->session_id, &turn->session_id);
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

/* The claims find their place. */
static enum clew_status settle(const struct chain_group *group,
                               struct clew_error *err)
{
    const struct chain_cache *cache = group->work->batch->chains;
    struct chain_verdict verdict;
    const struct chain *parent = NULL;
    struct chain ended;
    bool is_reply = false;
    double nearest;
    enum clew_status status = find_ended(group, &ended, &is_reply, err);

    if (status != CLEW_OK || is_reply) {
        return status == CLEW_OK ? chain_change_reply(group, &ended, err)
                                 : status;
    }
    status = chain_judge(group, &verdict, err);
    if (status == CLEW_OK && group->work->trace && !trace(group, &verdict)) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    nearest = chain_verdict_nearest(&verdict);
    if (!uuid_is_nil(&verdict.resting.id) &&
        verdict.resting_distance < nearest) {
        return take_up(group, &verdict, err);
    }
    if (nearest < cache->continue_below) {
        return chain_change_extend(group, &verdict.decision, err);
    }
    if (nearest < cache->branch_below) {
        parent = &group->session->open[verdict.decision.nearest]->chain;
    }
    return chain_change_start(
        group, parent, verdict.decision.nearest == CHAIN_NONE ? -1 : nearest,
        err);
}

/* Does the turn end what it is about? Without a reader its phrases say. */
static bool ends(const struct chain_group *group)
{
    return chain_sense_has(group)
               ? chain_sense_ends(group)
               : (group->part->features.cues & CUE_CONCLUDES) != 0;
}

/* Decide for the claims of one part. */
static enum clew_status observe_part(const struct chain_group *group,
                                     struct clew_error *err)
{
    struct chain_session *session = group->session;
    const struct chain_features *features = &group->part->features;
    enum clew_status status = CLEW_OK;

    if (group->part->n_claims > 0 && !chain_name_is_empty(group)) {
        status = settle(group, err);
    } else if (session->n_open > 0) {
        /* nothing is claimed, but the talk has moved on */
        chain_state_add(&session->open[0]->chain.state, features, NULL);
        session->open[0]->is_dirty = true;
    }
    chain_talk_add(&session->talk, features);
    session->is_talk_dirty = true;
    if (status == CLEW_OK && session->n_open > 0 && ends(group)) {
        status = chain_change_conclude(group, session->open[0],
                                       CHAIN_STEP_CONCLUDE, err);
    }
    return status;
}

/* A turn that an earlier version stored has its claims already. */
static enum clew_status is_known(struct turn_work *work, bool *out,
                                 struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(
        work->batch->tx, &SELECT_KNOWN,
        DB_ARGS(db_uuid(&work->turn->chat_id), db_int(work->turn->seq)), &rows,
        err);

    if (status != CLEW_OK) {
        return status;
    }
    *out = db_next(&rows);
    return db_end(&rows, err);
}

/* A turn that is read when its session is over: its chains rest with it. Those
 * that were open before were asked for by whoever opened them, or by the end.
 */
static enum clew_status rest_later(const struct chain_group *group,
                                   struct clew_error *err)
{
    const struct turn_work *work = group->work;
    struct batch_work *batch = work->batch;
    const struct place_chat *slot = work->placement->slot;
    struct session session;
    enum clew_status status;

    if (!group->session->has_opened ||
        uuid_eq(&slot->session.id, &work->turn->session_id)) {
        return CLEW_OK; /* nothing new will rest, or it goes on */
    }
    status = session_find(batch->tx, batch->arena, &work->turn->session_id,
                          &session, err);
    if (status == CLEW_NOT_FOUND ||
        (status == CLEW_OK && session.ended_at_ms == 0)) {
        return CLEW_OK;
    }
    return status == CLEW_OK
               ? chain_rest_later(batch->tx, batch->arena, &session,
                                  clock_now_ms(batch->engine->clock), err)
               : status;
}

/* Look at each part; `look` is what is done with it. */
static enum clew_status
each_part(struct turn_work *work, struct chain_group *group,
          enum clew_status (*look)(const struct chain_group *group,
                                   struct clew_error *err),
          struct clew_error *err)
{
    const struct chain_reading *reading = &work->reading->chains;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < reading->n_parts && status == CLEW_OK; i++) {
        group->part = &reading->parts[i];
        status = look(group, err);
    }
    return status;
}

/* What observe_part() will ask the reader. */
static enum clew_status foresee_part(const struct chain_group *group,
                                     struct clew_error *err)
{
    struct chain_verdict verdict;

    return group->part->n_claims > 0 && chain_sense_has(group) &&
                   !chain_name_is_empty(group)
               ? chain_judge(group, &verdict, err)
               : CLEW_OK;
}

/* What a sub-agent is told: a model wrote it. */
static bool is_instruction(const struct turn_work *work)
{
    return work->turn->role == TURN_USER &&
           chat_is_subtask(&work->placement->slot->chat);
}

enum clew_status chain_foresee(struct turn_work *work, struct clew_error *err)
{
    struct chain_group group = {.work = work};
    enum clew_status status = CLEW_OK;

    if (work->reading->chains.n_parts == 0 || is_instruction(work)) {
        return CLEW_OK;
    }
    status = chain_session_enter(work->batch, &work->turn->session_id,
                                 &group.session, err);
    return status == CLEW_OK ? each_part(work, &group, foresee_part, err)
                             : status;
}

enum clew_status chain_observe(struct turn_work *work, struct clew_error *err)
{
    struct chain_group group = {.work = work};
    bool is_done = false;
    enum clew_status status = CLEW_OK;

    if (work->reading->chains.n_parts == 0 || is_instruction(work)) {
        return CLEW_OK;
    }
    status = is_known(work, &is_done, err);
    if (status != CLEW_OK || is_done) {
        return status;
    }
    status = chain_session_enter(work->batch, &work->turn->session_id,
                                 &group.session, err);
    if (status == CLEW_OK) {
        status = chain_fork_enter(&group, err);
    }
    if (status == CLEW_OK) {
        status = each_part(work, &group, observe_part, err);
    }
    return status == CLEW_OK ? rest_later(&group, err) : status;
}

enum clew_status chain_leave(struct turn_work *work, struct clew_error *err)
{
    const struct batch_work *batch = work->batch;
    const struct session *ended = &work->placement->ended;

    /* the clock's time, not the turn's: later work counts from when it was
     * asked for how long it waits */
    return uuid_is_nil(&ended->id)
               ? CLEW_OK
               : chain_session_ended(batch->tx, batch->arena, ended,
                                     clock_now_ms(batch->engine->clock), err);
}

/* --- efforts ----------------------------------------------------------------
 */

/* Conclude the chain if it is open in the turn's session; turns are read after
 * they are stored, and what was talked about since is not over. */
static enum clew_status conclude_id(const struct chain_group *group,
                                    const struct uuid *id,
                                    struct clew_error *err)
{
    for (size_t i = 0; i < group->session->n_open; i++) {
        const struct chain *chain = &group->session->open[i]->chain;

        if ((uuid_eq(&chain->id, id) || uuid_eq(&chain->twin_of, id)) &&
            chain->last_extended_at_ms <= group->work->turn->created_at_ms) {
            return chain_change_conclude(group, group->session->open[i],
                                         CHAIN_STEP_RESOLVE, err);
        }
    }
    return CLEW_OK;
}

enum clew_status chain_resolve(struct turn_work *work,
                               const struct uuid *chat_id, int64_t first_seq,
                               int64_t last_seq, struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    const struct turn *turn = work->turn;
    struct chain_group group = {.work = work};
    struct rows_list list = {
        .arena = batch->arena, .size = sizeof(struct uuid), .fn = rows_id};
    const struct uuid *ids;
    enum clew_status status =
        chain_session_enter(batch, &turn->session_id, &group.session, err);

    /* what the resolving turn itself claims may be about something else */
    if (uuid_eq(chat_id, &turn->chat_id) && last_seq >= turn->seq) {
        last_seq = turn->seq - 1;
    }
    if (status == CLEW_OK) {
        status = rows_add(
            batch->tx, &list, &SELECT_HOLDERS,
            DB_ARGS(db_uuid(chat_id), db_int(first_seq), db_int(last_seq)),
            err);
    }
    ids = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = conclude_id(&group, &ids[i], err);
    }
    return status;
}
