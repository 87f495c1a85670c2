/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_http.c - decoding, queries, headers, routes, Host and Origin, gzip.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/json.h"
#include "http/gzip.h"
#include "http/http.h"
#include "http/metrics.h"
#include "http/mount.h"
#include "http/peer.h"
#include "http/router.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <zlib.h>

static struct arena arena;

static int open_arena(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 24);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct http_request request_to(enum http_method method,
                                      const char *target)
{
    struct http_request request;

    http_request_init(&request, &arena, method, str_of(target),
                      (struct str){0});
    return request;
}

static void percent_escapes_decode_or_fail(void **state)
{
    static const struct {
        const char *in;
        const char *out; /* NULL = refused */
        bool plus;
    } cases[] = {
        {"", "", false},
        {"abc", "abc", false},
        {"a%20b", "a b", false},
        {"a+b", "a+b", false},
        {"a+b", "a b", true},
        {"%41%62", "Ab", false},
        {"%c3%a4", "\xc3\xa4", false},
        {"%2f%2F", "//", false},
        {"%", NULL, false},
        {"%4", NULL, false},
        {"%zz", NULL, false},
        {"a%0", NULL, false},
        {"%00", NULL, false},
        {"%ff", NULL, false},
        {"%c0%80", NULL, false},
        {"%ed%a0%80", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct str out = {0};
        enum clew_status status =
            http_decode(&arena, str_of(cases[i].in), cases[i].plus, &out, NULL);

        assert_int_equal(status, cases[i].out ? CLEW_OK : CLEW_INVALID);
        if (cases[i].out) {
            assert_true(str_eq(out, str_of(cases[i].out)));
        }
    }
}

static void query_parameters_are_found_and_checked(void **state)
{
    static const char *const known[] = {"a", "b", NULL};
    struct http_request request = request_to(HTTP_GET, "/x?a=1%202&b=&&");
    struct clew_error err = {0};
    struct str out;

    (void)state;
    assert_int_equal(http_query_of(&request, "a", &out, NULL), CLEW_OK);
    assert_true(str_eq(out, STR("1 2")));
    assert_int_equal(http_query_of(&request, "b", &out, NULL), CLEW_OK);
    assert_non_null(out.s);
    assert_int_equal(out.len, 0);
    assert_int_equal(http_query_of(&request, "c", &out, NULL), CLEW_OK);
    assert_null(out.s);
    assert_int_equal(http_check_query(&request, known, NULL), CLEW_OK);
    request = request_to(HTTP_GET, "/x?a=1&c=2");
    assert_int_equal(http_check_query(&request, known, &err), CLEW_INVALID);
    assert_string_equal(err.field, "c");
    request = request_to(HTTP_GET, "/x?a=1&a=2");
    assert_int_equal(http_check_query(&request, known, &err), CLEW_INVALID);
    assert_string_equal(err.field, "a");
    request = request_to(HTTP_GET, "/x?a=%f");
    assert_int_equal(http_query_of(&request, "a", &out, &err), CLEW_INVALID);
    assert_string_equal(err.field, "a");
    request = request_to(HTTP_GET, "/x");
    assert_int_equal(http_check_query(&request, NULL, NULL), CLEW_OK);
}

static void request_ids_are_honoured_only_if_sane(void **state)
{
    char id[HTTP_ID_SIZE];

    (void)state;
    http_request_id(STR("abc-DEF_1.2"), id);
    assert_string_equal(id, "abc-DEF_1.2");
    http_request_id(STR("a b"), id);
    assert_int_equal(strlen(id), 36);
    http_request_id(STR("a\r\nx: y"), id);
    assert_int_equal(strlen(id), 36);
    http_request_id(STR("0123456789012345678901234567890123456789"), id);
    assert_int_equal(strlen(id), 36);
    http_request_id((struct str){0}, id);
    assert_int_equal(strlen(id), 36);
}

static void errors_have_one_form(void **state)
{
    struct http_request request = request_to(HTTP_GET, "/x");
    struct http_response response;
    struct clew_error err = {0};
    char expected[256];

    (void)state;
    http_response_init(&response, 1 << 20);
    (void)clew_fail_code(&err, CLEW_INVALID, "MUTUAL_EXCLUSION", "not both");
    http_response_error(&request, &response, CLEW_INVALID, &err);
    assert_int_equal(response.status, 400);
    (void)snprintf(expected, sizeof(expected),
                   "{\"error\":{\"code\":\"MUTUAL_EXCLUSION\",\"type\":"
                   "\"VALIDATION_ERROR\",\"message\":\"not both\","
                   "\"request_id\":\"%s\"}}",
                   request.id);
    assert_string_equal(response.body.data, expected);
    (void)clew_fail_field(&err, "user_id", "cut \xc3");
    http_response_error(&request, &response, CLEW_INVALID, &err);
    assert_non_null(strstr(response.body.data, "\"field\":\"user_id\""));
    assert_non_null(strstr(response.body.data, "\"message\":\"cut \""));
    http_response_error(&request, &response, CLEW_NOT_FOUND, NULL);
    assert_int_equal(response.status, 404);
    assert_non_null(strstr(response.body.data, "\"message\":\"not found\""));
    http_response_release(&response);
}

static void an_error_survives_lack_of_memory(void **state)
{
    struct http_request request = request_to(HTTP_GET, "/x");

    (void)state;
    for (uint64_t n = 1; n < 200; n++) {
        struct http_response response;
        int fired;

        http_response_init(&response, 1 << 20);
        alloc_fail_at(n);
        http_response_error(&request, &response, CLEW_NOT_FOUND, NULL);
        fired = alloc_fail_fired();
        alloc_fail_at(0);
        assert_true(response.status == 404 || response.status == 503);
        http_response_release(&response);
        if (!fired) {
            return;
        }
    }
    fail_msg("the loop never ended");
}

/* --- routes --- */

static const struct router_row table[] = {
    {HTTP_GET, "/"},
    {HTTP_GET, "/a/{id}"},
    {HTTP_POST, "/a/{id}"},
    {HTTP_GET, "/a/new"},
    {HTTP_GET, "/a/{id}/b/{n}"},
    {HTTP_POST, "/v1/messages"},
    {HTTP_POST, "/v1/{rest*}"},
    {HTTP_GET, "/key/{key}/v1/{rest*}"},
    {HTTP_OTHER, NULL},
};

static struct router_row row_at(const void *rows, size_t i)
{
    return ((const struct router_row *)rows)[i];
}

static void paths_find_their_rows(void **state)
{
    static const struct {
        enum http_method method;
        const char *path;
        enum clew_status status;
        size_t row;
        const char *params[2];
    } cases[] = {
        {HTTP_GET, "/", CLEW_OK, 0, {NULL, NULL}},
        {HTTP_GET, "/a/7", CLEW_OK, 1, {"7", NULL}},
        {HTTP_HEAD, "/a/7", CLEW_OK, 1, {"7", NULL}},
        {HTTP_POST, "/a/7", CLEW_OK, 2, {"7", NULL}},
        {HTTP_GET, "/a/new", CLEW_OK, 3, {NULL, NULL}},
        {HTTP_POST, "/a/new", CLEW_OK, 2, {"new", NULL}},
        {HTTP_GET, "/a/x%2Fy/b/%c3%a4", CLEW_OK, 4, {"x/y", "\xc3\xa4"}},
        {HTTP_POST, "/v1/messages", CLEW_OK, 5, {NULL, NULL}},
        {HTTP_POST, "/v1/a/b", CLEW_OK, 6, {"a/b", NULL}},
        {HTTP_POST, "/v1/", CLEW_OK, 6, {"", NULL}},
        {HTTP_POST, "/v1", CLEW_OK, 6, {"", NULL}},
        {HTTP_GET, "/key/k/v1/m", CLEW_OK, 7, {"k", "m"}},
        {HTTP_DELETE, "/a/7", CLEW_NO_METHOD, 0, {NULL, NULL}},
        {HTTP_OTHER, "/a/7", CLEW_NO_METHOD, 0, {NULL, NULL}},
        {HTTP_GET, "/a", CLEW_NOT_FOUND, 0, {NULL, NULL}},
        {HTTP_GET, "/a/", CLEW_NOT_FOUND, 0, {NULL, NULL}},
        {HTTP_GET, "/a/7/", CLEW_NOT_FOUND, 0, {NULL, NULL}},
        {HTTP_GET, "/a/7/c", CLEW_NOT_FOUND, 0, {NULL, NULL}},
        {HTTP_GET, "", CLEW_NOT_FOUND, 0, {NULL, NULL}},
        {HTTP_GET, "*", CLEW_NOT_FOUND, 0, {NULL, NULL}},
        {HTTP_GET, "//", CLEW_NOT_FOUND, 0, {NULL, NULL}},
        {HTTP_GET, "/a/%", CLEW_INVALID, 0, {NULL, NULL}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_request request =
            request_to(cases[i].method, cases[i].path);
        struct router_match match;
        enum clew_status status =
            router_find(row_at, table, &request, &match, NULL);

        assert_int_equal(status, cases[i].status);
        if (status != CLEW_OK) {
            continue;
        }
        assert_int_equal(match.row, cases[i].row);
        for (size_t p = 0; p < 2 && cases[i].params[p]; p++) {
            assert_true(str_eq(match.params[p], str_of(cases[i].params[p])));
        }
    }
}

static void a_wrong_method_names_the_right_ones(void **state)
{
    struct http_request request = request_to(HTTP_DELETE, "/a/7");
    struct router_match match;

    (void)state;
    assert_int_equal(router_find(row_at, table, &request, &match, NULL),
                     CLEW_NO_METHOD);
    assert_string_equal(match.allow, "GET, POST, HEAD, OPTIONS");
}

/* --- browsers --- */

static void foreign_pages_are_refused(void **state)
{
    static const struct {
        const char *host;
        const char *origin;
        bool must_be_local;
        bool is_allowed;
    } cases[] = {
        {"localhost:2539", NULL, true, true},
        {"LOCALHOST", NULL, true, true},
        {"127.0.0.1:1", NULL, true, true},
        {"127.9.9.9", NULL, true, true},
        {"[::1]:2539", NULL, true, true},
        {"clew.example", NULL, true, true}, /* configured */
        {NULL, NULL, true, true},
        {"evil.example", NULL, true, false},
        {"127.0.0.1.evil.example", NULL, true, false},
        {"localhost.evil.example", NULL, true, false},
        {"", NULL, true, false},
        {"[::1", NULL, true, false},
        {"evil.example", NULL, false, true},
        {"localhost:2539", "http://localhost:2539", true, true},
        {"localhost:2539", "http://localhost:9999", true, false},
        {"localhost:2539", "https://evil.example", true, false},
        {"localhost:2539", "null", true, false},
        {"localhost:2539", "https://clew.example", true, true},
        {"host.example", "https://host.example", false, true},
        {"host.example", "https://evil.example", false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_request request = request_to(HTTP_GET, "/x");
        struct http_header headers[2];
        enum clew_status status;

        request.headers = headers;
        if (cases[i].host) {
            headers[request.n_headers++] =
                (struct http_header){STR("Host"), str_of(cases[i].host)};
        }
        if (cases[i].origin) {
            headers[request.n_headers++] =
                (struct http_header){STR("Origin"), str_of(cases[i].origin)};
        }
        status = peer_check_host(&request, cases[i].must_be_local,
                                 "a.example, clew.example", NULL);
        assert_int_equal(status,
                         cases[i].is_allowed ? CLEW_OK : CLEW_FORBIDDEN);
    }
}

static void addresses_say_whether_they_are_local(void **state)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    char text[PEER_TEXT_SIZE];

    (void)state;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(peer_format((struct sockaddr *)&in, text), 80);
    assert_string_equal(text, "127.0.0.1");
    assert_true(peer_is_loopback((struct sockaddr *)&in));
    in.sin_addr.s_addr = htonl(0x0a000001);
    assert_false(peer_is_loopback((struct sockaddr *)&in));
    assert_true(peer_is_loopback((struct sockaddr *)&in6));
    in6.sin6_addr.s6_addr[0] = 0xfe;
    assert_false(peer_is_loopback((struct sockaddr *)&in6));
    memset(&in6.sin6_addr, 0, sizeof(in6.sin6_addr));
    in6.sin6_addr.s6_addr[10] = in6.sin6_addr.s6_addr[11] = 0xff;
    in6.sin6_addr.s6_addr[12] = 127;
    in6.sin6_addr.s6_addr[15] = 1;
    (void)peer_format((struct sockaddr *)&in6, text);
    assert_string_equal(text, "127.0.0.1");
    assert_true(peer_is_loopback((struct sockaddr *)&in6));
}

/* --- gzip --- */

static size_t pack(const char *text, size_t len, unsigned char *out, size_t cap)
{
    z_stream stream = {.next_in = (z_const Bytef *)(uintptr_t)text,
                       .avail_in = (unsigned)len,
                       .next_out = out,
                       .avail_out = (unsigned)cap};

    assert_int_equal(
        deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    len = stream.total_out;
    (void)deflateEnd(&stream);
    return len;
}

static void packed_bodies_unpack_up_to_the_ceiling(void **state)
{
    static char zeros[100000];
    unsigned char packed[4096];
    struct str in = {(const char *)packed,
                     pack(zeros, sizeof(zeros), packed, sizeof(packed))};
    struct buf out;

    (void)state;
    buf_init(&out, sizeof(zeros));
    assert_int_equal(gzip_unpack(in, NULL, &out, NULL), CLEW_OK);
    assert_int_equal(out.len, sizeof(zeros));
    buf_release(&out);
    buf_init(&out, sizeof(zeros) - 1);
    assert_int_equal(gzip_unpack(in, NULL, &out, NULL), CLEW_TOO_LARGE);
    buf_release(&out);
    buf_init(&out, sizeof(zeros));
    in.len -= 4;
    assert_int_equal(gzip_unpack(in, NULL, &out, NULL), CLEW_INVALID);
    assert_int_equal(gzip_unpack(STR("plain"), NULL, &out, NULL), CLEW_INVALID);
    assert_int_equal(gzip_unpack((struct str){0}, NULL, &out, NULL),
                     CLEW_INVALID);
    buf_release(&out);
}

static void metrics_count_by_route_and_class(void **state)
{
    static const char route[] = "/t/{id}";
    struct buf out;

    (void)state;
    metrics_request(route, HTTP_GET, 200, 2000000);
    metrics_request(route, HTTP_GET, 404, 700000000);
    metrics_request(route, HTTP_POST, 201, 1000);
    metrics_request(NULL, HTTP_GET, 404, 1000);
    buf_init(&out, 1 << 20);
    assert_int_equal(metrics_write(&out), CLEW_OK);
    assert_non_null(strstr(out.data, "clew_http_requests_total{method=\"GET\","
                                     "route=\"/t/{id}\",status=\"2xx\"} 1\n"));
    assert_non_null(strstr(out.data, "method=\"GET\",route=\"/t/{id}\","
                                     "status=\"4xx\"} 1\n"));
    assert_non_null(strstr(out.data, "method=\"POST\",route=\"/t/{id}\","
                                     "status=\"2xx\"} 1\n"));
    assert_non_null(strstr(out.data, "route=\"/t/{id}\",le=\"0.5\"} 1\n"));
    assert_non_null(strstr(out.data, "route=\"/t/{id}\",le=\"+Inf\"} 2\n"));
    buf_release(&out);
}

static void note_mount(void *arg, const struct http_request *request,
                       struct http_response *response)
{
    (void)request;
    response->status = *(int *)arg;
}

static bool refuse_at_mount(void *arg, const struct http_request *request,
                            struct http_response *response)
{
    note_mount(arg, request, response);
    return false;
}

static void a_path_has_one_mount(void **state)
{
    static int one = 1, two = 2, rest = 3, key = 4;
    struct mount mounts[] = {{"/v1/{rest*}", note_mount, refuse_at_mount, &one},
                             {"/mcp", note_mount, NULL, &two},
                             {"/key/{key}/v1/{rest*}", note_mount, NULL, &key},
                             {"", note_mount, refuse_at_mount, &rest},
                             {NULL, NULL, NULL, NULL}};
    static const struct {
        const char *path;
        int status;
    } cases[] = {
        {"/v1", 1},       {"/v1/messages", 1}, {"/v10", 3}, {"/mcp", 2},
        {"/mcp/", 2},     {"/mcpx", 3},        {"/", 3},    {"", 3},
        {"/api/v1/x", 3}, {"/V1/chat", 3},     {"//v1", 3}, {"/key/k/v1/x", 4},
        {"/key", 4},      {"/keys", 3},        {"/key/", 4}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_request request = {.path = str_of(cases[i].path)};
        struct http_response response = {0};
        struct http_response refusal = {0};

        mount_handle(mounts, &request, &response);
        assert_int_equal(response.status, cases[i].status);
        /* who answers is also asked before; two rows mind nothing */
        assert_int_equal(mount_admit(mounts, &request, &refusal),
                         cases[i].status % 2 == 0);
        assert_int_equal(refusal.status,
                         cases[i].status % 2 == 0 ? 0 : cases[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percent_escapes_decode_or_fail),
        cmocka_unit_test(query_parameters_are_found_and_checked),
        cmocka_unit_test(request_ids_are_honoured_only_if_sane),
        cmocka_unit_test(errors_have_one_form),
        cmocka_unit_test(an_error_survives_lack_of_memory),
        cmocka_unit_test(paths_find_their_rows),
        cmocka_unit_test(a_path_has_one_mount),
        cmocka_unit_test(a_wrong_method_names_the_right_ones),
        cmocka_unit_test(foreign_pages_are_refused),
        cmocka_unit_test(addresses_say_whether_they_are_local),
        cmocka_unit_test(packed_bodies_unpack_up_to_the_ceiling),
        cmocka_unit_test(metrics_count_by_route_and_class),
    };

    json_setup();
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
