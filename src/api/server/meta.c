/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meta.c - what the server says about itself: health, metrics, OpenAPI.
 */
#include "api/handlers.h"

#include "api/openapi/openapi.h"
#include "engine/capture/read_task.h"
#include "engine/core/engine.h"
#include "model/reader.h"
#include "store/store.h"

enum clew_status meta_index(struct api_call *call, struct clew_error *err)
{
    static const char *const places[][2] = {
        {"page", "/"},
        {"api", "/api/v1"},
        {"openapi", "/openapi.json"},
        {"mcp", "/mcp"},
        {"anthropic", "/v1/messages"},
        {"openai", "/v1"},
        {"health", "/healthz"},
        {"metrics", "/metrics"},
    };
    bool is_ok;

    call->out = json_object();
    is_ok = call->out && json_set_cstr(call->out, "name", "clew") &&
            json_set_cstr(call->out, "version", CLEW_VERSION);
    for (size_t i = 0; is_ok && i < sizeof(places) / sizeof(places[0]); i++) {
        is_ok = json_set_cstr(call->out, places[i][0], places[i][1]);
    }
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

/* What an operator should know of reading; false if that cannot be told. */
static bool set_trouble(json_t *reading, const char *reader, int64_t n_given_up)
{
    char text[512];

    if (n_given_up == 0) {
        return !reader || json_set_cstr(reading, "trouble", reader);
    }
    (void)snprintf(text, sizeof(text),
                   "%s%s%lld turn%s could not be read and %s given up: see "
                   "the failed tasks; clew rebuild reads them anew",
                   reader ? reader : "", reader ? "; " : "",
                   (long long)n_given_up, n_given_up == 1 ? "" : "s",
                   n_given_up == 1 ? "was" : "were");
    return json_set_cstr(reading, "trouble", text);
}

/* Who reads turns, how many wait, and what is wrong. */
static json_t *form_reading(struct engine *engine)
{
    json_t *reading = json_object();
    struct read_task_counts counts = {0};
    bool is_ok =
        reading &&
        json_set_cstr(reading, "by",
                      engine->reader ? reader_id(engine->reader) : "rules");

    if (is_ok && read_task_count(engine, &counts, NULL) == CLEW_OK) {
        is_ok = json_set_int(reading, "waiting",
                             counts.n_waiting + counts.n_chats) &&
                json_set_int(reading, "chats", counts.n_chats) &&
                json_set_int(reading, "given_up", counts.n_given_up);
    }
    if (is_ok) {
        is_ok = set_trouble(reading, engine->reader_trouble, counts.n_given_up);
    }
    if (!is_ok) {
        json_decref(reading);
        return NULL;
    }
    return reading;
}

/* Whether reads go to the replica, where one is configured. */
static bool set_replica(json_t *out, struct store *store)
{
    struct store_replica replica;

    store_replica_look(store, &replica);
    return !replica.is_used || json_set_cstr(out, "replica",
                                             replica.is_down     ? "down"
                                             : replica.is_behind ? "behind"
                                                                 : "ok");
}

enum clew_status meta_health(struct api_call *call, struct clew_error *err)
{
    bool is_healthy = store_is_healthy(call->engine->store);

    call->http_status = is_healthy ? 200 : 503;
    call->out = json_object();
    if (!call->out ||
        !json_set_cstr(call->out, "status",
                       is_healthy ? "ok" : "unavailable") ||
        !json_set_cstr(call->out, "version", CLEW_VERSION) ||
        !json_set_cstr(call->out, "store",
                       store_backend(call->engine->store)) ||
        !set_replica(call->out, call->engine->store) ||
        !json_set(call->out, "reading",
                  is_healthy ? form_reading(call->engine) : json_object())) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

enum clew_status meta_openapi(struct api_call *call, struct clew_error *err)
{
    return api_answer(call, openapi_document(call->routes), err);
}
