/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_embed_http.c - the embeddings client against a scripted server on this
 * machine: what it sends, what it accepts, when it stops asking.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "model/embed.h"
#include "model/embed_http.h"
#include "model/url_check.h"

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_SCRIPT 16

/* One reply; a NULL body answers nothing until the client gives up. */
struct reply {
    int status;
    const char *body;
};

struct server {
    int fd;
    int port;
    pthread_t thread;
    const struct reply *script;
    size_t n_replies;
    size_t served;
    struct buf requests[MAX_SCRIPT];
};

/* Read one request: headers, then Content-Length bytes. */
static void read_request(int fd, struct buf *out)
{
    char chunk[4096];
    size_t want = SIZE_MAX;

    while (out->len < want) {
        ssize_t n = recv(fd, chunk, sizeof(chunk), 0);
        size_t end;

        if (n <= 0) {
            return;
        }
        (void)buf_append(out, chunk, (size_t)n);
        end = str_find(buf_str(out), STR("\r\n\r\n"), 0);
        if (want == SIZE_MAX && end != SIZE_MAX) {
            size_t at = str_ifind(buf_str(out), STR("content-length:"), 0);

            want = end + 4 + strtoul(out->data + at + 15, NULL, 10);
        }
    }
}

static void send_reply(int fd, const struct reply *reply)
{
    struct buf out;
    char byte;

    if (!reply->body) {
        (void)recv(fd, &byte, 1, 0); /* returns when the client hangs up */
        return;
    }
    buf_init(&out, 1 << 24);
    (void)buf_printf(&out,
                     "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n"
                     "Location: http://127.0.0.1:1/\r\n"
                     "Connection: close\r\n\r\n%s",
                     reply->status, strlen(reply->body), reply->body);
    (void)send(fd, out.data, out.len, MSG_NOSIGNAL);
    buf_release(&out);
}

static void *serve(void *arg)
{
    struct server *server = arg;

    for (; server->served < server->n_replies; server->served++) {
        int fd = accept(server->fd, NULL, NULL);

        if (fd < 0) {
            break;
        }
        read_request(fd, &server->requests[server->served]);
        send_reply(fd, &server->script[server->served]);
        (void)close(fd);
    }
    return NULL;
}

static void start(struct server *server, const struct reply *script, size_t n)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof(at);

    assert_true(n <= MAX_SCRIPT);
    memset(server, 0, sizeof(*server));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->script = script;
    server->n_replies = n;
    for (size_t i = 0; i < MAX_SCRIPT; i++) {
        buf_init(&server->requests[i], 1 << 20);
    }
    server->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(server->fd >= 0);
    assert_int_equal(bind(server->fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(server->fd, 8), 0);
    assert_int_equal(getsockname(server->fd, (struct sockaddr *)&at, &len), 0);
    server->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop(struct server *server)
{
    (void)shutdown(server->fd, SHUT_RDWR);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    (void)close(server->fd);
    for (size_t i = 0; i < MAX_SCRIPT; i++) {
        buf_release(&server->requests[i]);
    }
}

static struct embedder *open_for(const struct server *server, size_t dim,
                                 size_t batch, struct clock *clock,
                                 int64_t timeout_ms)
{
    char url[64];
    struct embed_http_options options = {.url = url,
                                         .model = "tiny",
                                         .key = "sekret",
                                         .dim = dim,
                                         .timeout_ms = timeout_ms,
                                         .batch_texts = batch,
                                         .clock = clock};
    struct embedder *embedder = NULL;

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/", server->port);
    assert_int_equal(embed_http_open(&options, &embedder, NULL), CLEW_OK);
    return embedder;
}

/* Patiently: who answers does so even on a busy machine. */
static struct embedder *open_at(const struct server *server, size_t dim,
                                size_t batch, struct clock *clock)
{
    return open_for(server, dim, batch, clock, 60 * 1000);
}

static void vectors_come_back_in_order_and_normalised(void **state)
{
    static const struct reply script[] = {
        {200, "{\"data\":[{\"embedding\":[1,2,2],\"index\":0}]}"},
        {200, "{\"data\":[{\"index\":1,\"embedding\":[0,0,5]},"
              "{\"index\":0,\"embedding\":[3,0,4]}]}"},
        {200, "{\"data\":[{\"index\":0,\"embedding\":[0,0,0]}]}"}};
    struct str texts[] = {STR("one \"quoted\""), STR("two"), STR("")};
    struct server server;
    struct embedder *e;
    float v[9];

    (void)state;
    start(&server, script, 3);
    e = open_at(&server, 0, 2, NULL);
    assert_int_equal(e->dim, 3);
    assert_string_equal(e->id, "http:tiny:3");
    assert_int_equal(embed_run(e, texts, 3, v, NULL), CLEW_OK);
    assert_true(fabsf(v[0] - 0.6f) < 1e-6f && fabsf(v[2] - 0.8f) < 1e-6f);
    assert_true(fabsf(v[5] - 1.0f) < 1e-6f);
    assert_true(v[6] == 0.0f && v[8] == 0.0f);
    assert_non_null(
        strstr(server.requests[1].data, "POST /v1/embeddings HTTP"));
    assert_non_null(
        strstr(server.requests[1].data, "Authorization: Bearer sekret"));
    assert_non_null(strstr(server.requests[1].data,
                           "{\"model\":\"tiny\",\"input\":[\"one "
                           "\\\"quoted\\\"\",\"two\"],"
                           "\"encoding_format\":\"float\"}"));
    assert_non_null(strstr(server.requests[2].data, "\"input\":[\" \"]"));
    embed_free(e);
    stop(&server);
}

static void bad_answers_are_upstream_errors(void **state)
{
    static const struct reply cases[] = {
        {200, "not json"},
        {200, "{}"},
        {200, "{\"data\":[]}"},
        {200, "{\"data\":[{\"embedding\":[1,2]}]}"},
        {200, "{\"data\":[{\"embedding\":[1,2,\"x\"]}]}"},
        {200, "{\"data\":[{\"embedding\":[1,2,1e999]}]}"},
        {200, "{\"data\":[{\"index\":7,\"embedding\":[1,2,3]}]}"},
        {200, "{\"data\":[{\"index\":-1,\"embedding\":[1,2,3]}]}"},
        {500, "oops"},
        {302, "elsewhere"}};
    struct str text = STR("x");
    float v[3];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct server server;
        struct embedder *e;
        struct clew_error err = {0};

        start(&server, &cases[i], 1);
        e = open_at(&server, 3, 0, NULL);
        assert_int_equal(embed_run(e, &text, 1, v, &err), CLEW_UPSTREAM);
        assert_null(strstr(err.message, "sekret"));
        embed_free(e);
        stop(&server);
    }
}

static void an_endless_answer_is_cut(void **state)
{
    char *long_body = alloc_zero(1, 400001);
    struct reply reply = {200, long_body};
    struct str text = STR("x");
    struct server server;
    struct embedder *e;
    float v[3];

    (void)state;
    assert_non_null(long_body);
    memset(long_body, ' ', 400000);
    start(&server, &reply, 1);
    e = open_at(&server, 3, 0, NULL);
    assert_int_equal(embed_run(e, &text, 1, v, NULL), CLEW_UPSTREAM);
    embed_free(e);
    stop(&server);
    alloc_free(long_body);
}

static void silence_times_out_and_429_says_so(void **state)
{
    static const struct reply script[] = {{0, NULL}, {429, "slow down"}};
    struct str text = STR("x");
    struct server server;
    struct embedder *e;
    float v[3];

    (void)state;
    start(&server, script, 2);
    e = open_for(&server, 3, 0, NULL, 300);
    assert_int_equal(embed_run(e, &text, 1, v, NULL), CLEW_TIMEOUT);
    embed_free(e);
    e = open_at(&server, 3, 0, NULL);
    assert_int_equal(embed_run(e, &text, 1, v, NULL), CLEW_RATE_LIMITED);
    embed_free(e);
    stop(&server);
}

static void a_failing_endpoint_is_left_alone_for_a_while(void **state)
{
    static const struct reply script[] = {
        {503, ""}, {503, ""}, {503, ""},
        {503, ""}, {503, ""}, {200, "{\"data\":[{\"embedding\":[0,3,4]}]}"}};
    struct str text = STR("x");
    struct clock clock;
    struct server server;
    struct embedder *e;
    float v[3];

    (void)state;
    clock_init_fake(&clock, 1000000);
    start(&server, script, 6);
    e = open_at(&server, 3, 0, &clock);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(embed_run(e, &text, 1, v, NULL), CLEW_UPSTREAM);
    }
    assert_int_equal(embed_run(e, &text, 1, v, NULL), CLEW_UNAVAILABLE);
    clock_add_ms(&clock, 10000);
    assert_int_equal(embed_run(e, &text, 1, v, NULL), CLEW_OK);
    embed_free(e);
    stop(&server);
}

static void plain_http_stays_on_this_machine(void **state)
{
    static const struct {
        const char *url;
        enum clew_status want;
        bool is_local;
    } cases[] = {
        {"https://api.example.com/v1", CLEW_OK, false},
        {"http://localhost:11434/v1", CLEW_OK, true},
        {"http://127.0.0.1/", CLEW_OK, true},
        {"http://[::1]:80/", CLEW_OK, true},
        {"http://127.9.9.9/", CLEW_OK, true},
        {"http://api.example.com/", CLEW_INVALID, false},
        {"http://localhost.example.com/", CLEW_INVALID, false},
        {"http://127.0.0.1.example.com/", CLEW_INVALID, false},
        {"http://10.0.0.1/", CLEW_INVALID, false},
        {"http://[fe80::1]/", CLEW_INVALID, false},
        {"http://localhost@example.com/", CLEW_INVALID, false},
        {"https://user:pw@example.com/", CLEW_INVALID, false},
        {"file:///etc/hostname", CLEW_INVALID, false},
        {"ftp://localhost/", CLEW_INVALID, false},
        {"", CLEW_INVALID, false},
        {NULL, CLEW_INVALID, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_local = false;

        assert_int_equal(url_check(cases[i].url, "url", &is_local, NULL),
                         cases[i].want);
        if (cases[i].want == CLEW_OK) {
            assert_int_equal(is_local, cases[i].is_local);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_come_back_in_order_and_normalised),
        cmocka_unit_test(bad_answers_are_upstream_errors),
        cmocka_unit_test(an_endless_answer_is_cut),
        cmocka_unit_test(silence_times_out_and_429_says_so),
        cmocka_unit_test(a_failing_endpoint_is_left_alone_for_a_while),
        cmocka_unit_test(plain_http_stays_on_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
