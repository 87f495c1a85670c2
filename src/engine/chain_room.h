/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_room.h - the open chains of the sessions a batch touches.
 *
 * Loaded once per session and batch, changed in memory, written back once by
 * chain_finish(). At most CHAIN_MAX_OPEN chains are open in a session; the one
 * used longest ago goes dormant.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHAIN_ROOM_H
#define ENGINE_CHAIN_ROOM_H

#include "engine/chain.h"
#include "engine/chain_decide.h"
#include "engine/work.h"

struct room_chain {
    struct chain chain;
    bool is_new;
    bool is_dirty;
};

struct chain_room {
    struct uuid session_id;
    struct chain_talk talk;
    bool is_talk_dirty;
    struct room_chain *open[CHAIN_MAX_OPEN]; /* the one used last first */
    size_t n_open;
    struct room_chain **all; /* every chain seen, for writing back */
    size_t n_all, cap_all;
    struct chain_room *next;
};

/* What the configuration says, and the rooms of the batch. */
struct chain_desk {
    double continue_below;
    double branch_below;
    bool is_seed;
    bool use_embedding;
    struct chain_room *rooms;
};

/* The batch's desk; NULL on OOM. */
struct chain_desk *chain_desk_of(struct batch_work *batch);
/* Ask ahead (db_ahead()) what chain_room_enter() will ask. */
enum clew_status chain_room_ahead(struct batch_work *batch,
                                  const struct uuid *session_id,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The room of a session, loaded if need be. */
enum clew_status chain_room_enter(struct batch_work *batch,
                                  const struct uuid *session_id,
                                  struct chain_room **out_room,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* A chain enters the room (a new one, or one that comes back). NULL on OOM. */
struct room_chain *chain_room_add(struct batch_work *batch,
                                  struct chain_room *room,
                                  const struct chain *chain, bool is_new);
/* The chain is used now: to the front; makes room where there is none. */
enum clew_status chain_room_use(struct batch_work *batch,
                                struct chain_room *room,
                                struct room_chain *chain,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* The chain is not open any more. */
enum clew_status chain_room_rest(struct batch_work *batch,
                                 struct chain_room *room,
                                 struct room_chain *chain,
                                 enum chain_phase phase,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Write back what changed in one room. */
enum clew_status chain_room_flush(struct batch_work *batch,
                                  struct chain_room *room,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
