/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount.h - which handler answers which paths: one table for a server.
 *
 * A row has a path as router.h writes them; what stands before its first
 * parameter is the prefix. A request goes to the first row whose prefix its
 * path has, at the whole path or up to a "/", and to no other; "" has every
 * path. Thread-safety: the table is constant.
 */
#ifndef HTTP_MOUNT_H
#define HTTP_MOUNT_H

#include "http/http.h"

#include <stdbool.h>

struct mount {
    const char *path; /* "/mcp", "/v1/{rest*}"; ""; NULL ends the table */
    http_handler handler;
    http_admit admit; /* NULL: every body is read */
    void *arg;        /* of both */
};

/* An http_handler; `arg` is a table whose last row has the path "". */
void mount_handle(void *arg, const struct http_request *request,
                  struct http_response *response);
/* An http_admit, with the same table: the same row is asked. */
bool mount_admit(void *arg, const struct http_request *request,
                 struct http_response *response);

#endif
