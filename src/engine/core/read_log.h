/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_log.h - that turns were read: actions, one a turn, kept in stretches.
 *
 * A reading is an action of the log (action.h) that says which turn, by what
 * and when, and nothing else. So those of 64 places of the log are one row, by
 * what read them: each a few letters that say its place, how far back in the
 * log the turn stands and how long ago it was stored. Whoever lists actions
 * gets them among the others; their ids are derived. A turn that is forgotten
 * takes its reading with it: the letters name nothing any more.
 * What does not fit into this form (an import may bring anything) stands among
 * the actions, as all did in earlier versions (renew.h moves those).
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_READ_LOG_H
#define ENGINE_READ_LOG_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct action;

/* A stretch that is longer takes no more: an import may say of any number of
 * turns that they were read at one place. */
#define READ_LOG_MAX_BYTES 4096

/* One reading that comes from elsewhere. */
struct read_log_item {
    int64_t seq;
    struct uuid turn_id;
    struct str reader;
    int64_t at_ms;
    bool is_kept;  /* out: it stands in a stretch now */
    bool is_added; /* out: it did not before */
};

/* Note that `reader` has read a turn, in the transaction that does it. The turn
 * is told by its change number and when it was stored. */
enum clew_status read_log_add(struct store_tx *tx, int64_t turn_change,
                              int64_t stored_at_ms, const char *reader,
                              int64_t at_ms,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Put readings where they belong, unless they are there. Not kept are those of
 * turns that are not here. */
enum clew_status read_log_put(struct store_tx *tx, struct arena *arena,
                              struct read_log_item *items, size_t count,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Those after (`after_seq`, `after_id`), in order, as actions. */
enum clew_status read_log_list(struct store_tx *tx, struct arena *arena,
                               int64_t after_seq, const struct uuid *after_id,
                               size_t limit, struct action **out_actions,
                               size_t *out_count,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* What an action's detail says of a reading; false if it says anything else
 * than by what. */
bool read_log_reader(struct arena *arena, struct str detail,
                     struct str *out_reader);

#endif
