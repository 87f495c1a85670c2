/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - secrets stay out of everything that is made of a turn.
 *
 * What text/secret_scan.h finds is starred in a turn's `text` before anything
 * is read from it, so that memories, titles, index, contexts and traces never
 * see it. What was sent stays in `content`, verbatim, for whoever may ask for
 * it (mode "mask"), or is starred as well (mode "drop"). Mode "off" leaves all
 * as it came.
 * Thread-safety: pure functions over an immutable configuration.
 */
#ifndef ENGINE_REDACT_H
#define ENGINE_REDACT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

struct engine;

enum redact_mode { REDACT_OFF, REDACT_MASK, REDACT_DROP };

/* The setting redact.mode. */
enum redact_mode redact_mode(const struct engine *engine);

/* The text with its secrets starred, in the arena; itself if it has none. */
enum clew_status redact_str(struct arena *arena, struct str *text,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The same, unless the mode is off. */
enum clew_status redact_text(const struct engine *engine, struct arena *arena,
                             struct str *text,
                             struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Star the secrets of a tree: in strings, names, and numbers and strings whose
 * field says that they are one ("pin": 1234; {"name": "DB_PASS", "value": …});
 * also one that is split over the blocks of a message or the strings of a list.
 */
enum clew_status redact_tree(struct arena *arena, json_t **tree,
                             bool *out_changed,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* JSON text, the same way; itself if it has none or is no JSON. Changed JSON is
 * written anew. */
enum clew_status redact_json(struct arena *arena, struct str *json,
                             struct clew_error *err) CLEW_MUST_CHECK;

/*
 * A message as it is to be kept: `text` starred; `json` (s == NULL: the text
 * says it all) verbatim or, in mode drop, starred.
 */
enum clew_status redact_content(const struct engine *engine,
                                struct arena *arena, struct str *text,
                                struct str *json,
                                struct clew_error *err) CLEW_MUST_CHECK;
/*
 * A kept message as it is shown: `is_verbatim` for those who may and ask, as it
 * was sent; else with the secrets in its blocks starred.
 */
enum clew_status redact_show(const struct engine *engine, struct arena *arena,
                             bool is_verbatim, struct str *text,
                             struct str *json,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
