/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.c - see upload.h.
 */
#include "cli/serve/upload.h"

#include "api/api.h"
#include "api/entry/auth.h"
#include "api/entry/dispatch.h"
#include "api/mounts.h"
#include "base/fd.h"
#include "base/limits.h"
#include "cli/bring/bring.h"
#include "cli/client/client_internal.h"
#include "cli/core/cli.h"
#include "cli/serve/upload_folder.h"
#include "engine/core/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest account of what a file brought: a dozen numbers. */
#define MAX_COUNTS 4096

/* --- a client that is this very server -------------------------------------
 */

struct inner {
    struct client base;
    struct api_front *front;
    const struct http_request *outer;
    const struct http_header *headers; /* the caller's, for JSON */
};

static enum clew_status send_inner(struct client *client,
                                   struct exchange *exchange,
                                   struct clew_error *err)
{
    const struct inner *inner = (const struct inner *)client;
    struct str whole = str_of(exchange->path);
    size_t mark = str_find(whole, STR("?"), 0);
    struct http_request request = *inner->outer;
    struct http_response response;
    enum clew_status status;
    struct arena arena;

    if (http_is_stopping(inner->outer)) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "the server stops; send it again, it goes on from "
                         "there");
    }
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    request.arena = &arena;
    request.method = http_method_of(exchange->method);
    request.path = str_sub(whole, 0, mark);
    request.query =
        str_sub(whole, mark == SIZE_MAX ? mark : mark + 1, whole.len);
    request.headers = inner->headers;
    request.body = exchange->body;
    http_response_init(&response, LIMIT_REQUEST_ARENA_BYTES);
    api_front_handle(inner->front, &request, &response);
    exchange->http_status = response.status;
    status =
        !response.stream.read &&
                exchange_take(exchange, response.body.data, response.body.len)
            ? CLEW_OK
            : clew_fail(err, CLEW_UNAVAILABLE, "the answer broke off");
    http_response_release(&response);
    arena_release(&arena);
    return status;
}

static void close_inner(struct client *client)
{
    (void)client; /* it is on the stack */
}

static const struct client_ops inner_ops = {send_inner, close_inner};

/* The caller's headers, but that what is sent on is JSON. */
static struct http_header *json_headers(const struct http_request *request)
{
    struct http_header *out =
        arena_zero(request->arena, request->n_headers, sizeof(*out));

    for (size_t i = 0; out && i < request->n_headers; i++) {
        out[i] = request->headers[i];
        if (str_ieq(out[i].name, STR("content-type"))) {
            out[i].value = STR("application/json");
        }
    }
    return out;
}

/* --- the file --------------------------------------------------------------
 */

/* A name that is a file's and nothing else; readers make titles of it. */
static const char *name_of(const struct http_request *request)
{
    struct str given = {0};
    char *name;

    if (http_query_of(request, "name", &given, NULL) != CLEW_OK ||
        given.len == 0 || given.len > 200) {
        return "export";
    }
    name = arena_copy(request->arena, given.s, given.len);
    for (size_t i = 0; name && name[i]; i++) {
        if (name[i] == '/' || (unsigned char)name[i] < ' ') {
            name[i] = '_';
        }
    }
    return !name || name[0] == '.' ? "export" : name;
}

static enum clew_status write_all(const char *path, struct str bytes,
                                  struct clew_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_ok = fd >= 0 && fd_write_all(fd, bytes);

    if (!is_ok || close(fd) != 0) {
        int code = errno;

        if (!is_ok && fd >= 0) {
            (void)close(fd);
        }
        return clew_fail(err, CLEW_UNAVAILABLE, "could not keep the file: %s",
                         strerror(code));
    }
    return CLEW_OK;
}

/* --- reading it ------------------------------------------------------------
 */

static enum clew_status bring_file(const struct upload *upload,
                                   const struct http_request *request,
                                   const char *path,
                                   struct http_response *response,
                                   struct clew_error *err)
{
    struct inner inner = {.base = {.ops = &inner_ops},
                          .front = upload->front,
                          .outer = request,
                          .headers = json_headers(request)};
    struct cli cli = {
        .config = upload->config, .client = &inner.base, .as_json = true};
    struct str user = http_header_of(request, "x-clew-user");
    struct bring bring = {
        .cli = &cli,
        .user =
            user.len > 0 ? arena_copy(request->arena, user.s, user.len) : "me"};
    enum clew_status status = CLEW_NO_MEMORY;
    bool is_own = false;
    char text[MAX_COUNTS] = {0};
    FILE *file;

    arena_init(&cli.arena, LIMIT_REQUEST_ARENA_BYTES);
    file = fmemopen(text, sizeof(text) - 1, "w");
    if (inner.headers && bring.user && file) {
        output_init(&cli.out, file);
        bring.is_unseen = true;
        status = bring_path(&bring, path, &is_own, err);
    }
    if (status == CLEW_OK && is_own) {
        status = clew_fail(err, CLEW_INVALID,
                           "an export of clew itself goes to /api/v1/import");
    }
    if (file && fclose(file) != 0 && status == CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = buf_append_cstr(&response->body, text);
    }
    arena_release(&cli.arena);
    return status;
}

static enum clew_status take(const struct upload *upload,
                             const struct http_request *request,
                             struct http_response *response,
                             struct clew_error *err)
{
    struct upload_folder folder;
    char path[4096];
    enum clew_status status =
        upload_folder_open(&folder, upload->engine->data_dir, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", folder.path, name_of(request));
    status = write_all(path, request->body, err);
    if (status == CLEW_OK) {
        status = bring_file(upload, request, path, response, err);
    }
    upload_folder_close(&folder);
    return status;
}

/* --- the door --------------------------------------------------------------
 */

static bool authenticate(const struct upload *upload,
                         const struct http_request *request,
                         struct http_response *response)
{
    struct clew_error err = {0};
    struct api_call call = {.engine = upload->engine,
                            .arena = request->arena,
                            .request = request,
                            .response = response,
                            .route = &api_mounts[API_MOUNT_UPLOAD],
                            .key_id = ""};
    enum clew_status status =
        auth_enter(api_front_gate(upload->front), &call, &err);

    response->route = call.route->path;
    if (status == CLEW_OK && call.role < call.route->role) {
        status = clew_fail(&err, CLEW_FORBIDDEN,
                           "this key's role does not permit that");
    }
    if (status != CLEW_OK) {
        http_response_error(request, response, status, &err);
    }
    return status == CLEW_OK;
}

bool upload_admit(void *arg, const struct http_request *request,
                  struct http_response *response)
{
    return authenticate(arg, request, response);
}

void upload_handle(void *arg, const struct http_request *request,
                   struct http_response *response)
{
    struct upload *upload = arg;
    struct clew_error err = {0};
    enum clew_status status = CLEW_OK;

    if (!authenticate(upload, request, response)) {
        return;
    }
    if (request->method != HTTP_POST) {
        status = CLEW_NO_METHOD;
    } else if (!str_eq(http_header_of(request, "content-type"),
                       STR("application/octet-stream"))) {
        status = clew_fail(&err, CLEW_UNSUPPORTED,
                           "send the file as application/octet-stream");
    } else if (request->body.len == 0) {
        status = clew_fail(&err, CLEW_INVALID, "there is no file");
    } else if (atomic_exchange(&upload->is_busy, true)) {
        status = clew_fail(&err, CLEW_BUSY, "another file is being read");
    } else {
        status = take(upload, request, response, &err);
        atomic_store(&upload->is_busy, false);
    }
    if (status == CLEW_OK) {
        status = http_response_header(request, response, "content-type",
                                      "application/json");
    }
    if (status != CLEW_OK) {
        buf_clear(&response->body);
        http_response_error(request, response, status,
                            err.message[0] ? &err : NULL);
    } else {
        response->status = 200;
    }
}
