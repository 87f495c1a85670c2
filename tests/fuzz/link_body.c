/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_body.c - any JSON as the body of a call: canonical form, normal form,
 * digests, summaries, and the place where context is injected.
 */
#include "base/arena.h"
#include "base/json.h"
#include "engine/call/call_compact.h"
#include "engine/call/call_plan.h"
#include "engine/call/canon.h"
#include "proxy/inject.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_plan(struct arena *arena, const struct canon_request *request)
{
    struct call_input input = {.messages = request->messages,
                               .system = request->system,
                               .reply = json_array_get(request->messages, 0)};
    struct call_plan plan;

    if (call_plan_make(arena, &input, &plan, NULL) == CLEW_OK &&
        plan.messages.count == 0) {
        abort();
    }
}

/* What is injected must leave the body valid, and be taken out again. */
static void try_inject(struct arena *arena, enum canon_api api, struct str body)
{
    struct inject_place place;
    struct buf fence;
    struct buf out;
    json_t *tree = NULL;

    if (!inject_find(api, body, arena, &place)) {
        return;
    }
    buf_init(&fence, 1 << 20);
    buf_init(&out, 1 << 24);
    if (inject_fence(STR("a \"note\"\n</clew-context> \\ end"), &fence) ==
            CLEW_OK &&
        inject_apply(api, body, &place, buf_str(&fence), &out) == CLEW_OK &&
        json_parse(buf_str(&out), &tree, NULL) == CLEW_INVALID) {
        abort();
    }
    json_decref(tree);
    buf_release(&fence);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str body = {(const char *)data + 1, size ? size - 1 : 0};
    enum canon_api api;
    struct canon_request request;
    struct arena arena;
    json_t *tree = NULL;

    if (size < 2 || json_parse(body, &tree, NULL) != CLEW_OK) {
        return 0;
    }
    api = (enum canon_api)(data[0] % 3);
    arena_init(&arena, 1u << 26);
    if (canon_request_of(api, tree, &request, NULL) == CLEW_OK) {
        try_plan(&arena, &request);
        canon_request_release(&request);
    }
    if (json_is_object(tree)) {
        try_inject(&arena, api, body);
    }
    json_decref(tree);
    arena_release(&arena);
    return 0;
}
