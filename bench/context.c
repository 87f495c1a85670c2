/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c - time of a context with 1,000, 10,000 and 100,000 memories.
 *
 *     bench_context
 *
 * One chat that all memories were made in, 50 turns, a budget of 4,000 tokens;
 * built anew each time, and from the cache. The median of many builds. Then how
 * steady contexts are: 200 turns of a new chat in which ten artifacts change,
 * with a context of 2,000 tokens after each: how often the stable block
 * changes, and how many of a context's bytes begin the next one.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "engine/ask/context.h"
#include "engine/capture/capture.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "engine/key/tenant.h"
#include "engine/memory/memory.h"
#include "engine/open.h"
#include "store/db.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 201
#define PER_WRITE 1000
#define STEADY_TURNS 200

struct making {
    struct engine *engine;
    struct arena *arena;
    struct uuid chat_id;
    int from;
    int count;
    struct batch_work batch;
};

static void check(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

static enum clew_status make(struct store_tx *tx, void *arg,
                             struct clew_error *err)
{
    struct making *making = arg;
    enum clew_status status = CLEW_OK;

    making->batch = (struct batch_work){
        .engine = making->engine, .tx = tx, .arena = making->arena};
    for (int i = making->from;
         i < making->from + making->count && status == CLEW_OK; i++) {
        struct memory_ref ref = {making->chat_id, i % 50 + 1, i % 50 + 1};
        struct memory memory = {
            .id = uuid_new(1700000000000 + i),
            .user_id = STR("me"),
            .type = STR("fact"),
            .status = STR("active"),
            .summary = str_of(arena_printf(
                making->arena,
                "The service number %d runs on port %d of host h%d", i,
                1024 + i % 60000, i % 977)),
            .tags = STR(""),
            .origin = STR("extracted"),
            .chat_id = making->chat_id,
            .weight = 1,
            .created_at_ms = 1700000000000 + i,
            .updated_at_ms = 1700000000000 + i};

        status = memory_insert(&making->batch, &memory, &ref, 1, NULL, 0, err);
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

static int64_t median_ns(struct engine *engine, const struct scope *scope,
                         const struct uuid *chat_id, bool is_cached)
{
    struct context_request request = {.chat_id = *chat_id,
                                      .budget_tokens = 4000};
    static int64_t times[ROUNDS];
    struct context_cache *cache = engine->contexts;

    engine->contexts = is_cached ? cache : NULL;
    for (int i = 0; i < ROUNDS; i++) {
        struct clew_error err = {0};
        struct context context;
        struct arena arena;
        int64_t begin = clock_mono_ns();

        arena_init(&arena, (size_t)1 << 30);
        check(context_build(engine, scope, &arena, &request, &context, &err),
              &err);
        arena_release(&arena);
        times[i] = clock_mono_ns() - begin;
    }
    engine->contexts = cache;
    qsort(times, ROUNDS, sizeof(times[0]), by_value);
    return times[ROUNDS / 2];
}

/* Say turn `i` of a talk; the chat is opened by the first. */
static void say(struct engine *engine, const struct scope *scope,
                struct uuid *chat_id, int i, const char *text)
{
    struct clew_error err = {0};
    struct capture_result result;
    struct arena arena;
    struct capture_input input = {.user_id = STR("me"),
                                  .role = i % 2 ? TURN_ASSISTANT : TURN_USER,
                                  .channel = STR("web"),
                                  .content = {.text = str_of(text)},
                                  .chat_id = *chat_id,
                                  .created_at_ms = CAPTURE_NOW};

    arena_init(&arena, (size_t)1 << 30);
    check(capture_turns(engine, scope, &arena, &input, 1, &result, &err), &err);
    *chat_id = result.turn.chat_id;
    arena_release(&arena);
}

static size_t common(struct str a, struct str b)
{
    size_t n = 0;

    while (n < a.len && n < b.len && a.s[n] == b.s[n]) {
        n++;
    }
    return n;
}

/* How much of each context the next one begins with. */
static void show_steadiness(struct engine *engine, const struct scope *scope)
{
    struct context_request request = {.budget_tokens = 2000};
    char hash[sizeof(((struct context *)NULL)->hash)] = "";
    struct uuid chat_id = {{0}};
    struct arena arenas[2]; /* of this context and the one before */
    struct str before = {NULL, 0};
    double shared = 0;
    int n_changes = -1;

    arena_init(&arenas[0], (size_t)1 << 28);
    arena_init(&arenas[1], (size_t)1 << 28);
    for (int i = 0; i < STEADY_TURNS; i++) {
        struct clew_error err = {0};
        struct context context;
        char text[160];

        (void)snprintf(text, sizeof(text),
                       i % 20 == 10
                           ? "My cousin number %d works as a cook in Berlin"
                           : "well, so it goes with the %d of them, you know",
                       i);
        say(engine, scope, &chat_id, i, text);
        request.chat_id = chat_id;
        arena_clear(&arenas[i % 2]);
        check(context_build(engine, scope, &arenas[i % 2], &request, &context,
                            &err),
              &err);
        n_changes += strcmp(hash, context.hash) != 0;
        memcpy(hash, context.hash, sizeof(hash));
        if (before.s) {
            shared +=
                (double)common(before, context.text) / (double)context.text.len;
        }
        before = context.text;
    }
    (void)printf("%d turns: the stable block changed %d times, %.3f of a "
                 "context begin the next\n",
                 STEADY_TURNS, n_changes, shared / (STEADY_TURNS - 1));
    arena_release(&arenas[0]);
    arena_release(&arenas[1]);
}

static int drop(const char *path, const struct stat *info, int type,
                struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

int main(void)
{
    static const int sizes[] = {1000, 10000, 100000};
    char folder[] = "/tmp/clew-context-XXXXXX";
    struct config *config = NULL;
    struct engine_options options = {.data_dir = mkdtemp(folder)};
    struct engine *engine;
    struct scope scope;
    struct clew_error err = {0};
    struct uuid chat_id = {{0}};
    int made = 0;

    json_setup();
    check(config_load(NULL, NULL, 0, &config, &err), &err);
    options.config = config;
    check(engine_open(&options, &engine, &err), &err);
    check(engine_tenant(engine, "default", &scope, &err), &err);
    for (int i = 0; i < 50; i++) {
        char text[100];

        (void)snprintf(text, sizeof(text),
                       "well, this is the turn %d of a talk that goes on", i);
        say(engine, &scope, &chat_id, i, text);
    }
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        while (made < sizes[s]) {
            struct arena arena;
            struct making making = {.engine = engine,
                                    .arena = &arena,
                                    .chat_id = chat_id,
                                    .from = made,
                                    .count = PER_WRITE};

            arena_init(&arena, (size_t)4 << 30);
            check(store_write(engine->store, &scope, make, &making, &err),
                  &err);
            commit_offer(engine, &scope, &making.batch);
            arena_release(&arena);
            made += PER_WRITE;
        }
        (void)printf("%6d memories: built %.0f us, cached %.0f us\n", sizes[s],
                     (double)median_ns(engine, &scope, &chat_id, false) / 1e3,
                     (double)median_ns(engine, &scope, &chat_id, true) / 1e3);
        (void)fflush(stdout);
    }
    show_steadiness(engine, &scope);
    engine_close(engine);
    config_free(config);
    (void)nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}
