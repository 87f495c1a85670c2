/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - what it costs to link one more call into a large store.
 *
 *   bench_link [CALLS]        default 1,000,000
 *
 * Fills a store with conversations of ten calls each, then links further calls
 * (half of them continue a random conversation, half open one) and tells the
 * time of one apart from reading and hashing its messages.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/rand.h"
#include "engine/engine.h"
#include "engine/link.h"
#include "engine/link_plan.h"
#include "store/db.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CALLS_EACH 10
#define BATCH 100

DB_SQL_SYSTEM(ADD_TENANT,
              "INSERT INTO tenants (tenant, name, created_at, change_seq)"
              " VALUES (1, 'bench', 0, 0)");

static struct engine engine;
static struct scope scope = {1};
static int64_t time_ms = 1700000000000LL;

static enum clew_status add_tenant(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    (void)arg;
    return db_exec(tx, &ADD_TENANT, DB_NO_ARGS, err);
}

/* The messages of call `n` of conversation `c`. */
static json_t *messages_of(int64_t c, int n)
{
    json_t *list = json_array();
    char text[256];

    for (int i = 0; i <= n; i++) {
        (void)snprintf(text, sizeof(text),
                       "question %d of conversation %lld, with some words "
                       "that make it as long as people write",
                       i, (long long)c);
        json_array_append_new(
            list, json_pack("{s:s,s:s}", "role", "user", "content", text));
        if (i < n) {
            (void)snprintf(text, sizeof(text),
                           "answer %d of conversation %lld, which is longer "
                           "than the question, as answers are, and goes on "
                           "for two sentences. This is the second.",
                           i, (long long)c);
            json_array_append_new(
                list,
                json_pack("{s:s,s:s}", "role", "assistant", "content", text));
        }
    }
    return list;
}

static json_t *reply_of(int64_t c, int n)
{
    char text[256];

    (void)snprintf(text, sizeof(text),
                   "answer %d of conversation %lld, which is longer "
                   "than the question, as answers are, and goes on "
                   "for two sentences. This is the second.",
                   n, (long long)c);
    return json_pack("{s:s,s:s}", "role", "assistant", "content", text);
}

/* A batch of calls, and what it cost: all of it, and the plans alone. */
struct cost {
    int64_t total_ns;
    int64_t cpu_ns; /* of the process: what other programs do not disturb */
    int64_t plan_ns;
    size_t n_linked;
};

static int64_t cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct cost link_batch(const int64_t *cs, const int *ns, size_t count)
{
    struct link_input inputs[BATCH] = {0};
    struct link_result results[BATCH];
    enum clew_status statuses[BATCH];
    struct clew_error err = {0};
    struct cost cost = {0, 0, 0, 0};
    struct arena arena;
    int64_t began;

    arena_init(&arena, 1u << 30);
    for (size_t i = 0; i < count; i++) {
        inputs[i].created_at_ms = time_ms++;
        inputs[i].messages = messages_of(cs[i], ns[i]);
        inputs[i].reply = reply_of(cs[i], ns[i]);
    }
    began = clock_mono_ns();
    for (size_t i = 0; i < count; i++) {
        struct link_plan plan;

        if (link_plan_make(&arena, &inputs[i], &plan, &err) != CLEW_OK) {
            abort();
        }
    }
    cost.plan_ns = clock_mono_ns() - began;
    began = clock_mono_ns();
    cost.cpu_ns = -cpu_ns();
    if (link_requests(&engine, &scope, &arena, inputs, count, results, statuses,
                      &err) != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        abort();
    }
    cost.total_ns = clock_mono_ns() - began;
    cost.cpu_ns += cpu_ns();
    for (size_t i = 0; i < count; i++) {
        cost.n_linked += !uuid_is_nil(&results[i].request.parent_id);
        json_decref((json_t *)(uintptr_t)inputs[i].messages);
        json_decref((json_t *)(uintptr_t)inputs[i].reply);
    }
    arena_release(&arena);
    return cost;
}

int main(int argc, char **argv)
{
    int64_t calls = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000000;
    char dir[] = "/tmp/clew-bench-XXXXXX";
    struct store_options options = {.location = mkdtemp(dir)};
    struct config *config = NULL;
    struct clew_error err = {0};
    int64_t cs[BATCH];
    int ns[BATCH];
    size_t count = 0;
    int64_t n_conversations = calls / CALLS_EACH;
    int64_t began = clock_mono_ns();
    struct cost sum = {0, 0, 0, 0};
    char command[256];

    json_setup();
    if (config_load(NULL, NULL, 0, &config, &err) != CLEW_OK ||
        store_open(&options, &engine.store, &err) != CLEW_OK ||
        store_write_system(engine.store, add_tenant, NULL, &err) != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    engine.clock = &clock_system;
    engine.config = config;
    for (int64_t i = 0; i < n_conversations * CALLS_EACH; i++) {
        cs[count] = i / CALLS_EACH;
        ns[count++] = (int)(i % CALLS_EACH);
        if (count == BATCH) {
            (void)link_batch(cs, ns, count);
            count = 0;
        }
    }
    (void)printf("%lld calls stored, %.0f a second\n", (long long)calls,
                 (double)calls * 1e9 / (double)(clock_mono_ns() - began));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < BATCH; i++) {
            bool is_child = i % 2 == 0;

            cs[i] = is_child ? (int64_t)rand_below((uint64_t)n_conversations)
                             : n_conversations + round * BATCH + i;
            ns[i] = is_child ? CALLS_EACH : 0;
        }
        struct cost cost = link_batch(cs, ns, BATCH);

        sum.total_ns += cost.total_ns;
        sum.plan_ns += cost.plan_ns;
        sum.cpu_ns += cost.cpu_ns;
        sum.n_linked += cost.n_linked;
    }
    (void)printf("one more: %.1f us (%.1f us of processor time), of which "
                 "reading and hashing %.1f us; %zu of 1000 found their "
                 "parent\n",
                 (double)sum.total_ns / 2e6, (double)sum.cpu_ns / 2e6,
                 (double)sum.plan_ns / 2e6, sum.n_linked);
    store_close(engine.store);
    config_free(config);
    (void)snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) == 0 ? 0 : 1;
}
