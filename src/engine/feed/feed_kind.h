/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_kind.h - the three kinds of rows that can be found, as one table.
 *
 * What feeds an index or embeds again treats turns, memories and episodes
 * alike: it lists what changed, takes the text that is searched, makes the
 * document. A new kind is a row in feed_kind.c.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_FEED_KIND_H
#define ENGINE_FEED_KIND_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/status.h"
#include "index/index.h"

#include <stddef.h>
#include <stdint.h>

struct engine;
struct store_tx;

struct feed_kind {
    const char *name; /* as tombstones have it */
    size_t size;      /* of one row in memory */
    size_t id_at;     /* where it has its id and its change number */
    size_t change_at;
    /* Rows with a change number after `after`, in that order. */
    enum clew_status (*list_changes)(struct store_tx *tx, struct arena *arena,
                                     int64_t after, int64_t limit,
                                     void **out_items, size_t *out_count,
                                     struct clew_error *err);
    enum clew_status (*find_many)(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *ids, size_t count,
                                  void **out_items, size_t *out_count,
                                  struct clew_error *err);
    /* The text that is searched; s == NULL on OOM. */
    struct str (*text)(struct arena *arena, const void *item);
    enum clew_status (*doc)(struct engine *engine, struct arena *arena,
                            const void *item, struct index_doc *out,
                            struct clew_error *err);
};

extern const struct feed_kind feed_kinds[INDEX_KINDS];

/* Rows of one kind. */
struct feed_rows {
    void *items;
    size_t count;
};
const void *feed_row(const struct feed_kind *kind, const struct feed_rows *rows,
                     size_t i);
const struct uuid *feed_id(const struct feed_kind *kind, const void *item);
int64_t feed_change(const struct feed_kind *kind, const void *item);
/* Of each kind the rows after a change number, at most `limit`. */
enum clew_status feed_list(struct store_tx *tx, struct arena *arena,
                           int64_t after, int64_t limit,
                           struct feed_rows out[INDEX_KINDS],
                           struct clew_error *err) CLEW_MUST_CHECK;
/* What such lists are complete up to: one that is full says nothing of changes
 * after its last. */
int64_t feed_through(const struct feed_rows rows[INDEX_KINDS], int64_t limit,
                     int64_t latest);

#endif
