/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.h - MCP over two descriptors: one JSON message a line.
 *
 * Messages are handled one after the other, in order. Input is read on while
 * they wait, so that a cancelled request is dropped even if it is under way.
 * A line that is too long or no JSON is answered with an error and skipped.
 * Thread-safety: none.
 */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "clew/attr.h"
#include "clew/status.h"
#include "mcp/mcp.h"

struct stdio_options {
    int in_fd;
    int out_fd;
    /* As in struct mcp_host. */
    enum clew_status (*api)(void *arg, const char *method, const char *path,
                            const json_t *body, json_t **out_json,
                            struct clew_error *err);
    /* Its calls are those of this program from now on, by what it calls itself;
     * NULL: nobody wants to know. */
    void (*name)(void *arg, const char *client);
    void *arg;
    const char *user_id; /* see struct mcp_peer */
};

/* Until the input ends, or the output is closed. */
enum clew_status stdio_serve(const struct stdio_options *options,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
