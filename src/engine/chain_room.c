/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_room.c - load, order and write back open chains. See chain_room.h.
 */
#include "engine/chain_room.h"

#include "base/config.h"
#include "engine/engine.h"
#include "store/db.h"

#include <string.h>

DB_SQL(SELECT_TALK, "SELECT memory FROM session_talks WHERE tenant = $1"
                    " AND session_id = $2");
DB_SQL(UPSERT_TALK, "INSERT INTO session_talks (tenant, session_id, memory)"
                    " VALUES ($1, $2, $3) ON CONFLICT (tenant, session_id)"
                    " DO UPDATE SET memory = excluded.memory");

struct chain_desk *chain_desk_of(struct batch_work *batch)
{
    const struct config *config = batch->engine->config;
    struct chain_desk *desk = batch->chains;

    if (desk) {
        return desk;
    }
    desk = arena_zero(batch->arena, 1, sizeof(*desk));
    if (desk) {
        const char *distance = config_str(config, "chains.distance");

        desk->continue_below = config_real(config, "chains.continue");
        desk->branch_below = config_real(config, "chains.branch");
        desk->is_seed = strcmp(distance, "seed") == 0;
        desk->use_embedding = config_bool(config, "chains.use_embedding");
        batch->chains = desk;
    }
    return desk;
}

static enum clew_status load_talk(struct batch_work *batch,
                                  struct chain_room *room,
                                  struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(batch->tx, &SELECT_TALK, DB_ARGS(db_uuid(&room->session_id)),
                 &rows, err);

    chain_talk_init(&room->talk);
    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows) &&
        !chain_talk_read(db_get_bytes(&rows, 0), &room->talk)) {
        chain_talk_init(&room->talk);
    }
    return db_end(&rows, err);
}

static enum clew_status load(struct batch_work *batch, struct chain_room *room,
                             struct clew_error *err)
{
    struct chain *chains = NULL;
    size_t count = 0;
    enum clew_status status = load_talk(batch, room, err);

    if (status == CLEW_OK) {
        status = chain_list_open(batch->tx, batch->arena, &room->session_id,
                                 &chains, &count, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct room_chain *chain =
            chain_room_add(batch, room, &chains[i], false);

        if (!chain) {
            return clew_no_memory(err);
        }
        room->open[room->n_open++] = chain;
    }
    return status;
}

static struct chain_room *find(const struct chain_desk *desk,
                               const struct uuid *session_id)
{
    struct chain_room *room = desk->rooms;

    while (room && !uuid_eq(&room->session_id, session_id)) {
        room = room->next;
    }
    return room;
}

enum clew_status chain_room_ahead(struct batch_work *batch,
                                  const struct uuid *session_id,
                                  struct clew_error *err)
{
    struct chain_desk *desk = chain_desk_of(batch);
    enum clew_status status;

    if (!desk) {
        return clew_no_memory(err);
    }
    if (find(desk, session_id)) {
        return CLEW_OK;
    }
    status =
        db_ahead(batch->tx, &SELECT_TALK, DB_ARGS(db_uuid(session_id)), err);
    return status == CLEW_OK ? chain_ahead_open(batch->tx, session_id, err)
                             : status;
}

enum clew_status chain_room_enter(struct batch_work *batch,
                                  const struct uuid *session_id,
                                  struct chain_room **out_room,
                                  struct clew_error *err)
{
    struct chain_desk *desk = chain_desk_of(batch);
    struct chain_room *room;
    enum clew_status status;

    if (!desk) {
        return clew_no_memory(err);
    }
    room = find(desk, session_id);
    if (room) {
        *out_room = room;
        return CLEW_OK;
    }
    room = arena_zero(batch->arena, 1, sizeof(*room));
    if (!room) {
        return clew_no_memory(err);
    }
    room->session_id = *session_id;
    status = load(batch, room, err);
    if (status == CLEW_OK) {
        room->next = desk->rooms;
        desk->rooms = room;
        *out_room = room;
    }
    return status;
}

struct room_chain *chain_room_add(struct batch_work *batch,
                                  struct chain_room *room,
                                  const struct chain *chain, bool is_new)
{
    struct room_chain **grown = arena_grow(batch->arena, room->all, room->n_all,
                                           &room->cap_all, sizeof(*grown));
    struct room_chain *added = arena_zero(batch->arena, 1, sizeof(*added));

    if (!grown || !added) {
        return NULL;
    }
    room->all = grown;
    added->chain = *chain;
    added->is_new = is_new;
    added->is_dirty = is_new;
    room->all[room->n_all++] = added;
    return added;
}

enum clew_status chain_room_rest(struct batch_work *batch,
                                 struct chain_room *room,
                                 struct room_chain *chain,
                                 enum chain_phase phase, struct clew_error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < room->n_open; i++) {
        if (room->open[i] != chain) {
            room->open[kept++] = room->open[i];
        }
    }
    room->n_open = kept;
    chain->chain.phase = phase;
    chain->is_dirty = true;
    return chain_add_terms(batch->tx, &chain->chain, err);
}

enum clew_status chain_room_use(struct batch_work *batch,
                                struct chain_room *room,
                                struct room_chain *chain,
                                struct clew_error *err)
{
    size_t at = 0;
    enum clew_status status = CLEW_OK;

    while (at < room->n_open && room->open[at] != chain) {
        at++;
    }
    if (at == room->n_open) {
        if (room->n_open == CHAIN_MAX_OPEN) {
            status =
                chain_room_rest(batch, room, room->open[CHAIN_MAX_OPEN - 1],
                                CHAIN_DORMANT, err);
        }
        at = room->n_open++;
    }
    memmove(room->open + 1, room->open, at * sizeof(room->open[0]));
    room->open[0] = chain;
    return status;
}

static enum clew_status write_talk(struct batch_work *batch,
                                   struct chain_room *room,
                                   struct clew_error *err)
{
    struct buf memory;
    enum clew_status status;

    buf_init(&memory, 256);
    status = chain_talk_write(&room->talk, &memory);
    if (status == CLEW_OK) {
        status = db_exec(batch->tx, &UPSERT_TALK,
                         DB_ARGS(db_uuid(&room->session_id),
                                 db_bytes(memory.data, memory.len)),
                         err);
    }
    buf_release(&memory);
    room->is_talk_dirty = false;
    return status;
}

enum clew_status chain_room_flush(struct batch_work *batch,
                                  struct chain_room *room,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < room->n_all && status == CLEW_OK; i++) {
        struct room_chain *chain = room->all[i];

        if (chain->is_dirty) {
            status = chain->is_new
                         ? chain_insert(batch->tx, &chain->chain, err)
                         : chain_update_row(batch->tx, &chain->chain, err);
            chain->is_dirty = false;
            chain->is_new = false;
        }
    }
    if (status == CLEW_OK && room->is_talk_dirty) {
        status = write_talk(batch, room, err);
    }
    return status;
}

enum clew_status chain_finish(struct batch_work *batch, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (struct chain_room *room = batch->chains ? batch->chains->rooms : NULL;
         room && status == CLEW_OK; room = room->next) {
        status = chain_room_flush(batch, room, err);
    }
    return status;
}
