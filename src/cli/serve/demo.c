/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo.c - a few turns to look at in a new store. See demo.h.
 */
#include "cli/serve/demo.h"

#include "api/entry/dispatch.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "http/http.h"

/* The file, from its first byte to one past its last. */
__asm__(".section .rodata\n"
        ".global demo_bytes\n"
        ".global demo_end\n"
        ".hidden demo_bytes\n"
        ".hidden demo_end\n"
        "demo_bytes:\n"
        ".incbin \"" CLEW_DEMO_FILE "\"\n"
        "demo_end:\n"
        ".previous\n");
extern const char demo_bytes[];
extern const char demo_end[];

/* {"turns":[…]} of the lines. */
static enum clew_status body_of(json_t **out_body, struct clew_error *err)
{
    struct str rest = {demo_bytes, (size_t)(demo_end - demo_bytes)};
    json_t *body = json_pack("{s:[]}", "turns");
    enum clew_status status = CLEW_OK;
    struct str line;

    while (status == CLEW_OK && str_split(&rest, '\n', &line)) {
        json_t *turn = NULL;

        status = json_parse(line, &turn, err);
        if (status == CLEW_OK &&
            json_array_append_new(json_object_get(body, "turns"), turn) != 0) {
            status = clew_no_memory(err);
        }
    }
    if (status != CLEW_OK) {
        json_decref(body);
        return status;
    }
    *out_body = body;
    return CLEW_OK;
}

static enum clew_status post(struct engine *engine, struct str body,
                             struct clew_error *err)
{
    const struct http_header headers[] = {
        {STR("content-type"), STR("application/json")}};
    struct http_request request = {
        .method = HTTP_POST,
        .path = STR("/api/v1/turns"),
        .query = STR(""),
        .headers = headers,
        .n_headers = 1,
        .body = body,
        .is_loopback = true,
        .is_trusted = true,
        .id = "demo",
    };
    struct http_response response;
    enum clew_status status = CLEW_OK;
    struct arena arena;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    request.arena = &arena;
    http_response_init(&response, LIMIT_BODY_BYTES);
    api_dispatch(engine, &request, &response);
    if (response.status >= 300) {
        status =
            clew_fail(err, CLEW_INTERNAL, "could not load the demo: status %d",
                      response.status);
    }
    http_response_release(&response);
    arena_release(&arena);
    return status;
}

enum clew_status demo_load(struct engine *engine, struct clew_error *err)
{
    json_t *body = NULL;
    struct buf text;
    enum clew_status status = body_of(&body, err);

    buf_init(&text, LIMIT_BODY_BYTES);
    if (status == CLEW_OK) {
        status = json_write(&text, body);
    }
    if (status == CLEW_OK) {
        status = post(engine, buf_str(&text), err);
    }
    buf_release(&text);
    json_decref(body);
    return status;
}
