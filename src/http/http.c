/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - helpers on requests and responses. See http.h.
 */
#include "http/http.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/uuid.h"

#include <stdio.h>
#include <string.h>

/* Query parameters looked at; a URL with more is not one of ours. */
#define MAX_QUERY_PARAMS 64
/* Room for the one error form, whatever its message. */
#define ERROR_BODY_BYTES 4096

static const char *const method_names[] = {
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "OTHER"};

const char *http_method_name(enum http_method method)
{
    return method_names[method];
}

enum http_method http_method_of(const char *name)
{
    for (int i = HTTP_GET; i < HTTP_OTHER; i++) {
        if (strcmp(name, method_names[i]) == 0) {
            return (enum http_method)i;
        }
    }
    return HTTP_OTHER;
}

static bool is_id_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

void http_request_id(struct str wanted, char out[HTTP_ID_SIZE])
{
    bool is_sane = wanted.s && wanted.len > 0 && wanted.len < HTTP_ID_SIZE;

    for (size_t i = 0; is_sane && i < wanted.len; i++) {
        is_sane = is_id_char(wanted.s[i]);
    }
    if (is_sane) {
        memcpy(out, wanted.s, wanted.len);
        out[wanted.len] = '\0';
    } else {
        struct uuid id = uuid_new(clock_now_ms(&clock_system));

        uuid_format(&id, out);
    }
}

void http_request_init(struct http_request *request, struct arena *arena,
                       enum http_method method, struct str target,
                       struct str body)
{
    size_t mark = str_find(target, STR("?"), 0);

    *request = (struct http_request){
        .arena = arena, .method = method, .path = target, .body = body};
    if (mark != SIZE_MAX) {
        request->path = str_sub(target, 0, mark);
        request->query = str_sub(target, mark + 1, target.len);
    }
    http_request_id((struct str){0}, request->id);
}

bool http_is_stopping(const struct http_request *request)
{
    return request->end && atomic_load(&request->end->is_stopping);
}

bool http_is_over(const struct http_request *request)
{
    return request->end && atomic_load(&request->end->is_over);
}

struct str http_header_of(const struct http_request *request, const char *name)
{
    struct str wanted = str_of(name);

    for (size_t i = 0; i < request->n_headers; i++) {
        if (str_ieq(request->headers[i].name, wanted)) {
            return request->headers[i].value;
        }
    }
    return (struct str){0};
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* The byte at `*at` of `text`, unescaped; -1 if the escape is broken. */
static int next_byte(struct str text, bool plus_is_space, size_t *at)
{
    char c = text.s[(*at)++];
    int high;
    int low;

    if (c == '+' && plus_is_space) {
        return ' ';
    }
    if (c != '%') {
        return (unsigned char)c;
    }
    if (text.len - *at < 2) {
        return -1;
    }
    high = hex_value(text.s[*at]);
    low = hex_value(text.s[*at + 1]);
    if (high < 0 || low < 0) {
        return -1;
    }
    *at += 2;
    return high * 16 + low;
}

enum clew_status http_decode(struct arena *arena, struct str text,
                             bool plus_is_space, struct str *out,
                             struct clew_error *err)
{
    char *copy = arena_alloc(arena, text.len + 1);
    size_t len = 0;

    if (!copy) {
        return clew_no_memory(err);
    }
    for (size_t at = 0; at < text.len;) {
        int byte = next_byte(text, plus_is_space, &at);

        if (byte <= 0) {
            return clew_fail(err, CLEW_INVALID,
                             "the address holds a broken %%-escape");
        }
        copy[len++] = (char)byte;
    }
    copy[len] = '\0';
    if (!utf8_is_valid((struct str){copy, len})) {
        return clew_fail(err, CLEW_INVALID, "the address is not UTF-8");
    }
    *out = (struct str){copy, len};
    return CLEW_OK;
}

/* Cut "name=value" off `*rest`; false at the end. Empty parts are skipped. */
static bool next_param(struct str *rest, struct str *out_name,
                       struct str *out_value)
{
    struct str part;

    while (str_split(rest, '&', &part)) {
        size_t mark = str_find(part, STR("="), 0);

        if (part.len == 0) {
            continue;
        }
        if (mark == SIZE_MAX) {
            mark = part.len;
        }
        *out_name = str_sub(part, 0, mark);
        *out_value = str_sub(part, mark + 1, part.len);
        return true;
    }
    return false;
}

enum clew_status http_query_of(const struct http_request *request,
                               const char *name, struct str *out,
                               struct clew_error *err)
{
    struct str rest = request->query;
    struct str wanted = str_of(name);
    struct str key;
    struct str value;

    while (next_param(&rest, &key, &value)) {
        enum clew_status status =
            http_decode(request->arena, key, true, &key, err);

        if (status != CLEW_OK) {
            return status;
        }
        if (!str_eq(key, wanted)) {
            continue;
        }
        status = http_decode(request->arena, value, true, out, err);
        if (status == CLEW_INVALID) {
            return clew_fail_field(err, name, "\"%s\" is not well encoded",
                                   name);
        }
        return status;
    }
    *out = (struct str){0};
    return CLEW_OK;
}

static bool is_listed(const char *const *known, struct str name, size_t *out_at)
{
    for (size_t i = 0; known && known[i]; i++) {
        if (str_eq(name, str_of(known[i]))) {
            *out_at = i;
            return true;
        }
    }
    return false;
}

enum clew_status http_check_query(const struct http_request *request,
                                  const char *const *known,
                                  struct clew_error *err)
{
    struct str rest = request->query;
    struct str key;
    struct str value;
    uint64_t seen = 0; /* one bit for each known name */
    size_t count = 0;
    size_t at = 0;

    while (next_param(&rest, &key, &value)) {
        enum clew_status status =
            http_decode(request->arena, key, true, &key, err);

        if (status != CLEW_OK) {
            return status;
        }
        if (++count > MAX_QUERY_PARAMS) {
            return clew_fail(err, CLEW_INVALID, "more than %d query parameters",
                             MAX_QUERY_PARAMS);
        }
        if (!is_listed(known, key, &at)) {
            char name[64];
            char names[STR_NAMES_SIZE];

            (void)snprintf(name, sizeof(name), "%.*s",
                           (int)utf8_cut(key, sizeof(name) - 1), key.s);
            str_names(known, names);
            return clew_fail_field(err, name,
                                   "unknown query parameter \"%s\"%s%s", name,
                                   names[0] ? "; there are " : "", names);
        }
        if (at < 64 && (seen >> at & 1)) {
            return clew_fail_field(err, known[at], "\"%s\" is given twice",
                                   known[at]);
        }
        seen |= at < 64 ? (uint64_t)1 << at : 0;
    }
    return CLEW_OK;
}

void http_response_init(struct http_response *response, size_t limit_bytes)
{
    *response = (struct http_response){.status = 200};
    buf_init(&response->body, limit_bytes);
}

static void drop_stream(struct http_response *response)
{
    if (response->stream.free) {
        response->stream.free(response->stream.arg);
    }
    response->stream = (struct http_stream){0};
}

void http_response_release(struct http_response *response)
{
    drop_stream(response);
    buf_release(&response->body);
    response->headers = NULL;
    response->n_headers = 0;
    response->cap_headers = 0;
}

enum clew_status http_response_header(const struct http_request *request,
                                      struct http_response *response,
                                      const char *name, const char *value)
{
    struct http_header *headers =
        arena_grow(request->arena, response->headers, response->n_headers,
                   &response->cap_headers, sizeof(*headers));
    struct http_header header = {
        arena_str(request->arena, str_of(name)),
        arena_str(request->arena, str_of(value)),
    };

    if (!headers || !header.name.s || !header.value.s) {
        return CLEW_NO_MEMORY;
    }
    headers[response->n_headers++] = header;
    response->headers = headers;
    return CLEW_OK;
}

/* Words from elsewhere may be cut inside a code point; JSON takes only whole
 * ones. */
static bool set_words(json_t *object, const char *field, const char *words)
{
    struct str text = str_of(words);

    text.len = utf8_valid_len(text);
    return json_set_str(object, field, text);
}

/* The error as JSON in `out`; false without memory. */
static bool write_error(const struct http_request *request,
                        enum clew_status status, const struct clew_error *err,
                        struct buf *out)
{
    const char *type = clew_status_code(status);
    bool has_words = err && err->status == status && err->message[0];
    json_t *inner = json_object();
    json_t *outer = json_object();
    bool is_ok = inner && outer;

    is_ok = is_ok && set_words(inner, "code",
                               has_words && err->code[0] ? err->code : type);
    is_ok = is_ok && json_set_cstr(inner, "type", type);
    is_ok =
        is_ok && set_words(inner, "message",
                           has_words ? err->message : clew_status_text(status));
    if (is_ok && has_words && err->field[0]) {
        is_ok = set_words(inner, "field", err->field);
    }
    is_ok = is_ok && json_set_cstr(inner, "request_id", request->id);
    if (is_ok) {
        is_ok = json_set(outer, "error", inner);
        inner = NULL; /* json_set() took it */
    }
    is_ok = is_ok && json_write(out, outer) == CLEW_OK;
    json_decref(inner);
    json_decref(outer);
    return is_ok;
}

void http_response_error(const struct http_request *request,
                         struct http_response *response,
                         enum clew_status status, const struct clew_error *err)
{
    drop_stream(response);
    buf_clear(&response->body);
    if (response->body.limit < ERROR_BODY_BYTES) {
        response->body.limit = ERROR_BODY_BYTES;
    }
    response->status = clew_status_http(status);
    if (!write_error(request, status, err, &response->body)) {
        buf_clear(&response->body);
        /* If even this does not fit, an empty 503 says the same. */
        (void)buf_append_cstr(
            &response->body,
            "{\"error\":{\"code\":\"OUT_OF_MEMORY\",\"type\":"
            "\"OUT_OF_MEMORY\",\"message\":\"out of memory\"}}");
        response->status = clew_status_http(CLEW_NO_MEMORY);
    }
}
