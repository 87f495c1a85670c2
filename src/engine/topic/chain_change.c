/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_change.c - chains are extended, come back, start, merge and end. See
 * chain_change.h.
 */
#include "engine/topic/chain_change.h"

#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/work.h"
#include "engine/read/claim_spans.h"
#include "engine/read/reading.h"
#include "engine/topic/chain_cache.h"
#include "engine/topic/chain_name.h"

#include <math.h>
#include <string.h>

/* Claims of a turn as they are kept. */
#define CLAIMS_BYTES 1024

const struct chain_vector *chain_group_vector(const struct chain_group *group)
{
    const struct chain_reading *reading = &group->work->reading->chains;

    /* of two parts neither is what the whole turn's vector says */
    return group->work->batch->chains->use_embedding && reading->has_vector &&
                   reading->n_parts == 1
               ? &reading->vector
               : NULL;
}

/* --- updates ----------------------------------------------------------------
 */

/* Four digits say enough, and read the same everywhere. */
static double rounded(double distance)
{
    return round(distance * 1e4) / 1e4;
}

/* Is the chain's block of this turn there already? It is where the chain was
 * extended last; a twin may have been extended last above its fork. */
static bool has_block(const struct chain_group *group,
                      const struct chain *chain)
{
    const struct turn *turn = group->work->turn;

    return uuid_eq(&chain->chat_id, &turn->chat_id) &&
           chain->last_seq > group->work->placement->slot->chat.fork_seq &&
           chain->last_seq / CHAIN_BLOCK == turn->seq / CHAIN_BLOCK;
}

/* What is told of a change, and kept as a step. */
struct note {
    enum chain_step_kind kind;
    const struct chain *chain;
    const struct uuid *parent_id; /* NULL if none */
    double distance;              /* < 0 if none */
    struct str said;
};

/* The step of a change, and the ids of the claims that go with it. */
static enum clew_status write_step(const struct chain_group *group,
                                   const struct note *note, size_t position,
                                   size_t n_claims, struct clew_error *err)
{
    const struct turn_work *work = group->work;
    struct chain_step step = {.chat_id = work->turn->chat_id,
                              .seq = work->turn->seq,
                              .position = (int64_t)position,
                              .chain_id = note->chain->id,
                              .kind = note->kind,
                              .distance = note->distance,
                              .said = note->said};
    struct buf claims;
    enum clew_status status;

    if (note->parent_id) {
        step.parent_id = *note->parent_id;
    }
    buf_init(&claims, CLAIMS_BYTES);
    if (n_claims > 0 &&
        claim_spans_write(group->part->claims, n_claims, &claims) != CLEW_OK) {
        buf_release(&claims);
        return clew_no_memory(err);
    }
    step.claims = n_claims > 0 ? buf_str(&claims) : STR("");
    status = chain_step_insert(work->batch->tx, &step, err);
    buf_release(&claims);
    return status == CLEW_OK && n_claims == 0 && !has_block(group, note->chain)
               ? chain_block_add(work->batch->tx, &note->chain->id,
                                 &work->turn->chat_id, work->turn->seq, 0, err)
               : status;
}

/* Tell the caller and keep it as a step. */
static enum clew_status note(const struct chain_group *group,
                             const struct note *note, struct clew_error *err)
{
    struct turn_work *work = group->work;
    struct arena *arena = work->batch->arena;
    const char *type = chain_step_type(note->kind);
    bool has_claims = strcmp(type, "merge") != 0 &&
                      strcmp(type, "conclude") != 0 &&
                      strcmp(type, "part") != 0;
    size_t count = has_claims ? group->part->n_claims : 0;
    size_t n = work->n_told + work->updates->n_chains;
    struct note kept = *note;
    struct uuid *ids = arena_zero(arena, count + 1, sizeof(*ids));
    struct chain_update update = {
        .type = type,
        .chain_id = note->chain->id,
        .claim_ids = ids,
        .n_claim_ids = count,
        .distance = rounded(note->distance),
        .reasoning = chain_step_reasoning(arena, note->kind, note->said)};

    if (!ids || !update.reasoning.s) {
        return clew_no_memory(err);
    }
    if (note->parent_id) {
        update.parent_chain_id = *note->parent_id;
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = group->part->claims[i].id;
    }
    if (updates_add_chain(work->updates, arena, &update) != CLEW_OK) {
        return clew_no_memory(err);
    }
    kept.distance = update.distance;
    return write_step(group, &kept, n, count, err);
}

/* The claims become the chain's; its step (note()) holds them. */
static enum clew_status add_claims(const struct chain_group *group,
                                   struct chain_entry *to,
                                   struct clew_error *err)
{
    struct turn_work *work = group->work;
    struct chain *chain = &to->chain;
    enum clew_status status = CLEW_OK;

    if (!has_block(group, chain) ||
        work->turn->created_at_ms < chain->last_extended_at_ms) {
        status =
            chain_block_add(work->batch->tx, &chain->id, &work->turn->chat_id,
                            work->turn->seq, work->turn->created_at_ms, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    chain_state_add(&chain->state, &group->part->features,
                    chain_group_vector(group));
    chain->n_claims += (int64_t)group->part->n_claims;
    chain->session_id = work->turn->session_id;
    chain->chat_id = work->turn->chat_id;
    chain->last_seq = work->turn->seq;
    if (work->turn->created_at_ms > chain->last_extended_at_ms) {
        chain->last_extended_at_ms = work->turn->created_at_ms;
    }
    to->is_dirty = true;
    return chain_name_refine(group, chain, err);
}

/* ... which is used now. */
static enum clew_status put_claims(const struct chain_group *group,
                                   struct chain_entry *to,
                                   struct clew_error *err)
{
    enum clew_status status = add_claims(group, to, err);

    to->chain.phase = CHAIN_ACTIVE;
    return status == CLEW_OK
               ? chain_session_use(group->work->batch, group->session, to, err)
               : status;
}

/* --- what can happen --------------------------------------------------------
 */

/* Two open chains are near the claims and each other: the younger flows into
 * the older, which is returned. */
static enum clew_status merge(const struct chain_group *group,
                              struct chain_entry *a, struct chain_entry *b,
                              struct chain_entry **out_kept,
                              struct clew_error *err)
{
    struct batch_work *batch = group->work->batch;
    bool is_a_older = a->chain.started_at_ms < b->chain.started_at_ms ||
                      (a->chain.started_at_ms == b->chain.started_at_ms &&
                       uuid_cmp(&a->chain.id, &b->chain.id) < 0);
    struct chain_entry *kept = is_a_older ? a : b;
    struct chain_entry *gone = is_a_older ? b : a;
    const char *both = arena_printf(
        batch->arena, "%.*s\" into \"%.*s", (int)gone->chain.topic.len,
        gone->chain.topic.s, (int)kept->chain.topic.len, kept->chain.topic.s);
    double distance = chain_pair_distance(&a->chain.state, a->chain.topic,
                                          &b->chain.state, b->chain.topic, 0);
    enum clew_status status =
        both ? chain_claims_move(batch->tx, &gone->chain.id, &kept->chain.id,
                                 err)
             : clew_no_memory(err);

    if (status != CLEW_OK) {
        return status;
    }
    chain_state_merge(&kept->chain.state, &gone->chain.state);
    kept->chain.n_claims += gone->chain.n_claims;
    gone->chain.n_claims = 0;
    gone->chain.merged_into = kept->chain.id;
    kept->is_dirty = true;
    *out_kept = kept;
    status =
        chain_session_rest(batch, group->session, gone, CHAIN_CONCLUDED, err);
    return status == CLEW_OK
               ? note(group,
                      &(struct note){CHAIN_STEP_MERGE, &kept->chain,
                                     &gone->chain.id, distance, str_of(both)},
                      err)
               : status;
}

enum clew_status chain_change_extend(const struct chain_group *group,
                                     const struct chain_decision *decision,
                                     struct clew_error *err)
{
    const struct chain_session *session = group->session;
    struct chain_entry *chain = session->open[decision->nearest];
    struct chain_entry *second =
        decision->second == CHAIN_NONE ? NULL : session->open[decision->second];
    double distance = decision->distance[decision->nearest];
    enum chain_step_kind kind =
        decision->nearest == 0 ? CHAIN_STEP_CONTINUE : CHAIN_STEP_BACK;
    enum clew_status status = CLEW_OK;

    if (second &&
        decision->distance[decision->second] <
            group->work->batch->chains->continue_below &&
        chain_pair_distance(&chain->chain.state, chain->chain.topic,
                            &second->chain.state, second->chain.topic,
                            chain->chain.last_extended_at_ms -
                                second->chain.last_extended_at_ms) <=
            CHAIN_MERGE_DISTANCE) {
        status = merge(group, chain, second, &chain, err);
    }
    if (status == CLEW_OK) {
        status = put_claims(group, chain, err);
    }
    return status == CLEW_OK
               ? note(group,
                      &(struct note){kind, &chain->chain, NULL, distance,
                                     chain->chain.topic},
                      err)
               : status;
}

/* The chain may be open in another session of this batch: not any more. */
static void leave_other_sessions(const struct chain_group *group,
                                 const struct uuid *id)
{
    for (struct chain_session *session = group->work->batch->chains->sessions;
         session; session = session->next) {
        size_t kept = 0;

        for (size_t i = 0; i < session->n_open; i++) {
            if (session == group->session ||
                !uuid_eq(&session->open[i]->chain.id, id)) {
                session->open[kept++] = session->open[i];
            }
        }
        session->n_open = kept;
    }
}

enum clew_status chain_change_revive(const struct chain_group *group,
                                     const struct chain *resting,
                                     double distance, struct clew_error *err)
{
    struct chain_entry *chain;
    /* a chain of another session that nobody let rest yet is only gone back to
     */
    enum chain_step_kind kind =
        resting->phase == CHAIN_DORMANT ? CHAIN_STEP_REVIVE : CHAIN_STEP_BACK;
    enum clew_status status;

    if (resting->is_unmade) {
        status = chain_change_part(group, resting, err);
        chain = group->session->open[0];
    } else {
        leave_other_sessions(group, &resting->id);
        chain = chain_session_add(group->work->batch, group->session, resting,
                                  false);
        status = chain ? CLEW_OK : clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = put_claims(group, chain, err);
    return status == CLEW_OK ? note(group,
                                    &(struct note){kind, &chain->chain, NULL,
                                                   distance, resting->topic},
                                    err)
                             : status;
}

enum clew_status chain_change_reply(const struct chain_group *group,
                                    const struct chain *ended,
                                    struct clew_error *err)
{
    struct chain_entry *chain =
        chain_session_add(group->work->batch, group->session, ended, false);
    enum clew_status status =
        chain ? add_claims(group, chain, err) : clew_no_memory(err);

    return status == CLEW_OK
               ? note(group,
                      &(struct note){CHAIN_STEP_REPLY, &chain->chain, NULL, -1,
                                     ended->topic},
                      err)
               : status;
}

enum clew_status chain_change_part(const struct chain_group *group,
                                   const struct chain *twin,
                                   struct clew_error *err)
{
    const struct turn *turn = group->work->turn;
    struct chain_entry *chain =
        chain_session_add(group->work->batch, group->session, twin, true);
    enum clew_status status;

    if (!chain) {
        return clew_no_memory(err);
    }
    chain->chain.is_unmade = false;
    chain->chain.chat_id = turn->chat_id;
    chain->chain.session_id = turn->session_id;
    status = chain_session_use(group->work->batch, group->session, chain, err);
    return status == CLEW_OK
               ? note(group,
                      &(struct note){CHAIN_STEP_PART, &chain->chain,
                                     &twin->twin_of, -1, twin->topic},
                      err)
               : status;
}

/* A chain of its own; `parent` is what it branches from, or NULL. */
enum clew_status chain_change_start(const struct chain_group *group,
                                    const struct chain *parent, double distance,
                                    struct clew_error *err)
{
    const struct turn *turn = group->work->turn;
    struct chain fresh = {
        .id = uuid_derive(turn->created_at_ms, &turn->id, "chain",
                          group->part->first),
        .user_id = turn->user_id,
        .started_at_ms = turn->created_at_ms,
        .last_extended_at_ms = turn->created_at_ms,
    };
    struct note told = {.kind = CHAIN_STEP_CREATE, .distance = distance};
    struct chain_entry *chain;
    enum clew_status status;

    status = chain_name_set(group, &fresh, err);
    if (status != CLEW_OK) {
        return status;
    }
    told.said = fresh.topic;
    if (parent) {
        fresh.branches_from = parent->id;
        told.kind = parent->phase == CHAIN_CONCLUDED ? CHAIN_STEP_BRANCH_ENDED
                                                     : CHAIN_STEP_BRANCH;
        told.said = parent->topic;
        told.parent_id = &fresh.branches_from;
    }
    chain = chain_session_add(group->work->batch, group->session, &fresh, true);
    if (!chain) {
        return clew_no_memory(err);
    }
    told.chain = &chain->chain;
    status = put_claims(group, chain, err);
    return status == CLEW_OK ? note(group, &told, err) : status;
}

enum clew_status chain_change_conclude(const struct chain_group *group,
                                       struct chain_entry *chain,
                                       enum chain_step_kind why,
                                       struct clew_error *err)
{
    enum clew_status status = chain_session_rest(
        group->work->batch, group->session, chain, CHAIN_CONCLUDED, err);

    return status == CLEW_OK ? note(group,
                                    &(struct note){why, &chain->chain, NULL, -1,
                                                   chain->chain.topic},
                                    err)
                             : status;
}
