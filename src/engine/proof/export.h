/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - all that a tenant said and did, as lines of JSON.
 *
 * The first line is {"type":"export","version":1}, the last
 * {"type":"end","rows":N}; what lies between is described by export_kinds.h.
 * Two stores that hold the same rows give the same bytes, whatever backend they
 * are on.
 * Thread-safety: safe.
 */
#ifndef ENGINE_EXPORT_H
#define ENGINE_EXPORT_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

struct engine;

/*
 * Write the export of one tenant, as of one moment, to a file descriptor that
 * can be rewound (a file). On failure what is in the file is worth nothing.
 */
enum clew_status export_write(struct engine *engine, const struct scope *scope,
                              struct arena *arena, int fd,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
