/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall.h - a session for one user reaches that user's things and no other's.
 *
 * `clew mcp --user` and the header x-clew-user say whom a session is for. Every
 * API call of such a session goes through here: user_id is set, ids in paths
 * and bodies are looked up first, and what another user's memories would show
 * in an answer is taken out. Thoughts that belong to no user are shared. What
 * is not known to be safe is refused.
 * Thread-safety: none; one request.
 */
#ifndef MCP_WALL_H
#define MCP_WALL_H

#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>

struct mcp_request;

/* An API call through the peer's host. In a session with a user, whatever that
 * user is called, foreign ids are CLEW_NOT_FOUND, another user_id is
 * CLEW_FORBIDDEN. */
enum clew_status mcp_api(const struct mcp_request *request, const char *method,
                         const char *path, const json_t *body,
                         json_t **out_json,
                         struct clew_error *err) CLEW_MUST_CHECK;

#endif
