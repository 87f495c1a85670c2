/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - one turn on its way through the engine.
 *
 * capture.c makes it, the observers (observer.h) read it and add to it.
 * Thread-safety: none; one transaction function at a time.
 */
#ifndef ENGINE_WORK_H
#define ENGINE_WORK_H

#include "base/arena.h"
#include "base/json.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/core/updates.h"
#include "index/index.h"

#include <stdbool.h>

struct chain_cache;
struct engine;
struct observation;
struct place;
struct placement;
struct reading;
struct sense_memo;
struct store_tx;
struct turn;

/* What a step keeps of one chat or session from turn to turn of a batch, so
 * that a turn costs no query that its neighbour has made: the first member of
 * the step's own struct. It ends with the transaction. */
struct work_cache {
    struct uuid key;
    struct work_cache *next;
};

/* What a batch of turns shares. */
struct batch_work {
    struct engine *engine;
    struct store_tx *tx;
    struct arena *arena;
    struct place *place;
    /* documents written by this transaction, in the order of their changes */
    struct index_doc *docs;
    size_t n_docs, cap_docs;
    bool is_unread;      /* no documents: the index reads them (commit.h) */
    int64_t next_change; /* reserved numbers: [next_change, end_change) */
    int64_t end_change;
    int64_t first_change;    /* the first number this transaction took */
    struct sense_memo *memo; /* what the reader said (sense.h); NULL: asked
                                anew */
    /* what the steps keep from turn to turn; NULL: nothing yet */
    struct work_cache *talks;   /* by chat: turns before (talk_cache.h) */
    struct work_cache *efforts; /* by chat: those in view (effort_cache.h) */
    struct work_cache *profiles; /* by chat: what it is about (chatlink.c) */
    struct chain_cache *chains;  /* chains in use (chain_cache.h) */
};

struct turn_work {
    struct batch_work *batch;
    struct turn *turn;                 /* stored already */
    const struct reading *reading;     /* what it says by itself */
    const struct placement *placement; /* its chat and session, and why */
    struct updates *updates;           /* what it changed */
    json_t *trace; /* object: each step sets its own field; NULL = off */
    /* what is understood of it (observation.h); NULL: not part of the talk */
    struct observation *observation;
    const int64_t *before; /* seqs of the talk before it, the last one first */
    size_t n_before;
    uint64_t n_made; /* numbers the derived ids of what it makes */
    size_t n_told;   /* numbers what it does to chains, likewise */
    const char *origin; /* of memories made now; NULL: "extracted" */
};

/* The entry of `key`, made (zeroed, `size` bytes) if it is new; NULL on OOM. */
void *work_cache_get(struct arena *arena, struct work_cache **list,
                     const struct uuid *key, size_t size);
/* The next change number of this tenant, from a reserved block. */
enum clew_status work_take_change(struct batch_work *batch, int64_t *out_change,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Note a document for the index; its change_seq must be the newest taken. The
 * strings, terms and vector it points to must live in the batch's arena. */
enum clew_status work_add_doc(struct batch_work *batch,
                              const struct index_doc *doc,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
