/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_judge.c - which chain the claims of a turn are about. See
 * chain_judge.h.
 */
#include "engine/topic/chain_judge.h"

#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "engine/topic/chain_fork.h"
#include "engine/topic/chain_sense.h"

#include <string.h>

/* Words by which resting chains are looked up. */
#define MAX_WORD_TERMS 3
#define MAX_TERMS 4
/* A dozen, and six for each term: chain_list_resting(). */
#define MAX_RESTING (12 + 6 * MAX_TERMS)

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

/* A chain outside the session, and how near its words are. */
struct resting {
    struct chain *chain;
    double distance;
};

/* The chains outside the session that may be meant; others of the batch must
 * be in the store first. */
static enum clew_status list_resting(const struct chain_group *group,
                                     struct resting *out, size_t *out_count,
                                     struct clew_error *err)
{
    struct batch_work *batch = group->work->batch;
    const struct turn *turn = group->work->turn;
    int64_t terms[MAX_TERMS];
    struct chain *chains = NULL;
    size_t count = 0;
    enum clew_status status = chain_flush(batch, err);

    *out_count = 0;
    if (status == CLEW_OK) {
        status = chain_list_resting(
            batch->tx, batch->arena, turn->user_id, &turn->session_id, terms,
            search_terms(&group->part->features, terms), &chains, &count, err);
    }
    if (status == CLEW_OK) {
        status = keep_own(group, chains, &count, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        int64_t age_ms = turn->created_at_ms - chains[i].last_extended_at_ms;
        bool is_known =
            (uuid_eq(&chains[i].session_id, &turn->session_id) &&
             chains[i].phase == CHAIN_ACTIVE) ||
            chain_session_has(batch, &turn->session_id, &chains[i].id);

        for (size_t k = 0; k < *out_count && !is_known; k++) {
            is_known = uuid_eq(&out[k].chain->id, &chains[i].id);
        }
        if (!is_known && *out_count < MAX_RESTING) {
            out[(*out_count)++] = (struct resting){
                &chains[i],
                batch->chains->is_seed
                    ? seed_distance(group, &chains[i])
                    : chain_resting_distance(&group->part->features,
                                             &chains[i].state, age_ms)};
        }
    }
    return status;
}

/* --- by words ---------------------------------------------------------------
 */

static void take_resting(const struct chain_group *group,
                         const struct resting *resting, double same,
                         struct chain_verdict *out)
{
    if (resting->distance < group->work->batch->chains->continue_below &&
        resting->distance < out->resting_distance) {
        out->resting = *resting->chain;
        out->resting_distance = resting->distance;
        out->resting_same = same;
    }
}

/* What rests comes back where nothing open is near enough. */
static enum clew_status judge_by_words(const struct chain_group *group,
                                       struct chain_verdict *out,
                                       struct clew_error *err)
{
    struct resting resting[MAX_RESTING];
    size_t count = 0;
    enum clew_status status = CLEW_OK;

    if (chain_verdict_nearest(out) <
        group->work->batch->chains->continue_below) {
        return CLEW_OK;
    }
    status = list_resting(group, resting, &count, err);
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        take_resting(group, &resting[i], -1, out);
    }
    return status;
}

/* --- by the reader ----------------------------------------------------------
 */

/* The best few by words come first. */
static size_t pick(struct resting *items, size_t count)
{
    size_t n = count < CHAIN_READ_OTHERS ? count : CHAIN_READ_OTHERS;

    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        struct resting moved;

        for (size_t k = i + 1; k < count; k++) {
            best = items[k].distance < items[best].distance ? k : best;
        }
        moved = items[i];
        items[i] = items[best];
        items[best] = moved;
    }
    return n;
}

/* Does the talk come back to something? What begins a matter says best what it
 * is. */
static enum clew_status look_beyond(const struct chain_group *group,
                                    struct chain_verdict *out,
                                    struct clew_error *err)
{
    struct resting items[MAX_RESTING];
    struct chain_meant meant[CHAIN_READ_OTHERS] = {0};
    size_t n = 0;
    enum clew_status status = list_resting(group, items, &n, err);

    n = pick(items, n);
    for (size_t i = 0; i < n; i++) {
        meant[i].chain = items[i].chain;
    }
    if (status == CLEW_OK) {
        status = chain_sense(group, meant, n, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        float points = chain_points_of(items[i].distance) +
                       chain_read_resting(meant[i].same);

        items[i].distance = chain_distance(points, 0);
        take_resting(group, &items[i], meant[i].same, out);
    }
    return status;
}

/* The reader says whether the talk goes on; where it may not, what of what
 * rests it comes back to. Words choose whom it is asked about, and count. */
static enum clew_status judge_by_reader(const struct chain_group *group,
                                        struct chain_verdict *out,
                                        struct clew_error *err)
{
    struct chain_decision *decision = &out->decision;
    size_t n_open = group->session->n_open;

    if (n_open > 0) {
        out->same = chain_sense_goes_on(group);
        decision->points[0] += chain_read_current(out->same);
        decision->distance[0] =
            chain_distance(decision->points[0], decision->points_new);
        chain_rank(decision, n_open);
    }
    return out->same > CHAIN_READ_GOES_ON ? CLEW_OK
                                          : look_beyond(group, out, err);
}

enum clew_status chain_judge(const struct chain_group *group,
                             struct chain_verdict *out, struct clew_error *err)
{
    *out = (struct chain_verdict){
        .same = -1, .resting_distance = 1, .resting_same = -1};
    decide(group, &out->decision);
    return chain_sense_has(group) ? judge_by_reader(group, out, err)
                                  : judge_by_words(group, out, err);
}

double chain_verdict_nearest(const struct chain_verdict *verdict)
{
    const struct chain_decision *decision = &verdict->decision;

    return decision->nearest == CHAIN_NONE
               ? 1
               : decision->distance[decision->nearest];
}
