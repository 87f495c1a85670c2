/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_change.c - chains are extended, come back, start, merge and end. See
 * chain_change.h.
 */
#include "engine/topic/chain_change.h"

#include "engine/chat/turn.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "engine/topic/chain_cache.h"
#include "engine/topic/chain_name.h"

#include <math.h>
#include <string.h>

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

static struct str join_ids(struct arena *arena, const struct uuid *ids,
                           size_t count)
{
    char *text = arena_zero(arena, count + 1, UUID_TEXT_SIZE);

    for (size_t i = 0; text && i < count; i++) {
        /* the terminator of one is the comma before the next */
        uuid_format(&ids[i], text + i * UUID_TEXT_SIZE);
        if (i > 0) {
            text[i * UUID_TEXT_SIZE - 1] = ',';
        }
    }
    return str_of(text);
}

/* Four digits say enough, and read the same everywhere. */
static double rounded(double distance)
{
    return round(distance * 1e4) / 1e4;
}

/* Tell the caller and keep it as the trace. */
static enum clew_status note(const struct chain_group *group, const char *type,
                             const struct uuid *chain_id,
                             const struct uuid *parent_id, double distance,
                             const char *reasoning, struct clew_error *err)
{
    struct turn_work *work = group->work;
    struct arena *arena = work->batch->arena;
    bool has_claims = strcmp(type, "merge") != 0 &&
                      strcmp(type, "conclude") != 0 &&
                      strcmp(type, "part") != 0;
    size_t count = has_claims ? group->part->n_claims : 0;
    size_t n = work->n_told + work->updates->n_chains;
    struct uuid *ids = arena_zero(arena, count + 1, sizeof(*ids));
    struct chain_update update = {.type = type,
                                  .chain_id = *chain_id,
                                  .claim_ids = ids,
                                  .n_claim_ids = count,
                                  .distance = rounded(distance),
                                  .reasoning = str_of(reasoning)};
    struct chain_event event = {.id = uuid_derive(work->turn->created_at_ms,
                                                  &work->turn->id,
                                                  "chain_update", n),
                                .chain_id = *chain_id,
                                .turn_id = work->turn->id,
                                .position = (int64_t)n,
                                .type = str_of(type),
                                .distance = update.distance,
                                .reasoning = update.reasoning,
                                .created_at_ms = work->turn->created_at_ms};

    if (!ids || !reasoning) {
        return clew_no_memory(err);
    }
    if (parent_id) {
        update.parent_chain_id = *parent_id;
        event.parent_id = *parent_id;
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = group->part->claims[i].id;
    }
    event.claim_ids = join_ids(arena, ids, count);
    if (!event.claim_ids.s ||
        updates_add_chain(work->updates, arena, &update) != CLEW_OK) {
        return clew_no_memory(err);
    }
    return chain_add_event(work->batch->tx, &event, err);
}

static const char *say(const struct chain_group *group, const char *before,
                       struct str topic, const char *after)
{
    return arena_printf(group->work->batch->arena, "%s\"%.*s\"%s", before,
                        (int)topic.len, topic.s, after);
}

/* The claims become the chain's. */
static enum clew_status add_claims(const struct chain_group *group,
                                   struct chain_entry *to,
                                   struct clew_error *err)
{
    struct turn_work *work = group->work;
    struct chain *chain = &to->chain;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < group->part->n_claims && status == CLEW_OK; i++) {
        struct claim *claim = &group->part->claims[i];

        claim->chain_id = chain->id;
        claim->chat_id = work->turn->chat_id;
        claim->seq = work->turn->seq;
        status = claim_insert(work->batch->tx, claim, err);
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
    const char *reasoning =
        arena_printf(batch->arena, "Merged \"%.*s\" into \"%.*s\"",
                     (int)gone->chain.topic.len, gone->chain.topic.s,
                     (int)kept->chain.topic.len, kept->chain.topic.s);
    double distance = chain_pair_distance(&a->chain.state, a->chain.topic,
                                          &b->chain.state, b->chain.topic, 0);
    enum clew_status status =
        claim_move(batch->tx, &gone->chain.id, &kept->chain.id, err);

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
    return status == CLEW_OK ? note(group, "merge", &kept->chain.id,
                                    &gone->chain.id, distance, reasoning, err)
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
    const char *verb = decision->nearest == 0 ? "Continues " : "Back to ";
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
               ? note(group, "extend", &chain->chain.id, NULL, distance,
                      say(group, verb, chain->chain.topic, ""), err)
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
    const char *verb =
        resting->phase == CHAIN_DORMANT ? "Revived chain about " : "Back to ";
    const char *reasoning = say(group, verb, resting->topic, "");
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
    return status == CLEW_OK ? note(group, "extend", &chain->chain.id, NULL,
                                    distance, reasoning, err)
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
               ? note(group, "extend", &ended->id, NULL, -1,
                      say(group, "Replies to the end of ", ended->topic, ""),
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
               ? note(group, "part", &chain->chain.id, &twin->twin_of, -1,
                      say(group, "Parted from ", twin->topic, " at the fork"),
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
    struct chain_entry *chain;
    const char *reasoning;
    enum clew_status status;

    status = chain_name_set(group, &fresh, err);
    if (status != CLEW_OK) {
        return status;
    }
    reasoning =
        parent ? say(group, "Branched from ", parent->topic,
                     parent->phase == CHAIN_CONCLUDED ? ", which is concluded"
                                                      : " due to topic shift")
               : say(group, "New topic: ", fresh.topic, "");
    if (parent) {
        fresh.branches_from = parent->id;
    }
    chain = chain_session_add(group->work->batch, group->session, &fresh, true);
    if (!chain) {
        return clew_no_memory(err);
    }
    status = put_claims(group, chain, err);
    return status == CLEW_OK
               ? note(group, parent ? "branch" : "create", &chain->chain.id,
                      parent ? &fresh.branches_from : NULL, distance, reasoning,
                      err)
               : status;
}

enum clew_status chain_change_conclude(const struct chain_group *group,
                                       struct chain_entry *chain,
                                       const char *why, struct clew_error *err)
{
    enum clew_status status = chain_session_rest(
        group->work->batch, group->session, chain, CHAIN_CONCLUDED, err);

    return status == CLEW_OK
               ? note(group, "conclude", &chain->chain.id, NULL, -1,
                      say(group, "Concluded ", chain->chain.topic, why), err)
               : status;
}
