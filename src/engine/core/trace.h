/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - what was decided about a turn or a captured call, and why.
 *
 * One JSON object a turn, kept packed (base/pack.h); its id is the turn's:
 * which boundary rule placed it, and what each step considered, with scores.
 * Steps set their own field in turn_work.trace. A captured call's has the
 * request's id and says which call it continues (call_trace.h). Derived data:
 * a rebuild makes it anew.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_TRACE_H
#define ENGINE_TRACE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdint.h>

struct engine;
struct store_tx;
struct turn_work;

/* A longer trace is not kept whole: its largest fields are dropped. */
#define TRACE_MAX_BYTES 16384

struct trace {
    struct uuid id;
    struct uuid chat_id;   /* the turn's or the request's, not kept here … */
    int64_t created_at_ms; /* … nor is this */
    struct str data;       /* JSON object */
};
/* Start the trace of a turn with how it was placed; takes `boundary` (NULL: the
 * caller had no memory). */
enum clew_status trace_begin(struct turn_work *work, json_t *boundary,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Take up the trace of a turn that is stored; an empty one if there is none. */
enum clew_status trace_resume(struct turn_work *work, const struct uuid *id,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Store it as that of the turn `id`, if `status` (what the steps came to) is
 * CLEW_OK, and free it in any case. Returns the first failure. */
enum clew_status trace_end(struct turn_work *work, const struct uuid *id,
                           enum clew_status status,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Store a trace in place of one that may be there. */
enum clew_status trace_put(struct store_tx *tx, const struct uuid *id,
                           struct str data,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Set one field of a trace that is there; nothing if it is not, or would grow
 * too long. Takes `value`. */
enum clew_status trace_add(struct store_tx *tx, struct arena *arena,
                           const struct uuid *id, const char *field,
                           json_t *value,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_NOT_FOUND if this tenant has no such turn or request. */
enum clew_status trace_get(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *id,
                           struct trace *out,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
