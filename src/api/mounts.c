/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.c - the table of mounts. See mounts.h.
 */
#include "api/mounts.h"

const struct api_route api_mounts[] = {
    [API_MOUNT_MCP] = {.method = HTTP_POST,
                       .path = "/mcp",
                       .role = API_ROLE_READ,
                       .summary = "The Model Context Protocol"},
    [API_MOUNT_PROXY] = {.method = HTTP_POST,
                         .path = "/v1/{rest*}",
                         .role = API_ROLE_WRITE,
                         .summary = "The LLM proxy; the key is in x-clew-key",
                         .flags = API_PROXY_KEY | API_KNOWN_KEY},
    [API_MOUNT_PROXY_KEYED] = {.method = HTTP_POST,
                               .path = "/key/{key}/v1/{rest*}",
                               .role = API_ROLE_WRITE,
                               .summary =
                                   "The LLM proxy, with the key in the path",
                               .flags = API_PROXY_KEY | API_KNOWN_KEY},
    [API_MOUNT_UPLOAD] = {.method = HTTP_POST,
                          .path = "/api/v1/import/file",
                          .role = API_ROLE_ADMIN,
                          .summary = "Read an export of another program, as "
                                     "it is handed out"},
    [API_N_MOUNTS] = {.path = NULL},
};
