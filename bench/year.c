/* SPDX-License-Identifier: Apache-2.0 */
/*
 * year.c - a year of one user: does a turn cost the same at its end?
 *
 * usage: year [TURNS]   (default 100000, spread over 365 days)
 * Chats of ten turns by sms, half of them about something said before. Prints
 * the mean and median time of a turn in each tenth, and the last thousand
 * against the first thousand (after a warm-up of a hundred): by the clock, and
 * by the processor time of the whole program, which other programs on the
 * machine do not change.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/capture/capture.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"
#include "engine/open.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define START_MS 1704067200000LL
#define YEAR_MS (365 * CLOCK_DAY_MS)
#define CHAT_TURNS 10
#define WARM_UP 100
#define SAMPLE 1000

static const char *const subjects[] = {
    "invoice", "garden",   "bicycle", "kitchen", "printer",
    "holiday", "passport", "concert", "dentist", "insurance",
    "laptop",  "balcony",  "recipe",  "train",   "piano",
    "heating", "school",   "museum",  "kayak",   "tax"};
static const char *const acts[] = {
    "needs a new",    "was booked with",  "costs more than", "broke after",
    "goes well with", "is waiting for",   "depends on",      "arrived before",
    "reminds me of",  "has to be paid by"};

static int drop(const char *path, const struct stat *info, int type,
                struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

static void say(char *out, size_t size, unsigned turn)
{
    unsigned chat = turn / CHAT_TURNS;
    unsigned subject = chat * 7 % 20;

    (void)snprintf(
        out, size, "The %s %s the %s number %u, what about the %s of day %u?",
        subjects[subject], acts[turn * 3 % 10], subjects[(subject + turn) % 20],
        chat * 13 % 4096, subjects[(subject + 3) % 20], turn % 365);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return left < right ? -1 : left > right;
}

/* Mean and median over [from, to); sorts that stretch. */
static void measure(double *us, size_t from, size_t to, double *mean,
                    double *median)
{
    double sum = 0;

    qsort(us + from, to - from, sizeof(*us), by_size);
    for (size_t i = from; i < to; i++) {
        sum += us[i];
    }
    *mean = sum / (double)(to - from);
    *median = us[from + (to - from) / 2];
}

/* Processor time of the whole program, all threads. */
static double cpu_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void report(double *us, size_t count, const double cpu[2])
{
    double first[2];
    double last[2];
    double *copy = malloc(count * sizeof(*copy));

    if (!copy) {
        return;
    }
    memcpy(copy, us, count * sizeof(*copy));
    for (size_t i = 0; i < 10; i++) {
        double mean;
        double median;

        measure(copy, count * i / 10, count * (i + 1) / 10, &mean, &median);
        printf("tenth %2zu: mean %.0f us, median %.0f us\n", i + 1, mean,
               median);
    }
    measure(us, WARM_UP, WARM_UP + SAMPLE, &first[0], &first[1]);
    measure(us, count - SAMPLE, count, &last[0], &last[1]);
    printf("{\"turns\":%zu,\"first_mean_us\":%.0f,\"last_mean_us\":%.0f,"
           "\"ratio_mean\":%.3f,\"ratio_median\":%.3f,\"first_cpu_us\":%.0f,"
           "\"last_cpu_us\":%.0f,\"ratio_cpu\":%.3f}\n",
           count, first[0], last[0], last[0] / first[0], last[1] / first[1],
           cpu[0] / SAMPLE, cpu[1] / SAMPLE, cpu[1] / cpu[0]);
    free(copy);
}

/* `cpu`: of the first and of the last SAMPLE turns. */
static void run(struct engine *engine, const struct scope *scope, double *us,
                size_t count, double cpu[2])
{
    struct arena arena;
    double began_us = 0;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    for (size_t i = 0; i < count; i++) {
        /* chats are an hour apart at least, turns a minute */
        int64_t at = START_MS +
                     (int64_t)(i / CHAT_TURNS) *
                         (YEAR_MS / (int64_t)(count / CHAT_TURNS + 1)) +
                     (int64_t)(i % CHAT_TURNS) * 1000;
        struct capture_result result;
        struct clew_error err = {0};
        char text[256];
        struct capture_input input = {.user_id = STR("ada"),
                                      .role =
                                          i % 2 ? TURN_ASSISTANT : TURN_USER,
                                      .channel = STR("sms"),
                                      .created_at_ms = at};
        int64_t start_ns;

        if (i == WARM_UP || i == count - SAMPLE) {
            began_us = cpu_us();
        }
        say(text, sizeof(text), (unsigned)i);
        input.content.text = str_of(text);
        start_ns = clock_mono_ns();
        if (capture_turns(engine, scope, &arena, &input, 1, &result, &err) !=
            CLEW_OK) {
            fprintf(stderr, "turn %zu: %s\n", i, err.message);
            exit(1);
        }
        us[i] = (double)(clock_mono_ns() - start_ns) / 1e3;
        arena_clear(&arena);
        if (i + 1 == WARM_UP + SAMPLE || i + 1 == count) {
            cpu[i + 1 == count] = cpu_us() - began_us;
        }
    }
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    const char *parent = getenv("TMPDIR");
    char folder[512];
    double *us = calloc(count ? count : 1, sizeof(*us));
    struct engine_options options = {.data_dir = folder};
    struct engine *engine = NULL;
    struct config *config = NULL;
    struct clew_error err = {0};
    struct scope scope;
    double cpu[2] = {0};
    int code = 1;

    json_setup();
    (void)snprintf(folder, sizeof(folder), "%s/clew-year-XXXXXX",
                   parent ? parent : "/tmp");
    if (us && count > 2200 && mkdtemp(folder) &&
        config_load(NULL, NULL, 0, &config, &err) == CLEW_OK) {
        options.config = config;
        if (engine_open(&options, &engine, &err) == CLEW_OK &&
            engine_tenant(engine, "year", &scope, &err) == CLEW_OK) {
            run(engine, &scope, us, count, cpu);
            report(us, count, cpu);
            code = 0;
        }
    }
    if (code) {
        fprintf(stderr, "could not run: %s\n", err.message);
    }
    engine_close(engine);
    config_free(config);
    (void)nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
    free(us);
    return code;
}
