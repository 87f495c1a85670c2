/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill.c - how sure a skill is, and the steps of a text. See skill.h.
 */
#include "talk/skill.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

#define FULL_SIGHTINGS 47.0
#define IDLE_MS (30 * CLOCK_DAY_MS)

double skill_confidence(size_t n_sightings, const double checks[SKILL_CHECKS])
{
    double often = ((double)n_sightings - SKILL_MIN_SIGHTINGS) / FULL_SIGHTINGS;
    double mean = (checks[0] + checks[1] + checks[2] + checks[3]) / 4;

    return 0.4 * fmin(1, fmax(0, often)) + 0.6 * mean;
}

double skill_after_use(double initial, size_t n_worked, size_t n_used)
{
    return n_used ? 0.5 * initial + 0.5 * (double)n_worked / (double)n_used
                  : initial;
}

double skill_after_outcome(double confidence, bool has_worked)
{
    return fmin(1, fmax(0, confidence + (has_worked ? 0.05 : -0.10)));
}

double skill_after_idling(double confidence, int64_t idle_ms)
{
    int64_t periods = idle_ms > 0 ? idle_ms / IDLE_MS : 0;

    return confidence * pow(0.95, (double)periods);
}

/* --- steps ------------------------------------------------------------------
 */

/* Bytes of "12. ", "3) ", "- ", "* " or "• " at the start of a line; 0: none.
 */
static size_t mark_of(struct str line)
{
    static const char *const bullets[] = {"- ", "* ", "+ ", "\xe2\x80\xa2 ",
                                          "\xe3\x83\xbb"};
    size_t n = 0;

    for (size_t i = 0; i < sizeof(bullets) / sizeof(bullets[0]); i++) {
        if (str_starts(line, str_of(bullets[i]))) {
            return strlen(bullets[i]);
        }
    }
    while (n < line.len && n < 2 && line.s[n] >= '0' && line.s[n] <= '9') {
        n++;
    }
    if (n == 0 || n + 1 >= line.len) {
        return 0;
    }
    if ((line.s[n] == '.' || line.s[n] == ')') && line.s[n + 1] == ' ') {
        return n + 2;
    }
    /* 1、 and 1． of East Asian lists */
    if (str_starts(str_sub(line, n, line.len), STR("\xe3\x80\x81")) ||
        str_starts(str_sub(line, n, line.len), STR("\xef\xbc\x8e"))) {
        return n + 3;
    }
    return 0;
}

size_t skill_steps(struct str text, struct str out[SKILL_MAX_STEPS])
{
    struct str line;
    size_t n = 0;

    while (n < SKILL_MAX_STEPS && str_split(&text, '\n', &line)) {
        size_t mark;

        line = str_trim(line);
        mark = mark_of(line);
        line = str_trim(str_sub(line, mark, line.len));
        if (mark > 0 && line.len > 0) {
            out[n++] = line;
        }
    }
    return n >= 2 ? n : 0;
}
