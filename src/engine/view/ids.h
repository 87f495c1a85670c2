/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - what an id begins with, for people who type.
 *
 * Ids begin with their time, so the beginning of one names few things, and
 * is found in the index of ids.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_VIEW_IDS_H
#define ENGINE_VIEW_IDS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct engine;

/* Fewer hex digits than this name nothing. */
#define IDS_MIN_DIGITS 4
/* So many of one kind are told; more only say that there are several. */
#define IDS_MAX_EACH 5

struct ids_found {
    const char *kind; /* "chat", "turn", "memory", … */
    struct uuid id;
};

/* True if `name` is a kind that ids_find() knows. */
bool ids_is_kind(struct str name);

/*
 * The things whose id begins with `part` (hex digits, with or without dashes),
 * of one kind or, with `kind` empty, of all; oldest first in each. An effort is
 * a memory too, and told as one unless efforts are asked for. What is no
 * beginning of an id finds nothing.
 */
enum clew_status ids_find(struct engine *engine, const struct scope *scope,
                          struct arena *arena, struct str part, struct str kind,
                          struct ids_found **out, size_t *out_count,
                          struct clew_error *err) CLEW_MUST_CHECK;

#endif
