/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - an exchange over libcurl, driven by whoever reads. See wire.h.
 *
 * A wire is an easy handle in a multi handle of its own: the multi handle keeps
 * the connection for the next exchange, and can be driven step by step from the
 * thread that serves the client, so that no exchange needs a second thread.
 */
#include "proxy/wire.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "http/presence.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* Idle wires kept: as many connections stay open to upstreams. */
#define MAX_IDLE 128
/* How long one wait may take before the state is looked at again. */
#define POLL_MS 1000
/* What the server can send on: it has 96 KB for the head of an answer.
 * Providers send under 8 KB. */
#define MAX_ANSWER_HEADERS 128
#define MAX_ANSWER_HEADER_BYTES (64u * 1024)

struct wire {
    struct wire_pool *pool;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    struct arena *arena; /* until the answer's headers are read */
    const struct http_request *client;
    struct wire_answer answer;
    size_t cap_headers;
    size_t header_bytes;
    struct buf in;
    size_t at; /* bytes of `in` read already */
    bool has_headers;
    bool is_plain;
    bool is_paused;
    bool is_done;
    CURLcode result;
    struct wire *next;
};

struct wire_pool {
    struct wire_options options;
    CURLSH *share;
    pthread_mutex_t share_locks[CURL_LOCK_DATA_LAST];
    pthread_mutex_t lock; /* guards idle, n_idle */
    struct wire *idle;
    size_t n_idle;
};

/* --- the pool --------------------------------------------------------------
 */

static void share_lock(CURL *easy, curl_lock_data data, curl_lock_access access,
                       void *arg)
{
    struct wire_pool *pool = arg;

    (void)easy;
    (void)access;
    (void)pthread_mutex_lock(&pool->share_locks[data]);
}

static void share_unlock(CURL *easy, curl_lock_data data, void *arg)
{
    struct wire_pool *pool = arg;

    (void)easy;
    (void)pthread_mutex_unlock(&pool->share_locks[data]);
}

enum clew_status wire_pool_new(const struct wire_options *options,
                               struct wire_pool **out_pool,
                               struct clew_error *err)
{
    struct wire_pool *pool;

    if (options->ca_file[0] != '\0' && access(options->ca_file, R_OK) != 0) {
        return clew_fail_field(err, "proxy.ca_file",
                               "could not read \"proxy.ca_file\": %s",
                               strerror(errno));
    }
    pool = alloc_zero(1, sizeof(*pool));
    if (!pool || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        alloc_free(pool);
        return clew_fail(err, CLEW_NO_MEMORY, "could not start the client");
    }
    pool->options = *options;
    (void)pthread_mutex_init(&pool->lock, NULL);
    for (size_t i = 0; i < CURL_LOCK_DATA_LAST; i++) {
        (void)pthread_mutex_init(&pool->share_locks[i], NULL);
    }
    pool->share = curl_share_init();
    if (pool->share) {
        (void)curl_share_setopt(pool->share, CURLSHOPT_LOCKFUNC, share_lock);
        (void)curl_share_setopt(pool->share, CURLSHOPT_UNLOCKFUNC,
                                share_unlock);
        (void)curl_share_setopt(pool->share, CURLSHOPT_USERDATA, pool);
        (void)curl_share_setopt(pool->share, CURLSHOPT_SHARE,
                                CURL_LOCK_DATA_DNS);
        (void)curl_share_setopt(pool->share, CURLSHOPT_SHARE,
                                CURL_LOCK_DATA_SSL_SESSION);
    }
    *out_pool = pool;
    return CLEW_OK;
}

static void wire_free(struct wire *wire)
{
    if (wire->easy) {
        curl_easy_cleanup(wire->easy);
    }
    if (wire->multi) {
        (void)curl_multi_cleanup(wire->multi);
    }
    curl_slist_free_all(wire->headers);
    buf_release(&wire->in);
    alloc_free(wire);
}

void wire_pool_free(struct wire_pool *pool)
{
    if (!pool) {
        return;
    }
    while (pool->idle) {
        struct wire *wire = pool->idle;

        pool->idle = wire->next;
        wire_free(wire);
    }
    if (pool->share) {
        (void)curl_share_cleanup(pool->share);
    }
    for (size_t i = 0; i < CURL_LOCK_DATA_LAST; i++) {
        (void)pthread_mutex_destroy(&pool->share_locks[i]);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    alloc_free(pool);
}

/* An idle wire, the one used last first: its connection is the warmest. */
static struct wire *take_wire(struct wire_pool *pool)
{
    struct wire *wire;

    (void)pthread_mutex_lock(&pool->lock);
    wire = pool->idle;
    if (wire) {
        pool->idle = wire->next;
        pool->n_idle--;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (wire) {
        return wire;
    }
    wire = alloc_zero(1, sizeof(*wire));
    if (!wire) {
        return NULL;
    }
    wire->pool = pool;
    buf_init(&wire->in, 4 * WIRE_BUFFER_BYTES);
    wire->multi = curl_multi_init();
    wire->easy = curl_easy_init();
    if (!wire->multi || !wire->easy) {
        wire_free(wire);
        return NULL;
    }
    return wire;
}

void wire_close(struct wire *wire)
{
    struct wire_pool *pool;

    if (!wire) {
        return;
    }
    pool = wire->pool;
    (void)curl_multi_remove_handle(wire->multi, wire->easy);
    if (!wire->is_done) {
        /* HTTP/2 would only note that the stream is over and tell the upstream
         * with the next call: it would go on, and be paid for */
        wire_free(wire);
        return;
    }
    curl_slist_free_all(wire->headers);
    wire->headers = NULL;
    wire->arena = NULL;
    wire->client = NULL;
    buf_clear(&wire->in);
    (void)pthread_mutex_lock(&pool->lock);
    if (pool->n_idle < MAX_IDLE) {
        wire->next = pool->idle;
        pool->idle = wire;
        pool->n_idle++;
        wire = NULL;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (wire) {
        wire_free(wire);
    }
}

/* --- what libcurl calls ----------------------------------------------------
 */

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct wire *wire = arg;
    size_t len = size * count;

    if (wire->in.len - wire->at >= WIRE_BUFFER_BYTES) {
        wire->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (wire->at == wire->in.len) {
        buf_clear(&wire->in);
        wire->at = 0;
    }
    return buf_append(&wire->in, bytes, len) == CLEW_OK ? len : 0;
}

static bool add_header(struct wire *wire, struct str name, struct str value)
{
    struct wire_answer *answer = &wire->answer;
    struct http_header *grown;

    wire->header_bytes += name.len + value.len;
    if (answer->n_headers == MAX_ANSWER_HEADERS ||
        wire->header_bytes > MAX_ANSWER_HEADER_BYTES) {
        return false;
    }
    grown = arena_grow(wire->arena, answer->headers, answer->n_headers,
                       &wire->cap_headers, sizeof(*grown));
    if (!grown) {
        return false;
    }
    answer->headers = grown;
    grown += answer->n_headers;
    grown->name = arena_str(wire->arena, name);
    grown->value = arena_str(wire->arena, value);
    answer->n_headers++;
    return grown->name.s && grown->value.s;
}

/* No control character but a tab inside a line: a bare CR ends it for some
 * readers and not for others. */
static bool is_clean_line(struct str line)
{
    if (str_ends(line, STR("\n"))) {
        line.len--;
    }
    if (str_ends(line, STR("\r"))) {
        line.len--;
    }
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.s[i];

        if ((c < ' ' && c != '\t') || c == 0x7F) {
            return false;
        }
    }
    return true;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *arg)
{
    struct wire *wire = arg;
    struct str line = {bytes, size * count};
    size_t colon = str_find(line, STR(":"), 0);
    long status = 0;

    if (!is_clean_line(line)) {
        return 0;
    }
    if (wire->has_headers) {
        return size * count; /* trailers */
    }
    if (str_starts(line, STR("HTTP/"))) {
        wire->answer.n_headers = 0; /* what came before was "100 Continue" */
        wire->header_bytes = 0;
        return size * count;
    }
    if (str_trim(line).len == 0) {
        (void)curl_easy_getinfo(wire->easy, CURLINFO_RESPONSE_CODE, &status);
        wire->answer.status = (int)status;
        wire->has_headers = status >= 200;
        return size * count;
    }
    if (colon != SIZE_MAX &&
        !add_header(wire, str_sub(line, 0, colon),
                    str_trim(str_sub(line, colon + 1, line.len)))) {
        return 0;
    }
    return size * count;
}

static bool is_loopback(const struct sockaddr *addr)
{
    if (addr->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)addr;

        return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
    }
    if (addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)addr;

        return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
    }
    return false;
}

/* The name was checked; what it resolves to is checked here. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct wire *wire = arg;

    (void)purpose;
    if (wire->is_plain && !is_loopback(&address->addr)) {
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC,
                  address->protocol);
}

/* --- an exchange -----------------------------------------------------------
 */

static bool set_headers(struct wire *wire, const struct wire_request *request)
{
    struct buf line;
    bool is_ok = true;

    buf_init(&line, 64u * 1024);
    for (size_t i = 0; i < request->n_headers && is_ok; i++) {
        const struct http_header *header = &request->headers[i];
        struct curl_slist *grown;

        buf_clear(&line);
        (void)buf_append_str(&line, header->name);
        /* libcurl sends an empty header only if it is written with ';', and
         * leaves out its own where a name ends with ':' */
        if (!str_ends(header->name, STR(":"))) {
            (void)buf_append_cstr(&line, header->value.len ? ": " : ";");
        }
        (void)buf_append_str(&line, header->value);
        grown = buf_status(&line) == CLEW_OK
                    ? curl_slist_append(wire->headers, line.data)
                    : NULL;
        is_ok = grown != NULL;
        wire->headers = grown ? grown : wire->headers;
    }
    explicit_bzero(line.data, line.len); /* may hold the provider's key */
    buf_release(&line);
    return is_ok;
}

static void set_method(CURL *easy, const struct wire_request *request)
{
    bool has_body = request->body.len > 0 || request->method == HTTP_POST ||
                    request->method == HTTP_PUT ||
                    request->method == HTTP_PATCH;

    if (request->method == HTTP_HEAD) {
        (void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (has_body) {
        (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                               request->body.s ? request->body.s : "");
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t)request->body.len);
    }
    if (request->method != HTTP_GET && request->method != HTTP_HEAD &&
        request->method != HTTP_POST) {
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST,
                               http_method_name(request->method));
    }
}

static void set_options(struct wire *wire, const struct wire_request *request)
{
    const struct wire_options *options = &wire->pool->options;
    CURL *easy = wire->easy;

    curl_easy_reset(easy);
    (void)curl_easy_setopt(easy, CURLOPT_URL, request->url);
    (void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR,
                           request->is_plain ? "http" : "https");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_NETRC, CURL_NETRC_IGNORED);
    (void)curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION,
                           (long)CURL_SSLVERSION_TLSv1_2);
    if (options->ca_file[0] != '\0') {
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
    }
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                           (long)CURL_HTTP_VERSION_2TLS);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)options->connect_timeout_ms);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                           (long)(options->idle_timeout_ms + 999) / 1000);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, wire);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, wire);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, wire);
    (void)curl_easy_setopt(easy, CURLOPT_SHARE, wire->pool->share);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, wire->headers);
    set_method(easy, request);
}

/* Let libcurl do what it can without waiting. */
static void step(struct wire *wire)
{
    int running = 0;
    int left = 0;
    CURLMsg *msg;

    if (curl_multi_perform(wire->multi, &running) != CURLM_OK) {
        wire->is_done = true;
        wire->result = CURLE_FAILED_INIT;
        return;
    }
    while ((msg = curl_multi_info_read(wire->multi, &left)) != NULL) {
        if (msg->msg == CURLMSG_DONE) {
            wire->is_done = true;
            wire->result = msg->data.result;
        }
    }
}

/* Until something has come, POLL_MS at most. False if it is no use: nobody
 * waits for it any more (they began to at `since_ns`), or not for longer. */
static bool wait_a_while(struct wire *wire, int64_t since_ns)
{
    /* no event is asked for: a hang-up comes unasked, and what the client sends
     * after its request must not wake this again and again */
    struct curl_waitfd client = {.fd = presence_fd(wire->client)};

    (void)curl_multi_poll(wire->multi, &client, client.fd >= 0, POLL_MS, NULL);
    return !presence_is_lost(wire->client, since_ns) &&
           !http_is_over(wire->client);
}

/* Why no headers came. */
static enum clew_status failure(const struct wire *wire, struct clew_error *err)
{
    CURLcode code = wire->result;

    if (!wire->is_done) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         presence_was_lost(wire->client)
                             ? "the client has gone"
                             : "the server is stopping");
    }
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return clew_fail(err, CLEW_TIMEOUT, "the upstream did not answer");
    }
    return clew_fail(err, CLEW_UPSTREAM, "could not reach the upstream: %s",
                     curl_easy_strerror(code));
}

enum clew_status wire_open(struct wire_pool *pool, struct arena *arena,
                           const struct wire_request *request,
                           struct wire **out_wire, struct wire_answer *out,
                           struct clew_error *err)
{
    struct wire *wire = take_wire(pool);
    int64_t began_ns = clock_mono_ns();
    curl_off_t length = -1;
    enum clew_status status = CLEW_OK;

    if (!wire) {
        return clew_no_memory(err);
    }
    wire->arena = arena;
    wire->client = request->client;
    memset(&wire->answer, 0, sizeof(wire->answer));
    wire->cap_headers = 0;
    wire->header_bytes = 0;
    wire->at = 0;
    wire->has_headers = wire->is_paused = wire->is_done = false;
    wire->is_plain = request->is_plain;
    wire->result = CURLE_OK;
    if (!set_headers(wire, request)) {
        wire_close(wire);
        return clew_no_memory(err);
    }
    set_options(wire, request);
    (void)curl_multi_add_handle(wire->multi, wire->easy);
    step(wire);
    while (!wire->has_headers && !wire->is_done &&
           wait_a_while(wire, began_ns)) {
        step(wire);
    }
    if (!wire->has_headers) {
        status = failure(wire, err);
        wire_close(wire);
        return status;
    }
    (void)curl_easy_getinfo(wire->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T,
                            &length);
    wire->answer.content_length = length;
    *out = wire->answer;
    *out_wire = wire;
    return CLEW_OK;
}

static ptrdiff_t hand_out(struct wire *wire, char *out, size_t cap)
{
    size_t len = wire->in.len - wire->at;

    len = len < cap ? len : cap;
    memcpy(out, wire->in.data + wire->at, len);
    wire->at += len;
    return (ptrdiff_t)len;
}

/* As wire_read(), without waiting for what has not come: -2 if nothing has. */
static ptrdiff_t wire_read_now(struct wire *wire, char *out, size_t cap)
{
    if (wire->in.len > wire->at) {
        return hand_out(wire, out, cap);
    }
    if (wire->is_paused) {
        wire->is_paused = false;
        buf_clear(&wire->in);
        wire->at = 0;
        (void)curl_easy_pause(wire->easy, CURLPAUSE_CONT);
    }
    if (!wire->is_done) {
        step(wire);
    }
    if (wire->in.len > wire->at) {
        return hand_out(wire, out, cap);
    }
    if (wire->is_done) {
        return wire->result == CURLE_OK ? 0 : -1;
    }
    return -2;
}

ptrdiff_t wire_read(struct wire *wire, char *out, size_t cap)
{
    int64_t began_ns = clock_mono_ns();
    ptrdiff_t n;

    while ((n = wire_read_now(wire, out, cap)) == -2) {
        if (!wait_a_while(wire, began_ns)) {
            return -1;
        }
    }
    return n;
}
