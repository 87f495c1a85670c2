/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.h - talks with known topics, and what the chain rules make of them.
 *
 * Turns are analysed and embedded once, when a set is loaded; running a talk is
 * the pure chain code alone. From trees and dialogues talks are built: four in
 * a row, three interleaved.
 * Out of memory or a broken file ends the program. Thread-safety: none.
 */
#ifndef BENCH_SUPPORT_TOPICS_H
#define BENCH_SUPPORT_TOPICS_H

#include "base/str.h"
#include "engine/topic/chain_decide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPICS_MAX_TURNS 400
#define TOPICS_MAX_TOPICS 64
#define TOPICS_STEP_MS 40000

/* A turn, read once. */
struct topic_turn {
    struct str text;
    struct chain_features features;
    struct str subject;
    struct chain_vector vector;
};

struct topic_talk {
    const struct topic_turn *turns[TOPICS_MAX_TURNS];
    int topics[TOPICS_MAX_TURNS];
    size_t count;
};

struct topic_talks {
    struct topic_talk *items;
    size_t count;
    size_t cap;
};

struct topic_set {
    char name[24];
    struct topic_talks talks;
    bool is_check; /* never fitted on */
    float weight;  /* of its figures and decisions where sets are summed */
};

#define TOPICS_MAX_SETS 16
struct topic_sets {
    struct topic_set items[TOPICS_MAX_SETS];
    size_t count;
};

void topics_add_labelled(struct topic_sets *sets, const char *path);
/* OASST: the first thread of each English tree; half A, and half B to check. */
void topics_add_trees(struct topic_sets *sets, const char *path);
void topics_add_daily(struct topic_sets *sets, const char *path);

/* How a talk is run. */
struct topic_rules {
    bool is_seed;
    bool use_embedding;
    struct chain_weights weights;
};

/* The chains of a talk under way. */
struct topic_room {
    struct chain_state states[TOPICS_MAX_TURNS];
    struct str topics[TOPICS_MAX_TURNS];
    int64_t used_ms[TOPICS_MAX_TURNS];
    int order[CHAIN_MAX_OPEN]; /* chains, the one used last first */
    size_t n_order;
    size_t n_chains;
    struct chain_talk talk;
};

void topic_room_init(struct topic_room *room);
/* The open chains, the one used last first. */
void topic_room_views(const struct topic_room *room,
                      const struct chain_state **out);
/* The chain the rules put the turn into; room->n_chains is a new one. */
int topic_room_choose(const struct topic_room *room,
                      const struct topic_rules *rules,
                      const struct topic_turn *turn, int64_t now_ms);
void topic_room_put(struct topic_room *room, const struct topic_rules *rules,
                    const struct topic_turn *turn, int chain, int64_t now_ms);

struct topic_figures {
    double tp, fp, fn;
    double pk, ari, pair;
    double n;
    double right, wrong, fresh, stay; /* of the turns that return */
    int64_t ns, turns;
};

/* Run talks [first, end), adding to the figures; shows up to `*errors`. */
void topics_measure(const struct topic_talks *talks, size_t first, size_t end,
                    const struct topic_rules *rules, struct topic_figures *out,
                    int *errors);
double topic_figures_f1(const struct topic_figures *f);
void topic_figures_print(const char *name, const struct topic_figures *f);

#endif
