/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.c - tenant and role from a key. See auth.h.
 */
#include "api/auth.h"

#include "base/limits.h"
#include "engine/engine.h"
#include "engine/key.h"

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
    return name ? as_default(call, name, err) : api_no_memory(err);
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

enum clew_status auth_call(struct api_call *call, struct clew_error *err)
{
    struct str text = presented_key(call);
    struct key_grant grant;
    enum clew_status status;

    if (call->request->is_trusted) {
        return as_operator(call, err);
    }
    if (call->request->is_loopback) {
        bool has_keys = true;

        status = key_any(call->engine, &has_keys, err);
        if (status != CLEW_OK) {
            return status;
        }
        if (!has_keys) {
            return as_default(call, DEFAULT_TENANT, err);
        }
    }
    if (!text.s || text.len == 0) {
        return clew_fail(err, CLEW_UNAUTHORIZED, "a key is required");
    }
    status = key_authenticate(call->engine, text, &grant, err);
    if (status != CLEW_OK) {
        return status;
    }
    call->scope = grant.scope;
    call->role = role_of(grant.role);
    call->key_id = arena_string(call->arena, grant.id);
    return call->key_id ? CLEW_OK : api_no_memory(err);
}
