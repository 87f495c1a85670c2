/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_hash.h - what identifies a list of messages.
 *
 * A request is found again by the SHA-256 of its normalised messages
 * (spec/linking.md; the form is fixed, stored hashes must stay valid). One pass
 * yields the digest at every message boundary, so the current, the parent's
 * and every other prefix cost one hash of the text.
 *
 * Messages are JSON as the Anthropic API has them. What OpenAI's chat form adds
 * is folded into the same items: `tool_calls` become tool_use items after the
 * content, a message of role "tool" becomes one tool_result item.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CALL_HASH_H
#define ENGINE_CALL_HASH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Messages of one request. More is refused, not cut. */
#define CALL_MAX_MESSAGES 100000

struct call_digest {
    unsigned char b[SHA256_SIZE];
};

/* The messages that count: no system ones, no repeated tool ids. */
struct call_messages {
    size_t count;
    const json_t **items;       /* borrowed from the request's tree */
    struct call_digest *prefix; /* prefix[i]: digest of messages 0 to i */
};

/*
 * Normalise and hash. `messages` must be an array with at least one message
 * that counts; a message without a role, or with content that is neither
 * text, list nor null, is CLEW_INVALID with its place ("messages[3].role").
 */
enum clew_status call_hash_messages(struct arena *arena, const json_t *messages,
                                    struct call_messages *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/*
 * The digest of one message alone, without its thinking blocks: equal for a
 * reply as it was streamed and as the client sends it back.
 */
enum clew_status call_hash_alone(const json_t *message,
                                 struct call_digest *out) CLEW_MUST_CHECK;

/*
 * The digest of the system prompt (string, list of text blocks, or NULL); false
 * if nothing of it counts. Of several texts each counts for itself, written
 * "[0]text:…|[1]text:…": the hashes that clients have stored were made so.
 */
enum clew_status call_hash_system(const json_t *system, bool *out_has,
                                  struct call_digest *out) CLEW_MUST_CHECK;
/* True if this system prompt asks for a summary. */
bool call_is_summarising(const json_t *system);

/*
 * The own words of a message: its text items joined by LF, blocks stripped,
 * trimmed. A slice of the tree or of the arena.
 */
enum clew_status call_message_text(struct arena *arena, const json_t *message,
                                   struct str *out) CLEW_MUST_CHECK;

bool call_digest_eq(const struct call_digest *a, const struct call_digest *b);

#endif
