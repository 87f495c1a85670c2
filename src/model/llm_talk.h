/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_talk.h - let a language model reply, piece by piece.
 *
 * Streams server-sent events of the OpenAI and Anthropic APIs; an endpoint that
 * answers in one piece is understood as well. The wait for the next piece, the
 * whole time and the length of a reply are bounded; the reader can end it at
 * any moment.
 * Thread-safety: as llm.h.
 */
#ifndef MODEL_LLM_TALK_H
#define MODEL_LLM_TALK_H

#include "model/llm.h"

#include <stdbool.h>

struct llm_talk {
    const json_t *messages; /* [{role, content}], as the endpoint takes them */
    const json_t *system;   /* Anthropic's; NULL for none */
    int max_tokens;         /* 0: a default where the API wants one */
    /* Gets each piece as it comes; false ends the reply. */
    bool (*on_piece)(void *arg, struct str piece);
    /* Asked several times a second; true ends the reply. May be NULL. */
    bool (*is_over)(void *arg);
    void *arg;
};

struct llm_reply {
    struct str text; /* all pieces, in the arena */
    bool is_whole;   /* false: ended by the reader or at the longest length */
    int64_t input_tokens; /* as the endpoint says; 0: it does not */
    int64_t output_tokens;
};

/*
 * Talk. Fails as llm_ask(), with the words the endpoint gave; also then
 * `out->text` holds what had come (never NULL, perhaps empty).
 */
enum clew_status llm_talk(struct llm *llm, struct arena *arena,
                          const struct llm_talk *talk, struct llm_reply *out,
                          struct clew_error *err) CLEW_MUST_CHECK;

/* "openai" or "anthropic": the form `messages` must have. */
const char *llm_kind(const struct llm *llm);

#endif
