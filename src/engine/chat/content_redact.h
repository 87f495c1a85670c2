/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_redact.h - a message's content as it is to be kept.
 *
 * As redact_content(), and the text of a message of blocks is that of its
 * starred blocks: so a key that is split over two of them is found.
 * Thread-safety: pure functions over an immutable configuration.
 */
#ifndef ENGINE_CONTENT_REDACT_H
#define ENGINE_CONTENT_REDACT_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

struct engine;

/* Both strings are in the arena, or as they were. */
enum clew_status content_redact(const struct engine *engine,
                                struct arena *arena, struct str *text,
                                struct str *json,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* The same of the text of stored blocks alone, whatever the mode. */
enum clew_status content_redact_blocks(struct arena *arena, struct str *text,
                                       struct str json,
                                       struct clew_error *err) CLEW_MUST_CHECK;

#endif
