/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - one turn on its way through the engine.
 *
 * capture.c makes it, the steps of a turn's life read it and add to it. Each
 * step is one function `<noun>_observe(struct turn_work *, err)` that runs
 * inside the transaction that stores the turn: it may read and write through
 * `tx`, must use the turn's own time and derived ids (uuid_derive), and must be
 * able to run again from the start.
 * Thread-safety: none; one transaction function at a time.
 */
#ifndef ENGINE_WORK_H
#define ENGINE_WORK_H

#include "base/arena.h"
#include "base/json.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/place.h"
#include "engine/reading.h"
#include "engine/turn.h"
#include "engine/updates.h"
#include "index/index.h"

#include <stdbool.h>

struct chain_desk;
struct engine;
struct observe_desk;
struct store_tx;

/* What a batch of turns shares. */
struct batch_work {
    struct engine *engine;
    struct store_tx *tx;
    struct arena *arena;
    struct place *place;
    /* documents written by this transaction, in the order of their changes */
    struct index_doc *docs;
    size_t n_docs, cap_docs;
    bool is_unread; /* no documents: the index reads them (feed_is_later) */
    int64_t next_change; /* reserved numbers: [next_change, end_change) */
    int64_t end_change;
    int64_t first_change; /* the first number this transaction took */
    /* what the steps keep from turn to turn; NULL: nothing yet */
    struct chain_desk *chains;    /* chains in use (chain_room.h) */
    struct observe_desk *observe; /* turns before, efforts (observe_desk.h) */
};

struct turn_work {
    struct batch_work *batch;
    struct turn *turn;                 /* stored already */
    const struct reading *reading;     /* what it says by itself */
    const struct placement *placement; /* its chat and session, and why */
    struct updates *updates;           /* what it changed */
    json_t *trace; /* object: each step sets its own field; NULL = off */
};

/* The next change number of this tenant, from a reserved block. */
enum clew_status work_take_change(struct batch_work *batch, int64_t *out_change,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Note a document for the index; its change_seq must be the newest taken. The
 * strings, terms and vector it points to must live in the batch's arena. */
enum clew_status work_add_doc(struct batch_work *batch,
                              const struct index_doc *doc,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
