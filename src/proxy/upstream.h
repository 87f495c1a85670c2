/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upstream.h - where calls go: addresses by name, from the configuration.
 *
 * A request chooses among names at most, never an address. Plain http is
 * allowed to this machine only; user names in an address are refused.
 * Thread-safety: immutable after upstreams_load().
 */
#ifndef PROXY_UPSTREAM_H
#define PROXY_UPSTREAM_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

#include <stdbool.h>
#include <stddef.h>

struct config;

struct upstream {
    char *name;
    char *base;    /* without a slash at its end, and without "/v1" */
    bool is_plain; /* http: only loopback addresses may be connected to */
};

#define UPSTREAM_MAX 32

struct upstreams {
    struct upstream items[UPSTREAM_MAX];
    size_t count;
};

/* CLEW_INVALID naming the key if an address is not allowed. The caller
 * upstreams_release()s it, also after a failure. */
enum clew_status upstreams_load(struct upstreams *upstreams,
                                const struct config *config,
                                struct clew_error *err) CLEW_MUST_CHECK;
void upstreams_release(struct upstreams *upstreams);

/* The upstream of a call: the one named in x-clew-upstream, else by its path
 * and headers; NULL if that name is not configured. */
const struct upstream *upstream_for(const struct upstreams *upstreams,
                                    const struct http_request *request,
                                    struct str path);

#endif
