/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h - where a list goes on, as a text nobody else can make or use.
 *
 * Hex of a 16-byte HMAC-SHA256 over tenant, list and payload, and of the
 * payload. A cursor of another tenant, of another list, or changed by a bit
 * is refused.
 * Thread-safety: pure functions.
 */
#ifndef API_CURSOR_H
#define API_CURSOR_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdint.h>

#define CURSOR_KEY_SIZE 32
/* Largest payload. Lists need a number and an id, or a name; recall names all
 * that it has shown. */
#define CURSOR_MAX_PAYLOAD 12500

struct cursor_scope {
    const unsigned char *key; /* CURSOR_KEY_SIZE bytes */
    int64_t tenant;
    const char *list; /* the route's pattern */
};

/* The text for `payload`, in the arena; s == NULL without memory or if the
 * payload is too long. */
struct str cursor_format(const struct cursor_scope *scope, struct arena *arena,
                         struct str payload);
/* The payload again. CLEW_INVALID with field "cursor" unless cursor_format()
 * made the text for the same scope. */
enum clew_status cursor_parse(const struct cursor_scope *scope,
                              struct arena *arena, struct str text,
                              struct str *out_payload,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
