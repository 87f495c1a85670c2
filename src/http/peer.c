/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.c - addresses, Host and Origin. See peer.h.
 */
#include "http/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int peer_format(const struct sockaddr *addr, char out[PEER_TEXT_SIZE])
{
    out[0] = '\0';
    if (!addr || addr->sa_family == AF_UNIX) {
        (void)snprintf(out, PEER_TEXT_SIZE, "unix");
        return 0;
    }
    if (addr->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, addr, sizeof(in));
        (void)inet_ntop(AF_INET, &in.sin_addr, out, PEER_TEXT_SIZE);
        return ntohs(in.sin_port);
    }
    if (addr->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, addr, sizeof(in6));
        if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
            (void)inet_ntop(AF_INET, &in6.sin6_addr.s6_addr[12], out,
                            PEER_TEXT_SIZE);
        } else {
            (void)inet_ntop(AF_INET6, &in6.sin6_addr, out, PEER_TEXT_SIZE);
        }
        return ntohs(in6.sin6_port);
    }
    return 0;
}

bool peer_is_loopback(const struct sockaddr *addr)
{
    char text[PEER_TEXT_SIZE];

    if (!addr || addr->sa_family == AF_UNIX) {
        return true;
    }
    (void)peer_format(addr, text); /* the port does not matter */
    return strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;
}

/* The name in "name", "name:port" or "[v6]:port", without the brackets. */
static struct str host_name(struct str host)
{
    size_t colon;

    if (host.len > 0 && host.s[0] == '[') {
        size_t end = str_find(host, STR("]"), 1);

        return end == SIZE_MAX ? host : str_sub(host, 1, end);
    }
    colon = str_find(host, STR(":"), 0);
    return colon == SIZE_MAX ? host : str_sub(host, 0, colon);
}

static bool is_local_name(struct str name)
{
    struct in_addr address;
    char text[INET_ADDRSTRLEN];

    if (str_ieq(name, STR("localhost")) || str_eq(name, STR("::1"))) {
        return true;
    }
    /* 127.0.0.0/8 as an address, not as the start of a name. */
    (void)snprintf(text, sizeof(text), "%.*s",
                   (int)(name.len < sizeof(text) ? name.len : 0), name.s);
    return inet_pton(AF_INET, text, &address) == 1 &&
           (ntohl(address.s_addr) >> 24) == 127;
}

static bool is_allowed(struct str name, const char *allowed)
{
    struct str rest = str_of(allowed);
    struct str part;

    while (str_split(&rest, ',', &part)) {
        part = str_trim(part);
        if (part.len > 0 && str_ieq(part, name)) {
            return true;
        }
    }
    return false;
}

/* "scheme://host:port" without its scheme; s == NULL for anything else. */
static struct str origin_host(struct str origin)
{
    size_t mark = str_find(origin, STR("://"), 0);

    return mark == SIZE_MAX ? (struct str){0}
                            : str_sub(origin, mark + 3, origin.len);
}

enum clew_status peer_check_host(const struct http_request *request,
                                 bool must_be_local, const char *allowed,
                                 struct clew_error *err)
{
    struct str host = http_header_of(request, "host");
    struct str origin = http_header_of(request, "origin");
    struct str name = host_name(host);

    /* HTTP/1.0 has no Host, and no browser speaks it. */
    if (must_be_local && host.s && !is_local_name(name) &&
        !is_allowed(name, allowed)) {
        return clew_fail_code(err, CLEW_FORBIDDEN, "HOST_NOT_ALLOWED",
                              "this Host is not one of this server's; see "
                              "server.allowed_hosts");
    }
    if (!origin.s) {
        return CLEW_OK;
    }
    origin = origin_host(origin);
    if (origin.s &&
        (str_ieq(origin, host) || is_allowed(host_name(origin), allowed))) {
        return CLEW_OK;
    }
    return clew_fail_code(err, CLEW_FORBIDDEN, "ORIGIN_NOT_ALLOWED",
                          "pages of another origin may not use this server; "
                          "see server.allowed_hosts");
}
