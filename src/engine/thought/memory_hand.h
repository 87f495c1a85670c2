/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_hand.h - memories that a person writes: new ones, and corrections.
 *
 * A correction never overwrites: it is a refinement of what it corrects, which
 * stays in the history and is no longer handed out. Both are actions of the
 * log, as contributed thoughts are.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_MEMORY_HAND_H
#define ENGINE_MEMORY_HAND_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/thought/memory_view.h"
#include "store/store.h"

#include <stdbool.h>

struct engine;

struct memory_hand {
    struct uuid corrects; /* nil: a new memory */
    struct str user_id;   /* of a new one; may be empty: the tenant's */
    struct str type;      /* s == NULL: that of what it corrects, or fact */
    struct str summary;   /* what it says; not empty */
    struct str tags;      /* by commas; s == NULL: those it corrects, or none */
    const bool *is_pinned; /* NULL: as what it corrects, or not */
    struct str key_id;     /* of the key that was used; may be empty */
    int64_t sent_at_ms;    /* forgotten_refuse(), of a new one */
};

/*
 * Write it down. CLEW_INVALID for efforts, which are opened (effort_thread.h);
 * CLEW_NOT_FOUND if what it corrects is not there, CLEW_CONFLICT if that was
 * taken back.
 */
enum clew_status memory_hand_write(struct engine *engine,
                                   const struct scope *scope,
                                   struct arena *arena,
                                   const struct memory_hand *input,
                                   struct memory_view *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
