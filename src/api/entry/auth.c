/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.c - tenant and role from a key. See auth.h.
 */
#include "api/entry/auth.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "engine/core/engine.h"
#include "engine/key/key.h"
#include "engine/key/tenant.h"
#include "http/peer.h"
#include "http/ratelimit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_TENANT "default"

/* The parameter called {key} of the route's pattern; s == NULL if none. */
static struct str path_key(const struct api_call *call)
{
    const char *at = call->route->path;

    for (int i = 0; i < API_MAX_PARAMS; i++) {
        at = strchr(at, '{');
        if (!at) {
            break;
        }
        if (strncmp(at, "{key}", 5) == 0) {
            return call->params[i];
        }
        at++;
    }
    return (struct str){0};
}

static struct str presented_key(const struct api_call *call)
{
    struct str text;

    if (call->route->flags & API_PROXY_KEY) {
        text = http_header_of(call->request, "x-clew-key");
        return text.s ? text : path_key(call);
    }
    text = http_header_of(call->request, "authorization");
    if (str_istarts(text, STR("bearer "))) {
        return str_trim(str_sub(text, 7, text.len));
    }
    return http_header_of(call->request, "x-api-key");
}

static enum clew_status as_default(struct api_call *call, const char *tenant,
                                   struct clew_error *err)
{
    call->role = API_ROLE_ADMIN;
    call->key_id = "";
    return engine_tenant(call->engine, tenant, &call->scope, err);
}

static enum clew_status as_operator(struct api_call *call,
                                    struct clew_error *err)
{
    struct str tenant = http_header_of(call->request, "x-clew-tenant");
    char *name;

    if (!tenant.s || tenant.len == 0) {
        return as_default(call, DEFAULT_TENANT, err);
    }
    if (tenant.len > LIMIT_NAME_BYTES) {
        return clew_fail_field(err, "tenant", "the tenant's name is too long");
    }
    name = arena_copy(call->arena, tenant.s, tenant.len);
    return name ? as_default(call, name, err) : clew_no_memory(err);
}

static enum api_role role_of(enum key_role role)
{
    switch (role) {
    case KEY_READ:
        return API_ROLE_READ;
    case KEY_WRITE:
        return API_ROLE_WRITE;
    case KEY_ADMIN:
        return API_ROLE_ADMIN;
    }
    return API_ROLE_NONE;
}

/* The store is away, and will be back; what it said last may do. */
static bool may_recall(const struct api_call *call, enum clew_status status)
{
    return (call->route->flags & API_KNOWN_KEY) &&
           (status == CLEW_UNAVAILABLE || status == CLEW_BUSY ||
            status == CLEW_TIMEOUT);
}

static enum clew_status has_keys(const struct api_call *call, bool *out_any,
                                 struct clew_error *err)
{
    enum clew_status status = key_any(call->engine, out_any, err);

    return may_recall(call, status) ? key_any_known(call->engine, out_any, err)
                                    : status;
}

static enum clew_status check_key(const struct api_call *call, struct str text,
                                  struct key_grant *out_grant,
                                  struct clew_error *err)
{
    enum clew_status status =
        key_authenticate(call->engine, text, out_grant, err);

    return may_recall(call, status)
               ? key_known(call->engine, text, out_grant, err)
               : status;
}

enum clew_status auth_call(struct api_call *call, struct clew_error *err)
{
    struct str text = presented_key(call);
    struct key_grant grant;
    enum clew_status status;

    if (call->request->is_trusted) {
        return as_operator(call, err);
    }
    if (call->request->is_loopback) {
        bool any = true;

        status = has_keys(call, &any, err);
        if (status != CLEW_OK) {
            return status;
        }
        if (!any) {
            return as_default(call, DEFAULT_TENANT, err);
        }
    }
    if (!text.s || text.len == 0) {
        return clew_fail(err, CLEW_UNAUTHORIZED, "a key is required");
    }
    status = check_key(call, text, &grant, err);
    if (status != CLEW_OK) {
        return status;
    }
    call->scope = grant.scope;
    call->role = role_of(grant.role);
    call->key_id = arena_string(call->arena, grant.id);
    return call->key_id ? CLEW_OK : clew_no_memory(err);
}

/* --- the gate --- */

struct auth_gate {
    struct ratelimit *wrong; /* keys, by peer_network() */
};

enum clew_status auth_gate_new(struct auth_gate **out_gate)
{
    struct auth_gate *gate = alloc_zero(1, sizeof(*gate));
    enum clew_status status = CLEW_NO_MEMORY;

    if (gate) {
        status = ratelimit_new(LIMIT_BAD_KEYS_PER_MINUTE,
                               LIMIT_BAD_KEYS_PER_MINUTE / 2, &gate->wrong);
    }
    if (status != CLEW_OK) {
        auth_gate_free(gate);
        return status;
    }
    *out_gate = gate;
    return CLEW_OK;
}

void auth_gate_free(struct auth_gate *gate)
{
    if (gate) {
        ratelimit_free(gate->wrong);
        alloc_free(gate);
    }
}

static void add_header(const struct api_call *call, const char *name,
                       const char *value)
{
    if (call->response &&
        http_response_header(call->request, call->response, name, value)) {
        return; /* a courtesy: without memory the status says enough */
    }
}

enum clew_status auth_slow_down(const struct api_call *call, int64_t wait_ms,
                                struct clew_error *err)
{
    char seconds[24];

    (void)snprintf(seconds, sizeof(seconds), "%" PRId64,
                   (wait_ms + 999) / 1000);
    add_header(call, "retry-after", seconds);
    return clew_fail(err, CLEW_RATE_LIMITED,
                     "too many requests; try again in %s s", seconds);
}

/* Without asking the store about this key: guesses are to cost nothing. */
static bool looks_right(struct engine *engine, struct str key)
{
    struct key_grant grant;

    return key_known(engine, key, &grant, NULL) == CLEW_OK ||
           key_is_listed(engine, key);
}

enum clew_status auth_enter(struct auth_gate *gate, struct api_call *call,
                            struct clew_error *err)
{
    char network[PEER_TEXT_SIZE];
    struct str peer;
    int64_t now_ns = clock_mono_ns();
    int64_t wait_ms = 0;
    enum clew_status status;

    if (!gate) {
        return auth_call(call, err);
    }
    peer_network(call->request->peer, network);
    peer = str_of(network);
    if (ratelimit_is_empty(gate->wrong, peer, now_ns, &wait_ms) &&
        !looks_right(call->engine, presented_key(call))) {
        return auth_slow_down(call, wait_ms, err);
    }
    status = auth_call(call, err);
    if (status == CLEW_UNAUTHORIZED) {
        add_header(call, "www-authenticate", "Bearer realm=\"clew\"");
        if (!ratelimit_take(gate->wrong, peer, now_ns, &wait_ms)) {
            return auth_slow_down(call, wait_ms, err);
        }
    }
    return status;
}
