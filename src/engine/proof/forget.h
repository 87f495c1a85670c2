/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget.h - the one way in which anything is ever removed.
 *
 * Forgetting a turn takes with it everything derived from it, in one
 * transaction: memories that cite it, their lineage edges, references and
 * index entries, and titles and summaries made from it. An effort stays where
 * the turn that opened it does (forget_effort.h). What remains is a
 * tombstone per document (an id, so that indexes and other processes drop it)
 * and a receipt with counts and a digest of the ids.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_FORGET_H
#define ENGINE_FORGET_H

#include "base/arena.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* What to forget; exactly one of them. */
struct forget_input {
    const struct uuid *turn_ids;
    size_t n_turn_ids;
    const struct uuid *memory_ids;
    size_t n_memory_ids;
    const struct str *external_ids;
    size_t n_external_ids;
    struct uuid chat_id; /* nil: not given */
    /* s == NULL: not given. With the user's chats goes what others said in
     * them. */
    struct str user_id;
    int64_t at_ms;   /* since when it counts as forgotten; 0: now */
    bool is_dry_run; /* only say what it would do */
};

/* How many rows of what. */
struct forget_count {
    const char *name;
    int64_t count;
};
#define FORGET_MAX_COUNTS 32

struct forget_receipt {
    struct uuid id; /* nil for a dry run */
    struct forget_count counts[FORGET_MAX_COUNTS];
    size_t n_counts;
    char sha256[SHA256_HEX_SIZE]; /* over kinds and ids, in order */
    /* The raw bytes are gone from index and store files too; if a reader held
     * them up, a task does it (forget_scrub.h). */
    bool is_scrubbed;
    const char *remains; /* where bytes may still be, and until when */
};

/*
 * Forget. CLEW_NOT_FOUND if a named turn, memory or chat does not exist:
 * nothing is forgotten then. A user nobody knows is forgotten at no cost.
 */
enum clew_status forget_run(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct forget_input *input,
                            struct forget_receipt *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
