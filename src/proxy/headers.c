/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers.c - see headers.h.
 */
#include "proxy/headers.h"

#include <string.h>

/* RFC 9110, section 7.6.1, and the older names. */
static const char *const hop_by_hop[] = {
    "connection", "keep-alive",          "proxy-authenticate",
    "te",         "proxy-authorization", "proxy-connection",
    "trailer",    "transfer-encoding",   "upgrade",
    NULL};
/* Written anew for the upstream: the body was unpacked, the host is another. */
static const char *const own_up[] = {
    "host", "content-length", "expect", "content-encoding", "accept-encoding",
    NULL};
/* Written anew for the client. */
static const char *const own_down[] = {"content-length", "date", "x-request-id",
                                       NULL};
/* A browser would take them for clew's own word: they are about an origin or a
 * page, not about an answer of an API. */
static const char *const of_origin[] = {"alt-svc",
                                        "clear-site-data",
                                        "content-security-policy",
                                        "content-security-policy-report-only",
                                        "nel",
                                        "permissions-policy",
                                        "referrer-policy",
                                        "report-to",
                                        "reporting-endpoints",
                                        "service-worker-allowed",
                                        "strict-transport-security",
                                        "x-content-type-options",
                                        "x-frame-options",
                                        NULL};

static bool is_one_of(struct str name, const char *const *names)
{
    for (; *names; names++) {
        if (str_ieq(name, str_of(*names))) {
            return true;
        }
    }
    return false;
}

/* Of the headers that let foreign pages read an answer a page of
 * server.allowed_hosts has the upstream's: no other foreign page comes so far,
 * and one of our own needs none. */
static bool is_of_origin(const struct http_request *request, struct str name)
{
    return is_one_of(name, of_origin) ||
           str_istarts(name, STR("cross-origin-")) ||
           (str_istarts(name, STR("access-control-")) &&
            !http_header_of(request, "origin").s);
}

/* Is it named in a Connection header? There may be several of these. */
static bool is_named(struct str name, const struct http_header *headers,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str list = headers[i].value;
        struct str part;

        if (!str_ieq(headers[i].name, STR("connection"))) {
            continue;
        }
        while (str_split(&list, ',', &part)) {
            if (str_ieq(str_trim(part), name)) {
                return true;
            }
        }
    }
    return false;
}

struct str headers_find(const struct http_header *headers, size_t count,
                        const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_ieq(headers[i].name, str_of(name))) {
            return headers[i].value;
        }
    }
    return (struct str){NULL, 0};
}

/* Can the server send it on? libmicrohttpd takes no empty value, and clients
 * no name that is no token (RFC 9110, section 5.6.2). */
static bool can_be_sent(const struct http_header *header)
{
    for (size_t i = 0; i < header->name.len; i++) {
        unsigned char c = (unsigned char)header->name.s[i];

        if (c <= ' ' || c >= 0x7F || strchr("\"(),/:;<=>?@[\\]{}", c)) {
            return false;
        }
    }
    return header->name.len > 0 && header->value.len > 0;
}

/* A header value must not start another header. */
static bool is_clean(struct str value)
{
    return !memchr(value.s, '\n', value.len) &&
           !memchr(value.s, '\r', value.len) &&
           !memchr(value.s, '\0', value.len);
}

enum clew_status headers_up(const struct http_request *request,
                            struct http_header **out, size_t *out_count,
                            struct clew_error *err)
{
    struct str encoding = http_header_of(request, "accept-encoding");
    struct http_header *kept =
        arena_zero(request->arena, request->n_headers + 4, sizeof(*kept));
    size_t count = 0;

    if (!kept) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < request->n_headers; i++) {
        const struct http_header *header = &request->headers[i];

        if (is_one_of(header->name, hop_by_hop) ||
            is_one_of(header->name, own_up) ||
            str_istarts(header->name, STR("x-clew-")) ||
            is_named(header->name, request->headers, request->n_headers) ||
            !is_clean(header->value)) {
            continue;
        }
        kept[count++] = *header;
    }
    /* only what the capture can unpack */
    if (str_ifind(encoding, STR("gzip"), 0) != SIZE_MAX) {
        kept[count++] =
            (struct http_header){STR("Accept-Encoding"), STR("gzip")};
    }
    /* what libcurl would add by itself is switched off by an empty value */
    kept[count++] = (struct http_header){STR("Expect:"), STR("")};
    if (!http_header_of(request, "accept").s) {
        kept[count++] = (struct http_header){STR("Accept:"), STR("")};
    }
    if (!http_header_of(request, "content-type").s) {
        kept[count++] = (struct http_header){STR("Content-Type:"), STR("")};
    }
    *out = kept;
    *out_count = count;
    return CLEW_OK;
}

enum clew_status headers_down(const struct http_request *request,
                              const struct http_header *headers, size_t count,
                              struct http_response *response,
                              struct clew_error *err)
{
    for (size_t i = 0; i < count; i++) {
        enum clew_status status;

        if (is_one_of(headers[i].name, hop_by_hop) ||
            is_one_of(headers[i].name, own_down) ||
            is_of_origin(request, headers[i].name) ||
            is_named(headers[i].name, headers, count) ||
            !can_be_sent(&headers[i])) {
            continue;
        }
        status = http_response_header(request, response, headers[i].name.s,
                                      headers[i].value.s);
        if (status != CLEW_OK) {
            return clew_fail(err, status, "out of memory");
        }
    }
    return CLEW_OK;
}
