/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.h - which programs call, and when each last did.
 *
 * A program is known by the name its calls carry: what it told MCP, an
 * x-clew-client header, the product of its User-Agent. Anybody can carry any
 * name, so it opens nothing: it only answers "did my editor reach clew?".
 * Times are a minute apart at least, so that a busy program costs a read; at
 * most LIMIT_CALLERS names of a tenant are kept, the latest. A GET from the
 * network stores nothing, so it is not noted either: a program that only reads
 * says so with POST /api/v1/callers.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_CALLER_H
#define ENGINE_CALLER_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

struct engine;

/* How a call came. */
#define CALLER_API "api"     /* over the API; MCP's calls are such */
#define CALLER_PROXY "proxy" /* an LLM call that passed */

/* The header that names a program. */
#define CALLER_HEADER "x-clew-client"
/* A call so soon after the last one noted is not. */
#define CALLER_APART_MS (60 * 1000)
/* Bytes of a name; more is cut. */
#define CALLER_NAME_BYTES 64

struct caller {
    struct str name;
    struct str via;
    int64_t last_at_ms;
};

/* "claude-cli" of "claude-cli/2.1.0 (external)". */
struct str caller_product(struct str user_agent);
/* A name as it is kept, blanks taken off and cut; len == 0 if it is nobody's:
 * empty, or no clean text. */
struct str caller_name(struct str name);
/* Note a call. A name that is empty, or no clean text, is nobody's: CLEW_OK,
 * and nothing is noted. */
enum clew_status caller_note(struct engine *engine, const struct scope *scope,
                             struct str name, const char *via, int64_t at_ms,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* All of a tenant, the latest first, in the arena. */
enum clew_status caller_list(struct engine *engine, const struct scope *scope,
                             struct arena *arena, struct caller **out,
                             size_t *out_count,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
