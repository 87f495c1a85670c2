/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_trail.h - what a captured call leaves to be found by, beside its row.
 *
 * The prompts of the sub-agents its reply started; anchors of the reply's text,
 * by which a compacted session finds it again (call_compact.h); and the digest
 * of its line up to each message, which a rebuild looks prefixes up with.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_REQUEST_TRAIL_H
#define ENGINE_REQUEST_TRAIL_H

#include "engine/call/request.h"

enum clew_status request_add_task(struct store_tx *tx,
                                  const struct request *request,
                                  const struct uuid *prompt_key,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Whose reply started a sub-agent with this prompt, from `since_ms` on. */
enum clew_status request_find_task(struct store_tx *tx, struct arena *arena,
                                   const struct request *before,
                                   const struct uuid *prompt_key,
                                   int64_t since_ms, struct request *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

enum clew_status request_add_anchors(struct store_tx *tx,
                                     const struct request *request,
                                     const int64_t *anchors, size_t count,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* Whose replies hold all these anchors, from `since_ms` on. */
enum clew_status request_find_anchors(struct store_tx *tx, struct arena *arena,
                                      const struct request *before,
                                      const int64_t *anchors, size_t count,
                                      int64_t since_ms, struct request **out,
                                      size_t *out_count,
                                      struct clew_error *err) CLEW_MUST_CHECK;

enum clew_status request_add_prefix(struct store_tx *tx,
                                    const struct uuid *chat_id, int64_t seq,
                                    const struct call_digest *prefix,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The prefixes of a request's messages, in order. */
enum clew_status request_prefixes(struct store_tx *tx, struct arena *arena,
                                  const struct request *request,
                                  struct uuid **out_keys, size_t *out_count,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
