/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents_live.h - the packages in use, which may change while turns come.
 *
 * A set is replaced as a whole: a turn that has begun goes on with the one it
 * took. A package whose file got broken stays as it was until the file is
 * whole again or gone.
 * Thread-safety: internally locked.
 */
#ifndef ENGINE_AGENTS_LIVE_H
#define ENGINE_AGENTS_LIVE_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

struct agents;
struct agents_live;

/* Loads `folder`. The caller agents_live_close()s it. */
enum clew_status agents_live_open(const char *folder,
                                  struct agents_live **out_live,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* NULL is a no-op. */
void agents_live_close(struct agents_live *live);
/* The set in use, never NULL; the caller agents_unref()s it. */
struct agents *agents_live_take(struct agents_live *live);
/*
 * Load the folder again: if `is_forced`, else only if the names, sizes or times
 * of its files changed since it was last loaded. `*out_changed` says whether
 * there is a new set. On failure the old one stays.
 */
enum clew_status agents_live_reload(struct agents_live *live, bool is_forced,
                                    bool *out_changed,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
