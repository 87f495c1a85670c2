/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_later.h - what neither a rule nor the classifier is sure of waits for
 * the language model.
 *
 * The last observer of the talk: it only adds the task; capture/intent_ask.h
 * does it. Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_INTENT_LATER_H
#define ENGINE_INTENT_LATER_H

#include "clew/attr.h"
#include "clew/status.h"

struct turn_work;

#define INTENT_ASK_TASK "intent.ask"

/* If the turn's act is unsure, a task is added to ask: one open for a chat. */
enum clew_status intent_later(struct turn_work *work,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
