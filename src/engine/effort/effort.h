/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort.h - something somebody tries to get done, and the turns it owns.
 *
 * An effort is a memory of type "effort" (title, status, resolution) and a row
 * that says which turns are its own and whether they are in view:
 *   status  open -> resolved | abandoned -> open again
 *   state   active (worked on now), expanded (looked at), collapsed (summary)
 * Attempts are efforts with a parent and an outcome. Everything but spawned
 * efforts is derived from the turns.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_EFFORT_H
#define ENGINE_EFFORT_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/memory/memory.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct turn_work;
struct batch_work;

enum effort_state { EFFORT_ACTIVE, EFFORT_EXPANDED, EFFORT_COLLAPSED };

struct effort {
    struct uuid memory_id;
    struct uuid thread_id; /* the chat its turns stand in */
    enum effort_state state;
    struct str outcome; /* failed, found; s == NULL for none */
    bool is_open;
    bool is_spawned;   /* thread_id is a chat of its own */
    bool is_shared;    /* seen from a fork, see effort_fork.h */
    int64_t first_seq; /* the stretch of turns that grows now */
    int64_t last_seq;
    int64_t last_at_ms;
    int64_t raw_tokens; /* of all its turns */
    /* of its memory, for lists */
    struct str summary;
    struct str status;
    struct str resolution;
    struct str user_id;
    struct uuid parent_id;
    struct uuid twin_of;         /* effort a fork parted from; nil if none */
    struct uuid conversation_id; /* of its thread; nil if that is forgotten */
    int64_t created_at_ms;
};

/* Most efforts of one chat that a turn is held against. */
#define EFFORT_MAX_LIST 32
/* Most that are listed, or looked through for one that is named. */
#define EFFORT_MAX_ALL 1000

const char *effort_state_name(enum effort_state state);
/* The last touched first. */
void effort_sort(struct effort *efforts, size_t count);

/* --- inside a transaction --- */

/* Efforts of a chat, the last touched first: those that are open or in view,
 * or all of them. */
enum clew_status effort_list(struct store_tx *tx, struct arena *arena,
                             const struct uuid *thread_id, bool with_closed,
                             struct effort **out_efforts, size_t *out_count,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Those that own turns of any of these chats, ended ones too, each once;
 * without attempts and spawned ones. */
enum clew_status effort_list_owners(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *chat_ids, size_t n_chats,
                                    struct effort **out_efforts,
                                    size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Whether the chat has had no other effort. */
enum clew_status effort_is_only(struct store_tx *tx,
                                const struct uuid *thread_id,
                                const struct uuid *memory_id, bool *out,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Attempts of an effort, in order. */
enum clew_status effort_attempts(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *parent_id,
                                 struct effort **out_efforts, size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Open efforts of a user (empty: of everybody) in any chat, newest first;
 * ended ones too if asked for. Without attempts. */
enum clew_status effort_list_user(struct store_tx *tx, struct arena *arena,
                                  struct str user_id, bool with_closed,
                                  struct effort **out_efforts,
                                  size_t *out_count,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The same, by what they are called: a user may have EFFORT_MAX_ALL of them,
 * and few concern a turn. */
struct effort_title {
    struct uuid memory_id;
    struct str summary;
};
enum clew_status effort_list_titles(struct store_tx *tx, struct arena *arena,
                                    struct str user_id,
                                    struct effort_title **out_titles,
                                    size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Those with these ids, by id. */
enum clew_status effort_list_these(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *ids, size_t n_ids,
                                   struct effort **out_efforts,
                                   size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Ended efforts of a user that were opened after `since_ms`, newest first. */
enum clew_status effort_list_ended(struct store_tx *tx, struct arena *arena,
                                   struct str user_id, int64_t since_ms,
                                   struct effort **out_efforts,
                                   size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_NOT_FOUND if the memory is no effort with turns. */
enum clew_status effort_find(struct store_tx *tx, struct arena *arena,
                             const struct uuid *memory_id,
                             struct effort *out_effort,
                             struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_insert(struct store_tx *tx, const struct effort *effort,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Write back all that changes. */
enum clew_status effort_update(struct store_tx *tx, const struct effort *effort,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Turn `seq` of its thread belongs to it now. */
enum clew_status effort_own(struct store_tx *tx, struct effort *effort,
                            int64_t seq, int64_t time_ms, int64_t tokens,
                            struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Change the status, with the log of earlier endings kept in the memory's
 * fields, and every change with its place, so that a fork can tell what was so
 * at its point (effort_fork.h); an effort closed again tells its earlier
 * resolutions too. `memory` is
 * changed and written; a memory without a row here is changed as well.
 */
struct effort_change {
    const char *status;    /* open, resolved, abandoned */
    struct str resolution; /* s == NULL: keeps what there is */
    struct str outcome;    /* s == NULL: none */
    float confidence;      /* that the turn resolves it; 0: not a guess */
    int64_t time_ms;
    struct uuid chat_id; /* the turn that does it; nil: by hand */
    int64_t seq;
};
enum clew_status effort_set_status(struct batch_work *batch,
                                   struct memory *memory,
                                   const struct effort_change *change,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* --- the observer (observer.h): a turn moves the efforts of its chat --- */

enum clew_status effort_foresee(struct turn_work *work,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_observe(struct turn_work *work,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
