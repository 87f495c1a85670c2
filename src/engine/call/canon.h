/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canon.h - requests and replies of the LLM APIs in one shape.
 *
 * Three wire formats carry the same things. Linking and capture see only one:
 * messages with role and content, the content a string or a list of blocks as
 * the Anthropic API has them (text, image, tool_use, tool_result, thinking).
 * What has no counterpart is kept as it is.
 * Thread-safety: pure functions; a tree has one owner at a time.
 */
#ifndef ENGINE_CANON_H
#define ENGINE_CANON_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdint.h>

enum canon_api {
    CANON_ANTHROPIC, /* POST /v1/messages */
    CANON_CHAT,      /* POST /v1/chat/completions */
    CANON_RESPONSES  /* POST /v1/responses */
};

/* Trees are new references of the caller; release with the function below. */
struct canon_request {
    json_t *messages;       /* an array */
    json_t *system;         /* string or list of text blocks; NULL if none */
    struct str model;       /* borrowed from the body; s == NULL if none */
    struct str previous_id; /* previous_response_id; s == NULL if none */
};

enum clew_status canon_request_of(enum canon_api api, const json_t *body,
                                  struct canon_request *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
void canon_request_release(struct canon_request *request);

struct canon_reply {
    json_t *message;  /* role and content; NULL if there is none */
    struct str model; /* borrowed from the response, as the next two */
    struct str id;
    struct str stop_reason;
    int64_t input_tokens; /* -1 if not told; so all that follow */
    int64_t output_tokens;
    /* Read from the provider's cache, and written to it. Anthropic counts both
     * beside the input, and tells both; where writing is not told (-1), what
     * was read is a part of the input, as OpenAI counts. */
    int64_t cache_read_tokens;
    int64_t cache_write_tokens;
    int64_t cost_micros; /* as the provider says: millionths of its currency */
};

/* A name that stands in lists and events: a text of the object, cut where no
 * name ends; s == NULL for one that no column takes. Borrowed. */
struct str canon_name_at(const json_t *object, const char *field);
/* Read a whole response of any of the APIs, told apart by its shape; a string
 * is a reply of that text. Anything else gives no message. */
enum clew_status canon_reply_of(const json_t *response,
                                struct canon_reply *out) CLEW_MUST_CHECK;
void canon_reply_release(struct canon_reply *reply);

#endif
