/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - calls and their errors, whatever carries them. See client.h.
 */
#include "cli/client/client.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/client/client_internal.h"

#include <stdio.h>
#include <string.h>

enum clew_status client_open(const struct client_options *options,
                             struct client **out_client, struct clew_error *err)
{
    return options->url ? client_remote_open(options, out_client, err)
                        : client_local_open(options, out_client, err);
}

void client_close(struct client *client)
{
    if (client) {
        client->ops->close(client);
    }
}

struct engine *client_engine(const struct client *client)
{
    return client_local_engine(client);
}

void client_set_caller(struct client *client, const char *name)
{
    struct str text = str_trim(str_of(name));
    size_t len = utf8_cut(text, CALLER_NAME_BYTES);

    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text.s[i] < ' ') {
            return; /* it would begin another header */
        }
    }
    if (!client->caller[0] && len > 0) {
        memcpy(client->caller, text.s, len);
        client->caller[len] = '\0';
    }
}

/* The status of an error answer: by its code, else by its HTTP status. */
static enum clew_status status_of(const char *code, int http_status)
{
    enum clew_status by_http = CLEW_INTERNAL;

    for (int i = CLEW_NEWER_SCHEMA; i > CLEW_OK; i--) {
        enum clew_status status = (enum clew_status)i;

        if (code && strcmp(code, clew_status_code(status)) == 0) {
            return status;
        }
        if (clew_status_http(status) == http_status) {
            by_http = status;
        }
    }
    return by_http;
}

/* {"error":{"code","message","field"?}} to a status with its words. */
static enum clew_status read_error(const struct exchange *exchange,
                                   struct clew_error *err)
{
    json_t *json = NULL;
    const json_t *error = NULL;
    const char *code = NULL;
    const char *message = NULL;
    const char *field = NULL;
    enum clew_status status;

    if (json_parse(buf_str(&exchange->answer), &json, NULL) == CLEW_OK) {
        error = json_object_get(json, "error");
        code = json_string_value(json_object_get(error, "code"));
        message = json_string_value(json_object_get(error, "message"));
        field = json_string_value(json_object_get(error, "field"));
    }
    status = status_of(code, exchange->http_status);
    if (message) {
        (void)clew_fail_code(err, status, code ? code : "", "%s", message);
    } else {
        (void)clew_fail(err, status, "the server answered %d",
                        exchange->http_status);
    }
    if (err && field) {
        (void)snprintf(err->field, sizeof(err->field), "%s", field);
    }
    json_decref(json);
    return status;
}

static enum clew_status run(struct client *client, struct exchange *exchange,
                            const json_t *body, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    struct buf text;

    buf_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    if (body) {
        status = json_write(&text, body);
        exchange->body = buf_str(&text);
    }
    if (status != CLEW_OK) {
        (void)clew_fail(err, status, "could not write the request");
    } else {
        status = client->ops->send(client, exchange, err);
    }
    if (status == CLEW_OK && exchange->http_status >= 400) {
        status = read_error(exchange, err);
    }
    buf_release(&text);
    return status;
}

enum clew_status client_call(struct client *client, const char *method,
                             const char *path, const json_t *body,
                             json_t **out_json, struct clew_error *err)
{
    struct exchange exchange = {.method = method, .path = path};
    enum clew_status status;

    buf_init(&exchange.answer, LIMIT_REQUEST_ARENA_BYTES);
    status = run(client, &exchange, body, err);
    if (status == CLEW_OK && exchange.answer.len == 0) {
        *out_json = json_null();
    } else if (status == CLEW_OK) {
        status = json_parse(buf_str(&exchange.answer), out_json, err);
        if (status == CLEW_INVALID) {
            status = clew_fail(err, CLEW_UPSTREAM,
                               "the answer is no JSON: is this a clew server?");
        }
    }
    buf_release(&exchange.answer);
    return status;
}

enum clew_status client_stream(struct client *client, const char *method,
                               const char *path, const json_t *body,
                               client_sink sink, void *arg,
                               struct clew_error *err)
{
    struct exchange exchange = {
        .method = method, .path = path, .sink = sink, .arg = arg};
    enum clew_status status;

    buf_init(&exchange.answer, LIMIT_BODY_BYTES);
    status = run(client, &exchange, body, err);
    buf_release(&exchange.answer);
    return status;
}
