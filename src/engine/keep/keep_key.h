/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_key.h - what a kept note is found by when another is said: its words as
 * a whole, the slot it sets, its rarest words, the note it may replace.
 *
 * Keys are digests, so that nothing of a text lies in a second place.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_KEEP_KEY_H
#define ENGINE_KEEP_KEY_H

#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

struct observation;
struct slot;

#define KEEP_KEY_STATEMENT "statement"
#define KEEP_KEY_SLOT "slot"
#define KEEP_KEY_WORD "word"
/* The digest is the id of the older note, which the newer may replace. */
#define KEEP_KEY_SUSPECT "suspect"

/* Equal but for case, spaces and punctuation. */
struct uuid keep_key_statement(struct str user_id, const char *type,
                               struct str summary);
struct uuid keep_key_slot(struct str user_id, const struct slot *slot);
struct uuid keep_key_word(struct str user_id, struct str stem);

/* The valid memories with this key, newest first. */
enum clew_status keep_key_find(struct observation *o, const char *kind,
                               const struct uuid *digest, int64_t limit,
                               struct uuid **out_ids, size_t *out_count,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status keep_key_add(struct observation *o, const char *kind,
                              const struct uuid *digests, size_t count,
                              const struct uuid *memory_id,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
