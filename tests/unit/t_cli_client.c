/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_cli_client.c - calls to a server: what is sent, what comes back.
 */
#include "support/test.h"

#include "base/buf.h"
#include "cli/client/client.h"
#include "support/fake_http.h"

#include <stdio.h>
#include <unistd.h>

static struct client *opened(const char *url, const char *key)
{
    struct client_options options = {.url = url, .key = key};
    struct client *client = NULL;
    struct clew_error err;

    assert_int_equal(client_open(&options, &client, &err), CLEW_OK);
    return client;
}

static void a_call_carries_key_path_and_body(void **state)
{
    struct fake_http *fake = fake_http_open(NULL);
    struct client *client = opened(fake_http_url(fake), "clew_1_2");
    json_t *body = json_pack("{s:s}", "query", "caf\xC3\xA9");
    json_t *answer = NULL;
    struct clew_error err;
    const char *seen;

    (void)state;
    fake_http_answer(fake, 201, "{\"n\":7}");
    assert_int_equal(
        client_call(client, "POST", "/api/v1/x?a=%20", body, &answer, &err),
        CLEW_OK);
    assert_int_equal(json_integer_value(json_object_get(answer, "n")), 7);
    seen = fake_http_seen(fake);
    assert_non_null(strstr(seen, "POST /api/v1/x?a=%20 HTTP/1.1\r\n"));
    assert_non_null(strstr(seen, "Authorization: Bearer clew_1_2\r\n"));
    assert_non_null(strstr(seen, "\r\n\r\n{\"query\":\"caf\xC3\xA9\"}"));
    json_decref(answer);
    json_decref(body);

    /* the next one has no body and must not repeat the last */
    assert_int_equal(client_call(client, "GET", "/y", NULL, &answer, &err),
                     CLEW_OK);
    seen = fake_http_seen(fake);
    assert_non_null(strstr(seen, "GET /y HTTP/1.1\r\n"));
    assert_null(strstr(seen, "caf"));
    json_decref(answer);
    client_close(client);
    fake_http_close(fake);
}

static void an_error_keeps_its_code_and_words(void **state)
{
    static const struct {
        int http;
        const char *body;
        enum clew_status status;
        const char *says;
    } cases[] = {
        {404, "{\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"no chat\"}}",
         CLEW_NOT_FOUND, "no chat"},
        {503, "{\"error\":{\"code\":\"BUSY\",\"message\":\"later\"}}",
         CLEW_BUSY, "later"},
        {404, "{\"error\":{\"code\":\"OWN_CODE\",\"message\":\"none\"}}",
         CLEW_NOT_FOUND, "none"},
        {401, "<html>", CLEW_UNAUTHORIZED, "401"},
        {200, "<html>", CLEW_UPSTREAM, "no JSON"},
    };
    struct fake_http *fake = fake_http_open(NULL);
    struct client *client = opened(fake_http_url(fake), NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *answer = NULL;
        struct clew_error err = {0};

        fake_http_answer(fake, cases[i].http, cases[i].body);
        assert_int_equal(client_call(client, "GET", "/", NULL, &answer, &err),
                         cases[i].status);
        assert_null(answer);
        assert_non_null(strstr(err.message, cases[i].says));
    }
    client_close(client);
    fake_http_close(fake);
}

static void no_answer_is_unavailable(void **state)
{
    struct fake_http *fake = fake_http_open(NULL);
    struct client *client = opened(fake_http_url(fake), NULL);
    json_t *answer = NULL;
    struct clew_error err;

    (void)state;
    fake_http_answer(fake, 0, "");
    assert_int_equal(client_call(client, "GET", "/", NULL, &answer, &err),
                     CLEW_UNAVAILABLE);
    fake_http_close(fake);
    assert_int_equal(client_call(client, "GET", "/", NULL, &answer, &err),
                     CLEW_UNAVAILABLE);
    client_close(client);
}

static void an_address_of_another_kind_is_refused(void **state)
{
    struct client_options options = {.url = "localhost"};
    struct client *client = NULL;
    struct clew_error err;
    json_t *answer = NULL;

    (void)state;
    assert_int_equal(client_open(&options, &client, &err), CLEW_INVALID);
    assert_string_equal(err.field, "url");
    client = opened("file:///etc", NULL);
    assert_int_equal(
        client_call(client, "GET", "/hostname", NULL, &answer, &err),
        CLEW_INVALID);
    client_close(client);
}

static void a_unix_socket_serves_as_well(void **state)
{
    char dir[] = "/tmp/clew-client-XXXXXX";
    char path[64];
    struct fake_http *fake;
    struct client *client;
    json_t *answer = NULL;
    struct clew_error err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/s", dir);
    fake = fake_http_open(path);
    client = opened(fake_http_url(fake), NULL);
    assert_int_equal(client_call(client, "GET", "/z", NULL, &answer, &err),
                     CLEW_OK);
    assert_non_null(strstr(fake_http_seen(fake), "GET /z HTTP/1.1"));
    json_decref(answer);
    client_close(client);
    fake_http_close(fake);
    (void)unlink(path);
    (void)rmdir(dir);
}

static bool collect(void *arg, const char *bytes, size_t len)
{
    return buf_append(arg, bytes, len) == CLEW_OK;
}

static bool refuse(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    (void)len;
    return false;
}

static void a_stream_arrives_in_pieces_and_can_be_broken_off(void **state)
{
    struct fake_http *fake = fake_http_open(NULL);
    struct client *client = opened(fake_http_url(fake), NULL);
    struct clew_error err;
    struct buf text;

    (void)state;
    buf_init(&text, 1000);
    fake_http_answer(fake, 200, "{\"a\":1}\n{\"a\":2}\n");
    assert_int_equal(
        client_stream(client, "GET", "/e", NULL, collect, &text, &err),
        CLEW_OK);
    assert_string_equal(text.data, "{\"a\":1}\n{\"a\":2}\n");
    assert_int_equal(
        client_stream(client, "GET", "/e", NULL, refuse, NULL, &err),
        CLEW_UNAVAILABLE);
    fake_http_answer(fake, 403, "{\"error\":{\"code\":\"FORBIDDEN\"}}");
    buf_clear(&text);
    assert_int_equal(
        client_stream(client, "GET", "/e", NULL, collect, &text, &err),
        CLEW_FORBIDDEN);
    assert_int_equal(text.len, 0);
    buf_release(&text);
    client_close(client);
    fake_http_close(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_carries_key_path_and_body),
        cmocka_unit_test(an_error_keeps_its_code_and_words),
        cmocka_unit_test(no_answer_is_unavailable),
        cmocka_unit_test(an_address_of_another_kind_is_refused),
        cmocka_unit_test(a_unix_socket_serves_as_well),
        cmocka_unit_test(a_stream_arrives_in_pieces_and_can_be_broken_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
