/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.h - write, then offer what was written to the search index.
 *
 * Every whole operation that changes what can be found ends here, so none can
 * forget the second half. The offer never fails: what the index cannot take
 * now it reads from the store when it is next looked at (feed.h).
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_COMMIT_H
#define ENGINE_COMMIT_H

#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>

struct batch_work;
struct engine;

/* store_write(), then offer the documents that `fn` left in `batch` (part of
 * `arg`; `fn` sets it anew each time it runs). */
enum clew_status commit_write(struct engine *engine, const struct scope *scope,
                              store_fn fn, void *arg,
                              const struct batch_work *batch,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The second half alone, for a transaction with several batches. */
void commit_offer(struct engine *engine, const struct scope *scope,
                  const struct batch_work *batch);
/* May a batch leave its turns to the index unread? Where nothing is derived
 * from turns and the index is not in memory, what reading them gives would be
 * thrown away: the index reads them when somebody asks. */
bool commit_is_unread(struct engine *engine, const struct scope *scope);

#endif
