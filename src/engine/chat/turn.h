/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.h - one message, verbatim and immutable: the only source of truth.
 *
 * `content` is the JSON exactly as the caller sent it (re-serialised), kept
 * only where `text` alone would lose something; `text` is what a person would
 * read in it.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_TURN_H
#define ENGINE_TURN_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

enum turn_role { TURN_USER, TURN_ASSISTANT, TURN_SYSTEM, TURN_TOOL };

struct turn {
    struct uuid id;
    struct uuid chat_id;
    struct uuid session_id;
    int64_t seq;
    enum turn_role role;
    struct str user_id;
    struct str name; /* s == NULL if not given; so the next four */
    struct str channel;
    struct str timezone;
    struct str external_id;
    struct str content;
    struct str text;
    int64_t token_count;
    int64_t created_at_ms; /* when it was said */
    int64_t stored_at_ms;  /* when it came to us */
    int64_t change_seq;
    unsigned log_flags; /* enum turn_log_flags */
};

/* How a turn came, for a replay of the log. */
enum turn_log_flags {
    TURN_LOG_FIRST = 1 << 0, /* it began its transaction */
    TURN_LOG_NAMED = 1 << 1, /* the caller named the chat */
};

const char *turn_role_name(enum turn_role role);
bool turn_role_parse(struct str text, enum turn_role *out_role);
/* Who is shown to have said it: the name, which anybody may choose, as part of
 * a line (base/one_line.h), or without one the role. s == NULL without memory.
 */
struct str turn_who(struct arena *arena, struct str name, struct str role);

/* --- inside a transaction --- */

enum clew_status turn_insert(struct store_tx *tx, const struct turn *turn,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Those of `ids` / `external_ids` that exist, in any order. */
enum clew_status turn_find_many(struct store_tx *tx, struct arena *arena,
                                const struct uuid *ids, size_t count,
                                struct turn **out_turns, size_t *out_count,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* The turn before each of `ids` in its own chat, in any order; none where that
 * is a tool's output or a bare call of one: nobody said what it says. */
enum clew_status turn_find_before(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *ids, size_t count,
                                  struct turn **out_turns, size_t *out_count,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Are turns that were read in another transaction still there, as they were?
 * What is made of them must not bring back what was forgotten meanwhile. */
enum clew_status turn_still_stand(struct store_tx *tx, struct arena *arena,
                                  const struct turn *turns, size_t count,
                                  bool *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The newest `limit` turns that memories cite, in any order. */
enum clew_status turn_find_cited(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *memory_ids, size_t count,
                                 int64_t limit, struct turn **out_turns,
                                 size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status turn_find_external(struct store_tx *tx, struct arena *arena,
                                    const struct str *external_ids,
                                    size_t count, struct turn **out_turns,
                                    size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Turns of a chat's line with seq > after_seq, oldest first, at most `limit`;
 * reads through forks. */
enum clew_status turn_list_line(struct store_tx *tx, struct arena *arena,
                                const struct uuid *chat_id, int64_t after_seq,
                                int64_t limit, struct turn **out_turns,
                                size_t *out_count,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* The last `limit` turns of a chat's line up to `to_seq`, oldest first. */
enum clew_status turn_list_until(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chat_id, int64_t to_seq,
                                 int64_t limit, struct turn **out_turns,
                                 size_t *out_count,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* … of all of it. */
enum clew_status turn_list_last(struct store_tx *tx, struct arena *arena,
                                const struct uuid *chat_id, int64_t limit,
                                struct turn **out_turns, size_t *out_count,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Turns with change_seq > after, in that order: how indexes catch up. */
enum clew_status turn_list_changes(struct store_tx *tx, struct arena *arena,
                                   int64_t after, int64_t limit,
                                   struct turn **out_turns, size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* A turn with its place in the log. */
struct turn_entry {
    struct turn turn;
    int64_t log_seq;
    bool is_flagged; /* false: stored before log_flags were */
};
/* Where a reader of the log stands, in one of its two streams: what was told
 * here, and what was imported. */
struct turn_place {
    bool is_imported;
    int64_t log_seq; /* of imported turns */
    int64_t change_seq;
};
/* Turns of one stream after a place, in the order of the log. */
enum clew_status turn_list_log(struct store_tx *tx, struct arena *arena,
                               const struct turn_place *after, int64_t limit,
                               struct turn_entry **out, size_t *out_count,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* --- whole operations --- */

/* As turn_list_line(), CLEW_NOT_FOUND for an unknown chat. */
enum clew_status turn_list(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *chat_id,
                           int64_t after_seq, int64_t limit,
                           struct turn **out_turns, size_t *out_count,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* The last `limit` turns of the line before `before_seq`, oldest first.
 * CLEW_NOT_FOUND for an unknown chat. */
enum clew_status
turn_list_before(struct engine *engine, const struct scope *scope,
                 struct arena *arena, const struct uuid *chat_id,
                 int64_t before_seq, int64_t limit, struct turn **out_turns,
                 size_t *out_count, struct clew_error *err) CLEW_MUST_CHECK;
/* The turn with this id of its caller's: one, or none. */
enum clew_status turn_by_external_id(struct engine *engine,
                                     const struct scope *scope,
                                     struct arena *arena,
                                     struct str external_id,
                                     struct turn **out_turns, size_t *out_count,
                                     struct clew_error *err) CLEW_MUST_CHECK;

#endif
