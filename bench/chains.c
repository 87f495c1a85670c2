/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains.c - what the chain step costs, and whether it stays flat.
 *
 *   bench_chains [TURNS]
 *
 * One user talks for a simulated year on a SQLite store in memory, thirty turns
 * a session, coming back to fifty topics. Only chain_observe() and
 * chain_finish() are timed (processor time), one turn a transaction, the commit
 * left out.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "engine/topic/chain.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SESSION_TURNS 30
#define YEAR_MS (365 * CLOCK_DAY_MS)
#define EDGE 1000 /* turns at each end that are compared */

static const char *const things[] = {
    "violin", "banana", "weather", "dentist", "bicycle", "garden",  "penguin",
    "train",  "novel",  "coffee",  "volcano", "kitchen", "server",  "printer",
    "lisbon", "berlin", "piano",   "camera",  "salary",  "holiday", "puppy",
    "boiler", "python", "invoice", "harbour"};
/* before the thing, before the place, after it */
static const char *const patterns[][3] = {
    {"What should I do about the ", " in ", "?"},
    {"The ", " is better than the one in ", ", because it costs less."},
    {"Can you tell me more about it and the ", " near ", "?"},
    {"I need a new ", " before we go to ", " on Friday."}};
static const char *const places[] = {"Oslo", "Rome"};

struct bench {
    struct engine engine;
    struct arena arena;
    struct reading reading;
    struct turn turn;
    struct placement placement;
    struct updates updates;
    int64_t ns;
};

static void must(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        (void)fprintf(stderr, "chains: %s\n", err->message);
        exit(1);
    }
}

/* Time of this thread alone: others may be using the machine. */
static int64_t cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum clew_status step(struct store_tx *tx, void *arg,
                             struct clew_error *err)
{
    struct bench *bench = arg;
    struct batch_work batch = {
        .engine = &bench->engine, .tx = tx, .arena = &bench->arena};
    struct turn_work work = {.batch = &batch,
                             .turn = &bench->turn,
                             .reading = &bench->reading,
                             .placement = &bench->placement,
                             .updates = &bench->updates};
    int64_t start = cpu_ns();
    enum clew_status status;

    memset(&bench->updates, 0, sizeof(bench->updates));
    status = chain_observe(&work, err);
    if (status == CLEW_OK) {
        status = chain_finish(&batch, err);
    }
    bench->ns = cpu_ns() - start;
    return status;
}

/* The n-th turn of the year. */
static void next_turn(struct bench *bench, size_t n, size_t total)
{
    const size_t n_things = sizeof(things) / sizeof(things[0]);
    int64_t at_ms =
        1735689600000 + (int64_t)((double)YEAR_MS * (double)n / (double)total);
    struct analysis_options options = {.time_ms = at_ms};
    size_t topic = (n / 5 * 7919) % (2 * n_things);
    struct clew_error err;
    const char *text;

    bench->turn.id = uuid_new(at_ms);
    if (n % SESSION_TURNS == 0) {
        memset(&bench->placement, 0, sizeof(bench->placement));
        if (n > 0) {
            bench->placement.ended =
                (struct session){.id = bench->turn.session_id,
                                 .chat_id = bench->turn.chat_id,
                                 .ended_at_ms = at_ms - CLOCK_HOUR_MS};
        }
        bench->turn.session_id = uuid_new(at_ms);
    } else {
        memset(&bench->placement, 0, sizeof(bench->placement));
    }
    bench->turn.seq = (int64_t)n + 1;
    bench->turn.role = n % 2 ? TURN_ASSISTANT : TURN_USER;
    bench->turn.created_at_ms = at_ms;
    text = arena_printf(&bench->arena, "%s%s%s%s%s", patterns[n % 4][0],
                        things[topic % n_things], patterns[n % 4][1],
                        places[topic / n_things], patterns[n % 4][2]);
    bench->turn.text = str_of(text);
    must(analysis_run(&bench->arena, bench->turn.text, &options,
                      &bench->reading.analysis, &err),
         &err);
    must(chain_read(&bench->arena, &bench->reading.analysis, &bench->turn,
                    &bench->reading.chains, &err),
         &err);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    size_t total = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    struct store_options options = {.location = ":memory:"};
    struct scope scope = {.tenant = 1};
    struct config *config = NULL;
    struct clew_error err = {0};
    double first = 0;
    double last = 0;
    double all = 0;

    must(config_load(NULL, NULL, 0, &config, &err), &err);
    must(store_open(&options, &bench.engine.store, &err), &err);
    bench.engine.config = config;
    bench.engine.clock = &clock_system;
    bench.turn.user_id = STR("ada");
    bench.turn.chat_id = uuid_new(0);
    arena_init(&bench.arena, (size_t)1 << 28);
    for (size_t n = 0; n < total; n++) {
        arena_clear(&bench.arena);
        next_turn(&bench, n, total);
        must(store_write(bench.engine.store, &scope, step, &bench, &err), &err);
        all += (double)bench.ns;
        first += n < EDGE ? (double)bench.ns : 0;
        last += n + EDGE >= total ? (double)bench.ns : 0;
    }
    printf("chain step over %zu turns: %.1f us a turn; first %d: %.1f us, "
           "last %d: %.1f us, ratio %.2f\n",
           total, all / 1e3 / (double)total, EDGE, first / 1e3 / EDGE, EDGE,
           last / 1e3 / EDGE, last / first);
    arena_release(&bench.arena);
    store_close(bench.engine.store);
    config_free(config);
    return 0;
}
