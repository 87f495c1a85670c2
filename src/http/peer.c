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

static enum clew_status foreign_page(struct clew_error *err)
{
    return clew_fail_code(err, CLEW_FORBIDDEN, "ORIGIN_NOT_ALLOWED",
                          "pages of another origin may not use this server; "
                          "see server.allowed_hosts");
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
    return foreign_page(err);
}

enum clew_status peer_check_site(const struct http_request *request,
                                 const char *allowed, struct clew_error *err)
{
    struct str site = http_header_of(request, "sec-fetch-site");
    struct str origin = origin_host(http_header_of(request, "origin"));

    if (!site.s || str_ieq(site, STR("none")) ||
        str_ieq(site, STR("same-origin")) ||
        (origin.s && is_allowed(host_name(origin), allowed))) {
        return CLEW_OK;
    }
    return foreign_page(err);
}

/* --- proxies before this server --- */

#define ADDRESS_BYTES 16

/* An address as 16 bytes, IPv4 mapped into IPv6; false if it is none. */
static bool read_address(struct str text, unsigned char out[ADDRESS_BYTES])
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0,    0,
                                             0, 0, 0, 0, 0xff, 0xff};
    char copy[INET6_ADDRSTRLEN];

    if (text.len == 0 || text.len >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text.s, text.len);
    copy[text.len] = '\0';
    memcpy(out, mapped, sizeof(mapped));
    return inet_pton(AF_INET, copy, out + sizeof(mapped)) == 1 ||
           inet_pton(AF_INET6, copy, out) == 1;
}

void peer_network(const char *address, char out[PEER_TEXT_SIZE])
{
    struct in6_addr own;

    if (!read_address(str_of(address), own.s6_addr)) {
        (void)snprintf(out, PEER_TEXT_SIZE, "%s", address);
    } else if (IN6_IS_ADDR_V4MAPPED(&own)) {
        (void)inet_ntop(AF_INET, own.s6_addr + 12, out, PEER_TEXT_SIZE);
    } else {
        memset(own.s6_addr + 8, 0, 8);
        (void)inet_ntop(AF_INET6, &own, out, PEER_TEXT_SIZE);
    }
}

/* "ADDRESS" or "ADDRESS/BITS"; the bits count from the 16 bytes' start. */
static bool read_network(struct str text, unsigned char out[ADDRESS_BYTES],
                         int *out_bits)
{
    size_t slash = str_find(text, STR("/"), 0);
    struct str address = str_sub(text, 0, slash);
    bool is_v6 = str_find(address, STR(":"), 0) != SIZE_MAX;
    int64_t most = is_v6 ? 128 : 32;
    int64_t bits = most;

    if (!read_address(address, out) ||
        (slash != SIZE_MAX &&
         (!str_parse_int(str_sub(text, slash + 1, text.len), &bits) ||
          bits < 0 || bits > most))) {
        return false;
    }
    *out_bits = (int)(bits + 128 - most);
    return true;
}

static bool is_inside(const unsigned char *address,
                      const unsigned char *network, int bits)
{
    int whole = bits / 8;
    int rest = bits % 8;

    return memcmp(address, network, (size_t)whole) == 0 &&
           (rest == 0 || (address[whole] ^ network[whole]) >> (8 - rest) == 0);
}

enum clew_status peer_list_check(const char *list, struct clew_error *err)
{
    struct str rest = str_of(list);
    struct str part;

    while (str_split(&rest, ',', &part)) {
        unsigned char network[ADDRESS_BYTES];
        int bits;

        part = str_trim(part);
        if (part.len > 0 && !str_eq(part, STR("unix")) &&
            !read_network(part, network, &bits)) {
            return clew_fail_field(err, "server.trusted_proxies",
                                   "\"server.trusted_proxies\": \"%.*s\" is no "
                                   "address or network",
                                   (int)(part.len < 64 ? part.len : 64),
                                   part.s);
        }
    }
    return CLEW_OK;
}

/* Is an address, as peer_format() writes it, in the list? NULL: nobody is. */
static bool peer_list_has(const char *list, struct str address)
{
    struct str rest = str_of(list);
    struct str part;
    unsigned char own[ADDRESS_BYTES];
    bool is_address = read_address(address, own);

    while (str_split(&rest, ',', &part)) {
        unsigned char network[ADDRESS_BYTES];
        int bits;

        part = str_trim(part);
        if (part.len == 0) {
            continue;
        }
        if (str_eq(part, STR("unix"))
                ? str_eq(address, part)
                : is_address && read_network(part, network, &bits) &&
                      is_inside(own, network, bits)) {
            return true;
        }
    }
    return false;
}

/* Names that only somebody in between gives; of its headers on whom it speaks
 * for, which are many, how they begin and how they end. */
static const char *const mark_names[] = {"forwarded", "via", "cdn-loop", NULL};
static const char *const mark_starts[] = {"x-forwarded", "x-original-",
                                          "x-envoy-", NULL};
static const char *const mark_ends[] = {"-ip",       "-ips",          "-ipv6",
                                        "-clientip", "-socketip",     "-addr",
                                        "-address",  "forwarded-for", NULL};

static bool is_mark(struct str name)
{
    for (size_t i = 0; mark_names[i]; i++) {
        if (str_ieq(name, str_of(mark_names[i]))) {
            return true;
        }
    }
    for (size_t i = 0; mark_starts[i]; i++) {
        if (str_istarts(name, str_of(mark_starts[i]))) {
            return true;
        }
    }
    for (size_t i = 0; mark_ends[i]; i++) {
        struct str end = str_of(mark_ends[i]);

        if (name.len >= end.len &&
            str_ieq(str_sub(name, name.len - end.len, name.len), end)) {
            return true;
        }
    }
    return false;
}

static bool is_forwarded(const struct http_request *request)
{
    for (size_t i = 0; i < request->n_headers; i++) {
        if (is_mark(request->headers[i].name)) {
            return true;
        }
    }
    return false;
}

/* Cut the last part off a list; false if it is empty. */
static bool take_last(struct str *list, struct str *out)
{
    size_t at = list->len;

    if (!list->s || list->len == SIZE_MAX) {
        return false;
    }
    while (at > 0 && list->s[at - 1] != ',') {
        at--;
    }
    *out = str_trim(str_sub(*list, at, list->len));
    list->len = at > 0 ? at - 1 : SIZE_MAX;
    return true;
}

/* Who asked the first proxy that is trusted; s == NULL if nobody knows. */
static struct str origin_of(const struct http_request *request,
                            const char *trusted)
{
    for (size_t i = request->n_headers; i-- > 0;) {
        struct str list = request->headers[i].value;
        struct str last;

        if (!str_ieq(request->headers[i].name, STR("x-forwarded-for"))) {
            continue;
        }
        while (take_last(&list, &last)) {
            unsigned char address[ADDRESS_BYTES];

            if (!read_address(last, address)) {
                return (struct str){NULL, 0};
            }
            /* this machine is whom it may be about, trusted or not */
            if (!peer_list_has(trusted, last) || is_local_name(last)) {
                return last;
            }
        }
    }
    return (struct str){NULL, 0};
}

void peer_apply_forwarding(struct http_request *request, const char *trusted)
{
    struct str origin;

    if (!is_forwarded(request)) {
        return;
    }
    origin = trusted && peer_list_has(trusted, str_of(request->peer))
                 ? origin_of(request, trusted)
                 : (struct str){NULL, 0};
    request->is_loopback =
        request->is_loopback && origin.s && is_local_name(origin);
    if (origin.s && origin.len < sizeof(request->peer)) {
        memcpy(request->peer, origin.s, origin.len);
        request->peer[origin.len] = '\0';
    }
}
