/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_http.h - embeddings from any OpenAI-compatible /embeddings endpoint.
 *
 * Texts go out in batches; the answer is bounded, checked for count, order,
 * dimension and finite numbers, and normalised. Plain http is refused unless
 * the host is this machine. Redirects are not followed. A breaker refuses
 * calls (CLEW_UNAVAILABLE) while the endpoint keeps failing. Texts and the key
 * never appear in errors.
 * Thread-safety: embed_run() from any thread; each run has its own connection.
 */
#ifndef MODEL_EMBED_HTTP_H
#define MODEL_EMBED_HTTP_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

struct clock;
struct embedder;

struct embed_http_options {
    const char *url;     /* "https://host/v1/embeddings", or its folder */
    const char *model;   /* sent as "model" */
    const char *key;     /* bearer token, or NULL */
    size_t dim;          /* 0: ask the endpoint once when opening */
    int64_t timeout_ms;  /* of one batch; 0: 30 s */
    size_t batch_texts;  /* 0: 64 */
    struct clock *clock; /* NULL: the system's */
};

/*
 * CLEW_INVALID for a URL that is not allowed. With dim 0 the endpoint is called
 * once and its failure is returned. The id is "http:MODEL:DIM". Freed by
 * embed_free().
 */
enum clew_status embed_http_open(const struct embed_http_options *options,
                                 struct embedder **out_embedder,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
