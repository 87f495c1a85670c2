/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upstream.c - see upstream.h.
 */
#include "proxy/upstream.h"

#include "base/alloc.h"
#include "base/config.h"

#include <string.h>

#define PREFIX "proxy.upstreams."

struct loading {
    struct upstreams *upstreams;
    enum clew_status status;
    struct clew_error *err;
};

/* The host of "host:port/path" or "[::1]:port/path". */
static struct str host_of(struct str rest)
{
    size_t end = 0;

    if (str_starts(rest, STR("["))) {
        end = str_find(rest, STR("]"), 0);
        return end == SIZE_MAX ? STR("") : str_sub(rest, 1, end);
    }
    while (end < rest.len && !strchr(":/?#", rest.s[end])) {
        end++;
    }
    return str_sub(rest, 0, end);
}

static bool is_loopback_name(struct str host)
{
    return str_ieq(host, STR("localhost")) || str_eq(host, STR("::1")) ||
           str_starts(host, STR("127."));
}

static enum clew_status check(struct str url, bool *out_plain)
{
    struct str rest;
    size_t slash;

    if (str_istarts(url, STR("https://"))) {
        *out_plain = false;
        rest = str_sub(url, 8, url.len);
    } else if (str_istarts(url, STR("http://"))) {
        *out_plain = true;
        rest = str_sub(url, 7, url.len);
    } else {
        return CLEW_INVALID;
    }
    slash = str_find(rest, STR("/"), 0);
    if (host_of(rest).len == 0 ||
        str_find(str_sub(rest, 0, slash), STR("@"), 0) != SIZE_MAX ||
        str_find(rest, STR("?"), 0) != SIZE_MAX ||
        str_find(rest, STR("#"), 0) != SIZE_MAX) {
        return CLEW_INVALID;
    }
    return *out_plain && !is_loopback_name(host_of(rest)) ? CLEW_FORBIDDEN
                                                          : CLEW_OK;
}

/* Without the "/" and "/v1" that people like to write at the end. */
static struct str bare(struct str url)
{
    while (str_ends(url, STR("/"))) {
        url.len--;
    }
    if (str_ends(url, STR("/v1"))) {
        url.len -= 3;
    }
    return url;
}

static void add(void *arg, const char *key, const char *value)
{
    struct loading *loading = arg;
    struct upstreams *upstreams = loading->upstreams;
    struct upstream *item = &upstreams->items[upstreams->count];
    struct str url = bare(str_of(value));
    enum clew_status status;

    if (loading->status != CLEW_OK || url.len == 0) {
        return;
    }
    if (upstreams->count == UPSTREAM_MAX) {
        loading->status = clew_fail_field(
            loading->err, key, "more than %d upstreams", UPSTREAM_MAX);
        return;
    }
    status = check(url, &item->is_plain);
    if (status != CLEW_OK) {
        loading->status =
            clew_fail_field(loading->err, key,
                            status == CLEW_FORBIDDEN
                                ? "\"%s\": plain http is for this machine only"
                                : "\"%s\" must be https://host[:port][/path]",
                            key);
        return;
    }
    item->name = alloc_string(key + strlen(PREFIX));
    item->base = alloc_copy(url.s, url.len);
    upstreams->count++;
    if (!item->name || !item->base) {
        loading->status =
            clew_fail(loading->err, CLEW_NO_MEMORY, "out of memory");
    }
}

enum clew_status upstreams_load(struct upstreams *upstreams,
                                const struct config *config,
                                struct clew_error *err)
{
    struct loading loading = {upstreams, CLEW_OK, err};

    memset(upstreams, 0, sizeof(*upstreams));
    config_each(config, PREFIX, add, &loading);
    return loading.status;
}

void upstreams_release(struct upstreams *upstreams)
{
    for (size_t i = 0; i < upstreams->count; i++) {
        alloc_free(upstreams->items[i].name);
        alloc_free(upstreams->items[i].base);
    }
    upstreams->count = 0;
}

static const struct upstream *by_name(const struct upstreams *upstreams,
                                      struct str name)
{
    for (size_t i = 0; i < upstreams->count; i++) {
        if (str_eq(str_of(upstreams->items[i].name), name)) {
            return &upstreams->items[i];
        }
    }
    return NULL;
}

const struct upstream *upstream_for(const struct upstreams *upstreams,
                                    const struct http_request *request,
                                    struct str path)
{
    struct str name = http_header_of(request, "x-clew-upstream");
    bool is_anthropic = str_starts(path, STR("/v1/messages")) ||
                        str_eq(path, STR("/v1/complete")) ||
                        http_header_of(request, "anthropic-version").s ||
                        http_header_of(request, "x-api-key").s;

    if (name.len > 0) {
        return by_name(upstreams, name);
    }
    if (str_starts(path, STR("/v1/chat/")) ||
        str_starts(path, STR("/v1/responses"))) {
        is_anthropic = false;
    }
    return by_name(upstreams, is_anthropic ? STR("anthropic") : STR("openai"));
}
