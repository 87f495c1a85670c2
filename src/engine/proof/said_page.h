/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said_page.h - the words of many turns, a page at a time, so that those of a
 * large tenant need no more memory than a few.
 * Thread-safety: none; inside one transaction.
 */
#ifndef ENGINE_SAID_PAGE_H
#define ENGINE_SAID_PAGE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "store/db.h"

#include <stddef.h>

/* Turns of a page. */
#define SAID_PAGE 128

/* Called for each turn; what the arena holds goes with the page. */
typedef enum clew_status (*said_fn)(struct store_tx *tx, struct arena *arena,
                                    struct str text, void *arg,
                                    struct clew_error *err);

/* The next page of `sql`, which selects ids and texts, those after $2 in the
 * order of ids and $3 at most. Begin with `*after` nil; fewer than SAID_PAGE
 * are the last. */
enum clew_status said_page(struct store_tx *tx, const struct db_sql *sql,
                           struct uuid *after, said_fn fn, void *arg,
                           size_t *out_count,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
