/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild_internal.h - what the parts of a rebuild share. See rebuild.h.
 *
 * rebuild.c opens the scratch store and leads; rebuild_replay.c reads the log
 * and replays its turns, rebuild_action.c its actions; rebuild_diff.c compares
 * rows and writes, rebuild_tasks.c tasks.
 */
#ifndef ENGINE_REBUILD_INTERNAL_H
#define ENGINE_REBUILD_INTERNAL_H

#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/memory/memory.h"
#include "engine/proof/rebuild.h"

/* Turns of one stream of the log, a page at a time. */
struct rebuild_turns {
    struct arena arena;
    struct turn_place after;
    struct turn_entry *items;
    size_t count;
    size_t at;
    bool is_end;
    struct chat *chats; /* those the page's turns stand in, as they are */
    size_t n_chats;
};

/* An action and what only the real store can say about it. */
struct rebuild_action {
    struct action action;
    struct memory memory; /* that a thought made; its id is nil if gone */
    struct uuid *sources; /* what that memory refines or consolidates */
    size_t n_sources;
    struct chat chat;  /* that was forked; its id is nil if gone */
    struct str answer; /* of the LLM; s == NULL if there was none */
};

struct rebuild_actions {
    struct arena arena;
    int64_t after_seq;
    struct uuid after_id;
    int64_t n_done; /* up to there, readings apart */
    struct rebuild_action *items;
    size_t count;
    size_t at;
    bool is_end;
};

/* Changes when the past changes. Two numbers, not their sum: forgetting what
 * was imported takes from one as it adds to the other. */
struct rebuild_epoch {
    int64_t n_forgotten; /* receipts; they only grow */
    int64_t n_imported;  /* turns; they only grow until some are forgotten */
};

struct rebuild {
    struct engine *engine; /* the real one */
    struct scope scope;
    struct arena *arena; /* the report's */
    const struct rebuild_options *options;
    struct engine scratch; /* the same rules on an empty store */
    struct clock clock;    /* of what is replayed */
    struct replay replay;
    char *folder; /* of the scratch store; NULL: in memory */
    struct rebuild_turns told;
    struct rebuild_turns imported;
    struct rebuild_actions actions;
    int64_t through; /* the log is read up to here */
    int64_t reached; /* and replayed up to here */
    struct rebuild_epoch epoch;
    struct rebuild_report report;
    struct rebuild_report *out;
};

/*
 * Replay what the log holds beyond what was replayed. `tx` is a transaction of
 * the real store, or NULL to read page by page.
 */
enum clew_status rebuild_sync(struct rebuild *r, struct store_tx *tx,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* Do one action again in the scratch store. Statuses that say that what it was
 * done to is gone are for the caller to forgive. */
enum clew_status rebuild_do_action(struct rebuild *r,
                                   const struct rebuild_action *entry,
                                   struct arena *arena,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* Compare the scratch store with `tx`, and write the differences there unless
 * it is a dry run. Fills the report's second half. */
enum clew_status rebuild_diff(struct rebuild *r, struct store_tx *tx,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* Count open tasks that should be there and are not; add them unless it is a
 * dry run. */
enum clew_status rebuild_compare_tasks(struct rebuild *r, struct store_tx *tx,
                                       struct arena *arena,
                                       struct clew_error *err) CLEW_MUST_CHECK;

#endif
