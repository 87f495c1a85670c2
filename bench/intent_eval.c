/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_eval.c - score intent_of() on a set of labelled dialogues.
 *
 * usage: intent_eval SET.json [--errors ACT GOT]
 * Prints accuracy and macro F1 over four classes, as the text is and with all
 * end punctuation removed, the confusion table, and the time per turn.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "model/intent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const classes[] = {"inform", "question", "directive",
                                      "commissive"};

static int class_of(enum intent_act act)
{
    static const int to[INTENT_ACTS] = {0, 1, 2, 0, 3, 3, 3};

    return to[act];
}

static int class_named(const char *name)
{
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, classes[i]) == 0) {
            return i;
        }
    }
    return 0;
}

static char *stripped(const char *text)
{
    char *copy = strdup(text);
    char *to = copy;

    for (const char *p = text; *p; p++) {
        if (*p != '.' && *p != '?' && *p != '!') {
            *to++ = *p;
        }
    }
    *to = '\0';
    return copy;
}

struct score {
    int table[4][4];
    int levels[4];
    int64_t ns;
    int n;
};

static void print_score(const char *name, const struct score *s)
{
    double f = 0;
    int ok = 0;

    for (int c = 0; c < 4; c++) {
        int gold = 0;
        int got = 0;

        for (int k = 0; k < 4; k++) {
            gold += s->table[c][k];
            got += s->table[k][c];
        }
        ok += s->table[c][c];
        f += 2.0 * s->table[c][c] / (gold + got ? gold + got : 1) / 4;
    }
    printf("%-10s accuracy %.4f macro_f1 %.4f n %d  %.2f us/turn "
           "(rules %d classifier %d)\n",
           name, (double)ok / s->n, f, s->n, (double)s->ns / 1e3 / s->n,
           s->levels[1], s->levels[2]);
    for (int c = 0; c < 4; c++) {
        printf("  %-10s %5d %5d %5d %5d\n", classes[c], s->table[c][0],
               s->table[c][1], s->table[c][2], s->table[c][3]);
    }
}

static void run(const json_t *items, bool strip, const char *const *errors,
                struct score *s)
{
    struct arena arena;
    size_t i;
    json_t *item;

    arena_init(&arena, 1 << 26);
    json_array_foreach (items, i, item) {
        const json_t *turns = json_object_get(item, "turns");
        const json_t *acts = json_object_get(item, "acts");
        char *previous = NULL;

        for (size_t k = 0; k < json_array_size(turns); k++) {
            const char *raw = json_string_value(json_array_get(turns, k));
            int gold = class_named(json_string_value(json_array_get(acts, k)));
            char *text = strip ? stripped(raw) : strdup(raw);
            struct intent got;
            int64_t start = clock_mono_ns();

            if (intent_of(&arena, str_of(text), str_of(previous), &got) !=
                CLEW_OK) {
                exit(1);
            }
            s->ns += clock_mono_ns() - start;
            s->n++;
            s->table[gold][class_of(got.act)]++;
            s->levels[got.level]++;
            if (errors && gold == class_named(errors[0]) &&
                class_of(got.act) == class_named(errors[1])) {
                struct intent before = {.rule = "none"};

                if (previous && intent_of(&arena, str_of(previous), str_of(""),
                                          &before) != CLEW_OK) {
                    exit(1);
                }
                printf("[%s %s %.2f %s] %s  <<< %s\n", intent_act_name(got.act),
                       got.rule, (double)got.confidence,
                       previous ? intent_act_name(before.act) : "-", text,
                       previous ? previous : "-");
            }
            free(previous);
            previous = text;
            arena_clear(&arena);
        }
        free(previous);
    }
    arena_release(&arena);
}

/* Without a set: how long a turn takes, by rules and with the classifier. */
static int measure_speed(void)
{
    static const char *const marked[] = {
        "Thanks! That fixed it.", "What's the capital of France?",
        "I went to the museum with my kids yesterday, it was great fun.",
        "Could you please help me write a cover letter for this job?"};
    static const char *const bare[] = {
        "i had a weird experience yesterday",
        "my sister lives in the old house by the river",
        "the tests on the new branch look strange to me",
        "nobody told us about the other meeting"};
    struct arena arena;

    arena_init(&arena, 1 << 24);
    for (int kind = 0; kind < 2; kind++) {
        int64_t best = INT64_MAX;
        int n_classifier = 0;

        for (int round = 0; round < 50; round++) {
            int64_t start = clock_mono_ns();

            for (int i = 0; i < 400; i++) {
                struct intent got;

                if (intent_of(&arena,
                              str_of(kind ? bare[i % 4] : marked[i % 4]),
                              str_of(NULL), &got) != CLEW_OK) {
                    return 1;
                }
                n_classifier += got.level == INTENT_LEVEL_CLASSIFIER;
                arena_clear(&arena);
            }
            start = clock_mono_ns() - start;
            best = start < best ? start : best;
        }
        printf("%s: %.2f us a turn, best of 50 (%d %% by the classifier)\n",
               kind ? "unmarked" : "marked", (double)best / 400 / 1e3,
               n_classifier * 100 / (50 * 400));
    }
    arena_release(&arena);
    return 0;
}

int main(int argc, char **argv)
{
    json_t *set = argc > 1 ? json_load_file(argv[1], 0, NULL) : NULL;
    const char *const *errors = argc > 4 ? (const char *const *)argv + 3 : NULL;
    bool only_bare = argc > 2 && strcmp(argv[2], "--bare-errors") == 0;
    struct score plain = {0};
    struct score bare = {0};

    if (argc == 1) {
        return measure_speed();
    }
    if (!set) {
        fprintf(stderr, "usage: intent_eval SET.json [--errors GOLD GOT]\n");
        return 2;
    }
    run(json_object_get(set, "items"), false, only_bare ? NULL : errors,
        &plain);
    run(json_object_get(set, "items"), true, only_bare ? errors : NULL, &bare);
    print_score("as written", &plain);
    print_score("no . ? !", &bare);
    json_decref(set);
    return 0;
}
