/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.h - what a language model would be asked if it read what it has not.
 *
 * Chats in the order of their last activity, each from where it was read to.
 * Questions are those that would be asked now: a stretch after another of the
 * same chat would be shown what that one leaves behind, which nobody knows yet.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_LLMREAD_SURVEY_H
#define ENGINE_LLMREAD_SURVEY_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/llm.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct stretch;

/* Chats that are listed at once. */
#define SURVEY_PAGE 200

struct survey_place {
    int64_t last_activity_ms;
    struct uuid chat_id;
};
/* The next chats after `after` (zeroed: from the beginning), at most
 * SURVEY_PAGE. `user_id` empty: of everybody. */
enum clew_status survey_chats(struct engine *engine, const struct scope *scope,
                              struct arena *arena, struct str user_id,
                              const struct survey_place *after,
                              struct survey_place **out, size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;

struct survey {
    int64_t n_chats; /* with something unread */
    int64_t n_stretches;
    int64_t n_turns;
    int64_t input_tokens;       /* as our own count has it */
    int64_t output_tokens_most; /* no answer is longer */
};
/* Gets each question; false ends the survey. */
typedef bool (*survey_fn)(void *arg, const struct stretch *stretch,
                          const struct llm_request *request);
/* `fn` may be NULL. */
enum clew_status survey_run(struct engine *engine, const struct scope *scope,
                            struct str user_id, survey_fn fn, void *arg,
                            struct survey *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
