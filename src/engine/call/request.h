/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - one captured LLM call: rows of the requests table.
 *
 * A request holds no text: its messages and its reply are turns of its chat's
 * line. It keeps the keys it is found by and those it finds its parent with, so
 * that links can be made again from the rows alone.
 * Every finder looks at one tenant and, where it takes a `before`, only at
 * requests strictly earlier than that one, newest first.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/call_hash.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* What is known of the call itself; zero or NULL where it is not. */
struct request_call {
    struct str api; /* "messages", "chat", "responses", "link" */
    struct str model;
    struct str stop_reason;
    struct str error;
    struct str response_id;
    struct str previous_id;
    struct str session_hint;
    int64_t status;       /* HTTP status; 0 if it is not known */
    int64_t input_tokens; /* -1 if not told; so all that follow */
    int64_t output_tokens;
    int64_t cache_read_tokens; /* see canon.h for these three */
    int64_t cache_write_tokens;
    int64_t cost_micros;
    int64_t duration_ms;
    int64_t first_byte_ms;
    bool is_complete; /* the reply came to its end */
};

struct request {
    struct uuid id;
    struct str user_id;
    struct uuid conversation_id;
    struct uuid parent_id; /* nil if there is none */
    /* the first of the calls that were this one, answered so: equal for a call
     * and its retries, whose children are one family */
    struct uuid origin_id;
    struct uuid parent_origin_id; /* nil without a parent */
    struct uuid chat_id;
    struct str branch;
    struct str strategy;
    int64_t message_count;
    int64_t first_seq;
    int64_t last_seq;
    int64_t reply_seq;      /* 0 if there is no reply */
    int64_t subtask_number; /* 0 unless it is a subtask */
    struct uuid hash_key;
    struct uuid reply_key; /* nil without a reply */
    struct call_digest current;
    struct call_digest parent;
    struct call_digest system;
    bool has_parent_hash;
    bool has_system;
    struct uuid parent_reply_key;
    struct uuid grandparent_key;
    struct uuid grandparent_reply_key;
    struct uuid prompt_key; /* of a request with one message */
    bool is_summarising;
    bool is_compact;
    struct request_call call;
    int64_t created_at_ms;
    int64_t stored_at_ms;
};

/* The first 16 bytes of a digest, as an index key. */
struct uuid request_key(const struct call_digest *digest);
/* The key of "these messages, answered so". */
struct uuid request_reply_key(const struct call_digest *messages,
                              const struct call_digest *reply);

/* --- inside a transaction --- */

enum clew_status request_insert(struct store_tx *tx,
                                const struct request *request,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Write back what linking decides: parent, conversation, branch, strategy,
 * subtask number. */
enum clew_status request_update(struct store_tx *tx,
                                const struct request *request,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* All of these: CLEW_NOT_FOUND if there is none. */
enum clew_status request_find(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id, struct request *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
/*
 * What a call goes on with is looked for among those of its own user that are
 * earlier than it, `before`; so in all that follow, and in request_trail.h.
 */
/* By its messages; `system` NULL = any. */
enum clew_status request_find_hash(struct store_tx *tx, struct arena *arena,
                                   const struct request *before,
                                   const struct uuid *hash_key,
                                   const struct call_digest *system,
                                   struct request *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* By its messages and its reply. */
enum clew_status request_find_reply(struct store_tx *tx, struct arena *arena,
                                    const struct request *before,
                                    const struct uuid *reply_key,
                                    const struct call_digest *system,
                                    struct request *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The one with most messages whose key is among `keys`. */
enum clew_status request_find_longest(struct store_tx *tx, struct arena *arena,
                                      const struct request *before,
                                      const struct uuid *keys, size_t count,
                                      struct request *out,
                                      struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status request_find_response(struct store_tx *tx, struct arena *arena,
                                       const struct request *before,
                                       struct str response_id,
                                       struct request *out,
                                       struct clew_error *err) CLEW_MUST_CHECK;
/* Those of `ids` from `since_ms` on, at most 20. */
enum clew_status request_find_many(struct store_tx *tx, struct arena *arena,
                                   const struct request *before,
                                   const struct uuid *ids, size_t count,
                                   int64_t since_ms, struct request **out,
                                   size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* A child of `parent`, or of a retry of it, in its conversation, no subtask;
 * `hash_key` NULL = any, else one with just these messages. */
enum clew_status request_find_child(struct store_tx *tx, struct arena *arena,
                                    const struct request *before,
                                    const struct request *parent,
                                    const struct uuid *hash_key,
                                    struct request *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* How many subtasks of a conversation are earlier than `before`. */
enum clew_status request_count_subtasks(struct store_tx *tx,
                                        const struct request *before,
                                        const struct uuid *conversation_id,
                                        int64_t *out_count,
                                        struct clew_error *err) CLEW_MUST_CHECK;

/* In (time, id) order after that point; the first page: INT64_MIN, nil. */
enum clew_status request_list_after(struct store_tx *tx, struct arena *arena,
                                    int64_t after_ms,
                                    const struct uuid *after_id, int64_t limit,
                                    struct request **out, size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The first request of a chat. */
enum clew_status request_find_first(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *chat_id,
                                    struct request *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* --- whole operations --- */

enum clew_status request_get(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             struct request *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Stands for every status that is a failure. */
#define REQUEST_FAILED 1
/* Newest first; continue with the last row's time and id. */
struct request_filter {
    struct uuid conversation_id; /* nil: any */
    struct str user_id;          /* s == NULL: anyone's; so the next */
    struct str model;
    int64_t status;    /* 0 = any, REQUEST_FAILED, or an HTTP status */
    int64_t since_ms;  /* created at or after; 0 = any */
    int64_t before_ms; /* INT64_MAX: the first page */
    struct uuid before_id;
    int64_t limit;
};
enum clew_status request_list(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct request_filter *filter,
                              struct request **out, size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* What the last message of each call says, cut to 200 characters; s == NULL
 * where it stands in another chat or was forgotten. One for each request, in
 * the arena. */
enum clew_status request_previews(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena,
                                  const struct request *requests, size_t count,
                                  struct str **out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* All of a conversation, oldest first, at most 10,000. */
enum clew_status request_tree(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct uuid *conversation_id,
                              struct request **out, size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
