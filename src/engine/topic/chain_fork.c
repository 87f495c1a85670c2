/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_fork.c - chains of the chats above, as a fork has them. See
 * chain_fork.h.
 */
#include "engine/topic/chain_fork.h"

#include "base/limits.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/read/claim_spans.h"
#include "engine/read/reading.h"
#include "engine/topic/chain_change.h"
#include "store/db.h"

#include <string.h>

/* What a chain remembers fades: the last turns make it again. */
#define REPLAYED 8
#define MAX_CLAIMS 4000
#define MAX_EVENTS 1000
/* How far back a fork looks for the chains it begins with. */
#define REACH_SEQS 200

/* Where twins of a chain parted from it (8 is CHAIN_STEP_PART, 64 CHAIN_BLOCK),
 * also those whose steps are not written yet. */
DB_SQL(SELECT_TWINS,
       "SELECT u.chat_id, u.seq FROM chains c CROSS JOIN chain_blocks b"
       " CROSS JOIN chain_steps u WHERE c.tenant = $1 AND c.twin_of = $2 AND"
       " b.tenant = $1 AND b.chain_id = c.id AND u.tenant = $1 AND"
       " u.chat_id = b.chat_id AND u.seq >= b.from_seq AND"
       " u.seq < b.from_seq + 64 AND u.chain_id = c.id AND u.kind = 8"
       " UNION ALL SELECT t.chat_id, t.seq FROM chains c JOIN chain_updates u"
       " ON u.tenant = $1 AND u.chain_id = c.id AND u.type = 'part'"
       " JOIN turns t ON t.tenant = $1 AND t.id = u.turn_id"
       " WHERE c.tenant = $1 AND c.twin_of = $2");
DB_SQL(SELECT_LAST,
       "SELECT COALESCE(moved_to, chain_id) AS held_by, MAX(seq) FROM"
       " chain_steps WHERE tenant = $1 AND chat_id = $2 AND seq > $3 AND"
       " seq <= $4 AND claims <> '' GROUP BY COALESCE(moved_to, chain_id)"
       " ORDER BY 2 DESC, held_by DESC LIMIT $5");
DB_SQL(SELECT_OWN,
       "SELECT 1 FROM chains WHERE tenant = $1 AND chat_id = $2 LIMIT 1");

struct spot {
    struct uuid chat_id;
    int64_t seq;
};

static bool spot_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct spot *out = item;

    (void)arena;
    out->chat_id = db_get_uuid(rows, 0);
    out->seq = db_get_int(rows, 1);
    return true;
}

/* --- as it was --------------------------------------------------------------
 */

/* Was it concluded there? */
static enum clew_status phase_then(struct store_tx *tx, struct arena *arena,
                                   const struct sight *sight,
                                   struct chain *chain, struct clew_error *err)
{
    struct chain_event *events = NULL;
    size_t count = 0;
    enum clew_status status = chain_list_events(
        tx, arena, &chain->id, MAX_EVENTS, &events, &count, err);

    chain->phase = CHAIN_ACTIVE;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        bool is_seen =
            uuid_is_nil(&events[i].chat_id)
                ? events[i].created_at_ms <= sight->since_ms
                : sight_has(sight, &events[i].chat_id, events[i].seq);

        if (is_seen && !str_eq(events[i].type, STR("merge"))) {
            chain->phase = str_eq(events[i].type, STR("conclude"))
                               ? CHAIN_CONCLUDED
                               : CHAIN_ACTIVE;
        }
    }
    return status;
}

static bool is_told_by_twin(const struct rows_list *twins,
                            const struct sight *sight)
{
    const struct spot *items = twins->items;

    for (size_t i = 0; i < twins->count; i++) {
        if (sight_has(sight, &items[i].chat_id, items[i].seq)) {
            return true;
        }
    }
    return false;
}

/* Take a part's words, and its phrase where that stands for more. */
static bool replay_part(const struct chain_part *part,
                        const struct chain_vector *vector, struct arena *arena,
                        struct chain *chain)
{
    struct chain_state *state = &chain->state;
    float now;
    float then;

    chain_state_add(state, &part->features, vector);
    now = chain_state_central(state, state->topic, state->n_topic);
    then = chain_state_central(state, part->topic_words, part->n_topic_words);
    if (part->n_topic_words > 0 &&
        (state->n_topic == 0 ||
         (part->is_phrase && then > CHAIN_TOPIC_GAIN * now))) {
        chain->topic = arena_str(arena, part->topic);
        memcpy(state->topic, part->topic_words, sizeof(state->topic));
        state->n_topic = (uint8_t)part->n_topic_words;
    }
    return chain->topic.s != NULL;
}

/* Make what it remembers again, from its last turns there. */
static enum clew_status replay(struct engine *engine, struct store_tx *tx,
                               struct arena *arena,
                               const struct chain_step *steps, size_t count,
                               struct chain *chain, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    chain_state_init(&chain->state);
    for (size_t i = count; i-- > 0 && status == CLEW_OK;) {
        struct reading reading = {0};
        struct turn *turn = NULL;
        size_t n = 0;

        status =
            turn_find_many(tx, arena, &steps[i].turn_id, 1, &turn, &n, err);
        if (status != CLEW_OK || n == 0) {
            continue;
        }
        status = reading_of(engine, arena, turn, &reading, err);
        for (size_t k = 0; status == CLEW_OK && k < reading.chains.n_parts;
             k++) {
            const struct chain_reading *chains = &reading.chains;

            if (!replay_part(&chains->parts[k],
                             chains->has_vector && chains->n_parts == 1
                                 ? &chains->vector
                                 : NULL,
                             arena, chain)) {
                status = clew_no_memory(err);
            }
        }
    }
    return status;
}

static struct uuid twin_id(const struct chat *chat, const struct chain *chain)
{
    uint64_t n = 0;

    memcpy(&n, chain->id.b + sizeof(chain->id.b) - sizeof(n), sizeof(n));
    return uuid_derive(chain->started_at_ms, &chat->id, "chain twin", n);
}

enum clew_status chain_as_of(struct engine *engine, struct store_tx *tx,
                             struct arena *arena, const struct chat *chat,
                             const struct sight *sight, struct chain *chain,
                             bool *out_seen, struct clew_error *err)
{
    struct rows_list twins = {
        .arena = arena, .size = sizeof(struct spot), .fn = spot_of};
    struct chain_step *steps = NULL;
    size_t count = 0;
    size_t n_turns = 0;
    int64_t n_all = 0;
    int64_t n = 0;
    enum clew_status status = chain_step_list_last(
        tx, arena, &chain->id, MAX_CLAIMS, &steps, &count, err);

    if (status == CLEW_OK) {
        status = rows_add(tx, &twins, &SELECT_TWINS,
                          DB_ARGS(db_uuid(&chain->id)), err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct chain_step step = steps[i];
        int64_t n_claims = (int64_t)claim_spans_count(step.claims);

        n_all += n_claims;
        if (!sight_has(sight, &step.chat_id, step.seq)) {
            continue;
        }
        n += n_claims;
        if (n_turns < REPLAYED &&
            (n_turns == 0 ||
             !uuid_eq(&steps[n_turns - 1].turn_id, &step.turn_id))) {
            steps[n_turns++] = step;
        }
    }
    *out_seen = n > 0 && uuid_is_nil(&chain->merged_into) &&
                !is_told_by_twin(&twins, sight);
    if (status != CLEW_OK || !*out_seen) {
        return status;
    }
    status = phase_then(tx, arena, sight, chain, err);
    if (status == CLEW_OK && n < n_all) { /* it went on */
        status = replay(engine, tx, arena, steps, n_turns, chain, err);
    }
    chain->n_claims = n;
    chain->last_seq = steps[0].seq;
    chain->last_extended_at_ms = steps[0].created_at_ms;
    chain->is_unmade = true;
    chain->twin_of = chain->id;
    chain->id = twin_id(chat, chain);
    chain->chat_id = chat->id;
    return status;
}

/* --- what a fork has --------------------------------------------------------
 */

enum clew_status chain_list_above(struct engine *engine, struct store_tx *tx,
                                  struct arena *arena, const struct chat *chat,
                                  size_t limit, struct chain **out_chains,
                                  size_t *out_count, struct clew_error *err)
{
    struct rows_list ids = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct chain *chains = arena_zero(arena, limit + 1, sizeof(*chains));
    struct sight sight;
    size_t n = 0;
    enum clew_status status =
        chains ? sight_open(tx, arena, chat, &sight, err) : clew_no_memory(err);

    for (size_t i = status == CLEW_OK ? sight.n_parts - 1 : 0;
         i-- > 0 && status == CLEW_OK;) {
        const struct chat_part *part = &sight.parts[i];
        int64_t from = chat->fork_seq - REACH_SEQS;

        if (part->to_seq > from) {
            status = rows_add(tx, &ids, &SELECT_LAST,
                              DB_ARGS(db_uuid(&part->chat_id), db_int(from),
                                      db_int(part->to_seq),
                                      db_int((int64_t)(4 * limit))),
                              err);
        }
    }
    for (size_t i = 0; status == CLEW_OK && i < ids.count && n < limit; i++) {
        const struct uuid *id = (const struct uuid *)ids.items + i;
        struct chain *chain = &chains[n];
        bool is_seen = false;

        status = chain_find(tx, arena, id, chain, err);
        if (status == CLEW_OK) {
            status = chain_as_of(engine, tx, arena, chat, &sight, chain,
                                 &is_seen, err);
        }
        for (size_t k = 0; k < n && is_seen; k++) {
            is_seen = !uuid_eq(&chains[k].id, &chain->id); /* in two chats */
        }
        n += is_seen;
    }
    *out_chains = chains;
    *out_count = n;
    return status;
}

static enum clew_status has_own(struct store_tx *tx, const struct uuid *chat_id,
                                bool *out, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_OWN, DB_ARGS(db_uuid(chat_id)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out = db_next(&rows);
    return db_end(&rows, err);
}

enum clew_status chain_fork_enter(const struct chain_group *group,
                                  struct clew_error *err)
{
    struct turn_work *work = group->work;
    struct batch_work *batch = work->batch;
    const struct chat *chat = &work->placement->slot->chat;
    struct chain *chains = NULL;
    size_t count = 0;
    bool is_entered = true;
    enum clew_status status = CLEW_OK;

    if (uuid_is_nil(&chat->parent_id) || group->session->n_open > 0) {
        return CLEW_OK;
    }
    status = has_own(batch->tx, &chat->id, &is_entered, err);
    if (status != CLEW_OK || is_entered || group->session->n_all > 0) {
        return status;
    }
    status = chain_list_above(batch->engine, batch->tx, batch->arena, chat,
                              CHAIN_FORK_OPEN, &chains, &count, err);
    for (size_t i = count; i-- > 0 && status == CLEW_OK;) {
        if (chains[i].phase == CHAIN_ACTIVE) { /* the last used ends in front */
            status = chain_change_part(group, &chains[i], err);
        }
    }
    return status;
}

/* --- reading through --------------------------------------------------------
 */

enum clew_status chain_claims_line(const struct engine *engine,
                                   struct store_tx *tx, struct arena *arena,
                                   const struct chain *chain,
                                   struct claim **claims, size_t *count,
                                   struct clew_error *err)
{
    struct sight sight;
    struct chat chat;
    struct chain at = *chain;
    enum clew_status status = chat_find(tx, arena, &chain->chat_id, &chat, err);

    if (status == CLEW_OK) {
        status = sight_open(tx, arena, &chat, &sight, err);
    }
    for (size_t depth = 0; status == CLEW_OK && depth < LIMIT_FORK_DEPTH &&
                           !uuid_is_nil(&at.twin_of);
         depth++) {
        struct claim *older = NULL;
        struct claim *all;
        size_t n_older = 0;
        size_t n = 0;

        status = chain_claims(engine, tx, arena, &at.twin_of, CHAIN_VIEW_MAX,
                              &older, &n_older, err);
        all = arena_zero(arena, n_older + *count + 1, sizeof(*all));
        if (status != CLEW_OK || !all) {
            return status != CLEW_OK ? status : clew_no_memory(err);
        }
        for (size_t i = 0; i < n_older; i++) {
            if (sight_has(&sight, &older[i].chat_id, older[i].seq)) {
                all[n++] = older[i];
            }
        }
        if (*count > 0) {
            memcpy(all + n, *claims, *count * sizeof(*all));
        }
        *claims = all;
        *count += n;
        status = chain_find(tx, arena, &at.twin_of, &at, NULL);
        if (status == CLEW_NOT_FOUND) {
            return CLEW_OK; /* forgotten */
        }
    }
    *count = *count < CHAIN_VIEW_MAX ? *count : CHAIN_VIEW_MAX;
    return status;
}
