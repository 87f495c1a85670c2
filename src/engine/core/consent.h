/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consent.h - may a tenant's words be shown to a language model?
 *
 * A tenant that has not said is asked for nothing: they may. One that forbids
 * it is read at every question, not remembered: what advice.h is asked after
 * the change is committed is not sent, by whatever process. What is already on
 * its way is not called back, and what a model said before stays.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_CONSENT_H
#define ENGINE_CONSENT_H

#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>

struct engine;

/* The code of the failure (clew_error.code) where it is forbidden. */
#define CONSENT_NONE "LLM_FORBIDDEN"

/* Inside a transaction: CLEW_FORBIDDEN with that code, or CLEW_OK. */
enum clew_status consent_check(struct store_tx *tx,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The same as a whole operation. */
enum clew_status consent_ask(struct engine *engine, const struct scope *scope,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Does the tenant forbid it? */
enum clew_status consent_find(struct store_tx *tx, bool *out_forbidden,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Forbid or allow it from now on. */
enum clew_status consent_set(struct engine *engine, const struct scope *scope,
                             bool is_forbidden,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
