/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undo.h - take back all that came from one source since a moment.
 *
 * For memories that an agent or a stolen key has planted. They are retracted,
 * not removed: what they superseded is valid again, and lineage still shows
 * them. All or nothing.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_UNDO_H
#define ENGINE_UNDO_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Memories of one call; more are taken back by calling again. */
#define UNDO_MAX 10000

struct undo_input {
    struct str from; /* an agent's id, or the id of a key */
    int64_t since_ms;
    bool is_dry_run;
};

/* The memories taken back, oldest first; `*out_more` if some are left. */
enum clew_status undo_run(struct engine *engine, const struct scope *scope,
                          struct arena *arena, const struct undo_input *input,
                          struct uuid **out_ids, size_t *out_count,
                          bool *out_more,
                          struct clew_error *err) CLEW_MUST_CHECK;

#endif
