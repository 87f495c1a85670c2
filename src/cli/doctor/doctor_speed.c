/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_speed.c - what recall.read_ms comes to on this machine. See doctor.h.
 *
 * How many candidates a question is read with follows from the setting and
 * never from a clock, so that it has the same answers everywhere. What that
 * takes here is measured, and which setting would take the time it names.
 */
#include "base/arena.h"
#include "base/config.h"
#include "cli/doctor/doctor.h"
#include "engine/ask/search_tuning.h"
#include "engine/core/engine.h"
#include "model/reader.h"

#include <time.h>

#define ROUNDS 3
#define PAIRS 4
/* Tokens of each pair below, with those around it. */
#define PAIR_TOKENS 64
/* Processors that the setting speaks of. */
#define CORES 2
/* So much slower than the setting says is worth a word. */
#define SLOW 1.5

static double cpu_ms(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Tokens that one processor reads in a millisecond, of its own time, so that
 * what else the machine does counts less; 0 without memory. */
static double speed_of(const struct reader *reader)
{
    struct str a = STR("2 mar 2026: who was it that repaired the old pump in "
                       "the cellar of the house last week?");
    struct str b = STR("1 mar 2026 ada: it was bob from next door, he came on "
                       "sunday with his own tools and had it running by noon, "
                       "for a cake and a cup of tea");
    struct reader_pair pairs[PAIRS];
    struct reader_verdict verdicts[PAIRS];
    double best = 0;

    for (size_t i = 0; i < PAIRS; i++) {
        pairs[i] = (struct reader_pair){.a = a, .b = b};
    }
    for (int round = 0; round < ROUNDS; round++) {
        double from = cpu_ms();
        struct arena arena;
        enum clew_status status;
        double speed;

        arena_init(&arena, (size_t)64 << 20);
        status = reader_compare(reader, &arena, READER_ANSWER, pairs, PAIRS,
                                verdicts, NULL);
        arena_release(&arena);
        if (status != CLEW_OK) {
            return 0;
        }
        speed = PAIRS * PAIR_TOKENS / (cpu_ms() - from + 1e-6);
        best = speed > best ? speed : best;
    }
    return best;
}

void doctor_speed(struct doctor *doctor)
{
    double set_ms;
    double speed;
    double takes_ms;

    if (!doctor->engine || !doctor->engine->reader) {
        return;
    }
    set_ms = (double)config_int(doctor->cli->config, "recall.read_ms");
    speed = set_ms > 0 ? speed_of(doctor->engine->reader) * CORES : 0;
    if (speed <= 0) {
        return;
    }
    takes_ms = set_ms * SEARCH_TOKENS_PER_MS / speed;
    if (takes_ms > SLOW * set_ms) {
        doctor_tell(doctor, "recall", DOCTOR_NOTE,
                    "\"fast\" reads nothing; a smaller recall.read_ms reads "
                    "fewer candidates, and finds less",
                    "reading a question's candidates takes some %.0f ms on "
                    "two of these processors (recall.read_ms %.0f; %.0f would "
                    "take that time)",
                    takes_ms, set_ms, set_ms * set_ms / takes_ms);
    } else {
        doctor_tell(doctor, "recall", DOCTOR_OK, "",
                    "reading a question's candidates takes some %.0f ms on "
                    "two of these processors",
                    takes_ms);
    }
}
