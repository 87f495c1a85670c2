/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - what the proxy says to the model: what recall finds.
 *
 * Thread-safety: safe.
 */
#ifndef PROXY_CONTEXT_H
#define PROXY_CONTEXT_H

#include "proxy/inject.h"

/* An inject_fn; `arg` is the struct engine. */
enum clew_status proxy_context_recall(void *arg, const struct scope *scope,
                                      struct str user_id,
                                      const struct uuid *chat_id,
                                      struct str query, struct arena *arena,
                                      struct buf *out, struct clew_error *err);

#endif
