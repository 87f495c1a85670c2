/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_observe.c - a turn's claims find their chains. See chain.h.
 *
 * The claims of a turn share one decision, unless a later sentence says itself
 * that the topic changes. The nearest open chain below `continue` is extended;
 * else a chain that rests and is nearer than that comes back; else the claims
 * start a chain, branching from the nearest one below `branch`.
 */
#include "engine/chain.h"

#include "base/clock.h"
#include "engine/chain_room.h"
#include "engine/engine.h"
#include "engine/rows.h"
#include "engine/work.h"
#include "store/db.h"

#include <math.h>
#include <string.h>

DB_SQL(SELECT_HOLDERS,
       "SELECT DISTINCT chain_id FROM claims WHERE tenant = $1 AND chat_id = $2"
       " AND seq >= $3 AND seq <= $4 ORDER BY chain_id LIMIT 8");

/* How much more of the chain a phrase must stand for to become its topic. */
#define TOPIC_GAIN 1.3f
/* Words by which resting chains are looked up. */
#define MAX_WORD_TERMS 3
#define MAX_TERMS 4

/* Claims that are decided together. */
struct group {
    struct turn_work *work;
    struct chain_room *room;
    const struct chain_part *part; /* NULL: a decision without claims */
};

/* What was found about one group. */
struct verdict {
    struct chain_decision decision;
    struct chain resting; /* id nil: none near enough */
    double resting_distance;
};

/* --- topics -----------------------------------------------------------------
 */

static bool set_topic(const struct group *group, struct chain *chain)
{
    chain->topic = arena_str(group->work->batch->arena, group->part->topic);
    memcpy(chain->state.topic, group->part->topic_words,
           sizeof(chain->state.topic));
    chain->state.n_topic = (uint8_t)group->part->n_topic_words;
    return chain->topic.s != NULL;
}

/* Take the group's phrase where it stands for more of the chain. */
static bool refine_topic(const struct group *group, struct chain *chain)
{
    const struct chain_state *state = &chain->state;
    float now = chain_state_central(state, state->topic, state->n_topic);
    float then = chain_state_central(state, group->part->topic_words,
                                     group->part->n_topic_words);

    if (!group->part->is_phrase || then <= TOPIC_GAIN * now) {
        return true;
    }
    return set_topic(group, chain);
}

/* --- distances --------------------------------------------------------------
 */

static const struct chain_vector *vector_of(const struct group *group)
{
    const struct chain_reading *reading = &group->work->reading->chains;

    /* of two parts neither is what the whole turn's vector says */
    return group->work->batch->chains->use_embedding && reading->has_vector &&
                   reading->n_parts == 1
               ? &reading->vector
               : NULL;
}

static double seed_distance(const struct group *group,
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

static void decide_by_seed(const struct group *group,
                           struct chain_decision *out)
{
    const struct chain_room *room = group->room;

    memset(out, 0, sizeof(*out));
    out->nearest = CHAIN_NONE;
    out->second = CHAIN_NONE;
    for (size_t i = 0; i < room->n_open; i++) {
        double distance = seed_distance(group, &room->open[i]->chain);

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

static void decide(const struct group *group, struct chain_decision *out)
{
    const struct chain_room *room = group->room;
    const struct chain_state *states[CHAIN_MAX_OPEN];
    struct chain_input input = {.turn = &group->part->features,
                                .talk = &room->talk,
                                .chains = states,
                                .n_chains = room->n_open};

    if (group->work->batch->chains->is_seed) {
        decide_by_seed(group, out);
        return;
    }
    for (size_t i = 0; i < room->n_open; i++) {
        states[i] = &room->open[i]->chain.state;
    }
    input.vector = vector_of(group);
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

/* Find the nearest chain outside the session; others of the batch must be in
 * the store first. */
static enum clew_status find_resting(const struct group *group,
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

/* The chain may be open in another session of this batch: not any more. */
static void leave_other_rooms(const struct group *group, const struct uuid *id)
{
    for (struct chain_room *room = group->work->batch->chains->rooms; room;
         room = room->next) {
        size_t kept = 0;

        for (size_t i = 0; i < room->n_open; i++) {
            if (room == group->room || !uuid_eq(&room->open[i]->chain.id, id)) {
                room->open[kept++] = room->open[i];
            }
        }
        room->n_open = kept;
    }
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
static enum clew_status note(const struct group *group, const char *type,
                             const struct uuid *chain_id,
                             const struct uuid *parent_id, double distance,
                             const char *reasoning, struct clew_error *err)
{
    struct turn_work *work = group->work;
    struct arena *arena = work->batch->arena;
    bool has_claims =
        strcmp(type, "merge") != 0 && strcmp(type, "conclude") != 0;
    size_t count = has_claims ? group->part->n_claims : 0;
    struct uuid *ids = arena_zero(arena, count + 1, sizeof(*ids));
    struct chain_update update = {.type = type,
                                  .chain_id = *chain_id,
                                  .claim_ids = ids,
                                  .n_claim_ids = count,
                                  .distance = rounded(distance),
                                  .reasoning = str_of(reasoning)};
    struct chain_event event = {
        .id = uuid_derive(work->turn->created_at_ms, &work->turn->id,
                          "chain_update", work->updates->n_chains),
        .chain_id = *chain_id,
        .turn_id = work->turn->id,
        .position = (int64_t)work->updates->n_chains,
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

static const char *say(const struct group *group, const char *before,
                       struct str topic, const char *after)
{
    return arena_printf(group->work->batch->arena, "%s\"%.*s\"%s", before,
                        (int)topic.len, topic.s, after);
}

/* The claims go into the chain, which is used now. */
static enum clew_status put_claims(const struct group *group,
                                   struct room_chain *to,
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
    chain_state_add(&chain->state, &group->part->features, vector_of(group));
    chain->n_claims += (int64_t)group->part->n_claims;
    chain->phase = CHAIN_ACTIVE;
    chain->session_id = work->turn->session_id;
    chain->chat_id = work->turn->chat_id;
    chain->last_seq = work->turn->seq;
    if (work->turn->created_at_ms > chain->last_extended_at_ms) {
        chain->last_extended_at_ms = work->turn->created_at_ms;
    }
    to->is_dirty = true;
    if (!refine_topic(group, chain)) {
        return clew_no_memory(err);
    }
    return chain_room_use(work->batch, group->room, to, err);
}

/* --- what can happen --------------------------------------------------------
 */

/* Two open chains are near the claims and each other: the younger flows into
 * the older, which is returned. */
static enum clew_status merge(const struct group *group, struct room_chain *a,
                              struct room_chain *b,
                              struct room_chain **out_kept,
                              struct clew_error *err)
{
    struct batch_work *batch = group->work->batch;
    bool is_a_older = a->chain.started_at_ms < b->chain.started_at_ms ||
                      (a->chain.started_at_ms == b->chain.started_at_ms &&
                       uuid_cmp(&a->chain.id, &b->chain.id) < 0);
    struct room_chain *kept = is_a_older ? a : b;
    struct room_chain *gone = is_a_older ? b : a;
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
    status = chain_room_rest(batch, group->room, gone, CHAIN_CONCLUDED, err);
    return status == CLEW_OK ? note(group, "merge", &kept->chain.id,
                                    &gone->chain.id, distance, reasoning, err)
                             : status;
}

static enum clew_status extend(const struct group *group,
                               const struct chain_decision *decision,
                               struct clew_error *err)
{
    const struct chain_room *room = group->room;
    struct room_chain *chain = room->open[decision->nearest];
    struct room_chain *second =
        decision->second == CHAIN_NONE ? NULL : room->open[decision->second];
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

static enum clew_status revive(const struct group *group,
                               const struct verdict *verdict,
                               struct clew_error *err)
{
    struct room_chain *chain;
    const char *reasoning =
        say(group, "Revived chain about ", verdict->resting.topic, "");
    enum clew_status status;

    leave_other_rooms(group, &verdict->resting.id);
    chain = chain_room_add(group->work->batch, group->room, &verdict->resting,
                           false);
    if (!chain) {
        return clew_no_memory(err);
    }
    status = put_claims(group, chain, err);
    return status == CLEW_OK ? note(group, "extend", &chain->chain.id, NULL,
                                    verdict->resting_distance, reasoning, err)
                             : status;
}

/* A chain of its own; `parent` is what it branches from, or NULL. */
static enum clew_status start(const struct group *group,
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
    struct room_chain *chain;
    const char *reasoning;
    enum clew_status status;

    if (!set_topic(group, &fresh)) {
        return clew_no_memory(err);
    }
    reasoning =
        parent ? say(group, "Branched from ", parent->topic,
                     parent->phase == CHAIN_CONCLUDED ? ", which is concluded"
                                                      : " due to topic shift")
               : say(group, "New topic: ", fresh.topic, "");
    if (parent) {
        fresh.branches_from = parent->id;
    }
    chain = chain_room_add(group->work->batch, group->room, &fresh, true);
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

static enum clew_status conclude(const struct group *group,
                                 struct room_chain *chain, const char *why,
                                 struct clew_error *err)
{
    enum clew_status status = chain_room_rest(group->work->batch, group->room,
                                              chain, CHAIN_CONCLUDED, err);

    return status == CLEW_OK
               ? note(group, "conclude", &chain->chain.id, NULL, -1,
                      say(group, "Concluded ", chain->chain.topic, why), err)
               : status;
}

/* --- trace ------------------------------------------------------------------
 */

/* What was considered: added to the turn's trace where one is kept. */
static bool trace(const struct group *group, const struct verdict *verdict)
{
    const struct chain_room *room = group->room;
    json_t *entry = json_object();
    json_t *considered = json_array();
    bool is_ok = entry && considered;

    for (size_t i = 0; is_ok && i < room->n_open; i++) {
        json_t *item = json_object();

        is_ok = item &&
                json_set_uuid(item, "chain_id", &room->open[i]->chain.id) &&
                json_set_str(item, "topic", room->open[i]->chain.topic) &&
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
static enum clew_status settle(const struct group *group,
                               struct clew_error *err)
{
    const struct chain_desk *desk = group->work->batch->chains;
    struct verdict verdict = {.resting_distance = 1};
    const struct chain *parent = NULL;
    double nearest = 1;
    enum clew_status status = CLEW_OK;

    decide(group, &verdict.decision);
    if (verdict.decision.nearest != CHAIN_NONE) {
        nearest = verdict.decision.distance[verdict.decision.nearest];
    }
    if (nearest >= desk->continue_below) {
        status = find_resting(group, &verdict, err);
    }
    if (status == CLEW_OK && group->work->trace && !trace(group, &verdict)) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (nearest < desk->continue_below) {
        return extend(group, &verdict.decision, err);
    }
    if (!uuid_is_nil(&verdict.resting.id)) {
        if (verdict.resting.phase == CHAIN_CONCLUDED) {
            return start(group, &verdict.resting, verdict.resting_distance,
                         err);
        }
        return revive(group, &verdict, err);
    }
    if (nearest < desk->branch_below) {
        parent = &group->room->open[verdict.decision.nearest]->chain;
    }
    return start(group, parent,
                 verdict.decision.nearest == CHAIN_NONE ? -1 : nearest, err);
}

/* Decide for the claims of one part. */
static enum clew_status observe_part(const struct group *group,
                                     struct clew_error *err)
{
    struct chain_room *room = group->room;
    const struct chain_features *features = &group->part->features;
    enum clew_status status = CLEW_OK;

    if (group->part->n_claims > 0) {
        status = settle(group, err);
    } else if (room->n_open > 0) {
        /* nothing is claimed, but the talk has moved on */
        chain_state_add(&room->open[0]->chain.state, features, NULL);
        room->open[0]->is_dirty = true;
    }
    chain_talk_add(&room->talk, features);
    room->is_talk_dirty = true;
    if (status == CLEW_OK && features->cues & CUE_CONCLUDES &&
        room->n_open > 0) {
        status = conclude(group, room->open[0], " in so many words", err);
    }
    return status;
}

/* A session that ended with this turn's silence hands its chains over. */
static enum clew_status leave_ended(struct turn_work *work,
                                    struct clew_error *err)
{
    const struct session *ended = &work->placement->ended;
    struct chain_room *room = NULL;
    enum clew_status status;

    if (uuid_is_nil(&ended->id)) {
        return CLEW_OK;
    }
    status = chain_room_enter(work->batch, &ended->id, &room, err);
    if (status == CLEW_OK) {
        status = chain_room_flush(work->batch, room, err);
    }
    return status == CLEW_OK
               ? chain_session_ended(work->batch->tx, work->batch->arena, ended,
                                     work->turn->created_at_ms, err)
               : status;
}

enum clew_status chain_observe(struct turn_work *work, struct clew_error *err)
{
    const struct chain_reading *reading = &work->reading->chains;
    struct group group = {.work = work};
    enum clew_status status = leave_ended(work, err);

    if (status != CLEW_OK || reading->n_parts == 0) {
        return status;
    }
    status = chain_room_enter(work->batch, &work->turn->session_id, &group.room,
                              err);
    for (size_t i = 0; i < reading->n_parts && status == CLEW_OK; i++) {
        group.part = &reading->parts[i];
        status = observe_part(&group, err);
    }
    return status;
}

/* --- efforts ----------------------------------------------------------------
 */

static bool id_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct uuid *out = item;

    (void)arena;
    *out = db_get_uuid(rows, 0);
    return true;
}

/* Conclude the chain if it is open in the turn's session. */
static enum clew_status conclude_id(const struct group *group,
                                    const struct uuid *id,
                                    struct clew_error *err)
{
    for (size_t i = 0; i < group->room->n_open; i++) {
        if (uuid_eq(&group->room->open[i]->chain.id, id)) {
            return conclude(group, group->room->open[i],
                            ": its effort is resolved", err);
        }
    }
    return CLEW_OK;
}

/* What the resolving turn itself claims may be about something else. */
static int64_t last_before(const struct memory_ref *ref,
                           const struct turn *turn)
{
    return uuid_eq(&ref->chat_id, &turn->chat_id) && ref->last_seq >= turn->seq
               ? turn->seq - 1
               : ref->last_seq;
}

enum clew_status chain_resolve(struct turn_work *work,
                               const struct memory_ref *refs, size_t n_refs,
                               struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    struct group group = {.work = work};
    struct rows_list list = {
        .arena = batch->arena, .size = sizeof(struct uuid), .fn = id_of};
    const struct uuid *ids;
    enum clew_status status =
        chain_room_enter(batch, &work->turn->session_id, &group.room, err);

    for (size_t i = 0; i < n_refs && status == CLEW_OK; i++) {
        status = rows_add(batch->tx, &list, &SELECT_HOLDERS,
                          DB_ARGS(db_uuid(&refs[i].chat_id),
                                  db_int(refs[i].first_seq),
                                  db_int(last_before(&refs[i], work->turn))),
                          err);
    }
    ids = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = conclude_id(&group, &ids[i], err);
    }
    return status;
}
