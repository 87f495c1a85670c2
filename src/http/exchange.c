/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c - one request from its first byte to the answer's last.
 *
 * libmicrohttpd calls exchange_begin() when it has the request line,
 * exchange_step() once with the headers, then for each piece of the body, then
 * once more to be answered, and exchange_end() when all is sent or broken off.
 * A request that is refused by its headers is answered before its body is read;
 * what the client still sends is then dropped for a moment, as it would see a
 * reset connection otherwise. One that is refused later has the rest of its
 * body read and dropped, up to a ceiling.
 */
#include "http/server_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/framing.h"
#include "http/gzip.h"
#include "http/metrics.h"
#include "http/peer.h"
#include "http/presence.h"
#include "http/room.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define STREAM_BLOCK_BYTES (32 * 1024)

struct exchange {
    struct server_door *door;
    struct arena arena;
    struct http_request request;
    struct http_response response;
    struct presence presence;
    struct buf body;
    struct room_share share; /* body and what is made of it */
    char *target;            /* request line's address, as sent */
    int refs;                /* the request and, while it lives, its stream */
    bool has_begun;          /* the headers were seen and counted */
    bool is_refused; /* `response` holds the reason; the body is dropped */
    bool is_early;   /* it was answered before its body was read */
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
    ex->share.room = &ex->door->server->room;
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

/* What this body held is for others again. */
static void give_back(struct exchange *ex)
{
    buf_release(&ex->body);
    room_give(&ex->share, ex->share.held_bytes);
}

/* Remember why; the answer is sent when the body has been read. */
static void refuse(struct exchange *ex, enum clew_status status,
                   const struct clew_error *err)
{
    ex->is_refused = true;
    http_response_error(&ex->request, &ex->response, status, err);
    give_back(ex);
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

static void set_presence(struct exchange *ex, struct MHD_Connection *connection,
                         bool may_probe)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (info) {
        ex->presence =
            (struct presence){.fd = info->connect_fd,
                              .watched = entry_of(connection),
                              .may_probe = may_probe,
                              .patience_ms = ex->door->server->options.idle_ms};
        ex->request.presence = &ex->presence;
    }
}

static bool is_public(const struct exchange *ex)
{
    const struct server_options *options = &ex->door->server->options;

    return options->is_public && options->is_public(&ex->request);
}

/* Only what is public, once there are more connections than there may be. */
static enum clew_status check_room(struct exchange *ex,
                                   struct MHD_Connection *connection,
                                   struct clew_error *err)
{
    struct server *server = ex->door->server;
    struct server_socket *context = socket_of(connection);

    if (!context || !context->is_over || is_public(ex)) {
        return CLEW_OK;
    }
    /* who asks for something goes before who only holds a place */
    if (acceptor_has_room(&server->connections) ||
        watch_cut_waiting(server->watch)) {
        context->is_over = false;
        return CLEW_OK;
    }
    acceptor_refused(&server->connections, "connections",
                     "too many connections");
    if (http_response_header(&ex->request, &ex->response, "retry-after", "1") ||
        http_response_header(&ex->request, &ex->response, "connection",
                             "close")) {
        return clew_no_memory(err); /* says as much */
    }
    return clew_fail(err, CLEW_BUSY,
                     "too many connections; try again in a moment");
}

/* The handler's word, before a byte of the body is read. */
static void ask_leave(struct exchange *ex)
{
    const struct server_options *options = &ex->door->server->options;

    if (options->admit && framing_has_body(&ex->request) &&
        !options->admit(options->arg, &ex->request, &ex->response)) {
        ex->is_refused = true;
    }
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
    peer_apply_forwarding(&ex->request, door->server->options.trusted_proxies);
    status = framing_check_headers(&ex->request, &err);
    if (status != CLEW_OK) {
        refuse(ex, status, &err);
        return;
    }
    status = peer_check_host(
        &ex->request, door->listener.is_loopback && !door->listener.is_unix,
        door->server->options.allowed_hosts, &err);
    if (status == CLEW_OK) {
        status = peer_check_site(&ex->request,
                                 door->server->options.allowed_hosts, &err);
        if (status != CLEW_OK && is_public(ex)) {
            status = CLEW_OK;
        }
    }
    if (status == CLEW_OK) {
        status = framing_check_length(&ex->request, ex->body.limit, &err);
    }
    if (status == CLEW_OK) {
        status = check_room(ex, connection, &err);
    }
    if (status != CLEW_OK) {
        refuse(ex, status, &err);
        return;
    }
    ask_leave(ex);
}

/* The first call: the headers are there, the body is not. */
static void begin(struct exchange *ex, struct MHD_Connection *connection,
                  const char *method, const char *version)
{
    struct server *server = ex->door->server;

    ex->has_begun = true;
    ex->began_ns = clock_mono_ns();
    (void)pthread_mutex_lock(&server->lock);
    server->in_flight++;
    (void)pthread_mutex_unlock(&server->lock);
    metrics_add(METRICS_IN_FLIGHT, 1);
    watch_upload(entry_of(connection),
                 ex->began_ns + server->options.body_ms * 1000000);
    http_request_init(&ex->request, &ex->arena, http_method_of(method),
                      str_of(ex->target), (struct str){0});
    ex->request.began_ms = clock_now_ms(&clock_system);
    ex->request.end = &server->end;
    ex->request.share = &ex->share;
    set_peer(ex, connection);
    set_presence(ex, connection,
                 !server->tls_cert &&
                     strcmp(version, MHD_HTTP_VERSION_1_1) == 0);
    check_request(ex, connection);
}

/* --- body --- */

static enum MHD_Result take_body(struct exchange *ex, const char *bytes,
                                 size_t len)
{
    struct clew_error err = {0};
    enum clew_status status;

    if (ex->is_refused) {
        ex->n_dropped_bytes += len;
        return ex->n_dropped_bytes > LIMIT_DISCARD_BYTES ? MHD_NO : MHD_YES;
    }
    status = room_take(&ex->share, len, &err);
    if (status == CLEW_OK) {
        status = buf_append(&ex->body, bytes, len);
        if (status == CLEW_TOO_LARGE) {
            (void)clew_fail(&err, status, "the body has more than %zu bytes",
                            ex->body.limit);
        }
    }
    if (status != CLEW_OK) {
        metrics_count(METRICS_REFUSED_UPLOAD);
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
    status = gzip_unpack(buf_str(&ex->body), &ex->share, &plain, err);
    if (status != CLEW_OK) {
        buf_release(&plain);
        return status;
    }
    room_give(&ex->share, ex->body.len);
    buf_release(&ex->body); /* the packed one */
    ex->body = plain;
    return CLEW_OK;
}

/* --- answer --- */

/* The client has taken what it was handed; now it is our turn, then its own. */
static ssize_t read_part(void *cls, uint64_t pos, char *out, size_t max)
{
    struct exchange *ex = cls;
    const struct http_stream *stream = &ex->response.stream;
    struct str rest = buf_str(&ex->response.body);
    ptrdiff_t n;

    watch_busy(ex->presence.watched, WATCH_NEVER);
    if (stream->read) {
        n = stream->read(stream->arg, out, max);
    } else {
        rest = str_sub(rest, pos, rest.len);
        n = (ptrdiff_t)(rest.len < max ? rest.len : max);
        memcpy(out, rest.s, (size_t)n);
    }
    watch_answer(ex->presence.watched, n > 0 ? (size_t)n : 0);
    if (n > 0) {
        return n;
    }
    return n == 0 ? MHD_CONTENT_READER_END_OF_STREAM
                  : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_parts(void *cls)
{
    unref(cls);
}

static struct MHD_Response *make_response(struct exchange *ex)
{
    struct MHD_Response *made;
    size_t len;
    char *data;

    /* a large one goes in parts as well, so that it is seen how it is taken */
    if (ex->response.stream.read ||
        ex->response.body.len > STREAM_BLOCK_BYTES) {
        made = MHD_create_response_from_callback(
            ex->response.stream.read ? MHD_SIZE_UNKNOWN : ex->response.body.len,
            STREAM_BLOCK_BYTES, read_part, ex, free_parts);
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
    /* places go round when there are none left, also if one asks and asks */
    if (atomic_load(&ex->door->server->end.is_stopping) ||
        acceptor_is_full(&ex->door->server->connections)) {
        is_ok = is_ok && MHD_add_response_header(made, "connection", "close");
    }
    return is_ok;
}

/* The handler's own. One that the library will not send is left out: without it
 * the answer is worth more than none. */
static void add_own(const struct exchange *ex, struct MHD_Response *made)
{
    size_t n_refused = 0;

    for (size_t i = 0; i < ex->response.n_headers; i++) {
        const struct http_header *header = &ex->response.headers[i];

        /* Both come from http_response_header(), which terminates them. */
        n_refused += MHD_add_response_header(made, header->name.s,
                                             header->value.s) != MHD_YES;
    }
    if (n_refused > 0) {
        log_event(LOG_WARN, "http", "headers", "id=%s left_out=%zu",
                  ex->request.id, n_refused);
    }
}

static enum MHD_Result send_response(struct exchange *ex,
                                     struct MHD_Connection *connection)
{
    struct MHD_Response *made = make_response(ex);
    enum MHD_Result result;
    bool is_ok = made && add_defaults(ex, made);

    if (is_ok) {
        add_own(ex, made);
    }
    ex->presence.may_probe = false;
    watch_answer(entry_of(connection), 0);
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

enum MHD_Result exchange_step(void *cls, struct MHD_Connection *connection,
                              const char *url, const char *method,
                              const char *version, const char *upload_data,
                              size_t *upload_data_size, void **con_cls)
{
    struct exchange *ex = *con_cls;
    enum MHD_Result result;

    (void)cls;
    (void)url; /* already decoded; the raw one came to exchange_begin() */
    if (!ex) {
        return MHD_NO;
    }
    if (!ex->has_begun) {
        keep(ex, connection);
        begin(ex, connection, method, version);
        /* nobody has to send a body to be told that it is not wanted */
        ex->is_early = ex->is_refused && framing_has_body(&ex->request);
        return ex->is_early ? answer(ex, connection) : MHD_YES;
    }
    if (*upload_data_size > 0) {
        watch_progress(entry_of(connection), *upload_data_size);
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

/* The answer is out, and the body was not read: closing now would make the
 * kernel reset the connection, and take the answer from a client that is still
 * sending. So drop what comes for a while. The library has said its last word
 * (shutdown) before it calls exchange_end(). */
static void linger(struct MHD_Connection *connection, int64_t now_ns)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int64_t until_ns = now_ns + LIMIT_LINGER_MS * 1000000LL;
    size_t n_dropped = 0;
    char rest[16 * 1024];

    while (info && n_dropped < LIMIT_DISCARD_BYTES) {
        struct pollfd ready = {.fd = info->connect_fd, .events = POLLIN};
        int64_t left_ns = until_ns - clock_mono_ns();
        ssize_t n;

        if (left_ns <= 0 ||
            poll(&ready, 1, (int)(left_ns / 1000000) + 1) <= 0) {
            return;
        }
        n = recv(info->connect_fd, rest, sizeof(rest), MSG_DONTWAIT);
        if (n <= 0) {
            return; /* it has closed */
        }
        n_dropped += (size_t)n;
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
    give_back(ex);
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
    if (ex->is_early) {
        linger(connection, now_ns);
    }
    unref(ex);
}
