/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - what a request's path asks of the proxy.
 *
 * Its own are /v1/… and /key/<clew key>/v1/…. The path goes to the upstream as
 * it came, so one that an upstream could take for another is refused.
 * Thread-safety: pure functions.
 */
#ifndef PROXY_TARGET_H
#define PROXY_TARGET_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/canon.h"
#include "http/http.h"

#include <stdbool.h>

struct target {
    struct str path;    /* from "/v1" on */
    struct str key;     /* of the path; s == NULL if there is none */
    const char *route;  /* static, for log and metrics */
    bool is_captured;   /* a call whose format is known: */
    enum canon_api api; /* this one */
};

/* False if the path is not the proxy's. Borrows from the request. */
bool target_of(const struct http_request *request, struct target *out);
/* CLEW_INVALID for dot segments, also hidden ones, and control characters;
 * CLEW_NOT_FOUND for a "/v1" that stands there twice. */
enum clew_status target_check(const struct target *target,
                              const struct http_request *request,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
