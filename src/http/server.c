/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - start, describe and drain the HTTP daemons. See server.h.
 */
#include "http/server_internal.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/metrics.h"
#include "http/peer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* A handler's stack: SQLite and JSON need well under 256 KiB. */
#define STACK_BYTES (1024 * 1024)
/* The daemon keeps headers, its read buffer and the answer's head here. */
#define EXTRA_CONNECTION_BYTES (96 * 1024)
#define MAX_PEM_BYTES (1024 * 1024)
/* 1.2 and 1.3 only, and no key exchange with the certificate's own key: what
 * was recorded must not be readable once that is lost. */
#define TLS_PRIORITIES                                                         \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-SHA1:-CIPHER-ALL:"       \
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM"
/* Descriptors needed beside connections: store, logs, upstreams. */
#define EXTRA_FDS 256
/* When the time of requests under way is over, those that wait for others see
 * it within a second; so long they may take to say so to their clients. */
#define LAST_WORD_MS 2000
/* The library's own complaints about threads and memory: so often at most. */
#define TELL_EVERY_NS (10 * 1000000000LL)

static void watch_connection(void *cls, struct MHD_Connection *connection,
                             void **socket_context,
                             enum MHD_ConnectionNotificationCode code)
{
    struct server_door *door = cls;
    struct server *server = door->server;
    struct server_socket *context = *socket_context;
    const union MHD_ConnectionInfo *info;
    bool is_over;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        metrics_add(METRICS_CONNECTIONS, -1);
        acceptor_ended(&server->connections);
        if (context) {
            watch_remove(server->watch, context->watched);
            exchange_abandon(context->begun);
            alloc_free(context);
        }
        *socket_context = NULL;
        return;
    }
    metrics_add(METRICS_CONNECTIONS, 1);
    is_over = acceptor_begun(&server->connections);
    info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    context = alloc_zero(1, sizeof(*context));
    if (context) {
        context->is_over = is_over;
    }
    if (context && info) {
        context->watched =
            watch_add(server->watch, info->connect_fd,
                      clock_mono_ns() + server->options.idle_ms * 1000000);
    }
    *socket_context = context; /* without one no request is taken */
}

__attribute__((format(printf, 2, 0))) static void
log_daemon(void *cls, const char *fmt, va_list args)
{
    static _Atomic int64_t told_ns;
    char line[256];
    int64_t now_ns = clock_mono_ns();
    enum log_level level = LOG_DEBUG;

    (void)cls;
    /* that threads or memory have run out concerns the operator */
    if ((strstr(fmt, "create a") || strstr(fmt, "memory")) &&
        now_ns - atomic_load(&told_ns) >= TELL_EVERY_NS) {
        atomic_store(&told_ns, now_ns);
        level = LOG_WARN;
    }
    if (!log_enabled(level, "http")) {
        return;
    }
    (void)vsnprintf(line, sizeof(line), fmt, args);
    line[strcspn(line, "\r\n")] = '\0';
    log_event(level, "http", "daemon", "text=\"%s\"", line);
}

static void fill_defaults(struct server_options *options)
{
    if (options->max_connections <= 0) {
        options->max_connections = LIMIT_CONNECTIONS;
    }
    if (options->idle_ms <= 0) {
        options->idle_ms = LIMIT_IDLE_MS;
    }
    if (options->body_ms <= 0) {
        options->body_ms = LIMIT_BODY_MS;
    }
    if (options->max_header_bytes == 0) {
        options->max_header_bytes = LIMIT_HEADER_BYTES;
    }
    if (options->max_body_bytes == 0) {
        options->max_body_bytes = LIMIT_BODY_BYTES;
    }
    if (options->max_bodies_bytes == 0) {
        options->max_bodies_bytes = LIMIT_BODIES_BYTES;
    }
}

/* As many descriptors as the connections may need or, where that is not
 * allowed, as few connections as leave enough for the rest. */
static void fit_descriptors(struct server_options *options)
{
    struct rlimit limit;
    rlim_t wanted =
        (rlim_t)options->max_connections + LIMIT_SPARE_CONNECTIONS + EXTRA_FDS;
    rlim_t most;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
        return;
    }
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* looked at next */
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
        return;
    }
    most = limit.rlim_cur >= 3 * (rlim_t)EXTRA_FDS
               ? limit.rlim_cur - EXTRA_FDS - LIMIT_SPARE_CONNECTIONS
               : limit.rlim_cur / 3;
    most = most > 2 ? most : 2;
    log_event(LOG_WARN, "http", "descriptors",
              "limit=%llu max_connections=%d lowered_to=%llu",
              (unsigned long long)limit.rlim_cur, options->max_connections,
              (unsigned long long)most);
    options->max_connections = (int)most;
}

static enum clew_status read_pem(const char *path, char **out_text,
                                 struct clew_error *err)
{
    char chunk[4096];
    struct buf text;
    FILE *file = fopen(path, "re");
    size_t n;
    size_t len;

    if (!file) {
        return clew_fail(err, CLEW_INVALID, "could not read \"%s\": %s", path,
                         strerror(errno));
    }
    buf_init(&text, MAX_PEM_BYTES);
    do {
        n = fread(chunk, 1, sizeof(chunk), file);
        (void)buf_append(&text, chunk, n); /* kept in the buffer */
    } while (n == sizeof(chunk));
    explicit_bzero(chunk, sizeof(chunk));
    (void)fclose(file); /* it was only read */
    if (buf_status(&text) != CLEW_OK || text.len == 0) {
        buf_release(&text);
        return clew_fail(err, CLEW_INVALID, "\"%s\" is no PEM file", path);
    }
    *out_text = buf_take(&text, &len);
    return *out_text ? CLEW_OK : CLEW_NO_MEMORY;
}

static enum clew_status load_tls(struct server *server, struct clew_error *err)
{
    enum clew_status status;

    if (!server->options.tls_cert && !server->options.tls_key) {
        return CLEW_OK;
    }
    if (!server->options.tls_cert || !server->options.tls_key) {
        return clew_fail_field(err, "tls-key",
                               "TLS needs both a certificate and a key");
    }
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "this libmicrohttpd was built without TLS");
    }
    status = read_pem(server->options.tls_cert, &server->tls_cert, err);
    if (status == CLEW_OK) {
        status = read_pem(server->options.tls_key, &server->tls_key, err);
    }
    return status;
}

static enum clew_status open_doors(struct server *server,
                                   struct clew_error *err)
{
    struct listener inherited[LISTENER_MAX_INHERITED];
    int count = 0;
    enum clew_status status = listener_inherit(inherited, &count, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (count == 0) {
        status = listener_open(server->options.listen, &inherited[0], err);
        count = 1;
    }
    if (status != CLEW_OK) {
        return status;
    }
    for (int i = 0; i < count; i++) {
        server->doors[i].server = server;
        server->doors[i].listener = inherited[i];
    }
    server->n_doors = count;
    return CLEW_OK;
}

static bool make_body_room(void *arg)
{
    struct server *server = arg;

    return watch_cut_parked(server->watch);
}

static bool make_room(void *arg)
{
    struct server *server = arg;

    return watch_cut_waiting(server->watch);
}

static enum clew_status start_door(struct server_door *door,
                                   struct clew_error *err)
{
    struct server *server = door->server;
    const struct server_options *options = &server->options;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, server->tls_cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, server->tls_key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    bool has_tls = server->tls_cert != NULL;
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION |
                     MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
                     MHD_USE_ITC | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET;
    struct acceptor_options accepts = {.fd = door->listener.fd,
                                       .count = &server->connections,
                                       .has_tls = has_tls,
                                       .make_room = make_room,
                                       .arg = server};

    door->daemon = MHD_start_daemon(
        flags | (has_tls ? MHD_USE_TLS : 0), 0, NULL, NULL, exchange_step, door,
        MHD_OPTION_EXTERNAL_LOGGER, log_daemon, NULL,
        MHD_OPTION_CONNECTION_LIMIT,
        /* the acceptor keeps the limit; this only has to be above it */
        2u * (unsigned)options->max_connections + EXTRA_FDS,
        MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)((options->idle_ms + 999) / 1000),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        options->max_header_bytes + EXTRA_CONNECTION_BYTES,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK,
        exchange_begin, door, MHD_OPTION_NOTIFY_COMPLETED, exchange_end, door,
        MHD_OPTION_NOTIFY_CONNECTION, watch_connection, door, MHD_OPTION_ARRAY,
        has_tls ? tls : none, MHD_OPTION_END);
    if (!door->daemon) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         has_tls ? "could not start the server; are "
                                   "certificate and key a valid pair?"
                                 : "could not start the server");
    }
    accepts.daemon = door->daemon;
    return acceptor_open(&accepts, &door->acceptor, err);
}

static char *url_of(const struct server *server)
{
    const struct listener *listener = &server->doors[0].listener;
    char text[320];

    (void)snprintf(text, sizeof(text), "%s%s",
                   listener->is_unix  ? "unix:"
                   : server->tls_cert ? "https://"
                                      : "http://",
                   listener->address);
    return alloc_string(text);
}

static void init_locks(struct server *server)
{
    pthread_condattr_t attr;

    (void)pthread_mutex_init(&server->lock, NULL); /* none of these can fail */
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&server->drained, &attr);
    (void)pthread_condattr_destroy(&attr);
}

enum clew_status server_open(const struct server_options *options,
                             struct server **out_server, struct clew_error *err)
{
    struct server *server = alloc_zero(1, sizeof(*server));
    enum clew_status status;

    if (!server) {
        return clew_no_memory(err);
    }
    server->options = *options;
    fill_defaults(&server->options);
    server->room =
        (struct room){.limit_bytes = server->options.max_bodies_bytes,
                      .make_room = make_body_room,
                      .arg = server};
    init_locks(server);
    fit_descriptors(&server->options);
    server->connections.limit = server->options.max_connections;
    status = peer_list_check(server->options.trusted_proxies, err);
    if (status == CLEW_OK) {
        status = load_tls(server, err);
    }
    if (status == CLEW_OK) {
        size_t limit = (size_t)server->options.max_connections;

        status = watch_new(limit - limit / 8 - (limit < 8),
                           server->options.idle_ms, &server->watch);
    }
    if (status == CLEW_OK) {
        status = open_doors(server, err);
    }
    if (status == CLEW_OK) {
        server->url = url_of(server);
        status = server->url ? CLEW_OK : CLEW_NO_MEMORY;
    }
    for (int i = 0; status == CLEW_OK && i < server->n_doors; i++) {
        status = start_door(&server->doors[i], err);
    }
    if (status != CLEW_OK) {
        server_close(server, 0);
        return status;
    }
    *out_server = server;
    return CLEW_OK;
}

const char *server_url(const struct server *server)
{
    return server->url;
}

/* Wait until no request is under way, at most `drain_ms`. */
static void drain(struct server *server, int64_t drain_ms)
{
    struct timespec until;
    int rc = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail */
    until.tv_sec += drain_ms / 1000;
    until.tv_nsec += drain_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_mutex_lock(&server->lock);
    while (server->in_flight > 0 && rc == 0) {
        rc = pthread_cond_timedwait(&server->drained, &server->lock, &until);
    }
    (void)pthread_mutex_unlock(&server->lock);
}

void server_close(struct server *server, int64_t drain_ms)
{
    if (!server) {
        return;
    }
    atomic_store(&server->end.is_stopping, true);
    for (int i = 0; i < server->n_doors; i++) {
        acceptor_close(server->doors[i].acceptor);
    }
    drain(server, drain_ms);
    atomic_store(&server->end.is_over, true);
    drain(server, LAST_WORD_MS);
    for (int i = 0; i < server->n_doors; i++) {
        if (server->doors[i].daemon) {
            MHD_stop_daemon(server->doors[i].daemon);
        }
        listener_close(&server->doors[i].listener);
    }
    watch_free(server->watch);
    (void)pthread_cond_destroy(&server->drained);
    (void)pthread_mutex_destroy(&server->lock);
    alloc_free(server->url);
    alloc_free(server->tls_cert);
    alloc_free_secret(server->tls_key,
                      server->tls_key ? strlen(server->tls_key) : 0);
    alloc_free(server);
}
