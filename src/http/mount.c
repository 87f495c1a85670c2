/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount.c - find the handler of a path. See mount.h.
 */
#include "http/mount.h"

#include <assert.h>
#include <stdint.h>

/* What stands before the first parameter. */
static struct str prefix_of(const struct mount *mount)
{
    struct str path = str_of(mount->path);
    size_t end = str_find(path, STR("/{"), 0);

    return end == SIZE_MAX ? path : str_sub(path, 0, end);
}

static bool is_under(struct str path, struct str prefix)
{
    return str_starts(path, prefix) &&
           (prefix.len == 0 || path.len == prefix.len ||
            path.s[prefix.len] == '/');
}

static const struct mount *find(const struct mount *mount, struct str path)
{
    while (!is_under(path, prefix_of(mount))) {
        mount++;
        assert(mount->path); /* the last row takes every path */
    }
    return mount;
}

void mount_handle(void *arg, const struct http_request *request,
                  struct http_response *response)
{
    const struct mount *mount = find(arg, request->path);

    mount->handler(mount->arg, request, response);
}

bool mount_admit(void *arg, const struct http_request *request,
                 struct http_response *response)
{
    const struct mount *mount = find(arg, request->path);

    return !mount->admit || mount->admit(mount->arg, request, response);
}
