/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflict.h - memories of one user that disagree.
 *
 * Two memories conflict if both are valid, neither is superseded, and they set
 * the same attribute of the same subject to different values: by their slots
 * (slots.h), or as statements that anybody wrote (statement.h), which the index
 * finds for each of the CONFLICT_PROBES newest; or if the reader, when the
 * newer was kept, thought that it may replace the older. Where it was certain,
 * the newer refines the older already; what is listed here is for a person or
 * an agent to settle.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_CONFLICT_H
#define ENGINE_CONFLICT_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/memory/memory.h"
#include "store/store.h"
#include "talk/slots.h"

struct engine;

/* Memories that one call compares with what the index has near them. */
#define CONFLICT_PROBES 200

struct conflict {
    struct memory older;
    struct memory newer;
    struct slot older_slot; /* of statements: without flags and qualifier */
    struct slot newer_slot;
};

/* At most `limit`; `user_id` empty for all users. */
enum clew_status conflict_list(struct engine *engine, const struct scope *scope,
                               struct arena *arena, struct str user_id,
                               size_t limit, struct conflict **out_conflicts,
                               size_t *out_count,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
