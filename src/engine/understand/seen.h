/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - what the reader sees in a stored turn.
 *
 * Nothing of it is kept: the same turn after the same turns gives the same
 * answer, so it is read anew for whoever asks why.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_SEEN_H
#define ENGINE_SEEN_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/reader.h"

#include <stddef.h>

struct engine;
struct scope;

struct seen_sentence {
    struct str text; /* secrets masked */
    struct reader_sentence read;
};

struct seen {
    const char *reader; /* its id; NULL: rules read */
    struct seen_sentence *sentences;
    size_t count;
    struct reader_gist gist; /* where it lies among turns */
};

/* None of a turn that is no talk, or where rules read. CLEW_NOT_FOUND. */
enum clew_status seen_get(struct engine *engine, const struct scope *scope,
                          struct arena *arena, const struct uuid *turn_id,
                          struct seen *out,
                          struct clew_error *err) CLEW_MUST_CHECK;

#endif
