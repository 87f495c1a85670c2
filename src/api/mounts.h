/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.h - what others answer beside the routes: MCP, the proxy, files.
 *
 * Each row has its path, the least role and where the key is. The server mounts
 * these and no others (cli/serve/cmd_serve.c), mcp/door.h and proxy/proxy.h
 * check keys by them, and the OpenAPI document lists them, so that tests of
 * keys find every way in. Thread-safety: the table is constant.
 */
#ifndef API_MOUNTS_H
#define API_MOUNTS_H

#include "api/api.h"

enum api_mount {
    API_MOUNT_MCP,
    API_MOUNT_PROXY,
    API_MOUNT_PROXY_KEYED,
    API_MOUNT_UPLOAD,
    API_N_MOUNTS
};

/* By enum api_mount; ends with a row whose path is NULL. */
extern const struct api_route api_mounts[];

#endif
