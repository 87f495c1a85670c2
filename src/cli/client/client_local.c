/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_local.c - calls on the data folder, in this process.
 *
 * Opens the engine and hands the call to the table of routes, as the server
 * would, for the operator of the machine: whoever can read the folder may do
 * everything in it. A server may have the same folder open.
 */
#include "api/entry/dispatch.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/limits.h"
#include "cli/client/client_internal.h"
#include "cli/client/owner.h"
#include "engine/core/engine.h"
#include "engine/open.h"
#include "http/http.h"
#include "index/index.h"

#include <string.h>

struct local {
    struct client base;
    struct engine *engine;
    const char *tenant;
};

static enum http_method method_of(const char *name)
{
    static const struct {
        const char *name;
        enum http_method method;
    } rows[] = {{"GET", HTTP_GET},       {"POST", HTTP_POST},
                {"PUT", HTTP_PUT},       {"PATCH", HTTP_PATCH},
                {"DELETE", HTTP_DELETE}, {"HEAD", HTTP_HEAD}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].method;
        }
    }
    return HTTP_OTHER;
}

/* Hand the whole answer over, from memory or from its stream. */
static enum clew_status take_answer(struct http_response *response,
                                    struct exchange *exchange,
                                    struct clew_error *err)
{
    bool ok = true;

    exchange->http_status = response->status;
    if (!response->stream.read) {
        ok = exchange_take(exchange, response->body.data, response->body.len);
    }
    while (response->stream.read && ok) {
        char part[16384];
        ptrdiff_t n =
            response->stream.read(response->stream.arg, part, sizeof(part));

        if (n == 0) {
            break;
        }
        ok = n > 0 && exchange_take(exchange, part, (size_t)n);
    }
    return ok ? CLEW_OK
              : clew_fail(err, CLEW_UNAVAILABLE, "the answer broke off");
}

static enum clew_status send_local(struct client *client,
                                   struct exchange *exchange,
                                   struct clew_error *err)
{
    struct local *local = (struct local *)client;
    struct str whole = str_of(exchange->path);
    size_t mark = str_find(whole, STR("?"), 0);
    const struct http_header headers[] = {
        {STR("content-type"), STR("application/json")},
        {STR("x-clew-tenant"), str_of(local->tenant)},
        {STR(CALLER_HEADER), str_of(client->caller)},
    };
    struct http_request request = {
        .method = method_of(exchange->method),
        .path = str_sub(whole, 0, mark),
        .query = str_sub(whole, mark == SIZE_MAX ? mark : mark + 1, whole.len),
        .headers = headers,
        .n_headers = client->caller[0] ? 3 : 2,
        .body = exchange->body,
        .is_loopback = true,
        .is_trusted = true,
        .id = "cli",
    };
    struct http_response response;
    enum clew_status status;
    struct arena arena;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    request.arena = &arena;
    http_response_init(&response, LIMIT_REQUEST_ARENA_BYTES);
    api_dispatch(local->engine, &request, &response);
    status = take_answer(&response, exchange, err);
    http_response_release(&response);
    /* there is no upkeep here: what an import brings is found at once; if
     * this fails, whoever asks first reads it */
    clew_ignore(index_catch_up(local->engine->indexes, NULL));
    arena_release(&arena);
    return status;
}

static void close_local(struct client *client)
{
    struct local *local = (struct local *)client;

    engine_close(local->engine);
    alloc_free(local);
}

static const struct client_ops local_ops = {send_local, close_local};

struct engine *client_local_engine(const struct client *client)
{
    return client->ops == &local_ops ? ((const struct local *)client)->engine
                                     : NULL;
}

enum clew_status client_local_open(const struct client_options *options,
                                   struct client **out_client,
                                   struct clew_error *err)
{
    const char *url = config_str(options->config, "store.url");
    struct engine_options engine = {
        .config = options->config,
        .store_url = url[0] ? url : NULL,
        .must_exist = options->must_exist,
    };
    enum clew_status status;
    struct local *local = alloc_zero(1, sizeof(*local));

    if (!local) {
        return clew_no_memory(err);
    }
    local->base.ops = &local_ops;
    local->tenant = options->tenant ? options->tenant : "default";
    status = owner_become(config_data_dir(options->config), err);
    if (status == CLEW_OK) {
        status = engine_open(&engine, &local->engine, err);
    }
    if (status != CLEW_OK) {
        alloc_free(local);
        return status;
    }
    *out_client = &local->base;
    return CLEW_OK;
}
