/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.c - a call's way through the proxy. See proxy.h.
 *
 * route, authenticate, choose the upstream, inject, send, pass the answer back
 * as it comes, hand the record over when the last byte is out.
 */
#include "proxy/proxy.h"

#include "api/api.h"
#include "api/entry/auth.h"
#include "api/mounts.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/utf8.h"
#include "engine/core/engine.h"
#include "http/metrics.h"
#include "http/presence.h"
#include "http/room.h"
#include "proxy/headers.h"
#include "proxy/record.h"
#include "proxy/target.h"
#include "proxy/upstream.h"
#include "proxy/wire.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* An answer up to this length whose length is known is sent in one piece. */
#define WHOLE_BYTES (64 * 1024)
/* What is logged and counted where the client had gone; nobody reads it. */
#define STATUS_GONE 499

struct proxy {
    struct engine *engine;
    struct proxy_options options;
    struct upstreams upstreams;
    struct wire_pool *wires;
    struct recorder *recorder;
    bool is_injecting;
    bool is_capturing;
};

/* One call on its way. Lives until the answer is sent. */
struct call {
    struct proxy *proxy;
    const struct http_request *request;
    struct target target;
    struct scope scope;
    struct wire *wire;
    struct record *record; /* NULL if it is not captured */
    struct buf body;       /* with injected context, if any */
    int64_t began_ns;
    bool is_whole; /* the upstream ended it in good order */
};

/* --- who and where ---------------------------------------------------------
 */

static enum clew_status
authenticate(const struct proxy *proxy, const struct http_request *request,
             const struct target *target, struct http_response *response,
             struct scope *out_scope, struct clew_error *err)
{
    const struct api_route *mount =
        &api_mounts[target->key.s ? API_MOUNT_PROXY_KEYED : API_MOUNT_PROXY];
    struct api_call api = {.engine = proxy->engine,
                           .arena = request->arena,
                           .request = request,
                           .response = response,
                           .route = mount,
                           .params = {target->key}};
    enum clew_status status = auth_enter(proxy->options.gate, &api, err);

    if (status == CLEW_OK && api.role < mount->role) {
        return clew_fail(err, CLEW_FORBIDDEN,
                         "this key's role does not permit that");
    }
    if (status == CLEW_OK) {
        *out_scope = api.scope;
    }
    return status;
}

/* Whose turns these are. If that cannot be kept the call does not go up: its
 * capture would be lost. An empty one is as good as none. */
static enum clew_status check_user(const struct http_request *request,
                                   struct clew_error *err)
{
    struct str user = http_header_of(request, "x-clew-user");

    if (user.len > LIMIT_NAME_BYTES || !utf8_is_valid(user)) {
        return clew_fail_field(err, "x-clew-user",
                               "x-clew-user is not a user's id");
    }
    return CLEW_OK;
}

/* --- what is recorded ------------------------------------------------------
 */

/* The program that calls, in its own words. */
static void note_client(struct record *record,
                        const struct http_request *request)
{
    struct str name = http_header_of(request, CALLER_HEADER);
    size_t len;

    if (!name.s) {
        name = caller_product(http_header_of(request, "user-agent"));
    }
    len = utf8_cut(name, CALLER_NAME_BYTES);
    memcpy(record->client, name.s ? name.s : "", len);
    record->client[len] = '\0';
}

static void begin_record(struct call *call, enum canon_api api)
{
    const struct http_request *request = call->request;
    struct str chat = http_header_of(request, "x-clew-chat");
    struct str user = http_header_of(request, "x-clew-user");
    struct str session = http_header_of(request, "x-claude-code-session-id");
    struct record *record;

    if (!call->proxy->is_capturing) {
        return;
    }
    record = record_new();
    if (!record) {
        recorder_miss(call->proxy->recorder);
        return;
    }
    record->tenant = call->scope.tenant;
    record->created_at_ms = clock_now_ms(call->proxy->engine->clock);
    record->id = uuid_new(record->created_at_ms);
    record->api = api;
    record->first_byte_ms = -1;
    note_client(record, request);
    (void)uuid_parse(chat, &record->chat_id); /* anything else is no chat */
    /* a failure stays in its buffer and is looked at here; a session that
     * cannot be kept is none */
    (void)buf_append_str(&record->user_id, user.s ? user : STR(""));
    (void)buf_append_str(&record->session, session.s && utf8_is_valid(session)
                                               ? session
                                               : STR(""));
    if (record_take_request(record, request->body) != CLEW_OK ||
        buf_status(&record->user_id) != CLEW_OK) {
        record_free(record);
        recorder_miss(call->proxy->recorder);
        return;
    }
    call->record = record;
}

static void end_record(struct call *call)
{
    struct record *record = call->record;

    call->record = NULL;
    if (record) {
        record->duration_ms = (clock_mono_ns() - call->began_ns) / 1000000;
        record->is_whole = call->is_whole;
        recorder_take(call->proxy->recorder, record);
    }
}

static void keep(struct call *call, const char *bytes, size_t len)
{
    struct record *record = call->record;

    if (!record || record->is_cut) {
        return;
    }
    if (record->first_byte_ms < 0) {
        record->first_byte_ms = (clock_mono_ns() - call->began_ns) / 1000000;
    }
    record->is_cut = buf_append(&record->reply, bytes, len) != CLEW_OK;
}

static void free_call(void *arg)
{
    struct call *call = arg;

    wire_close(call->wire);
    end_record(call);
    buf_release(&call->body);
    alloc_free(call);
}

/* --- the way up ------------------------------------------------------------
 */

static bool wants_context(const struct call *call)
{
    struct str header = http_header_of(call->request, "x-clew-inject");

    if (!call->proxy->options.inject) {
        return false;
    }
    if (header.s) {
        return str_ieq(header, STR("on"));
    }
    return call->proxy->is_injecting;
}

/* What a call takes beside its body. */
struct needs {
    size_t kept;   /* the record's copy */
    size_t parsed; /* to find where context goes */
    size_t sent;   /* the copy with context, and the words asked with */
};

/*
 * All of it is asked for before any is there. What is written to the record
 * goes on counting until the call is over; then the recorder's queue has its
 * own limit.
 */
static enum clew_status take_room(const struct call *call, struct needs *needs,
                                  struct clew_error *err)
{
    struct str body = call->request->body;

    *needs = (struct needs){0};
    if (call->proxy->is_capturing) {
        needs->kept = body.len;
    }
    if (wants_context(call)) {
        needs->parsed = json_tree_bytes(body);
        needs->sent = 2 * body.len;
    }
    return room_take(call->request->share,
                     needs->kept + needs->parsed + needs->sent, err);
}

/* The body to send: the client's own, or with context in it. */
static struct str body_of(struct call *call, enum canon_api api)
{
    const struct http_request *request = call->request;
    const struct proxy_options *options = &call->proxy->options;
    struct inject_place place;
    struct buf context;
    struct buf fence;
    struct clew_error err;
    struct str body = request->body;

    buf_init(&context, LIMIT_BODY_BYTES);
    buf_init(&fence, LIMIT_BODY_BYTES);
    if (inject_find(api, body, request->arena, &place) &&
        options->inject(options->inject_arg, &call->scope,
                        http_header_of(request, "x-clew-user"),
                        call->record && !uuid_is_nil(&call->record->chat_id)
                            ? &call->record->chat_id
                            : NULL,
                        place.text, request->arena, &context,
                        &err) == CLEW_OK &&
        context.len > 0 && inject_fence(buf_str(&context), &fence) == CLEW_OK &&
        inject_apply(api, body, &place, buf_str(&fence), &call->body) ==
            CLEW_OK) {
        body = buf_str(&call->body);
    }
    buf_release(&context);
    buf_release(&fence);
    return body;
}

static enum clew_status send_up(struct call *call, struct wire_answer *answer,
                                struct clew_error *err)
{
    const struct http_request *request = call->request;
    const struct upstream *upstream =
        upstream_for(&call->proxy->upstreams, request, call->target.path);
    struct wire_request up = {
        .method = request->method, .body = request->body, .client = request};
    struct http_header *headers;
    enum canon_api api = call->target.api;
    enum clew_status status;

    if (!upstream) {
        return clew_fail(err, CLEW_NOT_FOUND, "there is no such upstream");
    }
    if (call->target.is_captured) {
        struct needs needs;

        status = take_room(call, &needs, err);
        if (status != CLEW_OK) {
            return status;
        }
        begin_record(call, api);
        if (wants_context(call)) {
            up.body = body_of(call, api);
        }
        room_give(request->share, needs.parsed);
    }
    status = headers_up(request, &headers, &up.n_headers, err);
    if (status != CLEW_OK) {
        return status;
    }
    up.headers = headers;
    up.is_plain = upstream->is_plain;
    up.url =
        arena_printf(request->arena, "%s%.*s%s%.*s", upstream->base,
                     (int)call->target.path.len, call->target.path.s,
                     request->query.len ? "?" : "", (int)request->query.len,
                     request->query.len ? request->query.s : "");
    if (!up.url) {
        return clew_no_memory(err);
    }
    return wire_open(call->proxy->wires, request->arena, &up, &call->wire,
                     answer, err);
}

/* --- the way down ----------------------------------------------------------
 */

static ptrdiff_t read_down(void *arg, char *out, size_t cap)
{
    struct call *call = arg;
    ptrdiff_t n = wire_read(call->wire, out, cap);

    if (n > 0) {
        keep(call, out, (size_t)n);
    } else {
        call->is_whole = n == 0;
    }
    return n;
}

static void note_answer(struct call *call, const struct wire_answer *answer)
{
    struct str type =
        headers_find(answer->headers, answer->n_headers, "content-type");
    struct str encoding =
        headers_find(answer->headers, answer->n_headers, "content-encoding");

    if (call->record) {
        call->record->status = answer->status;
        call->record->is_stream = str_istarts(type, STR("text/event-stream"));
        call->record->is_packed = str_ieq(encoding, STR("gzip"));
    }
}

/* A short answer of known length goes out with that length. */
static bool send_whole(struct call *call, const struct wire_answer *answer,
                       struct http_response *response)
{
    char block[16 * 1024];
    ptrdiff_t n;

    if (answer->content_length < 0 || answer->content_length > WHOLE_BYTES) {
        return false;
    }
    while ((n = read_down(call, block, sizeof(block))) > 0) {
        if (buf_append(&response->body, block, (size_t)n) != CLEW_OK) {
            call->is_whole = false;
            break;
        }
    }
    return true;
}

/* No answer but this. */
static void refuse(const struct http_request *request,
                   struct http_response *response, enum clew_status status,
                   const struct clew_error *err)
{
    http_response_error(request, response, status, err);
    if (presence_was_lost(request)) {
        response->status = STATUS_GONE;
    }
}

static void send_down(struct call *call, const struct wire_answer *answer,
                      struct http_response *response)
{
    struct clew_error err = {0};
    enum clew_status status;

    note_answer(call, answer);
    response->status = answer->status;
    status = headers_down(call->request, answer->headers, answer->n_headers,
                          response, &err);
    if (status != CLEW_OK) {
        response->n_headers = 0;
        refuse(call->request, response, status, &err);
        free_call(call);
        return;
    }
    if (send_whole(call, answer, response)) {
        if (!call->is_whole) {       /* half an answer is none */
            response->n_headers = 0; /* "content-encoding" among them */
            status =
                http_is_over(call->request)
                    ? clew_fail(&err, CLEW_UNAVAILABLE,
                                "the server is stopping")
                    : clew_fail(&err, CLEW_UPSTREAM, "the upstream broke off");
            refuse(call->request, response, status, &err);
        }
        free_call(call);
        return;
    }
    response->stream = (struct http_stream){read_down, free_call, call};
}

/* Streams pass as events of HTTP, not as WebSockets. Clients that would rather
 * have those (Codex) go on with HTTP at once when they are told so. */
static bool refuse_websocket(const struct http_request *request,
                             struct http_response *response)
{
    struct str upgrade = http_header_of(request, "upgrade");
    struct clew_error err = {0};

    if (!str_ieq(upgrade, STR("websocket"))) {
        return false;
    }
    (void)clew_fail(&err, CLEW_INVALID, "WebSockets do not pass; use HTTP");
    http_response_error(request, response, CLEW_INVALID, &err);
    response->status = 426;
    return true;
}

void proxy_handle(void *arg, const struct http_request *request,
                  struct http_response *response)
{
    struct proxy *proxy = arg;
    struct wire_answer answer = {0};
    struct clew_error err = {0};
    struct call *call = alloc_zero(1, sizeof(*call));
    enum clew_status status = CLEW_NO_MEMORY;

    if (call) {
        call->proxy = proxy;
        call->request = request;
        call->began_ns = clock_mono_ns();
        buf_init(&call->body, 2 * (size_t)LIMIT_BODY_BYTES);
        if (!target_of(request, &call->target)) {
            free_call(call);
            proxy->options.next(proxy->options.next_arg, request, response);
            return;
        }
        response->route = call->target.route;
        if (refuse_websocket(request, response)) {
            free_call(call);
            return;
        }
        status = authenticate(proxy, request, &call->target, response,
                              &call->scope, &err);
    }
    if (status == CLEW_OK) {
        status = target_check(&call->target, request, &err);
    }
    if (status == CLEW_OK) {
        status = check_user(request, &err);
    }
    if (status == CLEW_OK) {
        status = send_up(call, &answer, &err);
    }
    if (status == CLEW_OK) {
        send_down(call, &answer, response);
        return;
    }
    if (status == CLEW_UPSTREAM || status == CLEW_TIMEOUT) {
        log_event(LOG_WARN, "proxy", "upstream",
                  "id=%s status=%s reason=\"%s\"", request->id,
                  clew_status_code(status), err.message);
    }
    refuse(request, response, status, &err);
    if (call) {
        free_call(call);
    }
}

bool proxy_admit(void *arg, const struct http_request *request,
                 struct http_response *response)
{
    const struct proxy *proxy = arg;
    struct clew_error err = {0};
    struct target target;
    struct scope scope;
    enum clew_status status;

    if (!target_of(request, &target)) {
        return !proxy->options.next_admit ||
               proxy->options.next_admit(proxy->options.next_arg, request,
                                         response);
    }
    status = authenticate(proxy, request, &target, response, &scope, &err);
    if (status != CLEW_OK) {
        response->route = target.route;
        http_response_error(request, response, status, &err);
    }
    return status == CLEW_OK;
}

/* --- what it says of itself ------------------------------------------------
 */

static void write_metrics(void *arg, struct buf *out)
{
    const struct proxy *proxy = arg;
    struct recorder_stats s;

    recorder_stats(proxy->recorder, &s);
    /* failures stay in the buffer */
    (void)buf_printf(out,
                     "# HELP clew_captures_total Calls that passed the proxy, "
                     "by what became of their capture.\n"
                     "# TYPE clew_captures_total counter\n"
                     "clew_captures_total{result=\"stored\"} %lld\n"
                     "clew_captures_total{result=\"refused\"} %lld\n"
                     "clew_captures_total{result=\"lost\"} %lld\n"
                     "# HELP clew_captures_spooled_total Captures that had to "
                     "wait in files.\n"
                     "# TYPE clew_captures_spooled_total counter\n"
                     "clew_captures_spooled_total %lld\n"
                     "# HELP clew_captures_replayed_total Spooled captures "
                     "that were stored later.\n"
                     "# TYPE clew_captures_replayed_total counter\n"
                     "clew_captures_replayed_total %lld\n",
                     (long long)s.n_stored, (long long)s.n_refused,
                     (long long)s.n_lost, (long long)s.n_spooled,
                     (long long)s.n_replayed);
    (void)buf_printf(
        out,
        "# HELP clew_captures_linked_total Captures that go on an earlier "
        "call.\n"
        "# TYPE clew_captures_linked_total counter\n"
        "clew_captures_linked_total %lld\n"
        "# HELP clew_captures_waiting Captures that wait to be stored.\n"
        "# TYPE clew_captures_waiting gauge\n"
        "clew_captures_waiting %lld\n"
        "# HELP clew_spool_bytes Files of captures that wait.\n"
        "# TYPE clew_spool_bytes gauge\n"
        "clew_spool_bytes %lld\n",
        (long long)s.n_linked, (long long)s.n_waiting,
        (long long)s.spool_bytes);
}

/* --- open and close --------------------------------------------------------
 */

static enum clew_status open_recorder(struct proxy *proxy,
                                      struct clew_error *err)
{
    const struct config *config = proxy->engine->config;
    char dir[PATH_MAX];
    struct recorder_options options = {
        .spool_dir = dir,
        .queue_bytes = (size_t)config_int(config, "proxy.queue_bytes"),
        .spool_bytes = config_int(config, "proxy.spool_bytes"),
        .retry_ms = 1000,
    };
    int len = snprintf(dir, sizeof(dir), "%s/spool", proxy->engine->data_dir);

    if (len < 0 || (size_t)len >= sizeof(dir)) {
        return clew_fail(err, CLEW_INVALID, "the data folder's path is long");
    }
    return recorder_open(proxy->engine, &options, &proxy->recorder, err);
}

enum clew_status proxy_open(struct engine *engine,
                            const struct proxy_options *options,
                            struct proxy **out_proxy, struct clew_error *err)
{
    struct proxy *proxy = alloc_zero(1, sizeof(*proxy));
    struct wire_options wires;
    enum clew_status status;

    if (!proxy) {
        return clew_no_memory(err);
    }
    proxy->engine = engine;
    proxy->options = *options;
    proxy->is_injecting = config_bool(engine->config, "proxy.inject");
    proxy->is_capturing = config_bool(engine->config, "proxy.capture");
    wires.connect_timeout_ms =
        config_int(engine->config, "proxy.connect_timeout_ms");
    wires.idle_timeout_ms = config_int(engine->config, "proxy.idle_timeout_ms");
    wires.ca_file = config_str(engine->config, "proxy.ca_file");
    status = upstreams_load(&proxy->upstreams, engine->config, err);
    if (status == CLEW_OK) {
        status = wire_pool_new(&wires, &proxy->wires, err);
    }
    if (status == CLEW_OK) {
        status = open_recorder(proxy, err);
    }
    if (status != CLEW_OK) {
        proxy_close(proxy);
        return status;
    }
    metrics_add_source(write_metrics, proxy);
    *out_proxy = proxy;
    return CLEW_OK;
}

void proxy_close(struct proxy *proxy)
{
    if (!proxy) {
        return;
    }
    metrics_remove_source(write_metrics, proxy);
    recorder_close(proxy->recorder);
    wire_pool_free(proxy->wires);
    upstreams_release(&proxy->upstreams);
    alloc_free(proxy);
}
