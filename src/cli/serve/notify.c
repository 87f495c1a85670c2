/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.c - one datagram to the service manager. See notify.h.
 */
#include "cli/serve/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = path ? strlen(path) : 0;
    bool is_told;
    int fd;

    /* A path, or a name that begins with '@' and is no file. */
    if (len < 2 || len >= sizeof(to.sun_path) ||
        (path[0] != '/' && path[0] != '@')) {
        return false;
    }
    memcpy(to.sun_path, path, len);
    if (path[0] == '@') {
        to.sun_path[0] = '\0';
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    is_told =
        sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
               (const struct sockaddr *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) ==
        (ssize_t)strlen(state);
    (void)close(fd); /* a datagram is not buffered in it */
    return is_told;
}
