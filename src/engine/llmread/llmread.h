/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llmread.h - let a language model read chats, a stretch at a time.
 *
 * The log is stored and read without it first. After a pause (llm.read,
 * llm.read_pause_seconds) a task shows the model the turns that came since, as
 * many as one question holds; what it says is checked against their words
 * (found.h) and becomes the rows the reader would make (apply.h). Each reading
 * is an action of the log with the name of the recorded answer: a replay asks
 * nobody. How far a chat is read follows from those actions; where the answer
 * is gone (a turn of the chat was forgotten), the stretch counts as unread.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_LLMREAD_H
#define ENGINE_LLMREAD_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/llmread/apply.h"
#include "engine/llmread/found.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct task;
struct turn_work;

#define LLMREAD_TASK "llm.read"

/* What became of one stretch. */
enum llmread_outcome {
    LLMREAD_NOTHING, /* nothing waits */
    LLMREAD_READ,
    LLMREAD_SKIPPED, /* the reader is sure of all of it */
    LLMREAD_REFUSED, /* two answers that made no sense */
    LLMREAD_STALE    /* somebody else read it, or the turns changed */
};

struct llmread_report {
    enum llmread_outcome outcome;
    size_t n_turns;
    bool has_more; /* turns wait behind it */
    struct apply_counts counts;
    size_t faults[FOUND_FAULTS];
};

/* The observer (observer.h): a turn that is read asks for this too, later. */
enum clew_status llmread_later(struct turn_work *work,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* What the task does (task/handlers.c). */
enum clew_status llmread_task(struct engine *engine, const struct task *task,
                              struct arena *arena,
                              struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Read the next stretch of a chat now. `is_unsure`: only if the reader is
 * unsure of it. Fails as advice_ask(): then nothing is written, and it may be
 * tried again.
 */
enum clew_status llmread_next(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *chat_id,
                              bool is_unsure, struct llmread_report *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Take an answer of the log once more (ACTION_LLM_READ, in a replay). */
enum clew_status llmread_again(struct engine *engine, const struct scope *scope,
                               struct arena *arena, const struct uuid *chat_id,
                               const json_t *detail,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* Inside a transaction: the last turn of the chat that a model has read; 0 if
 * it has read none. */
enum clew_status llmread_through(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chat_id, int64_t *out_seq,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
