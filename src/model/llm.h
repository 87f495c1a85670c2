/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm.h - ask a language model one question and get one JSON object.
 *
 * Speaks to OpenAI-compatible (/chat/completions) and Anthropic (/v1/messages)
 * endpoints; llm_talk.h streams. Plain http only to this machine. Every call
 * has a deadline; an endpoint that keeps failing is left alone for a while
 * (breaker.h), one that asks to slow down for as long as it says, and only so
 * many calls are on their way at once (llm_gate.h). Near-JSON is repaired; what
 * stays broken is an error. Caps, records and costs are the caller's
 * (engine/core/advice.h).
 * Thread-safety: a struct llm may be used by any number of threads.
 */
#ifndef MODEL_LLM_H
#define MODEL_LLM_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

struct clock;
struct llm;

struct llm_options {
    const char *url;  /* with or without the path of the API */
    const char *kind; /* "openai" or "anthropic" */
    const char *model;
    const char *key; /* NULL or "": none is sent */
    int64_t timeout_ms;
    int concurrency; /* calls on their way at once; 0: any number */
    struct clock *clock;
};

struct llm_request {
    struct str system;
    struct str prompt;
    const char *schema; /* JSON schema of the answer, shown to the model */
    int64_t timeout_ms; /* 0 = the options'; the smaller of both counts */
    int max_tokens;
    /* Let the endpoint hold the model to the schema, where it can: one that
     * refuses is asked again without, and never so again. */
    bool is_strict;
    bool *out_garbled; /* set: an answer came, and no JSON; may be NULL */
};

struct llm_answer {
    json_t *json; /* an object; the caller json_decref()s it */
    int64_t input_tokens;
    int64_t output_tokens;
};

/* CLEW_INVALID for an address that is not allowed. The caller llm_close()s. */
enum clew_status llm_open(const struct llm_options *options,
                          struct llm **out_llm,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* NULL is a no-op. */
void llm_close(struct llm *llm);
const char *llm_model(const struct llm *llm);

/*
 * Ask. CLEW_TIMEOUT past the deadline, CLEW_RATE_LIMITED, CLEW_UNAVAILABLE
 * while the breaker is open, CLEW_UPSTREAM for anything else that is no JSON
 * object.
 */
enum clew_status llm_ask(struct llm *llm, struct arena *arena,
                         const struct llm_request *request,
                         struct llm_answer *out,
                         struct clew_error *err) CLEW_MUST_CHECK;

#endif
