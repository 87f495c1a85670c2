/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage.c - what lineage costs, and whether the current value comes first.
 *
 *     bench_lineage [MEMORIES [HISTORIES]]
 *
 * 1. Retrieval over many memories, a tenth of them superseded: the time of the
 *    whole, and of the same without the two lineage queries.
 * 2. A chain of 10,000 refinements, and one memory refined 10,000 times.
 * 3. Made-up histories of facts (values refined, merged, taken back): how often
 *    the value that holds ranks first.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/ask/search.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "engine/key/tenant.h"
#include "engine/memory/lineage.h"
#include "engine/memory/memory.h"
#include "engine/open.h"
#include "engine/thought/thought.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 1000, N_QUERIES = 200, N_LONG = 10000, MAX_VALUES = 8 };

static struct engine *engine;
static struct scope scope;
static uint64_t state = 88172645463325252ull;

static uint32_t below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 11) % n);
}

static void must(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        (void)fprintf(stderr, "bench_lineage: %s\n", err->message);
        exit(1);
    }
}

static const char *const nouns[] = {
    "river",   "bridge", "engine", "garden",  "market", "signal", "harbour",
    "lantern", "copper", "meadow", "printer", "ladder", "valley", "compass",
    "window",  "saddle", "anchor", "barrel",  "candle", "mirror", "needle",
    "orchard", "pocket", "quarry", "rudder",  "shovel", "tunnel", "velvet",
    "walnut",  "yogurt", "zipper", "badge"};
static const char *const attributes[] = {"owner",  "deadline", "colour",
                                         "budget", "location", "supplier"};
static const char *const values[] = {
    "Alder",  "Birch",  "Cedar", "Douglas", "Elm",    "Fir",
    "Ginkgo", "Hazel",  "Ivory", "Juniper", "Kapok",  "Linden",
    "Maple",  "Nutmeg", "Oak",   "Poplar",  "Quince", "Rowan"};

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))
#define PICK(list) ((list)[below(COUNT(list))])

/* --- 1. retrieval ----------------------------------------------------------
 */

struct load {
    struct arena *arena;
    struct batch_work batch;
    size_t from; /* number of the first memory */
    size_t count;
    struct uuid last; /* the memory before: what a refinement refines */
};

/* Every tenth memory refines the one before it. */
static enum clew_status do_load(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct load *load = arg;
    enum clew_status status = CLEW_OK;

    load->batch =
        (struct batch_work){.engine = engine, .tx = tx, .arena = load->arena};
    for (size_t i = 0; status == CLEW_OK && i < load->count; i++) {
        bool is_refinement = (load->from + i) % 10 == 9;
        int64_t now_ms = 1700000000000LL + (int64_t)(load->from + i) * 1000;
        struct memory memory = {.type = STR("thought"),
                                .status = STR("active"),
                                .tags = STR(""),
                                .origin = STR("contributed"),
                                .agent_id = STR("bench"),
                                .agent_name = STR("Bench"),
                                .lineage = is_refinement ? MEMORY_REFINEMENT
                                                         : MEMORY_ORIGINAL,
                                .weight = 1,
                                .weight_at_ms = now_ms,
                                .created_at_ms = now_ms,
                                .updated_at_ms = now_ms};

        memory.id = uuid_new(now_ms);
        memory.user_id = STR("");
        memory.summary = str_of(arena_printf(
            load->arena, "The %s of the %s %s near the %s is %s since week %u.",
            PICK(attributes), PICK(nouns), PICK(nouns), PICK(nouns),
            PICK(values), below(5000)));
        status = memory_insert(&load->batch, &memory, NULL, 0, &load->last,
                               is_refinement ? 1 : 0, err);
        load->last = memory.id;
    }
    return status;
}

static void load_memories(size_t total)
{
    struct clew_error err = {0};
    struct load load = {0};
    struct arena arena;

    arena_init(&arena, (size_t)1 << 32);
    load.arena = &arena;
    for (size_t n = 0; n < total; n += BATCH) {
        load.from = n;
        load.count = total - n < BATCH ? total - n : BATCH;
        must(store_write(engine->store, &scope, do_load, &load, &err), &err);
        commit_offer(engine, &scope, &load.batch);
        arena_clear(&arena);
    }
    arena_release(&arena);
}

struct marks {
    struct arena *arena;
    struct lineage_mark *marks;
    size_t count;
};

static enum clew_status do_marks(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct marks *marks = arg;

    return lineage_adjust(tx, marks->arena, NULL, &marks->marks, &marks->count,
                          INT64_MAX, err);
}

/* Time this process has computed: a busy machine does not add to it. */
static int64_t cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* cannot fail */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int by_time(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

static double median_ms(int64_t *times, size_t count)
{
    qsort(times, count, sizeof(*times), by_time);
    return (double)times[count / 2] / 1e6;
}

static void time_retrieval(size_t total)
{
    static int64_t whole[N_QUERIES];
    static int64_t part[N_QUERIES];
    size_t n_superseded = 0;
    size_t n_hits = 0;
    struct arena arena;
    double all;
    double own;

    arena_init(&arena, (size_t)1 << 30);
    for (size_t i = 0; i < N_QUERIES; i++) {
        struct clew_error err = {0};
        struct search_result found;
        struct marks marks = {.arena = &arena};
        struct search_query query = {
            .query = str_of(arena_printf(&arena, "What is the %s of the %s %s?",
                                         PICK(attributes), PICK(nouns),
                                         PICK(nouns))),
            .kinds = RECALL_MEMORY,
            .limit = THOUGHT_RETRIEVED,
            .since_ms = INT64_MIN,
            .until_ms = INT64_MAX,
            .at_ms = 1900000000000LL};
        int64_t began = cpu_ns();

        must(search_run(engine, &scope, &arena, &query, &found, &err), &err);
        whole[i] = cpu_ns() - began;
        marks.count = found.count;
        marks.marks = arena_zero(&arena, found.count + 1, sizeof(*marks.marks));
        for (size_t k = 0; k < found.count; k++) {
            marks.marks[k].id = found.hits[k].memory->id;
            n_superseded += found.hits[k].is_superseded;
            n_hits++;
        }
        began = cpu_ns();
        must(store_read(engine->store, &scope, do_marks, &marks, &err), &err);
        part[i] = cpu_ns() - began;
        arena_clear(&arena);
    }
    all = median_ms(whole, N_QUERIES);
    own = median_ms(part, N_QUERIES);
    (void)printf("retrieval over %zu memories: %.2f ms, of it lineage %.3f ms:"
                 " %.2f x the same without (%.0f %% of the hits superseded)\n",
                 total, all, own, all / (all - own),
                 100.0 * (double)n_superseded / (double)(n_hits + !n_hits));
    arena_release(&arena);
}

/* --- 2. long lineages ------------------------------------------------------
 */

struct chain {
    struct arena *arena;
    struct batch_work batch;
    bool is_fan; /* all refine the first; else each the one before */
    struct uuid first;
};

static enum clew_status do_chain(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct chain *chain = arg;
    enum clew_status status = CLEW_OK;
    struct uuid source = {0};

    chain->batch =
        (struct batch_work){.engine = engine, .tx = tx, .arena = chain->arena};
    for (int i = 0; status == CLEW_OK && i <= N_LONG; i++) {
        int64_t now_ms = 1800000000000LL + i;
        struct memory memory = {.id = uuid_new(now_ms),
                                .user_id = STR(""),
                                .type = STR("thought"),
                                .status = STR("active"),
                                .summary = STR("A link of a long chain."),
                                .tags = STR(""),
                                .origin = STR("contributed"),
                                .lineage =
                                    i ? MEMORY_REFINEMENT : MEMORY_ORIGINAL,
                                .weight = 1,
                                .weight_at_ms = now_ms,
                                .created_at_ms = now_ms,
                                .updated_at_ms = now_ms};

        status = memory_insert(&chain->batch, &memory, NULL, 0, &source,
                               i ? 1 : 0, err);
        if (i == 0) {
            chain->first = memory.id;
        }
        source = chain->is_fan ? chain->first : memory.id;
    }
    return status;
}

static void time_long(bool is_fan)
{
    static int64_t times[N_QUERIES];
    struct clew_error err = {0};
    struct arena arena;
    struct chain chain = {.arena = &arena, .is_fan = is_fan};
    struct lineage lineage;
    size_t count = 0;

    arena_init(&arena, (size_t)1 << 32);
    must(store_write(engine->store, &scope, do_chain, &chain, &err), &err);
    commit_offer(engine, &scope, &chain.batch);
    for (size_t i = 0; i < N_QUERIES; i++) {
        int64_t began;

        arena_clear(&arena);
        began = cpu_ns();
        must(lineage_get(engine, &scope, &arena, &chain.first, INT64_MAX,
                         &lineage, &err),
             &err);
        times[i] = cpu_ns() - began;
        count = lineage.count;
    }
    (void)printf("%s of %d refinements: %.3f ms for %zu nodes%s\n",
                 is_fan ? "fan" : "chain", N_LONG, median_ms(times, N_QUERIES),
                 count, lineage.is_truncated ? ", truncated" : "");
    arena_release(&arena);
}

/* --- 3. the latest valid state ---------------------------------------------
 */

static struct uuid say(struct arena *arena, const char *prompt,
                       const struct uuid *sources, size_t n_sources)
{
    struct thought_input input = {.prompt = str_of(prompt),
                                  .agent_id = STR("bench"),
                                  .agent_name = STR("Bench")};
    struct thought_result result;
    struct clew_error err = {0};

    if (n_sources == 1) {
        input.refines = sources[0];
    } else if (n_sources > 1) {
        input.consolidates = sources;
        input.n_consolidates = n_sources;
        input.has_consolidates = true;
    }
    must(thought_handle(engine, &scope, arena, &input, &result, &err), &err);
    return result.contributed;
}

/* One history; true if what holds at its end ranks first. */
static bool play(struct arena *arena, unsigned number)
{
    const char *attribute = PICK(attributes);
    const char *name =
        arena_printf(arena, "%s %s %u", PICK(nouns), PICK(nouns), number);
    struct uuid chain[MAX_VALUES];
    uint32_t n_values = 2 + below(MAX_VALUES - 3);
    struct clew_error err = {0};
    struct thought_result found;
    struct thought_input ask = {.agent_id = STR("asker"),
                                .agent_name = STR("Asker"),
                                .is_read_only = true};
    struct uuid pair[2];
    struct uuid current;
    struct memory memory;

    for (uint32_t i = 0; i < n_values; i++) {
        const char *text = arena_printf(
            arena, "The %s of the project %s is %s, as agreed in the meeting.",
            attribute, name, PICK(values));

        chain[i] = say(arena, text, i ? &chain[i - 1] : NULL, i ? 1 : 0);
    }
    current = chain[n_values - 1];
    switch (below(3)) {
    case 0: /* someone else said something else: merged */
        pair[0] = current;
        pair[1] = say(arena,
                      arena_printf(arena,
                                   "By now the %s of the project %s is surely "
                                   "%s, all agree.",
                                   attribute, name, PICK(values)),
                      NULL, 0);
        current = say(arena,
                      arena_printf(arena, "The %s of the project %s is %s.",
                                   attribute, name, PICK(values)),
                      pair, 2);
        break;
    case 1: /* the last was wrong: taken back */
        must(lineage_retract(engine, &scope, arena, &current, &memory, &err),
             &err);
        current = chain[n_values - 2];
        break;
    default:
        break;
    }
    ask.prompt = str_of(arena_printf(arena, "What is the %s of the project %s?",
                                     attribute, name));
    must(thought_handle(engine, &scope, arena, &ask, &found, &err), &err);
    return found.n_sources > 0 &&
           uuid_eq(&found.sources[0].memory.id, &current);
}

static void check_state(unsigned histories)
{
    unsigned right = 0;
    struct arena arena;

    arena_init(&arena, (size_t)1 << 30);
    for (unsigned i = 0; i < histories; i++) {
        right += play(&arena, i);
        arena_clear(&arena);
    }
    (void)printf("latest valid state: %u of %u first (%.1f %%)\n", right,
                 histories, 100.0 * right / histories);
    arena_release(&arena);
}

/* --- the run ---------------------------------------------------------------
 */

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *ftw)
{
    (void)info;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void in_tenant(const char *name)
{
    struct clew_error err = {0};

    must(engine_tenant(engine, name, &scope, &err), &err);
}

int main(int argc, char **argv)
{
    size_t total = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 1000000;
    unsigned histories = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 500;
    char folder[] = "/tmp/clew-bench-XXXXXX";
    struct engine_options options = {.data_dir = folder};
    struct config *config = NULL;
    struct clew_error err = {0};
    int64_t began;

    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* it takes minutes */
    if (!mkdtemp(folder)) {
        return 1;
    }
    must(config_load(NULL, NULL, 0, &config, &err), &err);
    options.config = config;
    must(engine_open(&options, &engine, &err), &err);
    in_tenant("histories");
    check_state(histories);
    in_tenant("long");
    time_long(false);
    time_long(true);
    in_tenant("many");
    began = clock_mono_ns();
    load_memories(total);
    (void)printf("stored %zu memories in %.0f s\n", total,
                 (double)(clock_mono_ns() - began) / 1e9);
    time_retrieval(total);
    engine_close(engine);
    config_free(config);
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
