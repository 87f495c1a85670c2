/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics_fit.c - collect decisions, fit, tune the bases. See topics_fit.h.
 */
#include "support/topics_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_CHOICES (CHAIN_MAX_OPEN + 1)
#define MAX_SIGNALS 48
#define STEPS 120
#define RATE 0.15
/* Rounds of deciding by the weights so far and fitting on those states too. */
#define ROUNDS 2
/* What a decision on such a state counts. */
#define OWN_SHARE 0.2f
/* The decisions of a set of weight 1 count like so many. */
#define SET_TURNS 3000.0f

_Static_assert(CHAIN_N_CURRENT <= MAX_SIGNALS && CHAIN_N_OTHER <= MAX_SIGNALS &&
                   CHAIN_N_NEW <= MAX_SIGNALS,
               "a choice has no more signals");

/* Where the weights of the three kinds of choice begin, and how many. */
static const size_t starts[] = {0, CHAIN_N_CURRENT,
                                CHAIN_N_CURRENT + CHAIN_N_OTHER};
static const size_t sizes[] = {CHAIN_N_CURRENT, CHAIN_N_OTHER, CHAIN_N_NEW};
static const char *const groups[] = {"current", "other", "new"};

#define NAME_(name, weight, with) #name,
static const char *const names[] = {CHAIN_CURRENT_SIGNALS(
    NAME_) CHAIN_OTHER_SIGNALS(NAME_) CHAIN_NEW_SIGNALS(NAME_)};

/* One decision: the signals of each choice, and the right ones. */
struct example {
    size_t at;          /* its signals in the pool, choice after choice */
    uint32_t n_choices; /* current, others, new */
    uint32_t right;
    float weight;
};

static struct {
    struct example *items;
    size_t count, cap;
    float *pool;
    size_t n_pool, cap_pool;
} examples;

static size_t kind_of(const struct example *ex, size_t choice)
{
    return choice + 1 == ex->n_choices ? 2 : choice > 0;
}

static void *grow(void *items, size_t need, size_t *cap, size_t size)
{
    if (need <= *cap) {
        return items;
    }
    *cap = *cap ? 2 * *cap : (size_t)1 << 16;
    items = realloc(items, *cap * size);
    if (!items) {
        abort();
    }
    return items;
}

static struct example *add_example(size_t n_choices)
{
    struct example *out;

    examples.items = grow(examples.items, examples.count + 1, &examples.cap,
                          sizeof(struct example));
    examples.pool =
        grow(examples.pool, examples.n_pool + n_choices * MAX_SIGNALS,
             &examples.cap_pool, sizeof(float));
    out = &examples.items[examples.count++];
    *out = (struct example){.at = examples.n_pool,
                            .n_choices = (uint32_t)n_choices};
    return out;
}

/* Space for the signals of the next choice. */
static float *next_choice(size_t n_signals)
{
    float *out = examples.pool + examples.n_pool;

    examples.n_pool += n_signals;
    return out;
}

static void forget_examples(void)
{
    examples.count = 0;
    examples.n_pool = 0;
}

static void note_example(const struct topic_room *room,
                         const struct topic_rules *rules,
                         const struct topic_turn *turn, const bool *is_right,
                         float weight)
{
    const struct chain_state *chains[CHAIN_MAX_OPEN];
    struct example *ex = add_example(room->n_order + 1);
    struct chain_question q = {.turn = &turn->features,
                               .talk = &room->talk,
                               .chains = chains,
                               .n_chains = room->n_order,
                               .vector =
                                   rules->use_embedding ? &turn->vector : NULL};

    topic_room_views(room, chains);
    chain_match(&q);
    ex->weight = weight;
    chain_signals_current(&q, next_choice(CHAIN_N_CURRENT));
    for (size_t i = 0; i < room->n_order; i++) {
        ex->right |= is_right[room->order[i]] ? 1u << i : 0;
        if (i > 0) {
            chain_signals_other(&q, i, next_choice(CHAIN_N_OTHER));
        }
    }
    ex->right |= ex->right == 0 ? 1u << room->n_order : 0;
    chain_signals_new(&q, next_choice(CHAIN_N_NEW));
}

/* Walk a talk; `is_own`: along the rules' decisions, not the true topics. The
 * chain that holds most of a topic is right, and so is to stay in the one that
 * has the turn before it. */
static void collect(const struct topic_talk *talk,
                    const struct topic_rules *rules, bool is_own, float weight)
{
    static struct topic_room room;
    static int held[TOPICS_MAX_TURNS][TOPICS_MAX_TOPICS];
    int before = -1;

    topic_room_init(&room);
    memset(held, 0, sizeof(held));
    for (size_t i = 0; i < talk->count; i++) {
        int64_t now_ms = (int64_t)i * TOPICS_STEP_MS;
        int topic = talk->topics[i];
        bool is_right[TOPICS_MAX_TURNS + 1] = {false};
        int most = -1;
        int chain;

        for (size_t c = 0; c < room.n_chains; c++) {
            if (held[c][topic] > 0 &&
                (most < 0 || held[c][topic] >= held[most][topic])) {
                most = (int)c;
            }
        }
        if (most >= 0) {
            is_right[most] = true;
        }
        if (i > 0 && talk->topics[i - 1] == topic) {
            is_right[before] = true;
        }
        if (i > 0) {
            note_example(&room, rules, talk->turns[i], is_right, weight);
        }
        chain = is_own ? topic_room_choose(&room, rules, talk->turns[i], now_ms)
                : most < 0 ? (int)room.n_chains
                           : most;
        topic_room_put(&room, rules, talk->turns[i], chain, now_ms);
        held[chain][topic]++;
        before = chain;
    }
}

static void flatten(struct chain_weights *w, double *flat, bool is_back)
{
    float *parts[] = {w->current, w->other, w->fresh};

    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizes[i]; k++, flat++) {
            if (is_back) {
                parts[i][k] = (float)*flat;
            } else {
                *flat = (double)parts[i][k];
            }
        }
    }
}

/* The loss of one decision; adds to the gradient. */
static double step_example(const struct example *ex, const float *flat,
                           float *grad)
{
    float p[MAX_CHOICES];
    float all = 0;
    float right = 0;
    const float *signals = examples.pool + ex->at;

    for (size_t c = 0; c < ex->n_choices; c++) {
        const float *w = flat + starts[kind_of(ex, c)];
        size_t n = sizes[kind_of(ex, c)];
        float z = 0;

        for (size_t k = 0; k < n; k++) {
            z += w[k] * signals[k];
        }
        signals += n;
        p[c] = expf(fminf(z, 60));
        all += p[c];
        right += ex->right >> c & 1 ? p[c] : 0;
    }
    right = fmaxf(right, 1e-30f);
    signals = examples.pool + ex->at;
    for (size_t c = 0; c < ex->n_choices; c++) {
        float *g = grad + starts[kind_of(ex, c)];
        size_t n = sizes[kind_of(ex, c)];
        float d =
            ex->weight * (p[c] / all - (ex->right >> c & 1 ? p[c] / right : 0));

        for (size_t k = 0; k < n; k++) {
            g[k] += d * signals[k];
        }
        signals += n;
    }
    return -(double)ex->weight * log((double)(right / all));
}

/* Gradient steps (Adam) on the log-likelihood with a pull to zero. */
static void descend(const struct topic_fit *fit, struct chain_weights *weights)
{
    double flat[TOPICS_N_WEIGHTS];
    double m[TOPICS_N_WEIGHTS] = {0};
    double v[TOPICS_N_WEIGHTS] = {0};

    flatten(weights, flat, false);
    for (int step = 1; step <= STEPS; step++) {
        double rate = RATE * (1 - (double)step / (STEPS + 1));
        float grad[TOPICS_N_WEIGHTS] = {0};
        float now[TOPICS_N_WEIGHTS];

        for (size_t k = 0; k < TOPICS_N_WEIGHTS; k++) {
            flat[k] = fit->is_left_out[k] ? 0 : flat[k];
            now[k] = (float)flat[k];
        }
        for (size_t e = 0; e < examples.count; e++) {
            (void)step_example(&examples.items[e], now, grad);
        }
        for (size_t k = 0; k < TOPICS_N_WEIGHTS; k++) {
            double g = (double)grad[k] + fit->pull * flat[k];

            m[k] = 0.9 * m[k] + 0.1 * g;
            v[k] = 0.99 * v[k] + 0.01 * g * g;
            flat[k] -= rate * (m[k] / (1 - pow(0.9, step))) /
                       (sqrt(v[k] / (1 - pow(0.99, step))) + 1e-8);
            flat[k] = fit->is_left_out[k] ? 0 : flat[k];
        }
    }
    flatten(weights, flat, true);
}

void topic_fit_fold(const struct topic_fit *fit, const struct topic_set *set,
                    size_t *first, size_t *end)
{
    *first = fit->n_folds > 1 ? set->talks.count * fit->fold / fit->n_folds : 0;
    *end = fit->n_folds > 1 ? set->talks.count * (fit->fold + 1) / fit->n_folds
                            : 0;
}

/* The weighted figures of the talks that are fitted on. */
static double sum_of(const struct topic_fit *fit, const struct topic_sets *sets,
                     const struct topic_rules *rules)
{
    struct topic_figures figures[TOPICS_MAX_SETS] = {0};

    for (size_t s = 0; s < sets->count; s++) {
        const struct topic_set *set = &sets->items[s];
        size_t first;
        size_t end;

        if (!set->is_check) {
            topic_fit_fold(fit, set, &first, &end);
            topics_measure(&set->talks, 0, first, rules, &figures[s], NULL);
            topics_measure(&set->talks, end, set->talks.count, rules,
                           &figures[s], NULL);
        }
    }
    return topics_sum(sets, figures, false);
}

/* The logit counts decisions, the figures talks: shift the bases. */
void topics_tune(const struct topic_fit *fit, const struct topic_sets *sets,
                 struct topic_rules *rules)
{
    enum { N_BASES = 3 };
    float *bases[N_BASES] = {&rules->weights.current[CHAIN_CURRENT_BASE],
                             &rules->weights.other[CHAIN_OTHER_BASE],
                             &rules->weights.fresh[CHAIN_NEW_PEER]};
    double best = sum_of(fit, sets, rules);

    for (float by = 0.5f; by >= 0.0625f; by /= 2) {
        for (size_t i = 0; i < 4 * N_BASES; i++) {
            float *base = bases[i / 2 % N_BASES];
            float before = *base;
            double now;

            *base += i % 2 ? by : -by;
            now = sum_of(fit, sets, rules);
            if (now > best) {
                best = now;
            } else {
                *base = before;
            }
        }
    }
}

/* Every set counts by its weight, however many turns it has. */
static float weight_of(const struct topic_set *set)
{
    size_t n_turns = 0;

    for (size_t t = 0; t < set->talks.count; t++) {
        n_turns += set->talks.items[t].count;
    }
    return set->weight * SET_TURNS / (float)n_turns;
}

double topics_loss(const struct topic_talks *talks, size_t first, size_t end,
                   const struct topic_rules *rules, double *out_n)
{
    struct chain_weights weights = rules->weights;
    double flat[TOPICS_N_WEIGHTS];
    float grad[TOPICS_N_WEIGHTS] = {0};
    float now[TOPICS_N_WEIGHTS];
    double loss = 0;

    flatten(&weights, flat, false);
    for (size_t k = 0; k < TOPICS_N_WEIGHTS; k++) {
        now[k] = (float)flat[k];
    }
    forget_examples();
    for (size_t t = first; t < end; t++) {
        collect(&talks->items[t], rules, false, 1);
        collect(&talks->items[t], rules, true, 1);
    }
    for (size_t e = 0; e < examples.count; e++) {
        loss += step_example(&examples.items[e], now, grad);
    }
    *out_n += (double)examples.count;
    return loss;
}

void topics_fit(const struct topic_fit *fit, const struct topic_sets *sets,
                struct topic_rules *rules)
{
    memset(&rules->weights, 0, sizeof(rules->weights));
    forget_examples();
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t s = 0; s < sets->count; s++) {
            const struct topic_set *set = &sets->items[s];
            float weight = weight_of(set) * (round > 0 ? OWN_SHARE : 1);
            size_t first;
            size_t end;

            topic_fit_fold(fit, set, &first, &end);
            for (size_t t = 0; t < set->talks.count && !set->is_check; t++) {
                if (t < first || t >= end) {
                    collect(&set->talks.items[t], rules, round > 0, weight);
                }
            }
        }
        descend(fit, &rules->weights);
    }
    topics_tune(fit, sets, rules);
}

double topics_sum(const struct topic_sets *sets,
                  const struct topic_figures *figures, bool with_checks)
{
    double sum = 0;

    for (size_t s = 0; s < sets->count; s++) {
        const struct topic_figures *f = &figures[s];

        if (f->n > 0 && (with_checks || !sets->items[s].is_check)) {
            sum += (double)sets->items[s].weight *
                   (topic_figures_f1(f) - f->pk / f->n + f->ari / f->n);
        }
    }
    return sum;
}

bool topic_fit_leave_out(struct topic_fit *fit, const char *name)
{
    bool is_found = false;

    for (size_t g = 0; g < 3; g++) {
        size_t len = strlen(groups[g]);
        bool is_group = strncmp(name, groups[g], len) == 0 && name[len] == ':';

        for (size_t k = 0; k < sizes[g]; k++) {
            const char *signal = names[starts[g] + k];

            if ((is_group && strcasecmp(name + len + 1, signal) == 0) ||
                strcasecmp(name, signal) == 0) {
                fit->is_left_out[starts[g] + k] = true;
                is_found = true;
            }
        }
    }
    return is_found;
}

void topics_print_weights(const struct chain_weights *weights)
{
    const float *parts[] = {weights->current, weights->other, weights->fresh};

    for (size_t g = 0; g < 3; g++) {
        printf("%s:", groups[g]);
        for (size_t k = 0; k < sizes[g]; k++) {
            printf(" %s %.3f", names[starts[g] + k], (double)parts[g][k]);
        }
        printf("\n");
    }
}

void topics_round_weights(struct chain_weights *weights)
{
    double flat[TOPICS_N_WEIGHTS];

    flatten(weights, flat, false);
    for (size_t k = 0; k < TOPICS_N_WEIGHTS; k++) {
        flat[k] = nearbyint(flat[k] * 8) / 8;
    }
    flatten(weights, flat, true);
}
