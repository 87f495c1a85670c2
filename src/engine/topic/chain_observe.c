/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_observe.c - a turn's claims find their chains. See chain.h.
 *
 * The claims of a turn share one decision, unless a later sentence says itself
 * that the topic changes. The nearest open chain below `continue` is extended;
 * else a chain that rests and is nearer than that comes back; else the claims
 * start a chain, branching from the nearest one below `branch`. What that does
 * to the chains is in chain_change.c.
 */
#include "engine/topic/chain.h"

#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "engine/topic/chain_change.h"
#include "engine/topic/chain_fork.h"
#include "store/db.h"

#include <string.h>

DB_SQL(SELECT_HOLDERS,
       "SELECT DISTINCT chain_id FROM claims WHERE tenant = $1 AND chat_id = $2"
       " AND seq >= $3 AND seq <= $4 ORDER BY chain_id LIMIT 8");

/* Words by which resting chains are looked up. */
#define MAX_WORD_TERMS 3
#define MAX_TERMS 4

/* What was found about one group. */
struct verdict {
    struct chain_decision decision;
    struct chain resting; /* id nil: none near enough */
    double resting_distance;
};

/* --- distances --------------------------------------------------------------
 */

static double seed_distance(const struct chain_group *group,
                            const struct chain *chain)
{
    struct chain_seed_input input = {
        .shared_names =
            chain_shared_names(&group->part->features, &chain->state),
        .subject = group->part->claims[0].subject,
        .topic = chain->topic,
        .jaccard = chain_jaccard(&group->part->features, &chain->state),
        .age_ms =
            group->work->turn->created_at_ms - chain->last_extended_at_ms};

    return chain_seed_distance(&input);
}

static void decide_by_seed(const struct chain_group *group,
                           struct chain_decision *out)
{
    const struct chain_session *session = group->session;

    memset(out, 0, sizeof(*out));
    out->nearest = CHAIN_NONE;
    out->second = CHAIN_NONE;
    for (size_t i = 0; i < session->n_open; i++) {
        double distance = seed_distance(group, &session->open[i]->chain);

        out->distance[i] = distance;
        if (out->nearest == CHAIN_NONE ||
            distance < out->distance[out->nearest]) {
            out->second = out->nearest;
            out->nearest = i;
        } else if (out->second == CHAIN_NONE ||
                   distance < out->distance[out->second]) {
            out->second = i;
        }
    }
}

static void decide(const struct chain_group *group, struct chain_decision *out)
{
    const struct chain_session *session = group->session;
    const struct chain_state *states[CHAIN_MAX_OPEN];
    struct chain_input input = {.turn = &group->part->features,
                                .talk = &session->talk,
                                .chains = states,
                                .n_chains = session->n_open};

    if (group->work->batch->chains->is_seed) {
        decide_by_seed(group, out);
        return;
    }
    for (size_t i = 0; i < session->n_open; i++) {
        states[i] = &session->open[i]->chain.state;
    }
    input.vector = chain_group_vector(group);
    input.weights = chain_weights(input.vector != NULL);
    chain_decide(&input, out);
}

/* --- chains that rest -------------------------------------------------------
 */

/* The words to look by: its heaviest, and its first names. */
static size_t search_terms(const struct chain_features *features, int64_t *out)
{
    size_t count = 0;

    for (size_t i = 0; i < features->n_words && count < MAX_WORD_TERMS; i++) {
        out[count++] = features->words[i].hash;
    }
    for (size_t i = 0; i < features->n_names && count < MAX_TERMS; i++) {
        out[count++] = features->names[i].hash;
    }
    return count;
}

/* Of its own conversation a chat comes back to what its line has, which is its
 * own from then on; what other branches talk about is theirs. */
static enum clew_status keep_own(const struct chain_group *group,
                                 struct chain *chains, size_t *count,
                                 struct clew_error *err)
{
    struct batch_work *batch = group->work->batch;
    const struct chat *chat = &group->work->placement->slot->chat;
    struct sight_place *places =
        arena_zero(batch->arena, *count + 1, sizeof(*places));
    struct sight sight;
    bool is_parted = false;
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    if (!places) {
        return clew_no_memory(err);
    }
    status = sight_is_parted(batch->tx, chat, &is_parted, err);
    if (status != CLEW_OK || !is_parted) {
        return status;
    }
    status = sight_open(batch->tx, batch->arena, chat, &sight, err);
    for (size_t i = 0; i < *count; i++) {
        places[i] = (struct sight_place){.chat_id = chains[i].chat_id,
                                         .seq = chains[i].last_seq};
    }
    if (status == CLEW_OK) {
        status =
            sight_hide(batch->tx, batch->arena, &sight, places, *count, err);
    }
    for (size_t i = 0; i < *count && status == CLEW_OK; i++) {
        bool is_own = uuid_eq(&chains[i].chat_id, &chat->id);
        bool is_seen = true;

        if (!is_own &&
            (places[i].is_hidden || sight_has(&sight, &chains[i].chat_id, 0))) {
            status = chain_as_of(batch->engine, batch->tx, batch->arena, chat,
                                 &sight, &chains[i], &is_seen, err);
        }
        if (is_seen) {
            chains[n++] = chains[i];
        }
    }
    *count = n;
    return status;
}

/* Find the nearest chain outside the session; others of the batch must be in
 * the store first. */
static enum clew_status find_resting(const struct chain_group *group,
                                     struct verdict *out,
                                     struct clew_error *err)
{
    struct batch_work *batch = group->work->batch;
    const struct turn *turn = group->work->turn;
    int64_t terms[MAX_TERMS];
    struct chain *chains = NULL;
    size_t count = 0;
    enum clew_status status = chain_finish(batch, err);

    if (status == CLEW_OK) {
        status = chain_list_resting(
            batch->tx, batch->arena, turn->user_id, &turn->session_id, terms,
            search_terms(&group->part->features, terms), &chains, &count, err);
    }
    if (status == CLEW_OK) {
        status = keep_own(group, chains, &count, err);
    }
    out->resting_distance = 1;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        int64_t age_ms = turn->created_at_ms - chains[i].last_extended_at_ms;
        double distance =
            batch->chains->is_seed
                ? seed_distance(group, &chains[i])
                : chain_resting_distance(&group->part->features,
                                         &chains[i].state, age_ms);
        bool is_open = uuid_eq(&chains[i].session_id, &turn->session_id) &&
                       chains[i].phase == CHAIN_ACTIVE;

        if (!is_open && distance < batch->chains->continue_below &&
            distance < out->resting_distance) {
            out->resting = chains[i];
            out->resting_distance = distance;
        }
    }
    return status;
}

/* --- trace ------------------------------------------------------------------
 */

/* What was considered: added to the turn's trace where one is kept. */
static bool trace(const struct chain_group *group,
                  const struct verdict *verdict)
{
    const struct chain_session *session = group->session;
    json_t *entry = json_object();
    json_t *considered = json_array();
    bool is_ok = entry && considered;

    for (size_t i = 0; is_ok && i < session->n_open; i++) {
        json_t *item = json_object();

        is_ok = item &&
                json_set_uuid(item, "chain_id", &session->open[i]->chain.id) &&
                json_set_str(item, "topic", session->open[i]->chain.topic) &&
                json_set_score(item, "distance", verdict->decision.distance[i]);
        is_ok = json_array_append_new(considered, item) == 0 && is_ok;
    }
    is_ok = json_set(entry, "considered", considered) && is_ok;
    if (is_ok && !uuid_is_nil(&verdict->resting.id)) {
        is_ok = json_set_uuid(entry, "resting_id", &verdict->resting.id) &&
                json_set_score(entry, "resting_distance",
                               verdict->resting_distance);
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

/* The claims find their place. */
static enum clew_status settle(const struct chain_group *group,
                               struct clew_error *err)
{
    const struct chain_cache *cache = group->work->batch->chains;
    struct verdict verdict = {.resting_distance = 1};
    const struct chain *parent = NULL;
    double nearest = 1;
    enum clew_status status = CLEW_OK;

    decide(group, &verdict.decision);
    if (verdict.decision.nearest != CHAIN_NONE) {
        nearest = verdict.decision.distance[verdict.decision.nearest];
    }
    if (nearest >= cache->continue_below) {
        status = find_resting(group, &verdict, err);
    }
    if (status == CLEW_OK && group->work->trace && !trace(group, &verdict)) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (nearest < cache->continue_below) {
        return chain_change_extend(group, &verdict.decision, err);
    }
    if (!uuid_is_nil(&verdict.resting.id)) {
        if (verdict.resting.phase == CHAIN_CONCLUDED) {
            /* a twin that is not there yet is told by what it parts from */
            if (verdict.resting.is_unmade) {
                verdict.resting.id = verdict.resting.twin_of;
            }
            return chain_change_start(group, &verdict.resting,
                                      verdict.resting_distance, err);
        }
        return chain_change_revive(group, &verdict.resting,
                                   verdict.resting_distance, err);
    }
    if (nearest < cache->branch_below) {
        parent = &group->session->open[verdict.decision.nearest]->chain;
    }
    return chain_change_start(
        group, parent, verdict.decision.nearest == CHAIN_NONE ? -1 : nearest,
        err);
}

/* Decide for the claims of one part. */
static enum clew_status observe_part(const struct chain_group *group,
                                     struct clew_error *err)
{
    struct chain_session *session = group->session;
    const struct chain_features *features = &group->part->features;
    enum clew_status status = CLEW_OK;

    if (group->part->n_claims > 0) {
        status = settle(group, err);
    } else if (session->n_open > 0) {
        /* nothing is claimed, but the talk has moved on */
        chain_state_add(&session->open[0]->chain.state, features, NULL);
        session->open[0]->is_dirty = true;
    }
    chain_talk_add(&session->talk, features);
    session->is_talk_dirty = true;
    if (status == CLEW_OK && features->cues & CUE_CONCLUDES &&
        session->n_open > 0) {
        status = chain_change_conclude(group, session->open[0],
                                       " in so many words", err);
    }
    return status;
}

/* A session that ended with this turn's silence hands its chains over. */
static enum clew_status leave_ended(struct turn_work *work,
                                    struct clew_error *err)
{
    const struct session *ended = &work->placement->ended;
    struct chain_session *session = NULL;
    enum clew_status status;

    if (uuid_is_nil(&ended->id)) {
        return CLEW_OK;
    }
    status = chain_session_enter(work->batch, &ended->id, &session, err);
    if (status == CLEW_OK) {
        status = chain_session_flush(work->batch, session, err);
    }
    return status == CLEW_OK
               ? chain_session_ended(work->batch->tx, work->batch->arena, ended,
                                     work->turn->created_at_ms, err)
               : status;
}

/* What a sub-agent is told: a model wrote it. */
static bool is_instruction(const struct turn_work *work)
{
    return work->turn->role == TURN_USER &&
           chat_is_subtask(&work->placement->slot->chat);
}

enum clew_status chain_observe(struct turn_work *work, struct clew_error *err)
{
    const struct chain_reading *reading = &work->reading->chains;
    struct chain_group group = {.work = work};
    enum clew_status status = leave_ended(work, err);

    if (status != CLEW_OK || reading->n_parts == 0 || is_instruction(work)) {
        return status;
    }
    status = chain_session_enter(work->batch, &work->turn->session_id,
                                 &group.session, err);
    if (status == CLEW_OK) {
        status = chain_fork_enter(&group, err);
    }
    for (size_t i = 0; i < reading->n_parts && status == CLEW_OK; i++) {
        group.part = &reading->parts[i];
        status = observe_part(&group, err);
    }
    return status;
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
                                         ": its effort is resolved", err);
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
