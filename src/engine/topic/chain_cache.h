/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_cache.h - the open chains of the sessions a batch touches.
 *
 * Loaded once per session and batch, changed in memory, written back once by
 * chain_finish(). At most CHAIN_MAX_OPEN chains are open in a session; the one
 * used longest ago goes dormant.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHAIN_CACHE_H
#define ENGINE_CHAIN_CACHE_H

#include "engine/core/work.h"
#include "engine/topic/chain.h"
#include "engine/topic/chain_decide.h"

struct chain_entry {
    struct chain chain;
    bool is_new;
    bool is_dirty;
    bool is_woken; /* the row still says that it rests: see chain_finish() */
};

struct chain_session {
    struct uuid session_id;
    struct chain_talk talk;
    bool is_talk_dirty;
    struct chain_entry *open[CHAIN_MAX_OPEN]; /* the one used last first */
    size_t n_open;
    bool has_opened;          /* one came to them, or woke, in this batch */
    struct chain_entry **all; /* every chain seen, for writing back */
    size_t n_all, cap_all;
    struct chain_session *next;
};

/* What the configuration says, and the sessions of the batch. */
struct chain_cache {
    double continue_below;
    double branch_below;
    bool is_seed;
    bool use_embedding;
    struct chain_session *sessions;
};

/* The open chains of a session, loaded if need be. */
enum clew_status chain_session_enter(struct batch_work *batch,
                                     const struct uuid *session_id,
                                     struct chain_session **out_session,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* A chain is open in the session (a new one, or one that comes back). NULL on
 * OOM. */
struct chain_entry *chain_session_add(struct batch_work *batch,
                                      struct chain_session *session,
                                      const struct chain *chain, bool is_new);
/* The chain is used now: to the front; makes room where there is none. */
enum clew_status chain_session_use(struct batch_work *batch,
                                   struct chain_session *session,
                                   struct chain_entry *chain,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* The chain is not open any more. */
enum clew_status chain_session_rest(struct batch_work *batch,
                                    struct chain_session *session,
                                    struct chain_entry *chain,
                                    enum chain_phase phase,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Is the chain open in the session, as far as this batch has come to it? */
bool chain_session_has(const struct batch_work *batch,
                       const struct uuid *session_id,
                       const struct uuid *chain_id);
/* Write back what the turns so far changed; nothing where turns are only looked
 * at (foresee), for to wake a chain is no change before the turn is read. */
enum clew_status chain_flush(struct batch_work *batch,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
