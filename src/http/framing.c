/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framing.c - what the headers say of themselves and the body. See framing.h.
 */
#include "http/framing.h"

#include <string.h>

/* Header names are tokens (RFC 9110): one with a space in it may be another
 * header to whoever passed it on. */
static bool is_token(struct str name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < name.len; i++) {
        char c = name.s[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
              (c >= 'A' && c <= 'Z') || (c && strchr(others, c)))) {
            return false;
        }
    }
    return name.len > 0;
}

static size_t count_headers(const struct http_request *request, struct str name)
{
    size_t count = 0;

    for (size_t i = 0; i < request->n_headers; i++) {
        count += str_ieq(request->headers[i].name, name);
    }
    return count;
}

/* Who calls, for whom, from where and with what: of two such words a client may
 * have said one and whoever stands before the server the other. */
static bool is_single(struct str name)
{
    static const char *const once[] = {
        "host",         "origin",           "authorization",  "x-api-key",
        "content-type", "content-encoding", "mcp-session-id", "sec-fetch-site"};

    for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
        if (str_ieq(name, str_of(once[i]))) {
            return true;
        }
    }
    return str_istarts(name, STR("x-clew-"));
}

enum clew_status framing_check_headers(const struct http_request *request,
                                       struct clew_error *err)
{
    for (size_t i = 0; i < request->n_headers; i++) {
        struct str name = request->headers[i].name;

        if (!is_token(name)) {
            return clew_fail(err, CLEW_INVALID, "a header's name is malformed");
        }
        if (is_single(name) && count_headers(request, name) > 1) {
            return clew_fail(err, CLEW_INVALID,
                             "the header \"%.*s\" is given more than once",
                             (int)name.len, name.s);
        }
    }
    return CLEW_OK;
}

enum clew_status framing_check_length(const struct http_request *request,
                                      size_t max_bytes, struct clew_error *err)
{
    size_t n_lengths = count_headers(request, STR("content-length"));
    size_t n_codings = count_headers(request, STR("transfer-encoding"));
    struct str text = http_header_of(request, "content-length");
    int64_t length = 0;

    if (n_lengths + n_codings > 1) {
        return clew_fail(err, CLEW_INVALID,
                         "the body's length is given more than once");
    }
    if (n_lengths == 0) {
        return CLEW_OK;
    }
    if (!str_parse_int(str_trim(text), &length) || length < 0) {
        return clew_fail(err, CLEW_INVALID, "Content-Length is no number");
    }
    if ((uint64_t)length > max_bytes) {
        return clew_fail(err, CLEW_TOO_LARGE,
                         "the body has more than %zu bytes", max_bytes);
    }
    return CLEW_OK;
}

bool framing_has_body(const struct http_request *request)
{
    struct str length = http_header_of(request, "content-length");
    int64_t bytes = 1;

    return http_header_of(request, "transfer-encoding").s ||
           (length.s &&
            (!str_parse_int(str_trim(length), &bytes) || bytes > 0));
}
