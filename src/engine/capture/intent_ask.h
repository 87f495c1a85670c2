/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_ask.h - the last level of the intent cascade: ask the language model.
 *
 * Only what neither a rule nor the classifier is sure of is asked about, and
 * only where a model is configured. A turn never waits for it: the question is
 * later work, one open task a chat, about the last turn of the user. What the
 * model answers moves the efforts of the chat if nothing more was said
 * meanwhile, and stands in the turn's trace. A model that is slow, silent or
 * talks nonsense leaves everything as the classifier had it.
 * Thread-safety: as engine.h.
 */
#ifndef ENGINE_INTENT_ASK_H
#define ENGINE_INTENT_ASK_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/understand/intent_later.h"
#include "model/intent.h"
#include "store/store.h"

struct engine;
struct task;

/* Nobody who waits for an answer waits longer for the model. */
#define INTENT_ASK_DEADLINE_MS 3000

/* What the task does (task/handlers.c). */
enum clew_status intent_ask_task(struct engine *engine, const struct task *task,
                                 struct arena *arena,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Ask at once what `text` does after `previous` (empty if none); `intent` is
 * what the other levels make of it and stays so if it is sure, or no model
 * gives a usable answer in time. Fails only with CLEW_NO_MEMORY.
 */
enum clew_status intent_ask_now(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                struct str text, struct str previous,
                                struct intent *intent) CLEW_MUST_CHECK;

#endif
