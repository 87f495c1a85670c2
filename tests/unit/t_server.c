/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_server.c - the HTTP server over real sockets, with a handler that echoes.
 */
#include "support/test.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "http/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_BODY 4096
#define PATIENCE_MS (60 * 1000)

/* What the handler needs to play its parts. */
struct world {
    struct server *server;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_entered; /* /slow is being handled */
    bool may_leave;
    int n_freed_streams;
};

static struct world world = {.lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER};

struct counting {
    int at;
};
static struct counting counting;

static ptrdiff_t read_lines(void *arg, char *out, size_t cap)
{
    struct counting *at = arg;

    if (at->at == 1000) {
        return 0;
    }
    return snprintf(out, cap, "line %d\n", at->at++);
}

static void free_lines(void *arg)
{
    (void)arg;
    (void)pthread_mutex_lock(&world.lock);
    world.n_freed_streams++;
    (void)pthread_cond_broadcast(&world.changed);
    (void)pthread_mutex_unlock(&world.lock);
}

static void handle(void *arg, const struct http_request *request,
                   struct http_response *response)
{
    (void)arg;
    response->route = "/echo";
    if (str_eq(request->path, STR("/stream"))) {
        counting.at = 0;
        response->stream =
            (struct http_stream){read_lines, free_lines, &counting};
        return;
    }
    if (str_eq(request->path, STR("/odd"))) {
        /* without memory the case fails by what it reads */
        clew_ignore(http_response_header(request, response, "x-empty", ""));
        clew_ignore(http_response_header(request, response, "x y", "1"));
        clew_ignore(http_response_header(request, response, "x-kept", "1"));
    }
    if (str_eq(request->path, STR("/slow"))) {
        (void)pthread_mutex_lock(&world.lock);
        world.has_entered = true;
        (void)pthread_cond_broadcast(&world.changed);
        while (!world.may_leave) {
            (void)pthread_cond_wait(&world.changed, &world.lock);
        }
        (void)pthread_mutex_unlock(&world.lock);
    }
    (void)buf_printf(&response->body, "%s %.*s %.*s local=%d peer=%s ",
                     http_method_name(request->method), (int)request->path.len,
                     request->path.s, (int)request->query.len,
                     request->query.len ? request->query.s : "",
                     request->is_loopback, request->peer);
    (void)buf_append_str(&response->body, request->body);
}

/* `patience_ms` is what a client may take. */
static struct server *open_server(const char *listen, int64_t patience_ms)
{
    struct server_options options = {.listen = listen,
                                     .handler = handle,
                                     .max_body_bytes = MAX_BODY,
                                     .idle_ms = patience_ms,
                                     .body_ms = patience_ms};
    struct server *server = NULL;
    struct clew_error err = {0};

    if (server_open(&options, &server, &err) != CLEW_OK) {
        fail_msg("could not open: %s", err.message);
    }
    return server;
}

static int set_up(void **state)
{
    (void)state;
    world.server = open_server("127.0.0.1:0", PATIENCE_MS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    server_close(world.server, 1000);
    world.server = NULL;
    return 0;
}

/* A connection to the server of the group. */
static int dial(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    struct timeval patience = {.tv_sec = 2 * PATIENCE_MS / 1000};
    const char *colon = strrchr(server_url(world.server), ':');
    int64_t port = 0;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(str_parse_int(str_of(colon + 1), &port));
    addr.sin_port = htons((uint16_t)port);
    assert_return_code(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Everything until the other side closes. */
static char *hear_all(int fd)
{
    static char text[65536];
    size_t len = 0;
    ssize_t n;

    do {
        n = recv(fd, text + len, sizeof(text) - 1 - len, 0);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    text[len] = '\0';
    (void)close(fd);
    return text;
}

static char *ask(const char *text)
{
    int fd = dial();

    say(fd, text);
    return hear_all(fd);
}

#define HEAD "Host: localhost\r\nConnection: close\r\n"

static void requests_are_answered(void **state)
{
    const char *answer = ask("GET /a%20b?x=1%20 HTTP/1.1\r\n" HEAD
                             "X-Request-Id: my-id\r\n\r\n");

    (void)state;
    assert_non_null(strstr(answer, "HTTP/1.1 200 "));
    assert_non_null(strstr(answer, "x-request-id: my-id\r\n"));
    assert_non_null(strstr(answer, "x-content-type-options: nosniff\r\n"));
    assert_non_null(strstr(answer, "GET /a%20b x=1%20 local=1 peer=127.0.0.1"));
}

static void a_header_that_is_refused_costs_no_answer(void **state)
{
    const char *answer = ask("GET /odd HTTP/1.1\r\n" HEAD "\r\n");

    (void)state;
    assert_non_null(strstr(answer, "HTTP/1.1 200 "));
    assert_non_null(strstr(answer, "x-kept: 1\r\n"));
    assert_null(strstr(answer, "x-empty"));
    assert_null(strstr(answer, "x y"));
    assert_non_null(strstr(answer, "GET /odd"));
}

static void a_connection_carries_many_requests(void **state)
{
    const char *answer;
    int fd = dial();

    (void)state;
    say(fd, "POST /one HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
            "\r\nabc"
            "GET /two HTTP/1.1\r\n" HEAD "\r\n");
    answer = hear_all(fd);
    assert_non_null(strstr(answer, "POST /one  local=1 peer=127.0.0.1 abc"));
    assert_non_null(strstr(answer, "GET /two"));
}

static void chunked_and_waiting_bodies_arrive(void **state)
{
    char first[64] = {0};
    const char *answer;
    int fd = dial();

    (void)state;
    answer =
        ask("POST /c HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\n"
            "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    assert_non_null(strstr(answer, "abcde"));
    say(fd, "POST /w HTTP/1.1\r\n" HEAD
            "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_true(recv(fd, first, sizeof(first) - 1, 0) > 0);
    assert_non_null(strstr(first, "100 Continue"));
    say(fd, "hi");
    assert_non_null(strstr(hear_all(fd), "hi"));
}

static void bodies_over_the_limit_are_refused(void **state)
{
    static char big[MAX_BODY + 300];
    char chunk[MAX_BODY + 100];
    const char *answer;
    int fd;

    (void)state;
    /* Exactly at the limit passes. */
    (void)snprintf(big, sizeof(big),
                   "POST /b HTTP/1.1\r\n" HEAD "Content-Length: %d\r\n\r\n",
                   MAX_BODY);
    memset(chunk, 'x', MAX_BODY + 1);
    chunk[MAX_BODY + 1] = '\0';
    fd = dial();
    say(fd, big);
    chunk[MAX_BODY] = '\0';
    say(fd, chunk);
    assert_non_null(strstr(hear_all(fd), "HTTP/1.1 200 "));
    /* One more does not, by length or by the bytes themselves. */
    (void)snprintf(big, sizeof(big),
                   "POST /b HTTP/1.1\r\n" HEAD "Content-Length: %d\r\n\r\n",
                   MAX_BODY + 1);
    chunk[MAX_BODY] = 'x';
    fd = dial();
    say(fd, big);
    say(fd, chunk);
    answer = hear_all(fd);
    assert_non_null(strstr(answer, "HTTP/1.1 413 "));
    assert_non_null(strstr(answer, "\"code\":\"TOO_LARGE\""));
    fd = dial();
    say(fd, "POST /b HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\n");
    (void)snprintf(big, sizeof(big), "%x\r\n%s\r\n0\r\n\r\n", MAX_BODY + 1,
                   chunk);
    say(fd, big);
    assert_non_null(strstr(hear_all(fd), "HTTP/1.1 413 "));
    /* A client that waits for leave is told before it sends. */
    answer = ask("POST /b HTTP/1.1\r\n" HEAD "Expect: 100-continue\r\n"
                 "Content-Length: 999999999\r\n\r\n");
    assert_non_null(strstr(answer, "HTTP/1.1 413 "));
    assert_null(strstr(answer, "100 Continue"));
}

static void large_headers_are_refused(void **state)
{
    static char text[80000];
    const char *answer;
    size_t len = 0;

    (void)state;
    len +=
        (size_t)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n" HEAD "X: ");
    memset(text + len, 'x', 40000);
    (void)snprintf(text + len + 40000, sizeof(text) - len - 40000, "\r\n\r\n");
    answer = ask(text);
    assert_non_null(strstr(answer, "HTTP/1.1 431 "));
    assert_non_null(strstr(answer, "\"code\":\"TOO_LARGE\""));
    len = (size_t)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n" HEAD);
    for (int i = 0; i < 120; i++) {
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "x%d: y\r\n", i);
    }
    (void)snprintf(text + len, sizeof(text) - len, "\r\n");
    assert_non_null(strstr(ask(text), "HTTP/1.1 431 "));
}

/* The library gives such a request up before anybody is asked or told; what was
 * made for it goes with the connection (the leak checker looks). */
static void a_request_that_only_began_leaves_nothing(void **state)
{
    static char text[40000];
    size_t len = (size_t)snprintf(text, sizeof(text), "GET /?");

    for (int i = 0; i < 5000; i++) {
        memcpy(text + len, "q=a&", 4);
        len += 4;
    }
    (void)snprintf(text + len, sizeof(text) - len, " HTTP/1.1\r\n" HEAD "\r\n");
    (void)ask(text);
    requests_are_answered(state);
}

static void what_is_said_twice_is_refused(void **state)
{
    (void)state;
    assert_non_null(
        strstr(ask("GET / HTTP/1.1\r\n" HEAD "Host: evil.example\r\n\r\n"),
               "HTTP/1.1 400 "));
    assert_non_null(strstr(ask("GET / HTTP/1.1\r\n" HEAD "X-Api-Key: a\r\n"
                               "x-api-key: b\r\n\r\n"),
                           "HTTP/1.1 400 "));
    assert_non_null(
        strstr(ask("GET / HTTP/1.1\r\n" HEAD "Content-Length : 3\r\n\r\n"),
               "HTTP/1.1 400 "));
}

static void ambiguous_lengths_are_refused(void **state)
{
    (void)state;
    assert_non_null(strstr(ask("POST / HTTP/1.1\r\n" HEAD
                               "Content-Length: 3\r\nContent-Length: 3\r\n\r\n"
                               "abc"),
                           "HTTP/1.1 400 "));
    assert_non_null(
        strstr(ask("POST / HTTP/1.1\r\n" HEAD "Content-Length: 3\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n"
                   "0\r\n\r\n"),
               "HTTP/1.1 400 "));
}

static void a_rebound_name_is_refused(void **state)
{
    const char *answer = ask("GET / HTTP/1.1\r\nHost: evil.example\r\n"
                             "Connection: close\r\n\r\n");

    (void)state;
    assert_non_null(strstr(answer, "HTTP/1.1 403 "));
    assert_non_null(strstr(answer, "HOST_NOT_ALLOWED"));
}

/* A server that gives its clients a second takes the other's place. */
static struct server *hurry(void)
{
    struct server *kept = world.server;

    world.server = open_server("127.0.0.1:0", 1000);
    return kept;
}

static void end_hurry(struct server *kept)
{
    server_close(world.server, 1000);
    world.server = kept;
}

static void nonsense_breaks_nothing(void **state)
{
    struct server *kept = hurry(); /* half a request ends by the clock */

    (void)ask("\r\n\r\nGET\r\n\r\n");
    (void)ask("GET / HTTP/1.1\r\nbroken header\r\n\r\n");
    (void)ask("GET http://[ HTTP/9.9\r\n\r\n");
    (void)ask("POST / HTTP/1.1\r\n" HEAD "Content-Length: -1\r\n\r\n");
    (void)ask("POST / HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\n"
              "zz\r\n");
    (void)ask("GET /%00%ff HTTP/1.1\r\n" HEAD "\r\n");
    requests_are_answered(state);
    end_hurry(kept);
}

static void streams_are_sent_and_freed(void **state)
{
    int before = world.n_freed_streams;
    const char *answer = ask("GET /stream HTTP/1.1\r\n" HEAD "\r\n");

    (void)state;
    assert_non_null(strstr(answer, "line 0\n"));
    assert_non_null(strstr(answer, "line 999\n"));
    /* The free happens just after the last byte left. */
    (void)pthread_mutex_lock(&world.lock);
    while (world.n_freed_streams == before) {
        (void)pthread_cond_wait(&world.changed, &world.lock);
    }
    assert_int_equal(world.n_freed_streams, before + 1);
    (void)pthread_mutex_unlock(&world.lock);
}

static void half_closed_clients_get_their_answer(void **state)
{
    int fd = dial();

    (void)state;
    say(fd, "GET /half HTTP/1.1\r\n" HEAD "\r\n");
    (void)shutdown(fd, SHUT_WR);
    assert_non_null(strstr(hear_all(fd), "GET /half"));
}

/* One byte now and then keeps the connection busy, but not for ever. */
static void a_trickling_client_is_cut_off(void **state)
{
    struct server *kept = hurry();
    int64_t until_ns = clock_mono_ns() + PATIENCE_MS * 1000000LL;
    ssize_t n = 1;
    int fd = dial();

    (void)state;
    say(fd, "POST / HTTP/1.1\r\n" HEAD "Content-Length: 1000\r\n\r\n");
    while (n == 1 && clock_mono_ns() < until_ns) {
        struct pollfd ended = {.fd = fd, .events = POLLIN};

        /* A tenth of a second, or until the server has had enough. */
        (void)poll(&ended, 1, 100);
        n = send(fd, "x", 1, MSG_NOSIGNAL);
    }
    assert_int_equal(n, -1);
    (void)close(fd);
    end_hurry(kept);
}

static void *close_server(void *arg)
{
    server_close(arg, PATIENCE_MS);
    return NULL;
}

static void closing_waits_for_what_is_under_way(void **state)
{
    struct server *kept = world.server;
    pthread_t closer;
    const char *answer;
    int fd;

    (void)state;
    world.server = open_server("127.0.0.1:0", PATIENCE_MS);
    world.has_entered = false;
    world.may_leave = false;
    fd = dial();
    say(fd, "POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
            "\r\nkeep");
    (void)pthread_mutex_lock(&world.lock);
    while (!world.has_entered) {
        (void)pthread_cond_wait(&world.changed, &world.lock);
    }
    (void)pthread_mutex_unlock(&world.lock);
    assert_int_equal(pthread_create(&closer, NULL, close_server, world.server),
                     0);
    (void)pthread_mutex_lock(&world.lock);
    world.may_leave = true;
    (void)pthread_cond_broadcast(&world.changed);
    (void)pthread_mutex_unlock(&world.lock);
    answer = hear_all(fd);
    assert_non_null(strstr(answer, "HTTP/1.1 200 "));
    assert_non_null(strstr(answer, "keep"));
    assert_int_equal(pthread_join(closer, NULL), 0);
    world.server = kept;
}

static void unix_sockets_are_private_and_replaced_when_stale(void **state)
{
    char folder[] = "/tmp/clew-test-XXXXXX";
    char listen_text[64];
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct server *server;
    struct server_options second = {.listen = listen_text, .handler = handle};
    struct stat info;
    int fd;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/s", folder);
    (void)snprintf(listen_text, sizeof(listen_text), "unix:%s/s", folder);
    /* A leftover of a process that died. */
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_return_code(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    (void)close(fd);
    server = open_server(listen_text, PATIENCE_MS);
    assert_string_equal(server_url(server), listen_text);
    assert_return_code(stat(addr.sun_path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(server_open(&second, &(struct server *){NULL}, NULL),
                     CLEW_UNAVAILABLE);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_return_code(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    say(fd, "GET /u HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n");
    assert_non_null(strstr(hear_all(fd), "GET /u  local=1 peer=unix"));
    server_close(server, 1000);
    assert_int_equal(stat(addr.sun_path, &info), -1);
    assert_return_code(rmdir(folder), 0);
}

static void bad_addresses_are_named(void **state)
{
    static const char *const bad[] = {
        "",     "host", ":1", "127.0.0.1:x", "127.0.0.1:70000", "127.0.0.1:-1",
        "unix:"};
    struct server *server;
    struct clew_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct server_options options = {.listen = bad[i], .handler = handle};

        assert_int_equal(server_open(&options, &server, &err), CLEW_INVALID);
        assert_string_equal(err.field, "listen");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered),
        cmocka_unit_test(a_header_that_is_refused_costs_no_answer),
        cmocka_unit_test(a_connection_carries_many_requests),
        cmocka_unit_test(chunked_and_waiting_bodies_arrive),
        cmocka_unit_test(bodies_over_the_limit_are_refused),
        cmocka_unit_test(large_headers_are_refused),
        cmocka_unit_test(a_request_that_only_began_leaves_nothing),
        cmocka_unit_test(what_is_said_twice_is_refused),
        cmocka_unit_test(ambiguous_lengths_are_refused),
        cmocka_unit_test(a_rebound_name_is_refused),
        cmocka_unit_test(nonsense_breaks_nothing),
        cmocka_unit_test(streams_are_sent_and_freed),
        cmocka_unit_test(half_closed_clients_get_their_answer),
        cmocka_unit_test(a_trickling_client_is_cut_off),
        cmocka_unit_test(closing_waits_for_what_is_under_way),
        cmocka_unit_test(unix_sockets_are_private_and_replaced_when_stale),
        cmocka_unit_test(bad_addresses_are_named),
    };

    json_setup();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
