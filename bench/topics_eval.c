/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics_eval.c - score the chain rules on talks with known topics.
 *
 * usage: topics_eval [--seed] [--plain] [--errors N] [--halves]
 *                    [--fit | --tune | --folds N] [--pull X] [--without
 * SIGNAL]...
 *                    [--oasst TREES.jsonl] [--daily DIALOGUES.json] SET.json...
 * Runs the pure chain code in memory and prints boundary F1, Pk, ARI and pair
 * F1 for each set, as an evaluation over HTTP would, and what became of the
 * turns that return to an interrupted topic. --plain leaves the embedder's
 * vectors out. --halves prints the figures of each half of a set apart. --fit
 * prints weights fitted on all sets but OASST half B, --tune the shipped ones
 * with new bases; --folds fits on all folds
 * but one and scores that one, for each. --without leaves a signal out of the
 * fit. --errors shows returns that went wrong.
 * The sets are not part of this repository.
 */
#include "support/topics.h"
#include "support/topics_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bool is_fit;
    bool is_tune;
    bool is_halved;
    size_t n_folds;
    int errors;
    struct topic_fit fit;
    struct topic_rules rules;
} opt = {.fit = {.pull = 5, .n_folds = 1}, .rules = {.use_embedding = true}};

static void fail(const char *what)
{
    (void)fprintf(stderr, "topics_eval: %s\n", what);
    exit(1);
}

static void evaluate(const struct topic_set *set)
{
    size_t n = set->talks.count;
    size_t n_parts = opt.is_halved ? 2 : 1;

    for (size_t i = 0; i < n_parts; i++) {
        struct topic_figures figures = {0};

        topics_measure(&set->talks, n * i / n_parts, n * (i + 1) / n_parts,
                       &opt.rules, &figures, &opt.errors);
        topic_figures_print(set->name, &figures);
    }
}

/* Each fold by the weights of the others. */
static void cross_validate(const struct topic_sets *sets)
{
    struct topic_figures figures[TOPICS_MAX_SETS] = {0};
    double loss[TOPICS_MAX_SETS] = {0};
    double n[TOPICS_MAX_SETS] = {0};
    double all = 0;

    opt.fit.n_folds = opt.n_folds;
    for (size_t fold = 0; fold < opt.n_folds; fold++) {
        opt.fit.fold = fold;
        topics_fit(&opt.fit, sets, &opt.rules);
        for (size_t s = 0; s < sets->count; s++) {
            size_t first;
            size_t end;

            topic_fit_fold(&opt.fit, &sets->items[s], &first, &end);
            topics_measure(&sets->items[s].talks, first, end, &opt.rules,
                           &figures[s], NULL);
            loss[s] += topics_loss(&sets->items[s].talks, first, end,
                                   &opt.rules, &n[s]);
        }
    }
    for (size_t s = 0; s < sets->count; s++) {
        printf("%.4f ", loss[s] / n[s]);
        all += (double)sets->items[s].weight * loss[s] / n[s];
        topic_figures_print(sets->items[s].name, &figures[s]);
    }
    printf("loss %.4f sum %.3f, with checks %.3f\n", all,
           topics_sum(sets, figures, false), topics_sum(sets, figures, true));
}

static void add_argument(struct topic_sets *sets, int argc, char **argv, int *i)
{
    const char *arg = argv[*i];
    const char *value = *i + 1 < argc ? argv[*i + 1] : NULL;

    if (strcmp(arg, "--seed") == 0) {
        opt.rules.is_seed = true;
    } else if (strcmp(arg, "--plain") == 0) {
        opt.rules.use_embedding = false;
    } else if (strcmp(arg, "--fit") == 0) {
        opt.is_fit = true;
    } else if (strcmp(arg, "--tune") == 0) {
        opt.is_tune = true;
    } else if (strcmp(arg, "--halves") == 0) {
        opt.is_halved = true;
    } else if (strncmp(arg, "--", 2) != 0) {
        topics_add_labelled(sets, arg);
    } else if (!value) {
        fail(arg);
    } else {
        ++*i;
        if (strcmp(arg, "--errors") == 0) {
            opt.errors = (int)strtol(value, NULL, 10);
        } else if (strcmp(arg, "--folds") == 0) {
            opt.n_folds = strtoul(value, NULL, 10);
        } else if (strcmp(arg, "--pull") == 0) {
            opt.fit.pull = strtod(value, NULL);
        } else if (strcmp(arg, "--oasst") == 0) {
            topics_add_trees(sets, value);
        } else if (strcmp(arg, "--daily") == 0) {
            topics_add_daily(sets, value);
        } else if (strcmp(arg, "--without") != 0 ||
                   !topic_fit_leave_out(&opt.fit, value)) {
            fail(value);
        }
    }
}

int main(int argc, char **argv)
{
    static struct topic_sets sets;

    for (int i = 1; i < argc; i++) {
        add_argument(&sets, argc, argv, &i);
    }
    opt.rules.weights = *chain_weights(opt.rules.use_embedding);
    if (opt.n_folds > 1) {
        cross_validate(&sets);
        return 0;
    }
    if (opt.is_fit || opt.is_tune) {
        if (opt.is_fit) {
            topics_fit(&opt.fit, &sets, &opt.rules);
        } else {
            topics_tune(&opt.fit, &sets, &opt.rules);
        }
        topics_print_weights(&opt.rules.weights);
        for (size_t i = 0; i < sets.count; i++) {
            evaluate(&sets.items[i]);
        }
        topics_round_weights(&opt.rules.weights);
        printf("rounded:\n");
    }
    for (size_t i = 0; i < sets.count; i++) {
        evaluate(&sets.items[i]);
    }
    return 0;
}
