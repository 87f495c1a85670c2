/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_cache.c - load, order and write back open chains. See chain_cache.h.
 */
#include "engine/topic/chain_cache.h"

#include "base/config.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/read/reading.h"
#include "store/db.h"

#include <assert.h>
#include <string.h>

DB_SQL(SELECT_TALK, "SELECT memory FROM session_talks WHERE tenant = $1"
                    " AND session_id = $2");
DB_SQL(UPSERT_TALK, "INSERT INTO session_talks (tenant, session_id, memory)"
                    " VALUES ($1, $2, $3) ON CONFLICT (tenant, session_id)"
                    " DO UPDATE SET memory = excluded.memory");

/* The batch's cache; NULL on OOM. */
static struct chain_cache *chain_cache_of(struct batch_work *batch)
{
    const struct config *config = batch->engine->config;
    struct chain_cache *cache = batch->chains;

    if (cache) {
        return cache;
    }
    cache = arena_zero(batch->arena, 1, sizeof(*cache));
    if (cache) {
        const char *distance = config_str(config, "chains.distance");

        cache->continue_below = config_real(config, "chains.continue");
        cache->branch_below = config_real(config, "chains.branch");
        cache->is_seed = strcmp(distance, "seed") == 0;
        cache->use_embedding = config_bool(config, "chains.use_embedding");
        batch->chains = cache;
    }
    return cache;
}

static enum clew_status load_talk(struct batch_work *batch,
                                  struct chain_session *session,
                                  struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(batch->tx, &SELECT_TALK,
                 DB_ARGS(db_uuid(&session->session_id)), &rows, err);

    chain_talk_init(&session->talk);
    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows) &&
        !chain_talk_read(db_get_bytes(&rows, 0), &session->talk)) {
        chain_talk_init(&session->talk);
    }
    return db_end(&rows, err);
}

static enum clew_status load(struct batch_work *batch,
                             struct chain_session *session,
                             struct clew_error *err)
{
    struct chain *chains = NULL;
    size_t count = 0;
    enum clew_status status = load_talk(batch, session, err);

    if (status == CLEW_OK) {
        status = chain_list_open(batch->tx, batch->arena, &session->session_id,
                                 &chains, &count, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct chain_entry *chain =
            chain_session_add(batch, session, &chains[i], false);

        if (!chain) {
            return clew_no_memory(err);
        }
        /* The clock had ended the session before turns of its time came: it
         * goes on, and is to rest again. */
        if (chain->chain.phase == CHAIN_DORMANT) {
            chain->chain.phase = CHAIN_ACTIVE;
            chain->is_woken = true;
            session->has_opened = true;
        }
        assert(session->n_open < CHAIN_MAX_OPEN); /* as many as are listed */
        session->open[session->n_open++] = chain;
    }
    return status;
}

static struct chain_session *find(const struct chain_cache *cache,
                                  const struct uuid *session_id)
{
    struct chain_session *session = cache->sessions;

    while (session && !uuid_eq(&session->session_id, session_id)) {
        session = session->next;
    }
    return session;
}

enum clew_status chain_ahead(struct turn_work *work, struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    const struct uuid *session_id = &work->turn->session_id;
    struct chain_cache *cache;
    enum clew_status status;

    if (work->reading->chains.n_parts == 0) {
        return CLEW_OK;
    }
    cache = chain_cache_of(batch);
    if (!cache) {
        return clew_no_memory(err);
    }
    if (find(cache, session_id)) {
        return CLEW_OK;
    }
    status =
        db_ahead(batch->tx, &SELECT_TALK, DB_ARGS(db_uuid(session_id)), err);
    return status == CLEW_OK ? chain_ahead_open(batch->tx, session_id, err)
                             : status;
}

enum clew_status chain_session_enter(struct batch_work *batch,
                                     const struct uuid *session_id,
                                     struct chain_session **out_session,
                                     struct clew_error *err)
{
    struct chain_cache *cache = chain_cache_of(batch);
    struct chain_session *session;
    enum clew_status status;

    if (!cache) {
        return clew_no_memory(err);
    }
    session = find(cache, session_id);
    if (session) {
        *out_session = session;
        return CLEW_OK;
    }
    session = arena_zero(batch->arena, 1, sizeof(*session));
    if (!session) {
        return clew_no_memory(err);
    }
    session->session_id = *session_id;
    status = load(batch, session, err);
    if (status == CLEW_OK) {
        session->next = cache->sessions;
        cache->sessions = session;
        *out_session = session;
    }
    return status;
}

struct chain_entry *chain_session_add(struct batch_work *batch,
                                      struct chain_session *session,
                                      const struct chain *chain, bool is_new)
{
    struct chain_entry **grown =
        arena_grow(batch->arena, session->all, session->n_all,
                   &session->cap_all, sizeof(*grown));
    struct chain_entry *added = arena_zero(batch->arena, 1, sizeof(*added));

    if (!grown || !added) {
        return NULL;
    }
    session->all = grown;
    added->chain = *chain;
    added->is_new = is_new;
    added->is_dirty = is_new;
    session->all[session->n_all++] = added;
    return added;
}

enum clew_status chain_session_rest(struct batch_work *batch,
                                    struct chain_session *session,
                                    struct chain_entry *chain,
                                    enum chain_phase phase,
                                    struct clew_error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < session->n_open; i++) {
        if (session->open[i] != chain) {
            session->open[kept++] = session->open[i];
        }
    }
    session->n_open = kept;
    chain->chain.phase = phase;
    chain->is_dirty = true;
    return chain_add_terms(batch->tx, &chain->chain, err);
}

enum clew_status chain_session_use(struct batch_work *batch,
                                   struct chain_session *session,
                                   struct chain_entry *chain,
                                   struct clew_error *err)
{
    size_t at = 0;
    enum clew_status status = CLEW_OK;

    while (at < session->n_open && session->open[at] != chain) {
        at++;
    }
    if (at == session->n_open) {
        if (session->n_open == CHAIN_MAX_OPEN) {
            status = chain_session_rest(batch, session,
                                        session->open[CHAIN_MAX_OPEN - 1],
                                        CHAIN_DORMANT, err);
        }
        at = session->n_open++;
        session->has_opened = true;
        assert(session->n_open <= CHAIN_MAX_OPEN);
    }
    memmove(session->open + 1, session->open, at * sizeof(session->open[0]));
    session->open[0] = chain;
    return status;
}

static enum clew_status write_talk(struct batch_work *batch,
                                   struct chain_session *session,
                                   struct clew_error *err)
{
    struct buf memory;
    enum clew_status status;

    buf_init(&memory, 256);
    status = chain_talk_write(&session->talk, &memory);
    if (status == CLEW_OK) {
        status = db_exec(batch->tx, &UPSERT_TALK,
                         DB_ARGS(db_uuid(&session->session_id),
                                 db_bytes(memory.data, memory.len)),
                         err);
    }
    buf_release(&memory);
    session->is_talk_dirty = false;
    return status;
}

/* Write back what changed in one session. */
static enum clew_status chain_session_flush(struct batch_work *batch,
                                            struct chain_session *session,
                                            struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < session->n_all && status == CLEW_OK; i++) {
        struct chain_entry *chain = session->all[i];

        if (chain->is_dirty) {
            status = chain->is_new
                         ? chain_insert(batch->tx, &chain->chain, err)
                         : chain_update_row(batch->tx, &chain->chain, err);
            chain->is_dirty = false;
            chain->is_new = false;
        }
    }
    if (status == CLEW_OK && session->is_talk_dirty) {
        status = write_talk(batch, session, err);
    }
    return status;
}

enum clew_status chain_flush(struct batch_work *batch, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (struct chain_session *session = batch->chains ? batch->chains->sessions
                                                       : NULL;
         session && status == CLEW_OK; session = session->next) {
        status = chain_session_flush(batch, session, err);
    }
    return status;
}

enum clew_status chain_finish(struct batch_work *batch, struct clew_error *err)
{
    for (struct chain_session *session = batch->chains ? batch->chains->sessions
                                                       : NULL;
         session; session = session->next) {
        for (size_t i = 0; i < session->n_all; i++) {
            session->all[i]->is_dirty |= session->all[i]->is_woken;
            session->all[i]->is_woken = false;
        }
    }
    return chain_flush(batch, err);
}

bool chain_session_has(const struct batch_work *batch,
                       const struct uuid *session_id,
                       const struct uuid *chain_id)
{
    const struct chain_session *session =
        batch->chains ? find(batch->chains, session_id) : NULL;

    for (size_t i = 0; session && i < session->n_open; i++) {
        if (uuid_eq(&session->open[i]->chain.id, chain_id)) {
            return true;
        }
    }
    return false;
}
