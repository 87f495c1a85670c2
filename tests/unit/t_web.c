/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_web.c - the page's files: what is answered, what is handed on.
 */
#include "support/test.h"

#include "http/gzip.h"
#include "web/web.h"

#include <stdio.h>
#include <string.h>

#define LIMIT ((size_t)1 << 20)

struct visit {
    struct arena arena;
    struct http_request request;
    struct http_response response;
    int n_handed_on;
};

static void hand_on(void *arg, const struct http_request *request,
                    struct http_response *response)
{
    struct visit *visit = arg;

    (void)request;
    visit->n_handed_on++;
    response->status = 404;
}

/* Ask for `target` with up to two headers; names are NULL where there is none.
 */
static void ask(struct visit *visit, enum http_method method,
                const char *target, const struct http_header *headers,
                size_t n_headers)
{
    struct web web = {hand_on, NULL, visit};

    memset(visit, 0, sizeof(*visit));
    arena_init(&visit->arena, LIMIT);
    http_request_init(&visit->request, &visit->arena, method, str_of(target),
                      (struct str){0});
    visit->request.headers = headers;
    visit->request.n_headers = n_headers;
    http_response_init(&visit->response, LIMIT);
    web_handle(&web, &visit->request, &visit->response);
}

static void end(struct visit *visit)
{
    http_response_release(&visit->response);
    arena_release(&visit->arena);
}

static struct str header_of(const struct visit *visit, const char *name)
{
    for (size_t i = 0; i < visit->response.n_headers; i++) {
        if (str_ieq(visit->response.headers[i].name, str_of(name))) {
            return visit->response.headers[i].value;
        }
    }
    return (struct str){0};
}

/* As STR(), for what is static. */
#define WORDS(text)                                                            \
    {                                                                          \
        text, sizeof(text) - 1                                                 \
    }

static const struct http_header html = {WORDS("accept"),
                                        WORDS("text/html,*/*;q=0.8")};
static const struct http_header packed[] = {
    {WORDS("accept"), WORDS("text/html")},
    {WORDS("accept-encoding"), WORDS("gzip, br")}};

/* "/assets/<hash>/app.js", from the start page. */
static void address_of_app(char *out, size_t size)
{
    struct visit visit;
    struct str body;
    size_t from;
    size_t to;

    ask(&visit, HTTP_GET, "/", &html, 1);
    body = buf_str(&visit.response.body);
    to = str_find(body, STR("/app.js"), 0);
    assert_true(to != SIZE_MAX);
    for (from = to; body.s[from] != '"'; from--) {
    }
    (void)snprintf(out, size, "%.*s", (int)(to + 7 - from - 1),
                   body.s + from + 1);
    end(&visit);
}

static void browsers_get_the_page_and_programs_the_index(void **state)
{
    struct visit visit;

    (void)state;
    ask(&visit, HTTP_GET, "/", &html, 1);
    assert_int_equal(visit.n_handed_on, 0);
    assert_int_equal(visit.response.status, 200);
    assert_true(
        str_starts(buf_str(&visit.response.body), STR("<!doctype html>")));
    assert_true(str_starts(header_of(&visit, "content-security-policy"),
                           STR("default-src 'self';")));
    assert_true(str_find(header_of(&visit, "content-security-policy"),
                         STR("unsafe"), 0) == SIZE_MAX);
    /* the hash stands where the sources say @V@ */
    assert_true(str_find(buf_str(&visit.response.body), STR("@V@"), 0) ==
                SIZE_MAX);
    end(&visit);
    ask(&visit, HTTP_GET, "/", NULL, 0);
    assert_int_equal(visit.n_handed_on, 1);
    end(&visit);
    ask(&visit, HTTP_POST, "/", &html, 1);
    assert_int_equal(visit.n_handed_on, 1);
    end(&visit);
}

static void what_is_not_its_own_is_handed_on(void **state)
{
    static const char *const targets[] = {"/api/v1/chats",
                                          "/assets",
                                          "/assets/",
                                          "/assets/app.js",
                                          "/assets/000000000000/app.js",
                                          "/app.js",
                                          "/index.html",
                                          "//"};

    (void)state;
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct visit visit;

        ask(&visit, HTTP_GET, targets[i], &html, 1);
        assert_int_equal(visit.n_handed_on, 1);
        end(&visit);
    }
}

static void a_part_is_kept_for_good_packed_or_not(void **state)
{
    char target[128];
    struct http_header again = {STR("if-none-match"), {0}};
    struct visit plain;
    struct visit small;
    struct visit same;
    struct buf text;

    (void)state;
    address_of_app(target, sizeof(target));
    ask(&plain, HTTP_GET, target, NULL, 0);
    assert_int_equal(plain.response.status, 200);
    assert_true(str_find(header_of(&plain, "cache-control"), STR("immutable"),
                         0) != SIZE_MAX);
    assert_true(
        str_starts(header_of(&plain, "content-type"), STR("text/javascript")));
    ask(&small, HTTP_GET, target, packed, 2);
    assert_true(str_eq(header_of(&small, "content-encoding"), STR("gzip")));
    assert_true(small.response.body.len < plain.response.body.len);
    buf_init(&text, LIMIT);
    assert_int_equal(
        gzip_unpack(buf_str(&small.response.body), NULL, &text, NULL), CLEW_OK);
    assert_true(str_eq(buf_str(&text), buf_str(&plain.response.body)));
    buf_release(&text);
    again.value = header_of(&plain, "etag");
    ask(&same, HTTP_GET, target, &again, 1);
    assert_int_equal(same.response.status, 304);
    assert_int_equal(same.response.body.len, 0);
    end(&same);
    end(&small);
    end(&plain);
}

static void every_part_unpacks_and_none_is_large(void **state)
{
    struct web_part part;
    size_t sum = 0;
    size_t n = 0;

    (void)state;
    for (; web_part_at(n, &part); n++) {
        struct str bytes = {(const char *)part.packed, part.n_packed};
        struct buf text;

        buf_init(&text, LIMIT);
        assert_int_equal(gzip_unpack(bytes, NULL, &text, NULL), CLEW_OK);
        assert_true(text.len > 0);
        buf_release(&text);
        sum += part.n_packed;
    }
    assert_true(n > 20);
    assert_true(sum < (size_t)300 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(browsers_get_the_page_and_programs_the_index),
        cmocka_unit_test(what_is_not_its_own_is_handed_on),
        cmocka_unit_test(a_part_is_kept_for_good_packed_or_not),
        cmocka_unit_test(every_part_unpacks_and_none_is_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
