/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h - the Model Context Protocol: one JSON-RPC message in, one out.
 *
 * What carries messages (mcp/stdio.h, mcp/door.h) and what answers API calls
 * (a client or the table of routes) is given from outside, so everything a
 * model can see or do is the same over each transport, and every call passes
 * the same keys, roles and checks as over HTTP.
 * Thread-safety: a peer belongs to one thread at a time.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>

/* JSON-RPC's own error codes, and those MCP adds. */
enum mcp_code {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_NO_RESOURCE = -32002,
    MCP_CANCELLED = -32800
};

/* Longest message; the largest thought has 40 KB. */
#define MCP_MAX_MESSAGE_BYTES (4u * 1024 * 1024)
/* Messages of one batch. */
#define MCP_MAX_BATCH 100
/* A client's name as it is kept, with the terminator. */
#define MCP_NAME_SIZE 101

/* What a peer needs from outside. */
struct mcp_host {
    /* client_call() of cli/client/client.h, or the same on the routes. */
    enum clew_status (*api)(void *arg, const char *method, const char *path,
                            const json_t *body, json_t **out_json,
                            struct clew_error *err);
    /* Send a notification now; NULL if the transport cannot. */
    void (*notify)(void *arg, const json_t *message);
    /* Was the request with this id cancelled? NULL if never. */
    bool (*is_cancelled)(void *arg, const json_t *id);
    void *arg;
};

/* The other end of a session. */
struct mcp_peer {
    const struct mcp_host *host;
    const char *version;        /* negotiated; NULL before "initialize" */
    char client[MCP_NAME_SIZE]; /* its name, "" before "initialize" */
    /* whom the session is for, as mcp_user_is_valid() has it (wall.h); NULL:
     * for nobody, and only then there is no wall */
    const char *user_id;
};

/* May a session be for this user? One that cannot be read is no reason to do
 * without the wall (wall.h): what opens a session refuses it. */
bool mcp_user_is_valid(struct str user_id);
/* The version as we spell it if we speak it, else NULL. */
const char *mcp_version_find(struct str version);

/*
 * Handle one message, or an array of them. The caller json_decref()s
 * `*out_reply`, which is NULL if there is nothing to answer: notifications,
 * answers, cancelled requests, or memory is out.
 */
void mcp_handle(struct mcp_peer *peer, const json_t *message,
                json_t **out_reply);
/* An error message; `id` may be NULL for none. NULL without memory. */
json_t *mcp_error(const json_t *id, enum mcp_code code, const char *text);
/* The id that a "notifications/cancelled" message names, else NULL. */
const json_t *mcp_cancelled_id(const json_t *message);
/* Ids are equal if they are the same string or the same number. */
bool mcp_same_id(const json_t *a, const json_t *b);

#endif
