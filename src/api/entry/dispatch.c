/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c - a request's way through the REST surface. See dispatch.h.
 */
#include "api/entry/dispatch.h"

#include "api/api.h"
#include "api/entry/auth.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/limits.h"
#include "base/log.h"
#include "engine/core/engine.h"
#include "engine/key/caller.h"
#include "http/ratelimit.h"
#include "http/room.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct api_front {
    struct engine *engine;
    struct ratelimit *by_key;
    struct auth_gate *gate;
};

static struct router_row row_at(const void *table, size_t i)
{
    const struct api_route *routes = table;

    return (struct router_row){routes[i].method, routes[i].path};
}

static void add_header(const struct api_call *call, const char *name,
                       const char *value)
{
    if (http_response_header(call->request, call->response, name, value)) {
        return; /* a courtesy: without memory the status says enough */
    }
}

/* Does a provider's client ask that was given a base URL without the "/v1"? */
static bool lacks_version(struct str path)
{
    static const char *const paths[] = {"/chat/completions", "/completions",
                                        "/embeddings",       "/messages",
                                        "/models",           "/responses"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (str_eq(path, str_of(paths[i]))) {
            return true;
        }
    }
    return false;
}

static enum clew_status find_route(struct api_call *call,
                                   struct clew_error *err)
{
    struct router_match match = {0};
    enum clew_status status =
        router_find(row_at, api_routes, call->request, &match, err);

    if (status == CLEW_NOT_FOUND && lacks_version(call->request->path)) {
        return clew_fail(err, CLEW_NOT_FOUND,
                         "no such address: it is /v1%.*s here, so the client's "
                         "base URL lacks its /v1",
                         (int)call->request->path.len, call->request->path.s);
    }
    if (status == CLEW_NO_METHOD) {
        add_header(call, "allow", match.allow);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->routes = api_routes;
    call->route = &api_routes[match.row];
    call->response->route = call->route->path;
    memcpy(call->params, match.params, sizeof(call->params));
    return CLEW_OK;
}

/* --- rates --- */

static enum clew_status take_rate(const struct api_call *call,
                                  struct ratelimit *limit, struct str key,
                                  struct clew_error *err)
{
    int64_t wait_ms = 0;

    return ratelimit_take(limit, key, clock_mono_ns(), &wait_ms)
               ? CLEW_OK
               : auth_slow_down(call, wait_ms, err);
}

/* Does this call need no key, by the table or by the configuration? */
static bool is_open(const struct api_call *call)
{
    const char *mode = config_str(call->engine->config, "server.metrics");

    if (!(call->route->flags & API_METRICS)) {
        return call->route->role == API_ROLE_NONE;
    }
    return strcmp(mode, "open") == 0 ||
           (strcmp(mode, "local") == 0 && call->request->is_loopback);
}

static bool is_off(const struct api_call *call)
{
    return (call->route->flags & API_METRICS) &&
           strcmp(config_str(call->engine->config, "server.metrics"), "off") ==
               0;
}

/* Key and role. */
static enum clew_status check_caller(struct api_call *call,
                                     const struct api_front *front,
                                     struct clew_error *err)
{
    enum clew_status status;

    if (is_off(call)) {
        return clew_fail(err, CLEW_NOT_FOUND, "no such address");
    }
    if (is_open(call)) {
        return CLEW_OK;
    }
    status = auth_enter(front ? front->gate : NULL, call, err);
    if (status == CLEW_OK && call->role < call->route->role) {
        return clew_fail(err, CLEW_FORBIDDEN,
                         "this key's role does not permit that");
    }
    return status;
}

static enum clew_status authenticate(struct api_call *call,
                                     const struct api_front *front,
                                     struct clew_error *err)
{
    enum clew_status status = check_caller(call, front, err);

    return status == CLEW_OK && front && call->role != API_ROLE_NONE
               ? take_rate(call, front->by_key, str_of(call->key_id), err)
               : status;
}

/* --- input --- */

static bool has_body(enum http_method method)
{
    return method == HTTP_POST || method == HTTP_PUT || method == HTTP_PATCH ||
           method == HTTP_DELETE;
}

/* "application/json", "application/x+json", with parameters or not. */
static bool is_json_type(struct str type)
{
    size_t end = str_find(type, STR(";"), 0);

    type = str_trim(str_sub(type, 0, end));
    return str_ieq(type, STR("application/json")) ||
           (str_istarts(type, STR("application/")) &&
            str_ends(type, STR("+json")));
}

static enum clew_status read_body(struct api_call *call, struct clew_error *err)
{
    static const char *const none[] = {NULL};
    const char *const *known =
        call->route->body_fields ? call->route->body_fields : none;
    struct str type = http_header_of(call->request, "content-type");
    struct str text = call->request->body;
    enum clew_status status;

    if (!has_body(call->request->method) ||
        (call->route->flags & API_RAW_BODY)) {
        return CLEW_OK;
    }
    if (text.len == 0) {
        call->body = json_object();
        return call->body ? CLEW_OK : clew_no_memory(err);
    }
    if (type.s && !is_json_type(type)) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "the body must be application/json");
    }
    call->body_bytes = json_tree_bytes(text);
    status = room_take(call->request->share, call->body_bytes, err);
    if (status != CLEW_OK) {
        call->body_bytes = 0;
        return status;
    }
    status = json_parse(text, &call->body, err);
    if (status == CLEW_OK && !json_is_object(call->body)) {
        status = clew_fail(err, CLEW_INVALID, "the body must be a JSON object");
    }
    if (status != CLEW_OK) {
        if (err->field[0] == '\0' && status == CLEW_INVALID) {
            (void)snprintf(err->field, sizeof(err->field), "body");
        }
        return status;
    }
    return json_check_fields(call->body, known, err);
}

static enum clew_status check_query(const struct api_call *call,
                                    struct clew_error *err)
{
    if (call->route->flags & API_ANY_QUERY) {
        return CLEW_OK;
    }
    return http_check_query(call->request, call->route->query, err);
}

/* --- output --- */

static enum clew_status write_out(struct api_call *call, struct clew_error *err)
{
    enum clew_status status;

    call->response->status = call->http_status;
    /* without a tree the handler wrote body or stream itself */
    status = call->out ? json_write(&call->response->body, call->out)
                       : buf_status(&call->response->body);
    return status == CLEW_OK
               ? CLEW_OK
               : clew_fail(err, status, "the answer is too large");
}

static enum clew_status run(struct api_call *call,
                            const struct api_front *front,
                            struct clew_error *err)
{
    enum clew_status status = find_route(call, err);

    if (status == CLEW_OK) {
        status = authenticate(call, front, err);
    }
    if (status == CLEW_OK) {
        status = check_query(call, err);
    }
    if (status == CLEW_OK) {
        status = read_body(call, err);
    }
    if (status == CLEW_OK) {
        status = call->route->fn(call, err);
    }
    if (status == CLEW_OK) {
        status = write_out(call, err);
    }
    return status;
}

/* Our own faults are logged; the caller's are the caller's. */
static void log_failure(const struct api_call *call, enum clew_status status,
                        const struct clew_error *err)
{
    char words[sizeof(err->message)];

    if (clew_status_http(status) >= 500) {
        log_event(LOG_ERROR, "api", "failed",
                  "id=%s route=%s code=%s message=\"%s\"", call->request->id,
                  call->route ? call->route->path : "-",
                  clew_status_code(status),
                  log_words(err->message, words, sizeof(words)));
    }
}

/* A GET from the network, which stores nothing. */
static bool is_bare_read(const struct api_call *call,
                         const struct api_front *front)
{
    const struct http_request *request = call->request;

    return front && !request->is_part &&
           (request->method == HTTP_GET || request->method == HTTP_HEAD);
}

/* Which program called, where the call says so. That it is not noted is no
 * reason to fail a call that did what was asked. */
static void note_caller(const struct api_call *call,
                        const struct api_front *front)
{
    struct str name = http_header_of(call->request, CALLER_HEADER);

    if (name.s && call->scope.tenant != 0 && !is_bare_read(call, front)) {
        clew_ignore(caller_note(call->engine, &call->scope, name, CALLER_API,
                                clock_now_ms(call->engine->clock), NULL));
    }
}

static void dispatch(struct engine *engine, const struct api_front *front,
                     const struct http_request *request,
                     struct http_response *response)
{
    struct clew_error err = {0};
    struct api_call call = {.engine = engine,
                            .arena = request->arena,
                            .request = request,
                            .response = response,
                            .key_id = "",
                            .http_status = 200};
    enum clew_status status = run(&call, front, &err);

    if (status == CLEW_OK) {
        note_caller(&call, front);
    }
    if (status == CLEW_NO_METHOD && request->method == HTTP_OPTIONS) {
        response->status = 204; /* the Allow header is the answer */
    } else if (status != CLEW_OK) {
        /* nor need who was not let in know where the database is */
        bool is_ours = status == CLEW_INTERNAL || status == CLEW_CORRUPT ||
                       (status == CLEW_UNAVAILABLE && call.scope.tenant == 0);

        if (status == CLEW_NO_MEMORY) {
            clew_ignore(
                clew_no_memory(&err)); /* no words of what went before */
        }
        log_failure(&call, status, &err);
        /* What broke inside is for the log; the request id leads there. */
        http_response_error(request, response, status, is_ours ? NULL : &err);
    }
    json_decref(call.out);
    json_decref(call.body);
    room_give(request->share, call.body_bytes);
}

void api_dispatch(struct engine *engine, const struct http_request *request,
                  struct http_response *response)
{
    dispatch(engine, NULL, request, response);
}

enum clew_status api_front_new(struct engine *engine,
                               struct api_front **out_front,
                               struct clew_error *err)
{
    struct api_front *front = alloc_zero(1, sizeof(*front));
    int64_t rate = config_int(engine->config, "limits.rate_per_minute");
    enum clew_status status = CLEW_NO_MEMORY;

    if (front) {
        front->engine = engine;
        /* A tenth of a minute's worth may come at once. */
        status = ratelimit_new(rate, rate / 10 + 1, &front->by_key);
    }
    if (status == CLEW_OK) {
        status = auth_gate_new(&front->gate);
    }
    if (status != CLEW_OK) {
        api_front_free(front);
        return clew_fail(err, status, "out of memory");
    }
    status = api_pages_open(engine, err);
    if (status != CLEW_OK) {
        api_front_free(front);
        return status;
    }
    *out_front = front;
    return CLEW_OK;
}

void api_front_free(struct api_front *front)
{
    if (!front) {
        return;
    }
    ratelimit_free(front->by_key);
    auth_gate_free(front->gate);
    alloc_free(front);
}

struct auth_gate *api_front_gate(struct api_front *front)
{
    return front->gate;
}

bool api_front_admit(void *arg, const struct http_request *request,
                     struct http_response *response)
{
    const struct api_front *front = arg;
    struct clew_error err = {0};
    struct api_call call = {.engine = front->engine,
                            .arena = request->arena,
                            .request = request,
                            .response = response,
                            .key_id = ""};
    enum clew_status status = find_route(&call, &err);

    if (status == CLEW_OK) {
        status = check_caller(&call, front, &err);
    }
    if (status != CLEW_OK) {
        log_failure(&call, status, &err);
        http_response_error(request, response, status, &err);
    }
    return status == CLEW_OK;
}

bool api_is_public(const struct http_request *request)
{
    struct router_match match;

    return router_find(row_at, api_routes, request, &match, NULL) == CLEW_OK &&
           api_routes[match.row].role == API_ROLE_NONE;
}

void api_front_handle(void *arg, const struct http_request *request,
                      struct http_response *response)
{
    struct api_front *front = arg;

    dispatch(front->engine, front, request, response);
}
