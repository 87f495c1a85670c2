/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_check.c - take an address apart with curl's own parser and judge it.
 *
 * The parser is the one that will make the connection, so both see the same
 * host: "127.1" and "0x7f000001" come out as 127.0.0.1.
 */
#include "model/url_check.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <string.h>

static bool is_this_machine(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    char plain[64];
    size_t len = strlen(host);

    if (strcmp(host, "localhost") == 0) {
        return true;
    }
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    if (len > 2 && len < sizeof(plain) && host[0] == '[') {
        memcpy(plain, host + 1, len - 2);
        plain[len - 2] = '\0';
        return inet_pton(AF_INET6, plain, &v6) == 1 &&
               IN6_IS_ADDR_LOOPBACK(&v6);
    }
    return false;
}

static const char *fault_of(CURLU *parts, const char *url, bool *out_is_local)
{
    char *scheme = NULL;
    char *host = NULL;
    char *user = NULL;
    const char *fault = NULL;

    if (curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        fault = "not an http or https address";
    } else if (curl_url_get(parts, CURLUPART_USER, &user, 0) == CURLUE_OK) {
        fault = "must not hold a user name";
    } else {
        *out_is_local = is_this_machine(host);
        if (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0) {
            fault = "not an http or https address";
        } else if (strcmp(scheme, "http") == 0 && !*out_is_local) {
            fault = "must be https unless it is on this machine";
        }
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    return fault;
}

enum clew_status url_check(const char *url, const char *field,
                           bool *out_is_local, struct clew_error *err)
{
    CURLU *parts = curl_url();
    const char *fault;

    if (!parts) {
        return CLEW_NO_MEMORY;
    }
    fault = fault_of(parts, url ? url : "", out_is_local);
    curl_url_cleanup(parts);
    if (fault) {
        return clew_fail_field(err, field, "%s", fault);
    }
    return CLEW_OK;
}
