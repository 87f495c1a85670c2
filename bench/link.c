/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - what it costs to link one more call into a large store.
 *
 *   bench_link [CALLS]        default 1,000,000
 *
 * Writes the rows of that many calls (conversations of ten calls each, half a
 * minute apart) without observing their turns, then links 2,000 further calls
 * as the recorder does: half of them continue a random conversation, half open
 * one. Tells what one of them took: reading and hashing its messages; linking
 * (finding the parent, writing the call's own rows); its turns, which are
 * observed like any other (bench_year measures those); and the commit, of
 * which every row has its share.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/rand.h"
#include "engine/call/call.h"
#include "engine/call/call_plan.h"
#include "engine/call/request_trail.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"
#include "engine/open.h"
#include "store/store.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CALLS_EACH 10
#define BATCH 100
#define ROUNDS 20
#define STEP_MS 30000

static struct engine *engine;
static struct scope scope;
static int64_t time_ms = 1700000000000LL;

static int drop(const char *path, const struct stat *info, int type,
                struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

static void must(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

/* Message `i` of conversation `c`. */
static json_t *message_of(int64_t c, int i)
{
    char text[256];

    if (i % 2 == 0) {
        (void)snprintf(text, sizeof(text),
                       "question %d of conversation %lld, with some words "
                       "that make it as long as people write",
                       i / 2, (long long)c);
    } else {
        (void)snprintf(text, sizeof(text),
                       "answer %d of conversation %lld, which is longer "
                       "than the question, as answers are, and goes on "
                       "for two sentences. This is the second.",
                       i / 2, (long long)c);
    }
    return json_pack("{s:s,s:s}", "role", i % 2 ? "assistant" : "user",
                     "content", text);
}

/* Call `n` of conversation `c`: its messages and its reply. */
static struct call_input call_of(int64_t c, int n)
{
    struct call_input input = {.created_at_ms = time_ms += STEP_MS};
    json_t *list = json_array();

    for (int i = 0; i <= 2 * n; i++) {
        json_array_append_new(list, message_of(c, i));
    }
    input.messages = list;
    input.reply = message_of(c, 2 * n + 1);
    return input;
}

static void release(const struct call_input *input)
{
    json_decref((json_t *)(uintptr_t)input->messages);
    json_decref((json_t *)(uintptr_t)input->reply);
}

/* --- the store before ------------------------------------------------------
 */

static int64_t n_turns;

static enum clew_status add_turn(struct store_tx *tx, struct arena *arena,
                                 const struct request *request, int64_t seq,
                                 const json_t *message, struct clew_error *err)
{
    struct content content;
    struct turn turn = {.chat_id = request->chat_id,
                        .session_id = request->chat_id,
                        .seq = seq,
                        .role = seq % 2 ? TURN_USER : TURN_ASSISTANT,
                        .user_id = request->user_id,
                        .channel = STR("llm"),
                        .created_at_ms = request->created_at_ms,
                        .stored_at_ms = request->created_at_ms};
    enum clew_status status = call_plan_content(
        arena, json_object_get(message, "content"), &content, err);

    turn.id = uuid_new(request->created_at_ms);
    turn.text = content.text;
    turn.change_seq = -++n_turns; /* what an index never asks for */
    return status == CLEW_OK ? turn_insert(tx, &turn, err) : status;
}

/* The rows of a call whose parent is known. */
static enum clew_status add_call(struct store_tx *tx, struct arena *arena,
                                 struct call_plan *plan, struct chat *chat,
                                 struct request *parent, struct clew_error *err)
{
    struct request *r = &plan->request;
    size_t n = plan->messages.count;
    enum clew_status status = CLEW_OK;

    r->id = uuid_new(r->created_at_ms);
    r->conversation_id = chat->id;
    r->chat_id = chat->id;
    r->origin_id = r->id;
    r->parent_id = parent->id;
    r->parent_origin_id = parent->id;
    r->branch = STR("main");
    r->strategy = n > 1 ? STR("exact") : STR("none");
    r->first_seq = 1;
    r->last_seq = (int64_t)n;
    r->reply_seq = (int64_t)n + 1;
    for (size_t i = n > 1 ? n - 2 : 0; i < n && status == CLEW_OK; i++) {
        status = request_add_prefix(tx, &chat->id, (int64_t)i + 1,
                                    &plan->messages.prefix[i], err);
    }
    if (status == CLEW_OK) {
        status = request_insert(tx, r, err);
    }
    if (status == CLEW_OK) {
        status =
            request_add_anchors(tx, r, plan->anchors, plan->n_anchors, err);
    }
    if (status == CLEW_OK) {
        status = add_turn(tx, arena, r, (int64_t)n, plan->messages.items[n - 1],
                          err);
    }
    *parent = *r;
    return status;
}

static enum clew_status add_conversation(struct store_tx *tx, int64_t c,
                                         struct clew_error *err)
{
    struct arena arena;
    struct request parent = {.created_at_ms = 0};
    struct chat chat = {.user_id = STR("default"),
                        .branch = STR("main"),
                        .channels = STR("llm"),
                        .is_explicit = true,
                        .last_seq = 2 * (int64_t)CALLS_EACH,
                        .created_at_ms = time_ms,
                        .last_activity_at_ms =
                            time_ms + (int64_t)CALLS_EACH * STEP_MS};
    enum clew_status status;

    arena_init(&arena, 1u << 30);
    chat.id = chat.conversation_id = uuid_new(time_ms);
    status = chat_insert(tx, &chat, err);
    for (int n = 0; n < CALLS_EACH && status == CLEW_OK; n++) {
        struct call_input input = call_of(c, n);
        struct call_plan plan;

        status = call_plan_make(&arena, &input, &plan, err);
        plan.request.created_at_ms = input.created_at_ms;
        plan.request.stored_at_ms = input.created_at_ms;
        if (status == CLEW_OK) {
            status = add_call(tx, &arena, &plan, &chat, &parent, err);
        }
        if (status == CLEW_OK) {
            status = add_turn(tx, &arena, &parent, parent.reply_seq,
                              input.reply, err);
        }
        release(&input);
    }
    arena_release(&arena);
    return status;
}

static enum clew_status do_fill(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    const int64_t *first = arg;
    enum clew_status status = CLEW_OK;

    for (int64_t c = *first; c < *first + BATCH && status == CLEW_OK; c++) {
        status = add_conversation(tx, c, err);
    }
    return status;
}

/* --- one more --------------------------------------------------------------
 */

struct cost {
    int64_t total_ns;
    int64_t cpu_ns; /* of the process: what other programs do not disturb */
    int64_t plan_ns;
    int64_t link_ns;
    int64_t turns_ns;
    size_t n_linked;
};

static int64_t cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void link_batch(struct call_input *inputs, struct cost *cost)
{
    static struct call_result results[BATCH];
    static enum clew_status statuses[BATCH];
    struct clew_error err = {0};
    struct arena arena;
    int64_t began;

    arena_init(&arena, 1u << 30);
    began = clock_mono_ns();
    for (size_t i = 0; i < BATCH; i++) {
        struct call_plan plan;

        must(call_plan_make(&arena, &inputs[i], &plan, &err), &err);
    }
    cost->plan_ns += clock_mono_ns() - began;
    began = clock_mono_ns();
    cost->cpu_ns -= cpu_ns();
    must(call_link_many(engine, &scope, &arena, inputs, BATCH, results,
                        statuses, &err),
         &err);
    cost->total_ns += clock_mono_ns() - began;
    cost->cpu_ns += cpu_ns();
    for (size_t i = 0; i < BATCH; i++) {
        cost->link_ns += results[i].link_ns;
        cost->turns_ns += results[i].turns_ns;
        cost->n_linked += !uuid_is_nil(&results[i].request.parent_id);
        release(&inputs[i]);
    }
    arena_release(&arena);
}

static void measure(int64_t n_conversations)
{
    static struct call_input inputs[BATCH];
    struct cost cost = {0};
    double n = (double)ROUNDS * BATCH * 1e3;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BATCH; i++) {
            bool is_child = i % 2 == 0;

            inputs[i] = call_of(
                is_child ? (int64_t)rand_below((uint64_t)n_conversations)
                         : n_conversations + round * BATCH + i,
                is_child ? CALLS_EACH : 0);
        }
        link_batch(inputs, &cost);
    }
    (void)printf(
        "one more call: %.1f us (%.1f us of processor time)\n"
        "  reading and hashing %.1f\n  linking %.1f\n  its turns "
        "%.1f\n  commit %.1f\n%zu of %d found their parent\n",
        (double)cost.total_ns / n, (double)cost.cpu_ns / n,
        (double)cost.plan_ns / n, (double)cost.link_ns / n,
        (double)cost.turns_ns / n,
        (double)(cost.total_ns - cost.plan_ns - cost.link_ns - cost.turns_ns) /
            n,
        cost.n_linked, ROUNDS * BATCH);
}

int main(int argc, char **argv)
{
    int64_t calls = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000000;
    int64_t n_conversations = calls / CALLS_EACH / BATCH * BATCH;
    const char *parent = getenv("TMPDIR");
    char folder[512];
    struct engine_options options = {.data_dir = folder};
    struct config *config = NULL;
    struct clew_error err = {0};
    int64_t began = clock_mono_ns();

    json_setup();
    (void)snprintf(folder, sizeof(folder), "%s/clew-link-XXXXXX",
                   parent ? parent : "/tmp");
    if (n_conversations < BATCH || !mkdtemp(folder)) {
        (void)fprintf(stderr, "usage: bench_link [CALLS]   (1000 or more)\n");
        return 2;
    }
    must(config_load(NULL, NULL, 0, &config, &err), &err);
    options.config = config;
    must(engine_open(&options, &engine, &err), &err);
    must(engine_tenant(engine, "bench", &scope, &err), &err);
    for (int64_t c = 0; c < n_conversations; c += BATCH) {
        must(store_write(engine->store, &scope, do_fill, &c, &err), &err);
    }
    (void)printf("%lld calls stored, %.0f a second\n",
                 (long long)n_conversations * CALLS_EACH,
                 (double)n_conversations * CALLS_EACH * 1e9 /
                     (double)(clock_mono_ns() - began));
    measure(n_conversations);
    engine_close(engine);
    config_free(config);
    return nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : 1;
}
