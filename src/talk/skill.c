/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill.c - find what recurs, and reckon its confidence. See skill.h.
 */
#include "talk/skill.h"

#include "base/clock.h"
#include "model/intent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SIGHTINGS 3
#define FULL_SIGHTINGS 47.0
#define IDLE_MS (30 * CLOCK_DAY_MS)
/* Problems that share this much of their words are one. */
#define SAME_PROBLEM 0.5
#define MAX_SIGHTINGS 1000

double skill_confidence(size_t n_sightings, const double checks[4])
{
    double often = ((double)n_sightings - MIN_SIGHTINGS) / FULL_SIGHTINGS;
    double mean = (checks[0] + checks[1] + checks[2] + checks[3]) / 4;

    return 0.4 * fmin(1, fmax(0, often)) + 0.6 * mean;
}

bool skill_is_kept(double confidence)
{
    return confidence > SKILL_MIN_CONFIDENCE;
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

/* --- finding ---------------------------------------------------------------
 */

struct sighting {
    size_t problem; /* turns */
    size_t success;
    struct str steps[SKILL_MAX_STEPS];
    size_t n_steps;
    bool is_strong;   /* "that fixed it" rather than "thanks" */
    bool is_stated;   /* said to be a problem, not only asked */
    double alikeness; /* of its steps with the first sighting's */
    size_t group;
};

/* Share of common keywords, by the smaller set. */
static double alike(const struct analysis *a, const struct analysis *b)
{
    size_t shared = 0;
    size_t least =
        a->n_keywords < b->n_keywords ? a->n_keywords : b->n_keywords;

    for (size_t i = 0; i < a->n_keywords; i++) {
        for (size_t k = 0; k < b->n_keywords; k++) {
            shared += str_eq(a->keywords[i].stem, b->keywords[k].stem);
        }
    }
    return least ? (double)shared / (double)least : 0;
}

/* A line or sentence that tells to do something: numbered, listed, or led by
 * "first", "then", "next", "finally". */
static bool is_step(struct str text)
{
    static const char *const leads[] = {"first", "then",    "next",  "after",
                                        "now",   "finally", "run",   "open",
                                        "click", "set",     "check", "restart"};

    if (text.len > 2 && text.s[0] >= '1' && text.s[0] <= '9' &&
        (text.s[1] == '.' || text.s[1] == ')')) {
        return true;
    }
    if (text.len > 2 && (text.s[0] == '-' || text.s[0] == '*')) {
        return true;
    }
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        if (str_istarts(text, str_of(leads[i]))) {
            return true;
        }
    }
    return false;
}

static void find_steps(const struct analysis *analysis, struct sighting *out)
{
    struct str rest = analysis->text;
    struct str line;
    bool has_lines = str_find(rest, STR("\n"), 0) != SIZE_MAX;

    while (has_lines && out->n_steps < SKILL_MAX_STEPS &&
           str_split(&rest, '\n', &line)) {
        line = str_trim(line);
        if (is_step(line)) {
            out->steps[out->n_steps++] = line;
        }
    }
    for (size_t i = 0; !has_lines && i < analysis->n_sentences &&
                       out->n_steps < SKILL_MAX_STEPS;
         i++) {
        line =
            str_trim(str_sub(analysis->text, analysis->sentences[i].span.from,
                             analysis->sentences[i].span.to));
        if (is_step(line)) {
            out->steps[out->n_steps++] = line;
        }
    }
}

/* Turns i to i + 2: a problem, steps, success. */
static enum clew_status look(struct arena *arena,
                             const struct skill_turn *turns, size_t i,
                             struct sighting *out, bool *out_is_one)
{
    struct intent problem;
    struct intent success;

    memset(out, 0, sizeof(*out));
    *out_is_one = false;
    if (!turns[i].is_user || turns[i + 1].is_user || !turns[i + 2].is_user) {
        return CLEW_OK;
    }
    find_steps(turns[i + 1].analysis, out);
    if (out->n_steps == 0) {
        return CLEW_OK;
    }
    if (intent_of(arena, turns[i].analysis->text, (struct str){NULL, 0},
                  &problem) != CLEW_OK ||
        intent_of(arena, turns[i + 2].analysis->text,
                  turns[i + 1].analysis->text, &success) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    out->problem = i;
    out->success = i + 2;
    out->is_stated = (problem.flags & INTENT_PROBLEM) != 0;
    out->is_strong = (success.flags & INTENT_STRONG) != 0;
    *out_is_one =
        (out->is_stated || problem.act == INTENT_QUESTION ||
         problem.act == INTENT_REQUEST) &&
        (success.act == INTENT_ACCEPT || (success.flags & INTENT_THANKS)) &&
        !(success.flags & INTENT_PROBLEM);
    return CLEW_OK;
}

/* The group a sighting belongs to: that of the first it is alike. */
static void place(const struct skill_turn *turns, struct sighting *sightings,
                  size_t n)
{
    struct sighting *own = &sightings[n];

    own->group = n;
    own->alikeness = 1;
    for (size_t i = 0; i < n; i++) {
        if (sightings[i].group == i &&
            alike(turns[own->problem].analysis,
                  turns[sightings[i].problem].analysis) >= SAME_PROBLEM) {
            own->group = i;
            own->alikeness = alike(turns[own->problem + 1].analysis,
                                   turns[sightings[i].problem + 1].analysis);
            return;
        }
    }
}

static void sum_up(const struct skill_turn *turns,
                   const struct sighting *sightings, size_t count, size_t group,
                   struct skill *out)
{
    const struct sighting *first = &sightings[group];
    double sums[4] = {0};

    memset(out, 0, sizeof(*out));
    out->description = turns[first->problem].analysis->text;
    out->name = analysis_topic(turns[first->problem].analysis);
    out->name = out->name.len ? out->name : out->description;
    out->success = turns[first->success].analysis->text;
    out->n_steps = first->n_steps;
    memcpy(out->steps, first->steps, sizeof(out->steps));
    for (size_t i = group; i < count; i++) {
        if (sightings[i].group != group) {
            continue;
        }
        if (out->n_examples < SKILL_MAX_EXAMPLES) {
            out->examples[out->n_examples++] = sightings[i].problem;
        }
        sums[0] += sightings[i].is_stated ? 1 : 0.5;
        sums[1] += sightings[i].n_steps > 1 ? 1 : 0.5;
        sums[2] += sightings[i].is_strong ? 1 : 0.5;
        sums[3] += sightings[i].alikeness;
        out->n_sightings++;
    }
    for (int i = 0; i < 4; i++) {
        out->checks[i] = fmin(1, sums[i] / (double)out->n_sightings);
    }
    out->confidence = skill_confidence(out->n_sightings, out->checks);
}

static int often_first(const void *a, const void *b)
{
    const struct skill *left = a;
    const struct skill *right = b;

    if (left->n_sightings != right->n_sightings) {
        return left->n_sightings > right->n_sightings ? -1 : 1;
    }
    return left->examples[0] < right->examples[0] ? -1 : 1;
}

enum clew_status skill_find(struct arena *arena, const struct skill_turn *turns,
                            size_t count, struct skill **out_skills,
                            size_t *out_count)
{
    size_t cap = count < MAX_SIGHTINGS ? count + 1 : MAX_SIGHTINGS;
    struct sighting *sightings = arena_zero(arena, cap, sizeof(*sightings));
    struct skill *skills;
    size_t n = 0;
    size_t n_skills = 0;

    if (!sightings) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i + 2 < count && n < cap; i++) {
        bool is_one;

        if (look(arena, turns, i, &sightings[n], &is_one) != CLEW_OK) {
            return CLEW_NO_MEMORY;
        }
        if (is_one) {
            place(turns, sightings, n);
            n++;
        }
    }
    skills = arena_zero(arena, n + 1, sizeof(*skills));
    if (!skills) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        if (sightings[i].group == i) {
            sum_up(turns, sightings, n, i, &skills[n_skills]);
            n_skills += skills[n_skills].n_sightings >= MIN_SIGHTINGS;
        }
    }
    qsort(skills, n_skills, sizeof(*skills), often_first);
    *out_skills = skills;
    *out_count = n_skills;
    return CLEW_OK;
}
