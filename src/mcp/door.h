/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - MCP over streamable HTTP: POST and DELETE on /mcp.
 *
 * The next handler, the API, answers the calls that tools make and what else
 * comes under /mcp: with the headers the client sent, so that its key decides.
 * Host and Origin are checked by the server, as for every path. The header
 * x-clew-user is in each request what it was in "initialize", or there is no
 * such session: 404, on which clients initialize again. GET answers 405: there
 * is nothing to say that no one asked for. A request that wants progress is
 * answered as an event stream, others as JSON.
 * Thread-safety: safe after door_open().
 */
#ifndef MCP_DOOR_H
#define MCP_DOOR_H

#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

#include <stdbool.h>

struct auth_gate;
struct door;
struct engine;

struct door_options {
    http_handler next; /* the API */
    http_admit next_admit;
    void *next_arg;         /* of both */
    struct auth_gate *gate; /* counts wrong keys; may be NULL */
};

/* The caller door_close()s it after the server. */
enum clew_status door_open(struct engine *engine,
                           const struct door_options *options,
                           struct door **out_door,
                           struct clew_error *err) CLEW_MUST_CHECK;
void door_close(struct door *door);
/* An http_handler; `arg` is the struct door. */
void door_handle(void *arg, const struct http_request *request,
                 struct http_response *response);
/* An http_admit: the key, before the body is read. */
bool door_admit(void *arg, const struct http_request *request,
                struct http_response *response);

#endif
