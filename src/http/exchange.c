/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c - one request from its first byte to the answer's last.
 *
 * libmicrohttpd calls exchange_begin() when it has the request line,
 * exchange_step() once with the headers, then for each piece of the body, then
 * once more to be answered, and exchange_end() when all is sent or broken off.
 * A request that is refused early still has its body read and dropped (up to a
 * ceiling): a client in the middle of sending would otherwise see a reset
 * connection instead of the reason.
 */
#include "http/server_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/gzip.h"
#include "http/metrics.h"
#include "http/peer.h"

#include <string.h>
#include <sys/socket.h>

#define STREAM_BLOCK_BYTES (32 * 1024)

struct exchange {
    struct server_door *door;
    struct arena arena;
    struct http_request request;
    struct http_response response;
    struct buf body;
    size_t held_bytes; /* this body's part of server->body_bytes */
    char *target;      /* request line's address, as sent */
    int refs;          /* the request and, while it lives, its stream */
    bool has_begun;    /* the headers were seen and counted */
    bool is_refused;   /* `response` holds the reason; the body is dropped */
    size_t n_dropped_bytes;
    int64_t began_ns;
};

static void unref(struct exchange *ex)
{
    if (--ex->refs > 0) {
        return;
    }
    http_response_release(&ex->response);
    buf_release(&ex->body);
    arena_release(&ex->arena);
    alloc_free(ex->target);
    alloc_free(ex);
}

static struct server_socket *socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static struct watch_entry *entry_of(struct MHD_Connection *connection)
{
    struct server_socket *context = socket_of(connection);

    return context ? context->watched : NULL;
}

/* From here on exchange_end() sees to it. */
static void keep(const struct exchange *ex, struct MHD_Connection *connection)
{
    struct server_socket *context = socket_of(connection);

    if (context && context->begun == ex) {
        context->begun = NULL;
    }
}

void exchange_abandon(void *begun)
{
    if (begun) {
        unref(begun);
    }
}

void *exchange_begin(void *cls, const char *uri,
                     struct MHD_Connection *connection)
{
    struct server_socket *context = socket_of(connection);
    struct exchange *ex = context ? alloc_zero(1, sizeof(*ex)) : NULL;

    if (!ex) {
        return NULL; /* exchange_step() breaks the connection off */
    }
    ex->door = cls;
    ex->refs = 1;
    arena_init(&ex->arena, LIMIT_REQUEST_ARENA_BYTES);
    buf_init(&ex->body, ex->door->server->options.max_body_bytes);
    http_response_init(&ex->response, LIMIT_REQUEST_ARENA_BYTES);
    ex->target = alloc_string(uri);
    if (!ex->target) {
        unref(ex);
        return NULL;
    }
    exchange_abandon(context->begun);
    context->begun = ex;
    return ex;
}

/* Remember why; the answer is sent when the body has been read. */
static void refuse(struct exchange *ex, enum clew_status status,
                   const struct clew_error *err)
{
    ex->is_refused = true;
    http_response_error(&ex->request, &ex->response, status, err);
    buf_release(&ex->body);
}

/* --- headers --- */

struct header_walk {
    struct exchange *ex;
    struct http_header *headers;
    size_t cap;
    size_t bytes;
    bool is_out_of_memory;
};

static enum MHD_Result take_header(void *cls, enum MHD_ValueKind kind,
                                   const char *key, size_t key_size,
                                   const char *value, size_t value_size)
{
    struct header_walk *walk = cls;
    struct http_request *request = &walk->ex->request;
    struct http_header *grown =
        arena_grow(&walk->ex->arena, walk->headers, request->n_headers,
                   &walk->cap, sizeof(*grown));

    (void)kind;
    if (!grown) {
        walk->is_out_of_memory = true;
        return MHD_NO;
    }
    walk->headers = grown;
    walk->bytes += key_size + value_size + 4; /* ": " and the line end */
    grown[request->n_headers++] = (struct http_header){
        {key, key_size}, {value ? value : "", value ? value_size : 0}};
    return MHD_YES;
}

static enum clew_status read_headers(struct exchange *ex,
                                     struct MHD_Connection *connection,
                                     struct clew_error *err)
{
    struct header_walk walk = {.ex = ex};
    size_t limit = ex->door->server->options.max_header_bytes;

    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_header,
                                      &walk); /* the walk knows its failures */
    ex->request.headers = walk.headers;
    if (walk.is_out_of_memory) {
        return clew_no_memory(err);
    }
    if (walk.bytes + strlen(ex->target) > limit ||
        ex->request.n_headers > LIMIT_HEADERS) {
        return clew_fail(err, CLEW_TOO_LARGE,
                         "the headers have more than %zu bytes or %d lines",
                         limit, LIMIT_HEADERS);
    }
    return CLEW_OK;
}

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

/* What says who asks whom must not be said twice: two readers might each
 * believe another one. */
static enum clew_status check_headers(const struct exchange *ex,
                                      struct clew_error *err)
{
    static const char *const once[] = {
        "host",       "origin",       "authorization",   "x-api-key",
        "x-clew-key", "content-type", "content-encoding"};
    const struct http_request *request = &ex->request;

    for (size_t i = 0; i < request->n_headers; i++) {
        if (!is_token(request->headers[i].name)) {
            return clew_fail(err, CLEW_INVALID, "a header's name is malformed");
        }
    }
    for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
        if (count_headers(request, str_of(once[i])) > 1) {
            return clew_fail(err, CLEW_INVALID,
                             "the header \"%s\" is given more than once",
                             once[i]);
        }
    }
    return CLEW_OK;
}

/* Two ways to tell the body's length let two readers disagree about it. */
static enum clew_status check_framing(const struct exchange *ex,
                                      struct clew_error *err)
{
    const struct http_request *request = &ex->request;
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
    if ((uint64_t)length > ex->body.limit) {
        return clew_fail(err, CLEW_TOO_LARGE,
                         "the body has more than %zu bytes", ex->body.limit);
    }
    return CLEW_OK;
}

static void set_peer(struct exchange *ex, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *addr = NULL;

    if (!ex->door->listener.is_unix) {
        addr = info ? info->client_addr : NULL;
        if (!addr) {
            return; /* unknown is not local */
        }
    }
    (void)peer_format(addr, ex->request.peer); /* the port does not matter */
    ex->request.is_loopback =
        ex->door->listener.is_loopback && peer_is_loopback(addr);
}

/* Refuse what must not reach the handler. */
static void check_request(struct exchange *ex,
                          struct MHD_Connection *connection)
{
    struct server_door *door = ex->door;
    struct clew_error err = {0};
    enum clew_status status = read_headers(ex, connection, &err);

    /* The id first: also a refusal carries it. */
    http_request_id(http_header_of(&ex->request, "x-request-id"),
                    ex->request.id);
    if (status != CLEW_OK) {
        refuse(ex, status, &err);
        if (status == CLEW_TOO_LARGE) {
            ex->response.status = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
        }
        return;
    }
    status = check_headers(ex, &err);
    if (status != CLEW_OK) {
        refuse(ex, status, &err);
        return;
    }
    status = peer_check_host(
        &ex->request, door->listener.is_loopback && !door->listener.is_unix,
        door->server->options.allowed_hosts, &err);
    if (status == CLEW_OK) {
        status = check_framing(ex, &err);
    }
    if (status != CLEW_OK) {
        refuse(ex, status, &err);
    }
}

/* The first call: the headers are there, the body is not. */
static void begin(struct exchange *ex, struct MHD_Connection *connection,
                  const char *method)
{
    struct server *server = ex->door->server;

    ex->has_begun = true;
    ex->began_ns = clock_mono_ns();
    (void)pthread_mutex_lock(&server->lock);
    server->in_flight++;
    (void)pthread_mutex_unlock(&server->lock);
    metrics_add(METRICS_IN_FLIGHT, 1);
    watch_busy(entry_of(connection),
               ex->began_ns + server->options.body_ms * 1000000);
    http_request_init(&ex->request, &ex->arena, http_method_of(method),
                      str_of(ex->target), (struct str){0});
    ex->request.stopping = &server->is_stopping;
    set_peer(ex, connection);
    check_request(ex, connection);
}

/* --- body --- */

/* Count `len` more bytes against the process' ceiling. */
static bool hold(struct exchange *ex, size_t len)
{
    atomic_size_t *total = &ex->door->server->body_bytes;

    if (atomic_fetch_add(total, len) + len > LIMIT_BODIES_BYTES) {
        atomic_fetch_sub(total, len);
        return false;
    }
    ex->held_bytes += len;
    return true;
}

static enum MHD_Result take_body(struct exchange *ex, const char *bytes,
                                 size_t len)
{
    struct clew_error err = {0};
    enum clew_status status;

    if (ex->is_refused) {
        ex->n_dropped_bytes += len;
        return ex->n_dropped_bytes > LIMIT_DISCARD_BYTES ? MHD_NO : MHD_YES;
    }
    if (!hold(ex, len)) {
        status = clew_fail(&err, CLEW_BUSY, "too many large requests at once");
    } else {
        status = buf_append(&ex->body, bytes, len);
        if (status == CLEW_TOO_LARGE) {
            (void)clew_fail(&err, status, "the body has more than %zu bytes",
                            ex->body.limit);
        }
    }
    if (status != CLEW_OK) {
        refuse(ex, status, &err);
    }
    return MHD_YES;
}

/* Replace a packed body by what is in it. */
static enum clew_status unpack(struct exchange *ex, struct clew_error *err)
{
    struct str coding = http_header_of(&ex->request, "content-encoding");
    struct buf plain;
    enum clew_status status;

    if (!coding.s || str_ieq(coding, STR("identity"))) {
        return CLEW_OK;
    }
    if (!str_ieq(coding, STR("gzip"))) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "a body may be packed with gzip only");
    }
    buf_init(&plain, ex->body.limit);
    status = gzip_unpack(buf_str(&ex->body), &plain, err);
    if (status == CLEW_OK && !hold(ex, plain.len)) {
        status = clew_fail(err, CLEW_BUSY, "too many large requests at once");
    }
    if (status != CLEW_OK) {
        buf_release(&plain);
        return status;
    }
    buf_release(&ex->body);
    ex->body = plain;
    return CLEW_OK;
}

/* --- answer --- */

static ssize_t read_stream(void *cls, uint64_t pos, char *out, size_t max)
{
    struct exchange *ex = cls;
    ptrdiff_t n = ex->response.stream.read(ex->response.stream.arg, out, max);

    (void)pos;
    if (n > 0) {
        return n;
    }
    return n == 0 ? MHD_CONTENT_READER_END_OF_STREAM
                  : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_stream(void *cls)
{
    unref(cls);
}

static struct MHD_Response *make_response(struct exchange *ex)
{
    struct MHD_Response *made;
    size_t len;
    char *data;

    if (ex->response.stream.read) {
        made = MHD_create_response_from_callback(
            MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream, ex, free_stream);
        ex->refs += made != NULL;
        return made;
    }
    if (ex->response.body.len == 0) {
        static char nothing[1];

        return MHD_create_response_from_buffer(0, nothing,
                                               MHD_RESPMEM_PERSISTENT);
    }
    data = buf_take(&ex->response.body, &len);
    if (!data) {
        return NULL;
    }
    made = MHD_create_response_from_buffer_with_free_callback(len, data,
                                                              alloc_free);
    if (!made) {
        alloc_free(data);
    }
    return made;
}

static bool has_header(const struct http_response *response, struct str name)
{
    for (size_t i = 0; i < response->n_headers; i++) {
        if (str_ieq(response->headers[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Headers that every answer has unless its handler knew better. */
static bool add_defaults(struct exchange *ex, struct MHD_Response *made)
{
    static const struct {
        const char *name;
        const char *value;
    } defaults[] = {
        {"cache-control", "no-store"},
        {"content-security-policy",
         "default-src 'none'; frame-ancestors 'none'"},
        {"content-type", "application/json"},
        {"referrer-policy", "no-referrer"},
        {"x-content-type-options", "nosniff"},
        {"x-frame-options", "DENY"},
    };
    bool is_ok = true;

    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        if (!has_header(&ex->response, str_of(defaults[i].name))) {
            is_ok = is_ok && MHD_add_response_header(made, defaults[i].name,
                                                     defaults[i].value);
        }
    }
    is_ok =
        is_ok && MHD_add_response_header(made, "x-request-id", ex->request.id);
    if (atomic_load(&ex->door->server->is_stopping)) {
        is_ok = is_ok && MHD_add_response_header(made, "connection", "close");
    }
    return is_ok;
}

static enum MHD_Result send_response(struct exchange *ex,
                                     struct MHD_Connection *connection)
{
    struct MHD_Response *made = make_response(ex);
    enum MHD_Result result;
    bool is_ok = made && add_defaults(ex, made);

    for (size_t i = 0; is_ok && i < ex->response.n_headers; i++) {
        const struct http_header *header = &ex->response.headers[i];

        /* Both come from http_response_header(), which terminates them. */
        is_ok = MHD_add_response_header(made, header->name.s,
                                        header->value.s) == MHD_YES;
    }
    result = is_ok ? MHD_queue_response(connection,
                                        (unsigned)ex->response.status, made)
                   : MHD_NO;
    if (made) {
        MHD_destroy_response(made);
    }
    return result;
}

static enum MHD_Result answer(struct exchange *ex,
                              struct MHD_Connection *connection)
{
    struct clew_error err = {0};
    enum clew_status status;

    watch_busy(entry_of(connection), WATCH_NEVER);
    if (ex->is_refused) {
        return send_response(ex, connection);
    }
    status = unpack(ex, &err);
    if (status != CLEW_OK) {
        refuse(ex, status, &err);
        return send_response(ex, connection);
    }
    ex->request.body = buf_str(&ex->body);
    ex->door->server->options.handler(ex->door->server->options.arg,
                                      &ex->request, &ex->response);
    return send_response(ex, connection);
}

/* May the answer go out before the body was read? Only where the client waits
 * for leave to send it, or where it is too long to be read for courtesy. */
static bool must_answer_now(const struct exchange *ex)
{
    struct str length = http_header_of(&ex->request, "content-length");
    int64_t bytes = 0;

    return ex->is_refused &&
           (http_header_of(&ex->request, "expect").s ||
            (length.s && str_parse_int(str_trim(length), &bytes) &&
             bytes > (int64_t)LIMIT_DISCARD_BYTES));
}

enum MHD_Result exchange_step(void *cls, struct MHD_Connection *connection,
                              const char *url, const char *method,
                              const char *version, const char *upload_data,
                              size_t *upload_data_size, void **con_cls)
{
    struct exchange *ex = *con_cls;
    enum MHD_Result result;

    (void)cls;
    (void)url; /* already decoded; the raw one came to exchange_begin() */
    (void)version;
    if (!ex) {
        return MHD_NO;
    }
    if (!ex->has_begun) {
        keep(ex, connection);
        begin(ex, connection, method);
        return must_answer_now(ex) ? answer(ex, connection) : MHD_YES;
    }
    if (*upload_data_size > 0) {
        result = take_body(ex, upload_data, *upload_data_size);
        *upload_data_size = 0;
        return result;
    }
    return answer(ex, connection);
}

static void log_access(const struct exchange *ex, int64_t duration_ns)
{
    int status = ex->response.status;
    enum log_level level = status >= 500 ? LOG_WARN : LOG_DEBUG;
    const char *route = ex->response.route;

    if (log_enabled(level, "http")) {
        /* The pattern, not the address: that may hold a key or a name. */
        log_event(level, "http", "request",
                  "id=%s method=%s route=%s status=%d ms=%.3f peer=%s",
                  ex->request.id, http_method_name(ex->request.method),
                  route ? route : "-", status, (double)duration_ns / 1e6,
                  ex->request.peer);
    }
}

void exchange_end(void *cls, struct MHD_Connection *connection, void **con_cls,
                  enum MHD_RequestTerminationCode why)
{
    struct exchange *ex = *con_cls;
    struct server_door *door = cls;
    struct server *server = door->server;
    int64_t now_ns = clock_mono_ns();

    (void)why;
    if (!ex) {
        return;
    }
    *con_cls = NULL;
    keep(ex, connection);
    watch_wait(entry_of(connection),
               now_ns + server->options.idle_ms * 1000000);
    atomic_fetch_sub(&server->body_bytes, ex->held_bytes);
    if (ex->has_begun) {
        metrics_request(ex->response.route, ex->request.method,
                        ex->response.status, now_ns - ex->began_ns);
        log_access(ex, now_ns - ex->began_ns);
        metrics_add(METRICS_IN_FLIGHT, -1);
        (void)pthread_mutex_lock(&server->lock);
        server->in_flight--;
        if (server->in_flight == 0) {
            (void)pthread_cond_broadcast(&server->drained);
        }
        (void)pthread_mutex_unlock(&server->lock);
    }
    unref(ex);
}
