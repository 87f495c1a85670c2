/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h - claims on one topic in order: a thread of thought.
 *
 * A chain is active while its session goes on and a day longer, then dormant
 * until a turn comes back to it; a concluded one is reopened only by hand.
 * Every claim is in exactly one chain. Which, chain_score.h decides; what was
 * decided and why is kept as a step of the turn (chain_step.h).
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHAIN_H
#define ENGINE_CHAIN_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/session.h"
#include "engine/core/task.h"
#include "engine/core/updates.h"
#include "engine/topic/chain_state.h"
#include "engine/topic/chain_step.h"
#include "store/store.h"

#include <stdint.h>

struct engine;
struct turn_work;
struct batch_work;

/* How long a chain rests after its session before it is dormant. */
#define CHAIN_DORMANT_MS (24 * 60 * 60 * 1000LL)
/* Chains this near to each other are one. */
#define CHAIN_MERGE_DISTANCE 0.35

enum chain_phase { CHAIN_ACTIVE, CHAIN_DORMANT, CHAIN_CONCLUDED };

struct chain {
    struct uuid id;
    struct str user_id;
    struct uuid chat_id;    /* where it was extended last */
    struct uuid session_id; /* the same */
    struct str topic;       /* a readable noun phrase */
    enum chain_phase phase;
    int64_t started_at_ms;
    int64_t last_extended_at_ms;
    int64_t last_seq; /* of the turn that extended it last */
    int64_t n_claims;
    struct uuid branches_from; /* nil if none */
    struct uuid merged_into;   /* nil if none */
    struct uuid twin_of;       /* chain a fork parted from; nil if none */
    bool is_unmade;            /* … and it has no row yet (chain_fork.h) */
    struct chain_state state;
};

/* What happened to it: a step of a turn, or an action by hand. */
struct chain_event {
    struct uuid id;
    struct uuid chain_id;
    struct uuid turn_id; /* nil for an action by hand */
    struct uuid chat_id; /* the turn's place, likewise */
    int64_t seq;
    int64_t position; /* among the updates of its turn */
    struct str type;
    struct uuid parent_id; /* nil if none */
    struct str claim_ids;  /* separated by commas */
    double distance;       /* < 0 if there is none */
    struct str reasoning;
    int64_t created_at_ms;
};

const char *chain_phase_name(enum chain_phase phase);
bool chain_phase_parse(struct str name, enum chain_phase *out_phase);

/* --- a turn's life --- */

/* The observer, when a turn is read: find claims, put them into chains. */
enum clew_status chain_foresee(struct turn_work *work,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chain_ahead(struct turn_work *work,
                             struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chain_observe(struct turn_work *work,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* ... when it is stored: a session that ended with its silence hands its chains
 * over. */
enum clew_status chain_leave(struct turn_work *work,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* After the last turn of a batch: write back what is kept in memory. */
enum clew_status chain_finish(struct batch_work *batch,
                              struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The effort that came from these lines is resolved: the active chains that
 * hold claims of them are concluded.
 */
enum clew_status chain_resolve(struct turn_work *work,
                               const struct uuid *chat_id, int64_t first_seq,
                               int64_t last_seq,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* --- inside a transaction --- */

enum clew_status chain_insert(struct store_tx *tx, const struct chain *chain,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chain_update_row(struct store_tx *tx,
                                  const struct chain *chain,
                                  struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chain_find(struct store_tx *tx, struct arena *arena,
                            const struct uuid *id, struct chain *out_chain,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The chains of a session that are not concluded, the one used last first. */
enum clew_status chain_list_open(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *session_id,
                                 struct chain **out_chains, size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Ask ahead (db_ahead()) for them. */
enum clew_status chain_ahead_open(struct store_tx *tx,
                                  const struct uuid *session_id,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Chains outside the session that a turn with these words may come back to:
 * the user's latest, and for each term the latest that have it. A dozen and
 * six for each term at most.
 */
enum clew_status
chain_list_resting(struct store_tx *tx, struct arena *arena, struct str user_id,
                   const struct uuid *session_id, const int64_t *terms,
                   size_t n_terms, struct chain **out_chains, size_t *out_count,
                   struct clew_error *err) CLEW_MUST_CHECK;
/* Make a chain that goes to rest findable by its words. */
enum clew_status chain_add_terms(struct store_tx *tx, const struct chain *chain,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* A session ended: check its chains a day later, have it summed up now
 * (episode/session_sum.h). */
enum clew_status chain_session_ended(struct store_tx *tx, struct arena *arena,
                                     const struct session *session,
                                     int64_t now_ms,
                                     struct clew_error *err) CLEW_MUST_CHECK;

/* ... and those of turns that are read after the session has ended. `now_ms`
 * is the clock's. */
enum clew_status chain_rest_later(struct store_tx *tx, struct arena *arena,
                                  const struct session *session, int64_t now_ms,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/* --- tasks (task/handlers.c) --- */

#define CHAIN_REST_TASK "check_chain_dormancy"
/* A session's chains go dormant, a day after its end. */
enum clew_status chain_check_dormancy(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err);

/* --- whole operations --- */

struct chain_filter {
    struct str user_id;     /* s == NULL: all */
    struct str state;       /* the same */
    struct uuid session_id; /* nil: all */
    struct uuid chat_id;    /* nil: all */
    int64_t before_time_ms; /* continue a page: 0 and nil for the first */
    struct uuid before_id;
    int64_t limit;
};
/* Inside a transaction: latest extension first; without those of a fork's line.
 */
enum clew_status chain_list_rows(struct store_tx *tx, struct arena *arena,
                                 const struct chain_filter *filter,
                                 struct chain **out_chains, size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* … and what happened to one. */
enum clew_status chain_list_events(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *id, int64_t limit,
                                   struct chain_event **out_events,
                                   size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Latest extension first. */
enum clew_status chain_list(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct chain_filter *filter,
                            struct chain **out_chains, size_t *out_count,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* A chain with what hangs on it, the first CHAIN_VIEW_MAX of each. */
#define CHAIN_VIEW_MAX 1000
struct chain_detail {
    struct chain chain;
    struct claim *claims;
    size_t n_claims;
    struct chain_event *events;
    size_t n_events;
};
enum clew_status chain_get(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *id,
                           struct chain_detail *out,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* By hand. Concluding a concluded chain changes nothing, as does reopening an
 * active one. CLEW_CONFLICT to reopen one that was merged into another. */
enum clew_status chain_conclude(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct uuid *id, struct chain *out_chain,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chain_reopen(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *id,
                              struct chain *out_chain,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
