/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_view.h - memories as people and programs look at them.
 *
 * Whole operations on stored memories: read one or a list with references and
 * lineage marks, open the raw turns behind one, and the explicit actions
 * (resolve, reopen, abandon, tag). Rows are memory.h's.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_MEMORY_VIEW_H
#define ENGINE_MEMORY_VIEW_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/turn.h"
#include "engine/memory/memory.h"
#include "store/store.h"

struct engine;

struct memory_view {
    struct memory memory;
    struct memory_ref *refs;
    size_t n_refs;
    struct uuid *source_ids; /* what it refines or consolidates */
    size_t n_source_ids;
    bool is_superseded;
    struct uuid refined_by; /* nil unless superseded */
};

/* CLEW_NOT_FOUND also for a memory of another tenant. */
enum clew_status memory_view_get(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id, struct memory_view *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status
memory_view_list(struct engine *engine, const struct scope *scope,
                 struct arena *arena, const struct memory_filter *filter,
                 struct memory_view **out_views, size_t *out_count,
                 struct clew_error *err) CLEW_MUST_CHECK;

/* What a person does with a memory by hand; NULL fields stay as they are. */
struct memory_action {
    const char *status;           /* active, open, resolved, abandoned */
    const struct str *resolution; /* s == NULL clears it */
    const struct str *tags;       /* separated by commas */
    const int64_t *expires_at_ms; /* 0 = never */
    const bool *has_worked;       /* a skill was used: with this outcome */
    const bool *is_pinned;        /* a person wants it in view, or no longer */
    const struct str *type;       /* neither from nor to an effort */
    const struct uuid *chat_id; /* the effort as this chat has it: a fork's own
                                   from then on (effort_fork.h) */
};
/* CLEW_INVALID if the status does not fit the type (only efforts resolve, only
 * skills have outcomes). CLEW_CONFLICT if it no longer holds
 * (lineage_must_hold()), but to unpin it. */
enum clew_status memory_view_act(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id,
                                 const struct memory_action *action,
                                 struct memory_view *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The memory as it is after a write, inside its transaction. */
enum clew_status memory_view_read(struct store_tx *tx, struct engine *engine,
                                  struct arena *arena, const struct uuid *id,
                                  struct memory_view *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The raw turns a memory cites, oldest first, at most `limit`. */
enum clew_status memory_view_source(struct engine *engine,
                                    const struct scope *scope,
                                    struct arena *arena, const struct uuid *id,
                                    int64_t limit, struct turn **out_turns,
                                    size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
