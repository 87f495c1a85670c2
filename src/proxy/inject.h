/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h - put remembered context into a request on its way up.
 *
 * The context goes to one place: the end of the last message, if that is the
 * user's. All bytes before it stay as the client sent them, so that the
 * provider's prompt cache keeps its prefix. It stands in a fence that carries
 * the hash of what is inside; linking and capture take fences out again.
 *
 * The place is found by walking the bytes; the body is never written anew.
 * Thread-safety: pure functions.
 */
#ifndef PROXY_INJECT_H
#define PROXY_INJECT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/canon.h"
#include "store/store.h"

#include <stdbool.h>

/* Where the context goes in a body. */
struct inject_place {
    size_t at;       /* offset of the byte to insert before */
    bool is_string;  /* inside a JSON string; else a list of blocks */
    bool is_empty;   /* that list has no block yet */
    struct str text; /* the message's own words, to look things up by */
};

/* False if there is no such place. `text` is in the arena. */
bool inject_find(enum canon_api api, struct str body, struct arena *arena,
                 struct inject_place *out);

/* "\n\n<clew-context sha256=\"…\">\n…\n</clew-context>"; end tags in the text
 * are broken up, so that it cannot leave its fence. */
enum clew_status inject_fence(struct str context,
                              struct buf *out) CLEW_MUST_CHECK;

/* Append `body` with `fence` at its place. */
enum clew_status inject_apply(enum canon_api api, struct str body,
                              const struct inject_place *place,
                              struct str fence,
                              struct buf *out) CLEW_MUST_CHECK;

/*
 * Who knows what is worth saying: fill `out` with the context for `query`, or
 * leave it empty. `user_id` has s == NULL, `chat_id` is NULL where not given.
 */
struct uuid;
typedef enum clew_status (*inject_fn)(void *arg, const struct scope *scope,
                                      struct str user_id,
                                      const struct uuid *chat_id,
                                      struct str query, struct arena *arena,
                                      struct buf *out, struct clew_error *err);

#endif
