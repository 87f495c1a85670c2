/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_internal.h - what asking (llm.c) and talking (llm_talk.c) share.
 */
#ifndef MODEL_LLM_INTERNAL_H
#define MODEL_LLM_INTERNAL_H

#include "base/buf.h"
#include "model/breaker.h"
#include "model/llm.h"
#include "model/llm_gate.h"

#include <curl/curl.h>
#include <stdatomic.h>

#define LLM_CONNECT_TIMEOUT_MS 5000

struct llm {
    struct breaker breaker;
    struct llm_gate gate;
    atomic_bool is_plain; /* it knows no schemas */
    char *url;
    char *model;
    char *key_header; /* the whole header line, or NULL */
    bool is_anthropic;
    bool is_local;
    int64_t timeout_ms;
};

/* The headers of a call; NULL without memory. curl_slist_free_all() them. */
struct curl_slist *llm_headers(const struct llm *llm);
/* Everything but where the answer goes. */
bool llm_set_options(const struct llm *llm, CURL *curl,
                     struct curl_slist *headers, int64_t timeout_ms,
                     const struct buf *request);
/* What a finished transfer means; told to wait, the gate does. */
enum clew_status llm_status(struct llm *llm, CURL *curl, CURLcode code,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Before a call: its turn has come, and the endpoint has not failed too often.
 */
enum clew_status llm_enter(struct llm *llm,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* After it. Failures of the endpoint count for the breaker; failures of our own
 * do not. */
void llm_leave(struct llm *llm, enum clew_status status);
/* The tokens that `usage` tells under this name; 0: none, or more than any call
 * has, which would end the ledger's numbers. */
int64_t llm_told(const json_t *usage, const char *field);
/* The text of an answer that came whole, wherever this API puts it. */
const char *llm_text_of(const struct llm *llm, const json_t *answer);

#endif
