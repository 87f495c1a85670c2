/* SPDX-License-Identifier: Apache-2.0 */
/*
 * presence.c - see presence.h.
 */
#include "http/presence.h"

#include "base/clock.h"
#include "http/watch.h"

#include <poll.h>
#include <sys/socket.h>

int presence_fd(const struct http_request *request)
{
    return request->presence ? request->presence->fd : -1;
}

bool presence_was_lost(const struct http_request *request)
{
    return request->presence && request->presence->is_lost;
}

/* Where nobody is left to take it, the next look finds the connection broken.
 */
static void probe(struct presence *presence)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";

    if (presence->may_probe) {
        presence->may_probe = false;
        /* a full socket means that there is much to take still */
        (void)send(presence->fd, interim, sizeof(interim) - 1,
                   MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

bool presence_is_lost(const struct http_request *request, int64_t since_ns)
{
    struct presence *presence = request->presence;
    struct pollfd ready = {.fd = presence_fd(request), .events = POLLRDHUP};

    if (!presence || presence->is_lost || poll(&ready, 1, 0) <= 0) {
        return presence && presence->is_lost;
    }
    if (ready.revents & (POLLHUP | POLLERR | POLLNVAL)) {
        presence->is_lost = true;
    } else if (ready.revents & POLLRDHUP) {
        probe(presence);
        watch_yield(presence->watched);
        presence->is_lost =
            clock_mono_ns() - since_ns > presence->patience_ms * 1000000;
    }
    return presence->is_lost;
}
