/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat.h - one line of turns: made by a person, by silence, or by a fork.
 *
 * A fork copies nothing: it remembers its parent and the turn it left at
 * (fork_seq). The turns up to there are read through the parent, and its own
 * start at fork_seq + 1, so `seq` counts along the whole line. A conversation
 * is the tree of chats that share history; its id is its root chat's id.
 * The functions with a tx run inside the caller's transaction.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHAT_H
#define ENGINE_CHAT_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct chat {
    struct uuid id;
    struct uuid conversation_id; /* id of the root chat of its tree */
    struct uuid parent_id;       /* nil for a root */
    struct str user_id;
    struct str branch;  /* "main", "branch_…", "compact_…", "subtask_…" */
    struct str title;   /* s == NULL until there is one */
    struct str summary; /* s == NULL until there is one */
    struct str channels; /* names seen here, separated by commas */
    int64_t fork_seq;    /* turns up to here are the parent's; 0 for a root */
    int64_t depth;       /* forks between it and the root */
    int64_t last_seq;    /* seq of the newest turn of the line */
    int64_t inactivity_minutes; /* its own timeout; 0 = not set */
    int64_t user_minutes; /* its user's, as of when it was read; 0 = not set */
    int64_t created_at_ms;
    int64_t last_activity_at_ms;
    int64_t closed_at_ms; /* 0 while open */
    bool is_explicit;     /* a person picked it; silence does not end it */
    bool is_titled_by_user;
    struct uuid primary_episode_id; /* the newest; nil before the first turn */
    struct str cross_episodes; /* ids of cross_chat episodes, by commas; s may
                                  be NULL */
};

/* A stretch of a line: turns (from_seq, to_seq] stand in chat `chat_id`. */
struct chat_part {
    struct uuid chat_id;
    int64_t after_seq;
    int64_t to_seq;
};

/* --- inside a transaction --- */

/* CLEW_NOT_FOUND if this tenant has no such chat. Strings in the arena. */
/* A sub-agent's: what "users" say in it another model wrote. */
bool chat_is_subtask(const struct chat *chat);

enum clew_status chat_find(struct store_tx *tx, struct arena *arena,
                           const struct uuid *id, struct chat *out_chat,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Those of `ids` that exist, in any order. */
enum clew_status chat_find_many(struct store_tx *tx, struct arena *arena,
                                const struct uuid *ids, size_t count,
                                struct chat **out_chats, size_t *out_count,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chat_insert(struct store_tx *tx, const struct chat *chat,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Write back what changes in a chat's life: title, summary, channels,
 * last_seq, last activity, timeouts, closed, episodes. */
enum clew_status chat_update(struct store_tx *tx, const struct chat *chat,
                             struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The user's implicit chat that a turn at `time_ms` may continue: the one that
 * started last at or before it. CLEW_NOT_FOUND if there is none.
 */
enum clew_status chat_find_current(struct store_tx *tx, struct arena *arena,
                                   struct str user_id, int64_t time_ms,
                                   struct chat *out_chat,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Ask ahead (db_ahead()) what chat_find_current() will ask. */
enum clew_status chat_ahead_current(struct store_tx *tx, struct str user_id,
                                    int64_t time_ms,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The line of a chat, root first; at most LIMIT_FORK_DEPTH + 1 parts. */
enum clew_status chat_line(struct store_tx *tx, struct arena *arena,
                           const struct uuid *id, struct chat_part **out_parts,
                           size_t *out_count,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* The id of a new chat, and when it begins. */
struct chat_birth {
    struct uuid id;
    int64_t at_ms;
};
/* An explicit chat: a captured call that continues no other, a new start. */
enum clew_status chat_insert_linked(struct store_tx *tx,
                                    const struct chat_birth *birth,
                                    struct str user_id, struct chat *out_chat,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/*
 * A new chat that shares the line of `parent` up to `at_seq` (0 to its
 * last_seq; else CLEW_INVALID, field "at_seq"). If that turn belongs to an
 * ancestor, the fork hangs on the ancestor. `branch` empty = "branch_<time>".
 */
enum clew_status chat_fork(struct store_tx *tx, struct arena *arena,
                           const struct chat *parent, int64_t at_seq,
                           struct str title, struct str branch,
                           const struct chat_birth *birth,
                           struct chat *out_chat,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Where a chat leaves another. */
struct chat_origin {
    struct uuid chat_id;
    int64_t at_seq;     /* < 0: at the end */
    struct str subtask; /* s == NULL; else as chat_fork_subtask(), and at_seq
                           is 0 */
};
/* chat_fork_at() or chat_fork_subtask(), as part of something else. */
enum clew_status chat_fork_from(struct engine *engine, struct store_tx *tx,
                                struct arena *arena,
                                const struct chat_origin *origin,
                                struct chat *out_chat,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* --- whole operations --- */

struct chat_new {
    struct str user_id;
    struct str channel;         /* s == NULL: explicit */
    struct str title;           /* s == NULL: made from the first turn */
    int64_t inactivity_minutes; /* 0 = not set */
    int64_t sent_at_ms;         /* forgotten_refuse() */
};

enum clew_status chat_create(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct chat_new *input,
                             struct chat *out_chat,
                             struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chat_get(struct engine *engine, const struct scope *scope,
                          struct arena *arena, const struct uuid *id,
                          struct chat *out_chat,
                          struct clew_error *err) CLEW_MUST_CHECK;

/* What a list of chats is ordered by, the greatest first. */
enum chat_sort { CHAT_BY_ACTIVITY, CHAT_BY_START, CHAT_BY_TURNS };
/* The number a chat is ordered by. */
int64_t chat_sort_number(const struct chat *chat, enum chat_sort sort);

/* `after_*` continue a page (0 and nil: the first). */
struct chat_filter {
    struct str user_id; /* s == NULL: every user */
    struct str query;   /* words in the title or summary; s == NULL: any */
    enum chat_sort sort;
    int64_t since_ms;     /* last active at or after; 0 = any */
    int64_t until_ms;     /* last active before; 0 = any */
    int64_t after_number; /* chat_sort_number() of the last seen */
    struct uuid after_id;
    int64_t limit;
};
enum clew_status chat_list(struct engine *engine, const struct scope *scope,
                           struct arena *arena,
                           const struct chat_filter *filter,
                           struct chat **out_chats, size_t *out_count,
                           struct clew_error *err) CLEW_MUST_CHECK;

/* Fields to change; NULL pointers stay as they are. */
struct chat_change {
    const struct str *title; /* the user's own title from now on */
    const int64_t *inactivity_minutes;
};
enum clew_status chat_patch(struct engine *engine, const struct scope *scope,
                            struct arena *arena, const struct uuid *id,
                            const struct chat_change *change,
                            struct chat *out_chat,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* `at_seq` < 0 = at the end. */
enum clew_status chat_fork_at(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *id,
                              int64_t at_seq, struct str title,
                              struct chat *out_chat,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The talk of a sub-agent beside a chat: a fork before its first turn that
 * shows none of it. What it is told is a model's words. The same name again is
 * another one. */
enum clew_status chat_fork_subtask(struct engine *engine,
                                   const struct scope *scope,
                                   struct arena *arena, const struct uuid *id,
                                   struct str name, struct chat *out_chat,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Every chat of the tree that `id` is part of, parents before children. */
enum clew_status chat_tree(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *id,
                           struct chat **out_chats, size_t *out_count,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
