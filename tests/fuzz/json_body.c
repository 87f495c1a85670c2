/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_body.c - fuzz: any bytes as a request's body, read by every reader of
 * fields; what is accepted is what the reader promises, and every refusal can
 * be written as the one error form.
 */
#include "base/clock.h"
#include "base/json.h"
#include "http/http.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const known[] = {"s", "i", "r", "b", "u",
                                    "t", "a", "o", NULL};

/* The first failure ends it, as in a handler. */
static enum clew_status read_fields(const json_t *body, struct clew_error *err)
{
    struct str s = {0};
    int64_t i = 0;
    int64_t t = 0;
    double r = 0;
    bool b = false;
    struct uuid u;
    const json_t *part = NULL;
    enum clew_status status = json_check_fields(body, known, err);

    if (status == CLEW_OK) {
        status = json_get_str(body, "s", JSON_OPTIONAL, 16, &s, err);
    }
    if (status == CLEW_OK && (s.len > 16 || (s.s && memchr(s.s, 0, s.len)))) {
        abort();
    }
    if (status == CLEW_OK) {
        status = json_get_int(body, "i", JSON_OPTIONAL, -5, 5, &i, err);
    }
    if (i < -5 || i > 5) {
        abort();
    }
    if (status == CLEW_OK) {
        status = json_get_real(body, "r", JSON_OPTIONAL, 0, 1, &r, err);
    }
    if (!(r >= 0 && r <= 1)) {
        abort();
    }
    if (status == CLEW_OK) {
        status = json_get_bool(body, "b", JSON_OPTIONAL, &b, err);
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(body, "u", JSON_OPTIONAL, &u, err);
    }
    if (status == CLEW_OK) {
        status = json_get_time(body, "t", JSON_OPTIONAL, &t, err);
    }
    if (t < CLOCK_MIN_MS || t > CLOCK_MAX_MS) {
        abort();
    }
    if (status == CLEW_OK) {
        status = json_get_array(body, "a", JSON_OPTIONAL, 3, &part, err);
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str text = {(const char *)data, len};
    struct clew_error err = {0};
    struct http_request request;
    struct http_response response;
    struct arena arena;
    json_t *body = NULL;
    json_t *again = NULL;
    enum clew_status status = json_parse(text, &body, &err);

    if (status == CLEW_OK) {
        status = read_fields(body, &err);
    }
    json_decref(body);
    if (status == CLEW_OK) {
        return 0;
    }
    arena_init(&arena, 1 << 20);
    http_response_init(&response, 1 << 20);
    http_request_init(&request, &arena, HTTP_POST, STR("/"), text);
    http_response_error(&request, &response, status, &err);
    if (response.status < 400 ||
        json_parse(buf_str(&response.body), &again, NULL) != CLEW_OK) {
        abort();
    }
    json_decref(again);
    http_response_release(&response);
    arena_release(&arena);
    return 0;
}
