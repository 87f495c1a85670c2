/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics_eval.c - score the chain rules on talks with known topics.
 *
 * usage: topics_eval [--seed] [--embed] [--fit] [--errors N]
 *                    [--oasst TREES.jsonl] [--daily DIALOGUES.json] SET.json...
 * Runs analysis and the pure chain code in memory and prints boundary F1, Pk,
 * ARI and pair F1 for each set, as an evaluation over HTTP would, and what
 * became of the turns that return to an interrupted topic. From trees and
 * dialogues it builds talks: four in a row, three interleaved. --fit prints
 * weights by conditional logit over the sets given (OASST half B and
 * DailyDialog are left for checking); --errors shows returns that went wrong.
 * The sets are not part of this repository.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "engine/chain_decide.h"
#include "model/embed.h"
#include "text/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TURNS 400
#define STEP_MS 40000

struct talk {
    struct str turns[MAX_TURNS];
    int topics[MAX_TURNS];
    size_t count;
};

struct talks {
    struct talk *items;
    size_t count;
    size_t cap;
};

/* A turn, read once. */
struct read_turn {
    struct chain_features features;
    struct str subject;
    float vector[CHAIN_VECTOR];
};

static struct {
    bool is_seed;
    bool use_embedding;
    bool is_fit;
    int errors;
    struct embedder *embedder;
    struct chain_weights weights;
} opt;

static struct arena lasting;

static void fail(const char *what)
{
    (void)fprintf(stderr, "topics_eval: %s\n", what);
    exit(1);
}

/* --- sets -------------------------------------------------------------------
 */

static struct talk *add_talk(struct talks *talks)
{
    if (talks->count == talks->cap) {
        talks->cap = talks->cap ? 2 * talks->cap : 64;
        talks->items = realloc(talks->items, talks->cap * sizeof(struct talk));
        if (!talks->items) {
            fail("out of memory");
        }
    }
    memset(&talks->items[talks->count], 0, sizeof(struct talk));
    return &talks->items[talks->count++];
}

static void add_turn(struct talk *talk, const char *text, int topic)
{
    if (talk->count < MAX_TURNS) {
        talk->topics[talk->count] = topic;
        talk->turns[talk->count++] = str_of(arena_string(&lasting, text));
    }
}

static json_t *load(const char *path)
{
    json_t *root = json_load_file(path, 0, NULL);

    if (!root) {
        fail(path);
    }
    return root;
}

static void load_labelled(const char *path, struct talks *out)
{
    json_t *root = load(path);
    size_t i;
    json_t *item;

    json_array_foreach (json_object_get(root, "items"), i, item) {
        const json_t *turns = json_object_get(item, "turns");
        const json_t *topics = json_object_get(item, "topic");
        struct talk *talk = add_talk(out);

        for (size_t k = 0; k < json_array_size(turns); k++) {
            add_turn(talk, json_string_value(json_array_get(turns, k)),
                     (int)json_integer_value(json_array_get(topics, k)));
        }
    }
    json_decref(root);
}

static void load_daily(const char *path, struct talks *out)
{
    json_t *root = load(path);
    size_t i;
    json_t *item;

    json_array_foreach (json_object_get(root, "items"), i, item) {
        const json_t *turns = json_object_get(item, "turns");
        size_t count = json_array_size(turns) & ~(size_t)1;
        struct talk *talk;

        if (count < 4) {
            continue;
        }
        talk = add_talk(out);
        for (size_t k = 0; k < count; k++) {
            add_turn(talk, json_string_value(json_array_get(turns, k)), 0);
        }
    }
    json_decref(root);
}

/* The first thread of each English tree of at least four turns. */
static void load_trees(const char *path, struct talks *out)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;

    if (!file) {
        fail(path);
    }
    while (getline(&line, &cap, file) > 0) {
        json_t *root = json_loads(line, 0, NULL);
        const json_t *at = json_object_get(root, "prompt");
        const char *lang = json_string_value(json_object_get(at, "lang"));
        struct talk *talk;

        if (!lang || strcmp(lang, "en") != 0) {
            json_decref(root);
            continue;
        }
        talk = add_talk(out);
        while (at && talk->count < 12) {
            const json_t *replies = json_object_get(at, "replies");
            const json_t *next = NULL;
            const json_t *reply;
            size_t i;

            add_turn(talk, json_string_value(json_object_get(at, "text")), 0);
            json_array_foreach (replies, i, reply) {
                if (!next ||
                    (json_array_size(json_object_get(next, "replies")) == 0 &&
                     json_array_size(json_object_get(reply, "replies")) > 0)) {
                    next = reply;
                }
            }
            at = next;
        }
        talk->count &= ~(size_t)1;
        if (talk->count < 4) {
            out->count--;
        }
        json_decref(root);
    }
    free(line);
    (void)fclose(file);
}

/* Four talks in a row. */
static void concatenate(const struct talks *parts, struct talks *out)
{
    for (size_t i = 0; i + 4 <= parts->count; i += 2) {
        struct talk *talk = add_talk(out);

        for (size_t k = 0; k < 4; k++) {
            const struct talk *part = &parts->items[i + k];

            for (size_t t = 0; t < part->count; t++) {
                add_turn(talk, part->turns[t].s, (int)k);
            }
        }
    }
}

/* Three talks, `piece` turns of one after the other. */
static void interleave(const struct talks *parts, size_t piece,
                       struct talks *out)
{
    for (size_t i = 0; i + 3 <= parts->count; i += 2) {
        struct talk *talk = add_talk(out);
        size_t at[3] = {0};
        bool is_left = true;

        while (is_left) {
            is_left = false;
            for (size_t k = 0; k < 3; k++) {
                const struct talk *part = &parts->items[i + k];

                for (size_t t = 0; t < piece && at[k] < part->count; t++) {
                    add_turn(talk, part->turns[at[k]++].s, (int)k);
                    is_left = true;
                }
            }
        }
    }
}

/* --- running ----------------------------------------------------------------
 */

static void read_turn(struct arena *arena, const struct talk *talk, size_t i,
                      struct read_turn *out)
{
    struct analysis_options options = {.time_ms = 1709283600000 +
                                                  (int64_t)i * STEP_MS};
    struct analysis analysis;
    struct clew_error err;

    if (analysis_run(arena, talk->turns[i], &options, &analysis, &err) !=
            CLEW_OK ||
        chain_features_of(arena, &analysis, 0, analysis.n_sentences, i % 2 == 0,
                          &out->features) != CLEW_OK) {
        fail("analysis");
    }
    out->subject = analysis_topic(&analysis);
    if (opt.use_embedding && embed_run(opt.embedder, &talk->turns[i], 1,
                                       out->vector, &err) != CLEW_OK) {
        fail("embedding");
    }
}

struct room {
    struct chain_state *states[MAX_TURNS];
    struct str topics[MAX_TURNS];
    int64_t used_ms[MAX_TURNS];
    int order[MAX_TURNS]; /* chains, the one used last first */
    size_t n_order;
    size_t n_chains;
    struct chain_talk talk;
};

/* The chain moves to the front; the last of too many is closed. */
static void touch(struct room *room, int chain)
{
    size_t at = 0;

    while (at < room->n_order && room->order[at] != chain) {
        at++;
    }
    if (at == room->n_order && room->n_order < CHAIN_MAX_OPEN) {
        room->n_order++;
    } else if (at == room->n_order) {
        at--;
    }
    memmove(room->order + 1, room->order, at * sizeof(room->order[0]));
    room->order[0] = chain;
}

static size_t by_seed(const struct room *room, const struct read_turn *turn,
                      int64_t now_ms)
{
    double best = 0.55;
    size_t out = CHAIN_NONE;

    for (size_t i = 0; i < room->n_order; i++) {
        int c = room->order[i];
        struct chain_seed_input input = {
            .shared_names =
                chain_shared_names(&turn->features, room->states[c]),
            .subject = turn->subject,
            .topic = room->topics[c],
            .jaccard = chain_jaccard(&turn->features, room->states[c]),
            .age_ms = now_ms - room->used_ms[c]};
        double distance = chain_seed_distance(&input);

        if (distance < best) {
            best = distance;
            out = i;
        }
    }
    return out;
}

static void views(const struct room *room, const struct chain_state **out)
{
    for (size_t i = 0; i < room->n_order; i++) {
        out[i] = room->states[room->order[i]];
    }
}

static size_t choose(const struct room *room, const struct read_turn *turn,
                     int64_t now_ms)
{
    const struct chain_state *chains[CHAIN_MAX_OPEN];
    struct chain_input input = {.turn = &turn->features,
                                .talk = &room->talk,
                                .chains = chains,
                                .n_chains = room->n_order,
                                .vector =
                                    opt.use_embedding ? turn->vector : NULL,
                                .dim = CHAIN_VECTOR,
                                .weights = &opt.weights};
    struct chain_decision decision;

    if (opt.is_seed) {
        return by_seed(room, turn, now_ms);
    }
    views(room, chains);
    chain_decide(&input, &decision);
    if (decision.nearest == CHAIN_NONE ||
        decision.distance[decision.nearest] >= 0.55) {
        return CHAIN_NONE;
    }
    return decision.nearest;
}

static void put(struct arena *arena, struct room *room,
                const struct read_turn *turn, int chain, int64_t now_ms)
{
    bool is_same = room->n_order > 0 && room->order[0] == chain;

    if ((size_t)chain == room->n_chains) {
        room->states[chain] = arena_zero(arena, 1, sizeof(struct chain_state));
        room->topics[chain] = turn->subject;
        room->n_chains++;
    }
    chain_state_add(room->states[chain], &turn->features,
                    opt.use_embedding ? turn->vector : NULL, CHAIN_VECTOR);
    room->used_ms[chain] = now_ms;
    touch(room, chain);
    chain_talk_add(&room->talk, &turn->features, is_same);
}

/* --- figures ----------------------------------------------------------------
 */

struct figures {
    double tp, fp, fn;
    double pk, ari, pair;
    double n;
    double right, wrong, fresh, stay; /* of the turns that return */
    double assistant_cuts;
    int64_t ns, turns;
};

static double pairs(double x)
{
    return x * (x - 1) / 2;
}

static void cluster(const int *ref, const int *got, size_t n,
                    struct figures *out)
{
    static int table[MAX_TURNS][64];
    double s = 0;
    double a = 0;
    double b = 0;
    double rows[MAX_TURNS] = {0};
    double columns[64] = {0};
    double e;
    double most;

    memset(table, 0, sizeof(table));
    for (size_t i = 0; i < n; i++) {
        table[got[i]][ref[i]]++;
        rows[got[i]]++;
        columns[ref[i]]++;
    }
    for (size_t g = 0; g < n; g++) {
        a += pairs(rows[g]);
        for (size_t r = 0; r < 64; r++) {
            s += pairs(table[g][r]);
        }
    }
    for (size_t r = 0; r < 64; r++) {
        b += pairs(columns[r]);
    }
    e = a * b / fmax(1, pairs((double)n));
    most = (a + b) / 2;
    out->ari += most != e ? (s - e) / (most - e) : 1;
    out->pair += a + b > 0 ? 2 * s / (a + b) : 1;
}

static double pk_of(const int *ref, const int *got, size_t n)
{
    double cuts = 0;
    double miss = 0;
    size_t k;

    for (size_t i = 1; i < n; i++) {
        cuts += ref[i] != ref[i - 1];
    }
    k = (size_t)nearbyint((double)n / (cuts + 1) / 2);
    k = k < 2 ? 2 : k;
    for (size_t i = 0; i + k < n; i++) {
        bool is_ref_cut = false;
        bool is_got_cut = false;

        for (size_t j = i + 1; j <= i + k; j++) {
            is_ref_cut = is_ref_cut || ref[j] != ref[j - 1];
            is_got_cut = is_got_cut || got[j] != got[j - 1];
        }
        miss += (ref[i] == ref[i + k] && !is_ref_cut) != !is_got_cut;
    }
    return miss / (n > k ? (double)(n - k) : 1);
}

/* What became of turns that return to an interrupted topic. */
static void returns(const struct talk *talk, const int *got,
                    struct figures *out)
{
    for (size_t i = 1; i < talk->count; i++) {
        size_t last = i - 1;
        int most = -1;

        if (talk->topics[i] == talk->topics[i - 1]) {
            continue;
        }
        while (last > 0 && talk->topics[last] != talk->topics[i]) {
            last--;
        }
        if (talk->topics[last] != talk->topics[i]) {
            continue; /* it is new */
        }
        for (size_t k = 0; k < i; k++) {
            most = got[k] > most ? got[k] : most;
        }
        if (got[i] == got[i - 1]) {
            out->stay++;
        } else if (got[i] == got[last]) {
            out->right++;
        } else if (got[i] > most) {
            out->fresh++;
        } else {
            out->wrong++;
        }
        if (opt.errors > 0 && got[i] != got[last]) {
            opt.errors--;
            printf(
                "--- %s\n  before:  %.*s\n  pending: %.*s\n  turn:    %.*s\n",
                got[i] == got[i - 1] ? "stayed"
                : got[i] > most      ? "new"
                                     : "wrong",
                (int)talk->turns[i - 1].len, talk->turns[i - 1].s,
                (int)talk->turns[last].len, talk->turns[last].s,
                (int)talk->turns[i].len, talk->turns[i].s);
        }
    }
}

static void run_talk(const struct talk *talk, struct figures *out)
{
    static struct room room;
    static struct read_turn turn;
    struct arena arena;
    int got[MAX_TURNS];

    arena_init(&arena, (size_t)1 << 28);
    memset(&room, 0, sizeof(room));
    chain_talk_init(&room.talk);
    for (size_t i = 0; i < talk->count; i++) {
        int64_t now_ms = (int64_t)i * STEP_MS;
        int64_t start;
        size_t choice;

        memset(&turn, 0, sizeof(turn));
        read_turn(&arena, talk, i, &turn);
        start = clock_mono_ns();
        choice = choose(&room, &turn, now_ms);
        got[i] = choice == CHAIN_NONE ? (int)room.n_chains : room.order[choice];
        put(&arena, &room, &turn, got[i], now_ms);
        out->ns += clock_mono_ns() - start;
        if (i > 0) {
            bool is_ref = talk->topics[i] != talk->topics[i - 1];
            bool is_got = got[i] != got[i - 1];

            out->tp += is_ref && is_got;
            out->fp += !is_ref && is_got;
            out->fn += is_ref && !is_got;
        }
    }
    out->turns += (int64_t)talk->count;
    out->pk += pk_of(talk->topics, got, talk->count);
    cluster(talk->topics, got, talk->count, out);
    returns(talk, got, out);
    out->n++;
    arena_release(&arena);
}

static struct figures measure(const struct talks *talks)
{
    struct figures f = {0};

    for (size_t i = 0; i < talks->count; i++) {
        run_talk(&talks->items[i], &f);
    }
    return f;
}

static void evaluate(const char *name, const struct talks *talks)
{
    struct figures f = measure(talks);

    printf("%-14s f1 %.3f (p %.3f r %.3f) pk %.3f ari %.3f pair %.3f n %.0f",
           name, 2 * f.tp / fmax(1, 2 * f.tp + f.fp + f.fn),
           f.tp / fmax(1, f.tp + f.fp), f.tp / fmax(1, f.tp + f.fn), f.pk / f.n,
           f.ari / f.n, f.pair / f.n, f.n);
    if (f.right + f.wrong + f.fresh + f.stay > 0) {
        printf("  back: right %.0f wrong %.0f new %.0f stay %.0f", f.right,
               f.wrong, f.fresh, f.stay);
    }
    printf("  %.1f us\n", (double)f.ns / 1e3 / (double)f.turns);
}

/* --- fitting ----------------------------------------------------------------
 */

#define N_WEIGHTS (CHAIN_N_CURRENT + CHAIN_N_OTHER + CHAIN_N_NEW)
#define MAX_CHOICES (CHAIN_MAX_OPEN + 1)

/* One decision: the signals of each choice, and the right one. */
struct example {
    float signals[MAX_CHOICES][N_WEIGHTS];
    size_t n_choices;
    size_t right;
    float weight;
};

static struct example *examples;
static size_t n_examples, cap_examples;

static struct example *add_example(void)
{
    if (n_examples == cap_examples) {
        cap_examples = cap_examples ? 2 * cap_examples : 4096;
        examples = realloc(examples, cap_examples * sizeof(*examples));
        if (!examples) {
            fail("out of memory");
        }
    }
    memset(&examples[n_examples], 0, sizeof(*examples));
    return &examples[n_examples++];
}

static void note_example(const struct room *room, const struct read_turn *turn,
                         int right, float weight)
{
    const struct chain_state *chains[CHAIN_MAX_OPEN];
    struct example *ex = add_example();
    struct chain_question q = {.turn = &turn->features,
                               .talk = &room->talk,
                               .chains = chains,
                               .n_chains = room->n_order,
                               .vector =
                                   opt.use_embedding ? turn->vector : NULL,
                               .dim = CHAIN_VECTOR};

    views(room, chains);
    chain_match(&q);
    ex->weight = weight;
    ex->n_choices = room->n_order + 1;
    ex->right = room->n_order;
    chain_signals_current(&q, ex->signals[0]);
    for (size_t i = 0; i < room->n_order; i++) {
        if (room->order[i] == right) {
            ex->right = i;
        }
        if (i > 0) {
            chain_signals_other(&q, i, ex->signals[i] + CHAIN_N_CURRENT);
        }
    }
    chain_signals_new(&q, ex->signals[room->n_order] + CHAIN_N_CURRENT +
                              CHAIN_N_OTHER);
}

/* Walk the talks along their true topics. */
static void collect(const struct talks *talks, float weight)
{
    static struct room room;
    static struct read_turn turn;

    for (size_t t = 0; t < talks->count; t++) {
        const struct talk *talk = &talks->items[t];
        int chain_of[64];
        struct arena arena;

        arena_init(&arena, (size_t)1 << 28);
        memset(&room, 0, sizeof(room));
        memset(chain_of, -1, sizeof(chain_of));
        chain_talk_init(&room.talk);
        for (size_t i = 0; i < talk->count; i++) {
            int *chain = &chain_of[talk->topics[i]];

            memset(&turn, 0, sizeof(turn));
            read_turn(&arena, talk, i, &turn);
            if (i > 0) {
                note_example(&room, &turn, *chain, weight);
            }
            if (*chain < 0) {
                *chain = (int)room.n_chains;
            }
            put(&arena, &room, &turn, *chain, (int64_t)i * STEP_MS);
        }
        arena_release(&arena);
    }
}

static void flatten(struct chain_weights *w, float *flat, bool is_back)
{
    float *parts[] = {w->current, w->other, w->fresh};
    size_t sizes[] = {CHAIN_N_CURRENT, CHAIN_N_OTHER, CHAIN_N_NEW};

    for (size_t i = 0; i < 3; i++) {
        memcpy(is_back ? parts[i] : flat, is_back ? flat : parts[i],
               sizes[i] * sizeof(float));
        flat += sizes[i];
    }
}

/* Gradient steps (Adam) on the log-likelihood with a pull to zero. */
static void fit(void)
{
    float flat[N_WEIGHTS];
    double m[N_WEIGHTS] = {0};
    double v[N_WEIGHTS] = {0};

    flatten(&opt.weights, flat, false);
    for (int step = 1; step <= 400; step++) {
        double grad[N_WEIGHTS] = {0};
        double loss = 0;

        for (size_t e = 0; e < n_examples; e++) {
            const struct example *ex = &examples[e];
            double p[MAX_CHOICES] = {0};
            double sum = 0;

            for (size_t c = 0; c < ex->n_choices; c++) {
                double z = 0;

                for (size_t k = 0; k < N_WEIGHTS; k++) {
                    z += (double)flat[k] * (double)ex->signals[c][k];
                }
                p[c] = exp(z);
                sum += p[c];
            }
            loss -= (double)ex->weight * log(p[ex->right] / sum);
            for (size_t c = 0; c < ex->n_choices; c++) {
                double d = (double)ex->weight * (p[c] / sum - (c == ex->right));

                for (size_t k = 0; k < N_WEIGHTS; k++) {
                    grad[k] += d * (double)ex->signals[c][k];
                }
            }
        }
        for (size_t k = 0; k < N_WEIGHTS; k++) {
            double g = grad[k] + 0.5 * (double)flat[k];

            m[k] = 0.9 * m[k] + 0.1 * g;
            v[k] = 0.99 * v[k] + 0.01 * g * g;
            flat[k] -= (float)(0.05 * (m[k] / (1 - pow(0.9, step))) /
                               (sqrt(v[k] / (1 - pow(0.99, step))) + 1e-8));
        }
        if (step % 100 == 0) {
            printf("step %d loss %.1f (%zu decisions)\n", step, loss,
                   n_examples);
        }
    }
    flatten(&opt.weights, flat, true);
}

static void print_weights(void)
{
#define NAME_(name, weight, with) #name,
    static const char *const names[] = {CHAIN_CURRENT_SIGNALS(
        NAME_) CHAIN_OTHER_SIGNALS(NAME_) CHAIN_NEW_SIGNALS(NAME_)};
    const char *groups[] = {"current", "other", "new"};
    const float *parts[] = {opt.weights.current, opt.weights.other,
                            opt.weights.fresh};
    size_t sizes[] = {CHAIN_N_CURRENT, CHAIN_N_OTHER, CHAIN_N_NEW};
    size_t at = 0;

    for (size_t g = 0; g < 3; g++) {
        printf("%s:", groups[g]);
        for (size_t i = 0; i < sizes[g]; i++) {
            printf(" %s %.2f", names[at++], (double)parts[g][i]);
        }
        printf("\n");
    }
}

static void round_weights(void)
{
    float flat[N_WEIGHTS];

    flatten(&opt.weights, flat, false);
    for (size_t k = 0; k < N_WEIGHTS; k++) {
        flat[k] = nearbyintf(flat[k] * 4) / 4;
    }
    flatten(&opt.weights, flat, true);
}

/* --- sets to fit on and to check with ---------------------------------------
 */

#define MAX_SETS 16

static struct {
    const char *name;
    struct talks talks;
    bool is_check; /* never fitted on */
} sets[MAX_SETS];
static size_t n_sets;

/* --- main -------------------------------------------------------------------
 */

static struct talks *new_set(const char *name, bool is_check)
{
    sets[n_sets].name = name;
    sets[n_sets].is_check = is_check;
    return &sets[n_sets++].talks;
}

static void add_trees(const char *path)
{
    struct talks all = {0};
    struct talks half[2] = {{0}, {0}};

    load_trees(path, &all);
    for (size_t i = 0; i < all.count; i++) {
        *add_talk(&half[i % 2]) = all.items[i];
    }
    concatenate(&half[0], new_set("oasst-a row", false));
    interleave(&half[0], 2, new_set("oasst-a mixed", false));
    concatenate(&half[1], new_set("oasst-b row", true));
    interleave(&half[1], 2, new_set("oasst-b mixed", true));
}

static void add_daily(const char *path)
{
    struct talks all = {0};

    load_daily(path, &all);
    concatenate(&all, new_set("daily row", true));
    interleave(&all, 4, new_set("daily mixed", true));
}

static void add_argument(int argc, char **argv, int *i)
{
    const char *arg = argv[*i];

    if (strcmp(arg, "--seed") == 0) {
        opt.is_seed = true;
    } else if (strcmp(arg, "--embed") == 0) {
        opt.use_embedding = true;
    } else if (strcmp(arg, "--fit") == 0) {
        opt.is_fit = true;
    } else if (strcmp(arg, "--errors") == 0 && *i + 1 < argc) {
        opt.errors = (int)strtol(argv[++*i], NULL, 10);
    } else if (strcmp(arg, "--oasst") == 0 && *i + 1 < argc) {
        add_trees(argv[++*i]);
    } else if (strcmp(arg, "--daily") == 0 && *i + 1 < argc) {
        add_daily(argv[++*i]);
    } else {
        const char *base = strrchr(arg, '/');

        load_labelled(arg, new_set(base ? base + 1 : arg, false));
    }
}

int main(int argc, char **argv)
{
    arena_init(&lasting, (size_t)1 << 30);
    for (int i = 1; i < argc; i++) {
        add_argument(argc, argv, &i);
    }
    opt.embedder = embed_static();
    opt.weights = *chain_weights(opt.use_embedding);
    if (opt.is_fit) {
        for (size_t i = 0; i < n_sets; i++) {
            if (!sets[i].is_check) {
                collect(&sets[i].talks, 1);
            }
        }
        fit();
        print_weights();
        for (size_t i = 0; i < n_sets; i++) {
            evaluate(sets[i].name, &sets[i].talks);
        }
        round_weights();
        printf("rounded:\n");
    }
    for (size_t i = 0; i < n_sets; i++) {
        evaluate(sets[i].name, &sets[i].talks);
    }
    return 0;
}
