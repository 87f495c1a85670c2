/* SPDX-License-Identifier: Apache-2.0 */
/*
 * episode.h - a stretch of turns: of one chat (primary) or of several
 * (cross_chat), with its summaries once it is compacted.
 *
 * A chat's turns are cut into primary episodes of EPISODE_TURNS; the newest is
 * the chat's primary_episode_id. Chats that were linked share one cross_chat
 * episode. Compacting (compact.h) adds summaries and removes nothing.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_EPISODE_H
#define ENGINE_EPISODE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct batch_work;
struct engine;
struct index_doc;
struct session;
struct turn_work;

/* Turn EPISODE_TURNS + 1 starts the next episode. */
#define EPISODE_TURNS 50
/* Chats of one cross_chat episode; a further link starts another. */
#define EPISODE_MAX_CHATS 64

struct episode {
    struct uuid id;
    struct str type; /* primary, cross_chat */
    struct str user_id;
    struct uuid chat_id; /* of a primary one; else nil */
    int64_t ordinal;     /* of a primary one, from 0 */
    int64_t first_seq;
    int64_t last_seq;        /* 0 while it grows */
    int64_t compacted_seq;   /* turns up to here are in the summaries */
    int64_t compacted_at_ms; /* 0: never */
    struct str cause;        /* end, turns, day, hand; s == NULL: not yet */
    struct str micro;        /* s == NULL: not yet; so the next ones */
    struct str meso;
    struct str macro;
    struct str citations; /* JSON: which turns each summary comes from */
    struct str method;    /* extractive, llm */
    double coverage;
    int64_t created_at_ms;
    int64_t updated_at_ms;
    int64_t change_seq;
};

bool episode_is_primary(const struct episode *episode);
/* The text that is searched: the summaries together. */
struct str episode_search_text(struct arena *arena,
                               const struct episode *episode);

/* The document of an episode by its summaries; analyses and embeds them. */
enum clew_status episode_doc(struct engine *engine, struct arena *arena,
                             const struct episode *episode,
                             struct index_doc *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* --- inside a transaction --- */

/* A turn's step: start the chat's next episode when it is time, and ask for
 * the compaction of what has ended. */
enum clew_status episode_observe(struct turn_work *work,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The chat has ended (closed): ask for the compaction of its open episodes. */
enum clew_status episode_end_chat(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *chat_id, int64_t now_ms,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* A session has ended: the same for its chat, which may go on. */
enum clew_status episode_end_session(struct store_tx *tx, struct arena *arena,
                                     const struct session *session,
                                     int64_t now_ms,
                                     struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Two chats belong together: they share a cross_chat episode from now on, the
 * one that `other` (or `chat`) is in, or a new one whose id follows from
 * `source`. Both chats' rows are changed. `*out_is_new` if it was made.
 */
struct episode_join {
    struct uuid chat_id;
    struct uuid other_chat_id;
    struct uuid link_id;
    struct uuid source; /* the turn that decided */
    int64_t time_ms;
    bool is_sure; /* else the two are joined with each other alone */
    bool is_both; /* one of several that the turn speaks of at once */
};
enum clew_status episode_join(struct batch_work *batch,
                              const struct episode_join *join,
                              struct uuid *out_id, bool *out_is_new,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* They do not, after all. An episode left with one chat is gone. */
enum clew_status episode_part(struct batch_work *batch,
                              const struct uuid *link_id, int64_t now_ms,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* Make the combined summary anew: a chat of it has a new title or summary. */
enum clew_status episode_refresh(struct batch_work *batch,
                                 const struct uuid *id, int64_t now_ms,
                                 struct clew_error *err) CLEW_MUST_CHECK;

enum clew_status episode_insert(struct store_tx *tx,
                                const struct episode *episode,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status episode_find(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id, struct episode *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status episode_find_many(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *ids, size_t count,
                                   struct episode **out, size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* … with only what an answer shows of them: id, type, chat, the lines they
 * cover, micro and meso. */
enum clew_status episode_find_shown(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *ids, size_t count,
                                    struct episode **out, size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The chats of a cross_chat episode, in the order they joined. */
enum clew_status episode_chats(struct store_tx *tx, struct arena *arena,
                               const struct uuid *id, struct uuid **out_ids,
                               size_t *out_count,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Write summaries, citations, cause, method, coverage and times; takes a change
 * number and re-indexes. */
enum clew_status episode_update(struct batch_work *batch,
                                struct episode *episode,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Episodes with change_seq > after, in that order, that have a summary. */
enum clew_status episode_list_changes(struct store_tx *tx, struct arena *arena,
                                      int64_t after, int64_t limit,
                                      struct episode **out, size_t *out_count,
                                      struct clew_error *err) CLEW_MUST_CHECK;

/* --- whole operations --- */

/* An episode with the chats it covers (one, of a primary). */
struct episode_view {
    struct episode episode;
    struct uuid *chat_ids;
    size_t n_chat_ids;
};
/* Of a chat (primary by ordinal, then cross_chat), or with a nil chat the
 * tenant's newest. */
enum clew_status episode_list(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *chat_id,
                              int64_t before_ms, const struct uuid *before_id,
                              int64_t limit, struct episode_view **out,
                              size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The newest of a user; of everyone if `user_id` is empty. */
enum clew_status episode_list_of(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 struct str user_id, int64_t before_ms,
                                 const struct uuid *before_id, int64_t limit,
                                 struct episode_view **out, size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status episode_get(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             struct episode_view *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
