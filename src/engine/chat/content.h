/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content.h - the text a person would read in a message's content.
 *
 * Content is a string or an array of blocks as the Anthropic and OpenAI APIs
 * have them. Text blocks give their text, tool results theirs, the rest a
 * short mark ("[image]", "[tool_use: name]"); unknown blocks are kept verbatim
 * and marked. What a tool was given is no talk, but can be looked for: it is
 * had apart. Nothing here changes what is stored verbatim.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CONTENT_H
#define ENGINE_CONTENT_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>

struct content {
    struct str text; /* valid UTF-8 without NUL */
    struct str json; /* verbatim JSON; s == NULL if `text` says it all */
};

/*
 * Read `value`; both strings are in the arena. CLEW_INVALID (field "content")
 * unless it is a string or an array of objects (strings allowed among them);
 * CLEW_TOO_LARGE over `limit_bytes` of JSON.
 */
enum clew_status content_parse(struct arena *arena, const json_t *value,
                               size_t limit_bytes, struct content *out,
                               struct clew_error *err) CLEW_MUST_CHECK;

/*
 * What the tools of a message were given, as text: "command: make test", a
 * value a line. `json` is what content_parse() kept. Empty if there is none, if
 * clew itself was the tool (what was asked of it answers nothing), or if the
 * JSON is over LIMIT_TOOL_INPUT_BYTES.
 */
enum clew_status content_inputs(struct arena *arena, struct str json,
                                struct str *out) CLEW_MUST_CHECK;

#endif
